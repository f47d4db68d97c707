"""Reminders at wall-clock times: the port to what wakes the daemon, and the timers that it wakes.

The clock is the truth of what is due, looked at again so often that no step of it stays unnoticed;
an alarm only wakes. Nothing fires before the clock says that it is due, however the alarm rings.
"""

import asyncio
import heapq
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Protocol

from daemon.domain import decisions
from daemon.runtime import ports

RECHECK_SECONDS = 30.0
"""How long a step of the wall clock can stay unnoticed by a waiting timer."""
_REPLACED_KEPT = 64

Arm = Callable[[int], None]
"""Ring once, after so many milliseconds (at least 1), and no more for what was said before."""
Fire = Callable[[decisions.TimerKind, str], None]


class Alarm(Protocol):
    """Wakes who armed it. May ring too early, too late, or after a step of the clock never."""

    def ready(self, ring: Callable[[], None]) -> AbstractAsyncContextManager[Arm]:
        """Make it ready, which may take a while; yields what arms it. Rings on the event loop's
        thread, and no more once it is left."""


class DueTimes:
    """When which timer is due: a heap, and beside it what of the heap was not replaced."""

    def __init__(self) -> None:
        self._due_ms: dict[tuple[decisions.TimerKind, str], int] = {}
        self._heap: list[tuple[int, decisions.TimerKind, str]] = []

    def set(self, kind: decisions.TimerKind, subject: str, due_ms: int) -> None:
        """Note a time; it replaces the earlier one of the same kind and subject."""
        self._due_ms[kind, subject] = due_ms
        heapq.heappush(self._heap, (due_ms, kind, subject))
        if len(self._heap) > 2 * len(self._due_ms) + _REPLACED_KEPT:
            self._heap = [(at, *key) for key, at in self._due_ms.items()]
            heapq.heapify(self._heap)

    def next_ms(self) -> int | None:
        """When the next one is due, if there is one."""
        while self._heap:
            due_ms, kind, subject = self._heap[0]
            if self._due_ms.get((kind, subject)) == due_ms:
                return due_ms
            heapq.heappop(self._heap)
        return None

    def take(self, now_ms: int) -> Iterator[tuple[decisions.TimerKind, str]]:
        """Take out what is due, in order of its time."""
        while (next_ms := self.next_ms()) is not None and next_ms <= now_ms:
            _, kind, subject = heapq.heappop(self._heap)
            del self._due_ms[kind, subject]
            yield kind, subject


class Timers:
    """Wall-clock timers by (kind, subject); setting one again replaces it."""

    def __init__(
        self,
        clock: ports.Clock,
        alarm: Alarm,
        fire: Fire,
        recheck_seconds: float = RECHECK_SECONDS,
    ) -> None:
        self._clock = clock
        self._alarm = alarm
        self._fire = fire
        self._recheck_seconds = recheck_seconds
        self._due = DueTimes()
        self._changed = asyncio.Event()
        self._armed_ms: int | None = None

    def set(self, action: decisions.SetTimer) -> None:
        """Remind."""
        self._due.set(action.timer, action.subject, action.due_ms)
        self._changed.set()

    async def run(self) -> None:
        """Fire what is due, in order of its time; ends only by being cancelled.

        The alarm is made ready when it is first needed, so that neither a start nor the first tasks
        share the machine with that: not before something is due before the look after the next.
        """
        arm: Arm | None = None
        async with AsyncExitStack() as stack:
            while True:
                self._changed.clear()
                now_ms = self._clock.now_ms()
                for kind, subject in self._due.take(now_ms):
                    self._fire(kind, subject)
                next_ms = self._due.next_ms()
                if next_ms is not None and self._has_to_wake(next_ms, now_ms):
                    if arm is None:
                        arm = await stack.enter_async_context(self._alarm.ready(self._look_again))
                        continue  # that took time
                    self._armed_ms = next_ms
                    arm(next_ms - now_ms)
                await self._wait()

    def _has_to_wake(self, next_ms: int, now_ms: int) -> bool:
        return next_ms != self._armed_ms and next_ms - now_ms < 2000 * self._recheck_seconds

    def _look_again(self) -> None:
        self._armed_ms = None  # if that was too early, it is armed anew for the same time
        self._changed.set()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._recheck_seconds):
                await self._changed.wait()
        except TimeoutError:
            self._look_again()
