"""Work on other threads: answers come back, and nobody waits for ever."""

import asyncio
import functools
import threading
from collections.abc import Iterator

import pytest

from daemon.domain import errors
from daemon.storage import threads


@pytest.fixture
def lane() -> Iterator[threads.Threads]:
    lane = threads.Threads("test", 1)
    lane.start()
    yield lane
    lane.stop()


async def test_an_answer_comes_back(lane: threads.Threads) -> None:
    name = await lane.run(lambda: threading.current_thread().name)
    assert name == "test-0"


async def test_what_a_caller_can_act_on_is_raised_there(lane: threads.Threads) -> None:
    def full() -> None:
        raise errors.StorageFull("full")

    with pytest.raises(errors.StorageFull):
        await lane.run(full)
    assert await lane.run(lambda: 1) == 1


async def test_one_thread_works_in_order(lane: threads.Threads) -> None:
    done: list[int] = []
    await asyncio.gather(*(lane.run(functools.partial(done.append, n)) for n in range(20)))
    assert done == list(range(20))


async def test_work_whose_caller_left_before_it_began_is_not_done(lane: threads.Threads) -> None:
    hold, done = threading.Event(), []
    held = asyncio.create_task(lane.run(hold.wait))
    left = asyncio.create_task(lane.run(lambda: done.append(1)))
    await asyncio.sleep(0)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    hold.set()
    await held
    await lane.run(lambda: None)
    assert not done


async def test_a_thread_that_is_stuck_is_an_error_for_all() -> None:
    lane, hold = threads.Threads("test", 1, stuck_seconds=0.05), threading.Event()
    lane.start()
    with pytest.raises(errors.StorageLost, match="stuck"):
        await lane.run(hold.wait)
    with pytest.raises(errors.StorageLost, match="stuck"):
        await lane.run(lambda: None)
    hold.set()
    lane.stop()


async def test_a_fault_of_the_work_is_its_callers_alone(lane: threads.Threads) -> None:
    empty: dict[str, int] = {}
    first = asyncio.create_task(lane.run(lambda: empty["no"]))
    second = asyncio.create_task(lane.run(lambda: 1))
    with pytest.raises(KeyError):
        await first
    assert await second == 1


def test_a_loop_that_is_gone_does_not_break_the_thread() -> None:
    lane, hold = threads.Threads("test", 1), threading.Event()
    lane.start()

    async def leave() -> None:
        task = asyncio.create_task(lane.run(hold.wait))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())
    hold.set()
    assert asyncio.run(lane.run(lambda: 3)) == 3
    lane.stop()
