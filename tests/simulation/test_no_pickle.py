"""Nothing that a daemon keeps is pickled: JSON with closed schemas, text, and what people sent."""

import inspect
import pickle
import pickletools
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from apscheduler.jobstores import memory

from daemon import alarm_clock
from tests.conftest import Figures
from tests.simulation import daemon_process, planner
from tests.simulation.planner import Policy

PROTOCOL = b"\x80"
"""How a pickle of protocol 2 or later begins."""
HEADS = tuple(PROTOCOL + bytes([number]) for number in range(2, pickle.HIGHEST_PROTOCOL + 1))
LEAST_BYTES = 8
pytestmark = [pytest.mark.spec("C-05"), pytest.mark.acceptance(38)]


def is_pickled(data: bytes) -> bool:
    """Whether bytes are a pickle, of any protocol, with more in it than a word."""
    if data.startswith(HEADS):
        return True
    try:
        operations = [operation.name for operation, _, _ in pickletools.genops(data)]
    except (ValueError, EOFError, IndexError, KeyError, UnicodeDecodeError):
        return False
    return operations[-1:] == ["STOP"] and len(data) >= LEAST_BYTES


def test_a_pickle_is_known_as_one() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert is_pickled(pickle.dumps({"job": (planner.clock, 1.5)}, protocol))
    assert not is_pickled(b'{"type":"schedule_set","schedule":{}}')


def cells(database: Path) -> Iterator[tuple[str, bytes]]:
    """Every cell of every table that could be one."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                for cell in row:
                    if isinstance(cell, str | bytes):
                        yield table, cell if isinstance(cell, bytes) else cell.encode()


@pytest.mark.timeout(60)
def test_no_store_holds_one(
    place: daemon_process.Place, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    """A state folder in which schedules of each kind were due, with timers that were waiting."""
    planning = planner.Planner(place, daemons)
    planning.start()
    minutely = planning.minutely(Policy(missed=Policy.RUN_ALL, tell=Policy.ON_CHANGE))
    for when in ("every 2h from 2026-01-01 00:10", "every day at 08:00", "every mon at 09:30"):
        planning.make(when, Policy())
    planning.step(3 * planner.MINUTE_MS)
    planning.await_runs(minutely.schedule_id, 2)
    planning.daemon.terminate()
    planning.daemon.ended()
    looked = 0
    for file in (one for one in place.state.rglob("*") if one.is_file()):
        assert not is_pickled(file.read_bytes()), file
        if file.suffix == ".db":
            for table, cell in cells(file):
                looked += 1
                assert not is_pickled(cell), f"{table} of {file.name}"
    assert looked > 100
    figures("cells that are no pickle", looked)


async def test_the_alarm_clock_keeps_its_job_in_memory_alone() -> None:
    """APScheduler pickles what its other job stores hold."""
    async with alarm_clock.AlarmClock().ready(lambda: None) as arm:
        arm(60_000)
        scheduler = inspect.getclosurevars(arm).nonlocals["scheduler"]
        stores = {type(scheduler._lookup_jobstore(alias)) for alias in scheduler._jobstores}
        assert stores == {memory.MemoryJobStore}
        assert len(scheduler.get_jobs()) == 1
