"""The alarms that keep one contract, and the timers over each: every test runs on both.

First the timers over a clock moved by hand, which an alarm knows nothing of: they see its steps by
looking again. Then the alarm alone, with looks so seldom that nothing else could have woken.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, suppress
from typing import TypeAlias

import pytest

from daemon import alarm_clock
from daemon.domain import decisions
from daemon.runtime import alarm, clock, ports
from tests.fakes import hand_alarm
from tests.unit.runtime import rig

AnyAlarm: TypeAlias = alarm_clock.AlarmClock | hand_alarm.HandAlarm
BUDGET, APPROVAL = decisions.TimerKind.TASK_BUDGET, decisions.TimerKind.APPROVAL_EXPIRY
SECOND_MS = 1000
HOUR_MS = 3600 * SECOND_MS
DAY_MS = 24 * HOUR_MS
NEVER_SECONDS = 10**6
MANY = 10_000
SET_SECONDS_AT_MOST = 0.0001


class ReadClock(rig.HandClock):
    """Moved by hand; tells when it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.read = asyncio.Event()

    def now_ms(self) -> int:
        self.read.set()
        return super().now_ms()


@pytest.fixture(params=["apscheduler", "by hand"])
def waker(request: pytest.FixtureRequest) -> AnyAlarm:
    return alarm_clock.AlarmClock() if request.param == "apscheduler" else hand_alarm.HandAlarm()


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


@pytest.fixture
async def ticking(waker: AnyAlarm) -> AsyncIterator[ByHand]:
    async with AsyncExitStack() as stack:
        made = ByHand(waker)
        stack.push_async_callback(made.stop)
        made.start()
        yield made
    assert made.early == []


class TestTimers:
    async def test_each_fires_once_at_its_time_in_order(self, ticking: ByHand) -> None:
        for subject, after_ms in (("late", 200), ("soon", 100), ("later", 300)):
            ticking.after(subject, after_ms)
        await ticking.step(99)
        assert ticking.fired == []
        await ticking.step(101)
        assert ticking.fired == ["soon", "late"]
        await ticking.step(100)
        await ticking.step(1000)
        assert ticking.fired == ["soon", "late", "later"]

    @pytest.mark.parametrize("again_ms", [50, 100, 200])
    async def test_setting_again_replaces(self, ticking: ByHand, again_ms: int) -> None:
        ticking.after("task", 100)
        await ticking.step(0)
        ticking.after("task", again_ms)
        await ticking.step(again_ms - 1)
        assert ticking.fired == []
        await ticking.step(1)
        assert ticking.fired == ["task"]
        await ticking.step(HOUR_MS)
        assert ticking.fired == ["task"]

    async def test_it_can_be_set_anew_when_it_has_fired(self, ticking: ByHand) -> None:
        ticking.after("task", 100)
        await ticking.step(100)
        ticking.after("task", 300)
        await ticking.step(199)
        assert ticking.fired == ["task"]
        await ticking.step(1)
        assert ticking.fired == ["task", "task"]

    async def test_kinds_are_apart(self, ticking: ByHand) -> None:
        ticking.after("x", 100)
        ticking.after("x", 200, APPROVAL)
        await ticking.step(100)
        assert ticking.fired == ["x"]
        await ticking.step(100)
        assert ticking.fired == ["x", "x"]

    async def test_what_is_past_fires_at_once(self, ticking: ByHand) -> None:
        ticking.after("past", -100)
        ticking.after("long past", -DAY_MS)
        await ticking.until(["long past", "past"])

    async def test_what_is_set_before_they_run_is_kept(self, waker: AnyAlarm) -> None:
        made = ByHand(waker)
        made.after("soon", 100)
        made.after("past", -100)
        made.after("replaced", -200)
        made.after("replaced", 50)
        made.start()
        await made.until(["past"])
        await made.step(100)
        await made.stop()
        assert made.fired == ["past", "replaced", "soon"]

    async def test_when_ended_it_fires_no_more(self, ticking: ByHand, waker: AnyAlarm) -> None:
        ticking.after("past", 0)
        await ticking.until(["past"])
        ticking.after("task", 1)
        await ticking.stop()
        ticking.clock.ms += HOUR_MS
        _come(waker, HOUR_MS)
        await rig.settle()
        assert ticking.fired == ["past"]


STEPS = {
    "an hour back": (-HOUR_MS,),
    "an hour ahead": (HOUR_MS,),
    "a day back": (-DAY_MS,),
    "a day ahead": (DAY_MS,),
    "back and ahead": (-DAY_MS, DAY_MS),
    "back, ahead and further": (-HOUR_MS, DAY_MS, -DAY_MS, 2 * HOUR_MS),
}


