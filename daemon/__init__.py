"""DuckLM's daemon: agent runtime, model slots, stores and the gRPC service in front of them.

The layers, each importing only those after it: `__main__ > bootstrap > config | logs >
rpc | storage | models > runtime > decide > permission > domain`.

`decide` says what happens next and touches nothing; `runtime` makes it durable, then does it.
"""
