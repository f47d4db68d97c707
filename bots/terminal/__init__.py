"""The terminal client, `ducklm`: plain synchronous gRPC on one thread, with blocking prompts.

`__main__` reads arguments and gives exit codes; `ask` and `chat` start tasks, `turn` follows one to
its rest, `prompts` asks the person, `screen` shows views on the `console`; `settings` are a
conversation's, `exchanges` is what can be done about what was said; `link` bridges a lost
connection; `client` is the way to all calls (`schedule_calls` has those about schedules, `calling`
what all have in common), `faults` says what their errors mean. `scheduling` is the command line of
`schedules`.
It keeps nothing: what happened is in the daemon's log, and a sequence number says where it was.
"""