@pytest.mark.acceptance(9)
class TestSteps:
    """Of the clock while timers wait. Nothing but time itself tells them."""

    @pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
    async def test_fires_by_the_clock_as_it_is(
        self, ticking: ByHand, steps: tuple[int, ...]
    ) -> None:
        waits = {"minute": 60 * SECOND_MS, "hour": HOUR_MS, "two days": 2 * DAY_MS}
        for subject, after_ms in waits.items():
            ticking.after(subject, after_ms)
        await ticking.step(0)
        farthest_ms = at_ms = 0
        for by_ms in steps:
            await ticking.step(by_ms)
            at_ms += by_ms
            farthest_ms = max(farthest_ms, at_ms)
            assert ticking.fired == [one for one, ms in waits.items() if ms <= farthest_ms]
        for subject, after_ms in waits.items():
            if subject not in ticking.fired:
                await ticking.step(after_ms - 1 - at_ms)
                assert subject not in ticking.fired
                await ticking.step(1)
                at_ms = after_ms
                assert ticking.fired[-1] == subject
        assert ticking.fired == list(waits)

    async def test_what_a_step_passes_over_fires_in_order(self, ticking: ByHand) -> None:
        subjects = [f"{number:03}" for number in range(100)]
        shuffled = random.Random(9).sample(subjects, len(subjects))
        for subject in shuffled:
            ticking.after(subject, SECOND_MS * (1 + int(subject)))
        await ticking.step(-DAY_MS)
        assert ticking.fired == []
        await ticking.step(DAY_MS + 50 * SECOND_MS)
        assert ticking.fired == subjects[:50]
        await ticking.step(-HOUR_MS)
        await ticking.step(2 * HOUR_MS)
        assert ticking.fired == subjects

    async def test_a_time_given_after_a_step_is_by_the_new_clock(self, ticking: ByHand) -> None:
        ticking.after("before", 100)
        await ticking.step(-HOUR_MS)
        ticking.after("since", 100 - HOUR_MS)
        await ticking.step(100)
        assert ticking.fired == ["since"]
        await ticking.step(HOUR_MS)
        assert ticking.fired == ["since", "before"]

    def test_no_step_is_unnoticed_for_longer_than_half_a_minute(self) -> None:
        assert alarm.RECHECK_SECONDS <= 30


async def test_thousands_are_cheap_and_in_order(ticking: ByHand) -> None:
    chance = random.Random(4)
    await ticking.step(0)
    due_ms = {str(number): 0 for number in range(MANY)}
    began = time.perf_counter()
    for _ in ("set", "replaced"):
        for subject in due_ms:
            due_ms[subject] = chance.randrange(1, HOUR_MS)
            ticking.after(subject, due_ms[subject])
    assert (time.perf_counter() - began) / (2 * MANY) < SET_SECONDS_AT_MOST
    in_order = sorted(due_ms, key=lambda subject: (due_ms[subject], subject))
    half = sum(due_ms[subject] <= HOUR_MS // 2 for subject in due_ms)
    await ticking.step(HOUR_MS // 2)
    assert ticking.fired == in_order[:half]
    await ticking.step(HOUR_MS)
    assert ticking.fired == in_order


def _come(waker: AnyAlarm, elapsed_ms: int) -> None:
    """Let time come; real time comes by itself."""
    if isinstance(waker, hand_alarm.HandAlarm):
        waker.pass_ms(elapsed_ms)


class ByAlarm(Ticking):
    """Timers that nothing but their alarm wakes, over the clock that it goes by."""

    def __init__(self, waker: AnyAlarm) -> None:
        self._waker = waker
        self._hand = rig.HandClock() if isinstance(waker, hand_alarm.HandAlarm) else None
        self.clock: ports.Clock = self._hand or clock.SystemClock()
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
                    _come(self._waker, 1)
                    await rig.settle()
        await self.until(fired)


@pytest.fixture
async def alone(waker: AnyAlarm) -> AsyncIterator[ByAlarm]:
    made = ByAlarm(waker)
    made.set("ready", 0)
    made.start()
    await made.until(["ready"])
    yield made
    await made.stop()


class TestAlarm:
    async def test_it_rings_for_one_after_the_other(self, alone: ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        subjects = [f"{number:03}" for number in range(200)]
        for subject in reversed(subjects):
            alone.set(subject, now_ms + 20 + int(subject))
        await alone.comes(["ready", *subjects])

    async def test_one_that_is_due_sooner_rings_sooner(self, alone: ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        alone.set("far", now_ms + 400 * DAY_MS)
        await rig.settle()
        alone.set("hour", now_ms + HOUR_MS)
        await rig.settle()
        alone.set("soon", now_ms + 20)
        await alone.comes(["ready", "soon"])

    async def test_what_was_put_off_does_not_ring(self, alone: ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        alone.set("task", now_ms + 20)
        await rig.settle()
        alone.set("task", now_ms + HOUR_MS)
        alone.set("other", now_ms + 60)
        await alone.comes(["ready", "other"])

    async def test_a_time_beyond_all_calendars_harms_nothing(self, alone: ByAlarm) -> None:
        alone.set("never", 10**18)
        await rig.settle()
        alone.set("soon", alone.clock.now_ms() + 20)
        await alone.comes(["ready", "soon"])


@pytest.mark.parametrize("seed", range(20))
def test_the_times_are_those_of_a_plain_table(seed: int) -> None:
    chance, times = random.Random(seed), alarm.DueTimes()
    table: dict[str, int] = {}
    for _ in range(2000):
        if chance.random() < 0.97:
            subject, due_ms = str(chance.randrange(60)), chance.randrange(1000)
            table[subject] = due_ms
            times.set(BUDGET, subject, due_ms)
        else:
            now_ms = chance.randrange(300)
            due = sorted((at, one) for one, at in table.items() if at <= now_ms)
            assert [one for _, one in times.take(now_ms)] == [one for _, one in due]
            for _, one in due:
                del table[one]
        assert times.next_ms() == min(table.values(), default=None)
