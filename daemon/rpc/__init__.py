"""The gRPC service: the daemon's only door.

`server` listens and serves; `interceptors` know who calls, bound every call, and turn errors into a
status with one sentence and a correlation id; `convert` is the only translator between protobuf and
the domain, with `wire_events` and its kin for the log; one module a service. `export` writes out
what was said: `export_turns` picks it, `export_formats` spells it. Nothing here decides or keeps:
writes go through the inbox, reads to the store, streams to the bus. No text of an exception leaves.
"""
