"""Ctrl-C where it does no harm: it interrupts waiting, never work half done.

Answers for: a SIGINT becomes KeyboardInterrupt inside `accepted()`; outside it is kept until the
next wait, and a second one is raised at once. It must never be used off the main thread.

A signal in the moment before a read blocks is only noted by the interpreter, which then waits for a
key with it in hand. So a timer interrupts waiting every now and then: the handler runs then.
"""

import contextlib
import signal
import types
from collections.abc import Iterator

_NUDGE_SECONDS = 0.2


class Interrupts:
    """The state of SIGINT while `watching`."""

    def __init__(self) -> None:
        self._waiting = False
        self._pending = False
        self._watching = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Take SIGINT over for the block; inside another one, that one has it."""
        if self._watching:
            yield
            return
        self._watching = True
        before = signal.signal(signal.SIGINT, self._on_signal)
        alarm_before = signal.signal(signal.SIGALRM, _nudge)
        try:
            yield
        finally:
            signal.signal(signal.SIGALRM, alarm_before)
            signal.signal(signal.SIGINT, before)
            self._watching = False

    @contextlib.contextmanager
    def accepted(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in the block for a SIGINT now or kept from before."""
        self._waiting = True
        try:
            if self._pending:
                self._pending = False
                raise KeyboardInterrupt
            if self._watching:
                signal.setitimer(signal.ITIMER_REAL, _NUDGE_SECONDS, _NUDGE_SECONDS)
            yield
        finally:
            self._waiting = False
            if self._watching:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        if self._waiting or self._pending:
            self._waiting = self._pending = False
            raise KeyboardInterrupt
        self._pending = True


def _nudge(number: int, frame: types.FrameType | None) -> None:
    """That it came is all: a blocked read looks after its signals."""
