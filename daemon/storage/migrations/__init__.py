"""The schema's history: one module a version, applied in order, each in one transaction.

Forward only. A module that was released never changes; what it made is kept as a golden state in
`tests/golden`. `PRAGMA user_version` says how far a database has come.
"""

from daemon.storage.migrations import v0001, v0002, v0003, v0004, v0005, v0006, v0007

STATEMENTS: tuple[tuple[str, ...], ...] = (
    v0001.STATEMENTS,
    v0002.STATEMENTS,
    v0003.STATEMENTS,
    v0004.STATEMENTS,
    v0005.STATEMENTS,
    v0006.STATEMENTS,
    v0007.STATEMENTS,
)
"""The statements of each version, from version 1 on."""

VERSION = len(STATEMENTS)
