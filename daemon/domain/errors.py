"""The errors that a caller can act on.

    DuckError
    ├── Refusal            the request cannot be done; `kind` says what the caller got wrong
    ├── ModelFault         a model call gave no result (`messages.ModelFaultKind`)
    ├── StorageFault       the store could not keep or give something
    │   ├── StorageFull    no room on the disk: nothing was kept, the same write may be tried again
    │   ├── StorageLost    nobody knows whether it was kept: the daemon has to start again
    │   └── StorageClosed  this daemon may not use the store (locked, or newer than this version)
    ├── HistoryFault       a project's history cannot do this; nothing in its folder was changed
    └── ConfigFault        settings that cannot be used: every fault, each with file and key

Anything else that is raised is a fault of the program.
"""

from collections.abc import Sequence
from enum import StrEnum

from daemon.domain import messages


class DuckError(Exception):
    """The root: `str(error)` is one sentence that may be shown to a person."""


class RefusalKind(StrEnum):
    """Why a request was refused; each maps to one gRPC status."""

    INVALID = "invalid"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    """The same client key came before with another body, or the name is taken."""
    STATE = "state"
    """Not possible in the present state: an approval that was decided, a task that ended."""
    EXHAUSTED = "exhausted"
    """A limit was reached: the queue is full, the message is too large."""
    UNAVAILABLE = "unavailable"
    """For now: the daemon drains, or the disk is full."""
    FORBIDDEN = "forbidden"


class Refusal(DuckError):
    """A request that cannot be done, with the sentence that says how to mend it."""

    def __init__(self, kind: RefusalKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ModelFault(DuckError):
    """A model call that gave no result."""

    def __init__(self, kind: messages.ModelFaultKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class StorageFault(DuckError):
    """The store could not keep or give something."""


class StorageFull(StorageFault):
    """No room on the disk; nothing of the write was kept."""


class StorageLost(StorageFault):
    """The store does not answer, and nobody knows what it kept: the daemon has to start again."""


class StorageClosed(StorageFault):
    """This daemon may not use the store."""


class HistoryFault(DuckError):
    """A project's history cannot do this; nothing in its folder was changed.

    `files` are those that stand in the way, as they are shown to a person.
    """

    def __init__(self, message: str, files: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.files = tuple(files)


class ConfigFault(DuckError):
    """Settings that cannot be used; `faults` has one line a fault, each with file and key."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = tuple(faults)
