"""Settings: from TOML files, the environment and flags to the values that each package declares.

`layers` reads and merges (flag > environment > --config folder > XDG configuration > packaged
defaults; by key, lists replaced), `settings` is the shape and turns every fault into one line with
file and key, `upgrade` brings an owner's file of an older version to this one and says what it did.
Profiles and skills that are set while the daemon runs go before those of files, and are none of
these settings: they are records of the store, see `decide.profiles`. No TOML is ever written for
them.
"""
