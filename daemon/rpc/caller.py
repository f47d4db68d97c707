"""Who makes the call that is being served, and under which correlation id."""

import contextlib
import contextvars
from collections.abc import Callable
from dataclasses import dataclass

from daemon.domain import principals


@dataclass(frozen=True)
class Caller:
    """The credential and correlation id of one call, and what is to be done at its end."""

    credential: principals.Credential
    correlation_id: str
    at_end: contextlib.ExitStack


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


def at_end(do: Callable[[], None]) -> None:
    """Have something done once the call has ended and its fault, if it has one, is logged."""
    current().at_end.callback(do)
