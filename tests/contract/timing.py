"""Timers that run over an alarm, and what they fired: by hand-moved clocks, or by the alarm."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TypeAlias

from daemon import alarm_clock
from daemon.domain import decisions
from daemon.runtime import alarm, clock, ports
from tests.fakes import hand_alarm
from tests.unit.runtime import rig

AnyAlarm: TypeAlias = alarm_clock.AlarmClock | hand_alarm.HandAlarm
BUDGET = decisions.TimerKind.TASK_BUDGET
NEVER_SECONDS = 10**6


class ReadClock(rig.HandClock):
    """Moved by hand; tells when it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = asyncio.Event()

    def now_ms(self) -> int:
        self.read.set()
        return super().now_ms()


class Ticking:
    """Timers that run, and what they fired."""

    def __init__(self, now: ports.Clock, waker: alarm.Alarm, recheck_seconds: float) -> None:
        self.fired: list[str] = []
        self.early: list[str] = []
        self._clock = now
        self._fires = asyncio.Event()
        self._due_ms: dict[str, int] = {}
        self._timers = alarm.Timers(now, waker, self._fire, recheck_seconds)
        self._running: asyncio.Task[None] | None = None

    def _fire(self, kind: decisions.TimerKind, subject: str) -> None:
        if self._clock.now_ms() < self._due_ms[f"{kind}:{subject}"]:
            self.early.append(subject)
        self.fired.append(subject)
        self._fires.set()

    def set(self, subject: str, due_ms: int, kind: decisions.TimerKind = BUDGET) -> None:
        self._due_ms[f"{kind}:{subject}"] = due_ms
        self._timers.set(decisions.SetTimer(timer=kind, subject=subject, due_ms=due_ms))

    def start(self) -> None:
        self._running = asyncio.create_task(self._timers.run())

    async def stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def until(self, fired: Sequence[str]) -> None:
        """Wait until exactly this was fired, and none of it early."""
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            while len(self.fired) < len(fired):
                self._fires.clear()
                await self._fires.wait()
        assert self.fired == list(fired)
        assert self.early == []


class ByHand(Ticking):
    """Over a clock moved by hand, looked at again at once."""

    def __init__(self, waker: alarm.Alarm) -> None:
        self.clock = ReadClock()
        super().__init__(self.clock, waker, recheck_seconds=0.001)

    def after(self, subject: str, after_ms: int, kind: decisions.TimerKind = BUDGET) -> None:
        self.set(subject, rig.START_MS + after_ms, kind)

    async def step(self, by_ms: int) -> None:
        """Move the clock, and wait until the timers have looked at it."""
        self.clock.ms += by_ms
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            for _ in range(3):
                self.clock.read.clear()
                await self.clock.read.wait()


def come(waker: AnyAlarm, elapsed_ms: int) -> None:
    """Let time come; real time comes by itself."""
    if isinstance(waker, hand_alarm.HandAlarm):
        waker.pass_ms(elapsed_ms)


class Stepped:
    """A clock that was put forward or back."""

    def __init__(self, inner: ports.Clock) -> None:
        self._inner = inner
        self.by_ms = 0

    def now_ms(self) -> int:
        return self._inner.now_ms() + self.by_ms

    def monotonic_ms(self) -> int:
        return self._inner.monotonic_ms()

    def utc_offset_minutes(self) -> int:
        return self._inner.utc_offset_minutes()


class ByAlarm(Ticking):
    """Timers that nothing but their alarm wakes, over the clock that it goes by."""

    def __init__(self, waker: AnyAlarm) -> None:
        self._waker = waker
        self._hand = rig.HandClock() if isinstance(waker, hand_alarm.HandAlarm) else None
        self.clock = Stepped(self._hand or clock.SystemClock())
        super().__init__(self.clock, waker, NEVER_SECONDS)

    async def comes(self, fired: Sequence[str]) -> None:
        """Wait for time to come until exactly this was fired."""
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            while len(self.fired) < len(fired):
                if self._hand is None:
                    self._fires.clear()
                    await self._fires.wait()
                else:
                    self._hand.ms += 1
                    come(self._waker, 1)
                    await rig.settle()
        await self.until(fired)
