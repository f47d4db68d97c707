"""A stand-in for Telegram's servers, faithful in their answers and in their faults.

`server` speaks the Bot API on loopback; `world` is what the servers hold: chats, messages with
their history, updates with an offset, people who write and press; `faults` are what goes wrong, by
rule.
"""
