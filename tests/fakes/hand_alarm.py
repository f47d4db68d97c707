"""An alarm whose time passes by hand."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from daemon.runtime import alarm


class HandAlarm:
    """Rings when so much time was passed; without that, never."""

    def __init__(self) -> None:
        self._left_ms: int | None = None
        self._ring: Callable[[], None] | None = None

    @asynccontextmanager
    async def ready(self, ring: Callable[[], None]) -> AsyncIterator[alarm.Arm]:
        """See `alarm.Alarm`."""
        self._ring = ring
        try:
            yield self._arm
        finally:
            self._ring = None

    def _arm(self, after_ms: int) -> None:
        self._left_ms = after_ms

    def pass_ms(self, elapsed_ms: int) -> None:
        """Let time pass."""
        if self._left_ms is None or self._ring is None:
            return
        self._left_ms -= elapsed_ms
        if self._left_ms <= 0:
            self._left_ms = None
            self._ring()
