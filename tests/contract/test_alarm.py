"""The alarms that keep one contract, and the timers over each: every test runs on both.

First the timers over a clock moved by hand, which an alarm knows nothing of: they see its steps by
looking again. Then those that only their alarm wakes, looking too seldom to have done it; and it
alone.
"""

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack

import pytest

from daemon import alarm_clock
from daemon.domain import decisions
from daemon.runtime import alarm
from tests.contract import timing
from tests.fakes import hand_alarm
from tests.unit.runtime import rig

APPROVAL = decisions.TimerKind.APPROVAL_EXPIRY
SECOND_MS = 1000
HOUR_MS = 3600 * SECOND_MS
DAY_MS = 24 * HOUR_MS
MANY = 10_000
SET_SECONDS_AT_MOST = 0.0001


class Unneeded:
    """An alarm that nobody should make ready."""

    def ready(self, ring: Callable[[], None]) -> AbstractAsyncContextManager[alarm.Arm]:
        raise AssertionError("it was not needed")


@pytest.fixture(params=["apscheduler", "by hand"])
def waker(request: pytest.FixtureRequest) -> timing.AnyAlarm:
    return alarm_clock.AlarmClock() if request.param == "apscheduler" else hand_alarm.HandAlarm()


@pytest.fixture
async def ticking(waker: timing.AnyAlarm) -> AsyncIterator[timing.ByHand]:
    async with AsyncExitStack() as stack:
        made = timing.ByHand(waker)
        stack.push_async_callback(made.stop)
        made.start()
        yield made
    assert made.early == []


class TestTimers:
    async def test_each_fires_once_at_its_time_in_order(self, ticking: timing.ByHand) -> None:
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
    async def test_setting_again_replaces(self, ticking: timing.ByHand, again_ms: int) -> None:
        ticking.after("task", 100)
        await ticking.step(0)
        ticking.after("task", again_ms)
        await ticking.step(again_ms - 1)
        assert ticking.fired == []
        await ticking.step(1)
        assert ticking.fired == ["task"]
        await ticking.step(HOUR_MS)
        assert ticking.fired == ["task"]

    async def test_it_can_be_set_anew_when_it_has_fired(self, ticking: timing.ByHand) -> None:
        ticking.after("task", 100)
        await ticking.step(100)
        ticking.after("task", 300)
        await ticking.step(199)
        assert ticking.fired == ["task"]
        await ticking.step(1)
        assert ticking.fired == ["task", "task"]

    async def test_kinds_are_apart(self, ticking: timing.ByHand) -> None:
        ticking.after("x", 100)
        ticking.after("x", 200, APPROVAL)
        await ticking.step(100)
        assert ticking.fired == ["x"]
        await ticking.step(100)
        assert ticking.fired == ["x", "x"]

    async def test_what_is_past_fires_at_once(self, ticking: timing.ByHand) -> None:
        ticking.after("past", -100)
        ticking.after("long past", -DAY_MS)
        await ticking.until(["long past", "past"])

    async def test_what_is_set_before_they_run_is_kept(self, waker: timing.AnyAlarm) -> None:
        made = timing.ByHand(waker)
        made.after("soon", 100)
        made.after("past", -100)
        made.after("replaced", -200)
        made.after("replaced", 50)
        made.start()
        await made.until(["past"])
        await made.step(100)
        await made.stop()
        assert made.fired == ["past", "replaced", "soon"]

    async def test_when_ended_it_fires_no_more(
        self, ticking: timing.ByHand, waker: timing.AnyAlarm
    ) -> None:
        ticking.after("past", 0)
        await ticking.until(["past"])
        ticking.after("task", 1)
        await ticking.stop()
        ticking.clock.ms += HOUR_MS
        timing.come(waker, HOUR_MS)
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
        self, ticking: timing.ByHand, steps: tuple[int, ...]
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

    async def test_what_a_step_passes_over_fires_in_order(self, ticking: timing.ByHand) -> None:
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

    async def test_a_time_given_after_a_step_is_by_the_new_clock(
        self, ticking: timing.ByHand
    ) -> None:
        ticking.after("before", 100)
        await ticking.step(-HOUR_MS)
        ticking.after("since", 100 - HOUR_MS)
        await ticking.step(100)
        assert ticking.fired == ["since"]
        await ticking.step(HOUR_MS)
        assert ticking.fired == ["since", "before"]

    def test_no_step_is_unnoticed_for_longer_than_half_a_minute(self) -> None:
        assert alarm.RECHECK_SECONDS <= 30


