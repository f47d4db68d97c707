"""Ctrl-C where it does no harm: it interrupts waiting, never work half done.

Answers for: a SIGINT becomes KeyboardInterrupt inside `accepted()`; outside it is kept until the
next wait, and a second one is raised at once. It must never be used off the main thread.
"""

import contextlib
import signal
import types
from collections.abc import Iterator


class Interrupts:
    """The state of SIGINT while `watching`."""

    def __init__(self) -> None:
        self._waiting = False
        self._pending = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Take SIGINT over for the block."""
        before = signal.signal(signal.SIGINT, self._on_signal)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextlib.contextmanager
    def accepted(self) -> Iterator[None]:
        """Raise KeyboardInterrupt in the block for a SIGINT now or kept from before."""
        self._waiting = True
        try:
            if self._pending:
                self._pending = False
                raise KeyboardInterrupt
            yield
        finally:
            self._waiting = False

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        if self._waiting or self._pending:
            self._waiting = self._pending = False
            raise KeyboardInterrupt
        self._pending = True
