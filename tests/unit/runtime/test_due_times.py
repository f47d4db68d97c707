"""The table of due times behind the timers."""

import random
import tracemalloc

import pytest

from daemon.domain import decisions
from daemon.runtime import alarm

BUDGET = decisions.TimerKind.TASK_BUDGET
MANY = 10_000


def test_what_was_replaced_takes_no_room() -> None:
    times = alarm.DueTimes()
    tracemalloc.start()
    for due_ms in range(MANY):
        times.set(BUDGET, "task", 10**12 + due_ms)
    taken_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken_bytes < 20_000


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
