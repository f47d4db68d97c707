"""Who makes the call that is being served, and under which correlation id."""

import contextvars
from dataclasses import dataclass

from daemon.domain import principals


@dataclass(frozen=True)
class Caller:
    """The credential and correlation id of one call."""

    credential: principals.Credential
    correlation_id: str


_current: contextvars.ContextVar[Caller] = contextvars.ContextVar("caller")


def enter(caller: Caller) -> None:
    """Serve the rest of this asyncio task for this caller."""
    _current.set(caller)


def current() -> Caller:
    """The caller being served.

    Raises:
        LookupError: no interceptor has let a caller in.
    """
    return _current.get()
