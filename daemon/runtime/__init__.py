"""The imperative shell around `decide`: it makes decisions durable, then performs them.

    inbox → loop ── stamp, decide, fold tentatively ──► one transaction ──► adopt → answer → publish
                                                                              └──► effects ──► inbox

`loop` is the only writer of state. `effects` performs actions and answers through the inbox.
`judge` knows the owner's rules, `vault` holds a secret until its run. `bus` hands committed events
and live text to subscribers. `resume` turns the folded state into the inputs that let every live
task go on. `supervisor` runs the side tasks and ends them in order.
"""
