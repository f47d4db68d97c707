"""An event loop whose clock runs faster than ours, so that a ban of minutes passes in seconds."""

import asyncio
import selectors
import time
import typing


class _QuickSelector(selectors.DefaultSelector):
    """Waits as much shorter as the loop's clock is faster."""

    speed = 1.0

    def select(self, timeout: float | None = None) -> typing.Any:
        waited = None if timeout is None else timeout / self.speed
        return super().select(waited)


class QuickLoop(asyncio.SelectorEventLoop):
    """`speed` seconds pass in it for one of ours."""

    def __init__(self, speed: float) -> None:
        selector = _QuickSelector()
        selector.speed = speed
        self._speed = speed
        self._began_s = time.monotonic()
        super().__init__(selector)

    def time(self) -> float:
        return (time.monotonic() - self._began_s) * self._speed