async def test_thousands_are_cheap_and_in_order(ticking: timing.ByHand) -> None:
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


@pytest.fixture
async def alone(waker: timing.AnyAlarm) -> AsyncIterator[timing.ByAlarm]:
    made = timing.ByAlarm(waker)
    made.set("ready", 0)
    made.start()
    await made.until(["ready"])
    yield made
    await made.stop()


class TestAlarm:
    async def test_it_rings_for_one_after_the_other(self, alone: timing.ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        subjects = [f"{number:03}" for number in range(200)]
        for subject in reversed(subjects):
            alone.set(subject, now_ms + 20 + int(subject))
        await alone.comes(["ready", *subjects])

    async def test_one_that_is_due_sooner_rings_sooner(self, alone: timing.ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        alone.set("far", now_ms + 400 * DAY_MS)
        await rig.settle()
        alone.set("hour", now_ms + HOUR_MS)
        await rig.settle()
        alone.set("soon", now_ms + 20)
        await alone.comes(["ready", "soon"])

    async def test_what_was_put_off_does_not_ring(self, alone: timing.ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        alone.set("task", now_ms + 20)
        await rig.settle()
        alone.set("task", now_ms + HOUR_MS)
        alone.set("other", now_ms + 60)
        await alone.comes(["ready", "other"])

    async def test_one_that_rings_too_early_rings_again(self, alone: timing.ByAlarm) -> None:
        alone.set("task", alone.clock.now_ms() + 20)
        await rig.settle()
        alone.clock.by_ms -= 30
        await alone.comes(["ready", "task"])

    async def test_one_that_rings_too_late_fires_at_once(self, alone: timing.ByAlarm) -> None:
        now_ms = alone.clock.now_ms()
        alone.set("soon", now_ms + 20)
        alone.set("later", now_ms + HOUR_MS)
        await rig.settle()
        alone.clock.by_ms += DAY_MS
        await alone.comes(["ready", "soon", "later"])

    async def test_it_rings_on_the_thread_of_the_event_loop(self, waker: timing.AnyAlarm) -> None:
        threads: list[int] = []
        rang = asyncio.Event()

        def ring() -> None:
            threads.append(threading.get_ident())
            asyncio.get_running_loop().call_soon(rang.set)

        async with waker.ready(ring) as arm:
            arm(1)
            timing.come(waker, 1)
            async with asyncio.timeout(rig.PATIENCE_SECONDS):
                await rang.wait()
        assert threads == [threading.get_ident()]

    async def test_left_alone_it_rings_no_more(self, waker: timing.AnyAlarm) -> None:
        rung: list[str] = []
        other_rang = asyncio.Event()
        other = type(waker)()
        async with other.ready(other_rang.set) as arm_other:
            async with waker.ready(lambda: rung.append("left")) as arm:
                arm(20)
            arm_other(60)
            timing.come(waker, 60)
            timing.come(other, 60)
            async with asyncio.timeout(rig.PATIENCE_SECONDS):
                await other_rang.wait()
        assert rung == []

    async def test_a_time_beyond_all_calendars_harms_nothing(self, alone: timing.ByAlarm) -> None:
        alone.set("never", 10**18)
        await rig.settle()
        alone.set("soon", alone.clock.now_ms() + 20)
        await alone.comes(["ready", "soon"])


async def test_no_alarm_is_made_ready_before_it_is_needed() -> None:
    made = timing.ByHand(Unneeded())
    for subject, after_ms in (("far", HOUR_MS), ("past", 0)):
        made.after(subject, after_ms)
    made.start()
    await made.until(["past"])
    await made.step(HOUR_MS)
    assert made.fired == ["past", "far"]
    await made.stop()
