"""The real clock, real chance, and the timers that follow the wall clock through its jumps."""

import asyncio
import secrets
import time
from collections.abc import Callable

from daemon.domain import decisions
from daemon.runtime import ports

RECHECK_SECONDS = 30.0
"""How long a step of the wall clock can stay unnoticed by a waiting timer."""
_SEED_BYTES = 16
_SEEDS_DRAWN = 64
"""Taken from the operating system at once: a call of it costs as much as a fold of an event."""


class SystemClock:
    """The machine's clock."""

    def __init__(self) -> None:
        self._offset_asked = -1
        self._offset_minutes = 0

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def utc_offset_minutes(self) -> int:
        minute = int(time.time()) // 60  # it changes at the full minute, and is asked for often
        if minute != self._offset_asked:
            self._offset_asked = minute
            self._offset_minutes = time.localtime().tm_gmtoff // 60
        return self._offset_minutes


class SystemChance:
    """The operating system's randomness. For one thread."""

    def __init__(self) -> None:
        self._seeds: list[str] = []

    def seed(self) -> str:
        if not self._seeds:
            drawn = secrets.token_hex(_SEED_BYTES * _SEEDS_DRAWN)
            size = 2 * _SEED_BYTES
            self._seeds = [drawn[at : at + size] for at in range(0, len(drawn), size)]
        return self._seeds.pop()


Fire = Callable[[decisions.TimerKind, str], None]


class Timers:
    """Wall-clock timers by (kind, subject); setting one again replaces it."""

    def __init__(self, clock: ports.Clock, fire: Fire) -> None:
        self._clock = clock
        self._fire = fire
        self._due_ms: dict[tuple[decisions.TimerKind, str], int] = {}
        self._changed = asyncio.Event()

    def set(self, action: decisions.SetTimer) -> None:
        self._due_ms[action.timer, action.subject] = action.due_ms
        self._changed.set()

    async def run(self) -> None:
        """Fire what is due, in order of its time; ends only by being cancelled."""
        while True:
            self._changed.clear()
            now_ms = self._clock.now_ms()
            due = sorted((at, key) for key, at in self._due_ms.items() if at <= now_ms)
            for _, (kind, subject) in due:
                del self._due_ms[kind, subject]
                self._fire(kind, subject)
            if not due:
                await self._wait(now_ms)

    async def _wait(self, now_ms: int) -> None:
        until_next = min(self._due_ms.values(), default=now_ms + 3_600_000) - now_ms
        try:
            async with asyncio.timeout(min(until_next / 1000, RECHECK_SECONDS)):
                await self._changed.wait()
        except TimeoutError:
            return
