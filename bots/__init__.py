"""DuckLM's clients: thin programs that move what people say and see to and from the daemon.

They import nothing of the daemon and meet it only in `proto`. They hold no state that a restart may
lose: what happened is in the daemon's log, and each client resumes from a sequence number.
"""
