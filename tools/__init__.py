"""The tools that the agent may be allowed to use. A leaf: nothing of the daemon is known here.

`contract` is all that the daemon sees. A tool inspects first (what would run, on what, bound to
which facts), and runs later exactly what was inspected; whether it may run is decided elsewhere.
"""
