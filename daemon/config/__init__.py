"""Settings: from TOML files, the environment and flags to the values that each package declares.

`layers` reads and merges (flag > environment > --config folder > XDG configuration > packaged
defaults; by key, lists replaced), `settings` is the shape and turns every fault into one line with
file and key, `upgrade` brings an owner's file of an older version to this one and says what it did.
Overrides that are set at run time take their place between environment and files when there is an
RPC that sets them.
"""
