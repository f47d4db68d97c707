"""A week of fifty schedules with starts anew and steps of the clock: each due time exactly once."""

from collections import Counter
from pathlib import Path

import pytest

from daemon.domain import schedules, views
from tests.conftest import Figures, Rounds
from tests.simulation import expected_runs, week_daemon, week_plan

What = week_plan.What
_PAGE_ROWS = 100
_WEEKS_OF_100 = 20
"""A full acceptance run has five weeks, an ordinary one has one."""

Table = dict[tuple[int, int], schedules.RunState]


async def all_runs(week: week_daemon.Week) -> list[views.RunView]:
    """Every row of the history, page by page."""
    found: list[views.RunView] = []
    before: int | None = None
    while True:
        page = await week.store.runs(_PAGE_ROWS, before)
        found.extend(page.rows)
        before = page.next_before
        if before is None:
            return found


async def table(week: week_daemon.Week) -> Table:
    """What the history says of each due time; none may be there twice."""
    rows = [
        (week.made[one.schedule_id].number, one.due_ms, one.state) for one in await all_runs(week)
    ]
    found = {(number, due_ms): became for number, due_ms, became in rows}
    assert len(found) == len(rows), "a due time has two rows"
    return found


async def live_through(seed: int, folder: Path) -> tuple[Table, Table]:
    """What became of each due time, and what should have."""
    week = week_daemon.Week(folder)
    await week.start(clean=True)
    expected: list[expected_runs.Expected] = []
    for wish in week_plan.wishes(seed):
        await week.make(wish)
        expected.append(expected_runs.Expected(wish, week.elapsed_ms, week.offset_ms))
    for one in week_plan.happenings(seed):
        moment = max(week.elapsed_ms, week_plan.BEGIN_MS + one.after_ms)
        if one.what is What.KILL:
            await week.kill(moment)
        else:
            await week.until(moment)
        for schedule in expected:
            schedule.until(moment)
        await happen(week, expected, one)
    end = week_plan.BEGIN_MS + week_plan.WEEK_MS + 5 * week_plan.DAY_MS
    await week.until(end)
    for schedule in expected:
        schedule.until(end)
    became = await table(week)
    await week.stop()
    should = {
        (one.wish.number, due_ms): state for one in expected for due_ms, state in one.rows.items()
    }
    return became, should


async def happen(
    week: week_daemon.Week,
    expected: list[expected_runs.Expected],
    one: week_plan.Happening,
) -> None:
    match one.what:
        case What.KILL | What.DRAIN:
            if one.what is What.DRAIN:
                await week.stop()
            week.elapsed_ms += one.value
            await week.start(clean=one.what is What.DRAIN)
            for schedule in expected:
                schedule.starts_anew(week.elapsed_ms, one.what is What.KILL)
                schedule.until(week.elapsed_ms)
        case What.STEP:
            week.step(one.value)
            for schedule in expected:
                schedule.offset_ms = week.offset_ms
        case What.PAUSE | What.RESUME:
            await week.pause(one.value, one.what is What.PAUSE)
            schedule = expected[one.value]
            (schedule.pause if one.what is What.PAUSE else schedule.resume)()
        case What.DELETE:
            await week.delete(one.value)
            expected[one.value].delete()


def differing(became: Table, should: Table) -> dict[tuple[int, int], tuple[object, object]]:
    keys = sorted(became.keys() | should.keys())
    pairs = {key: (became.get(key), should.get(key)) for key in keys}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


@pytest.mark.acceptance(38)
@pytest.mark.acceptance(9)
@pytest.mark.timeout(240)
async def test_each_due_time_of_a_week_is_accounted_for_once(
    tmp_path: Path, rounds: Rounds, figures: Figures, seed: int
) -> None:
    weeks = max(1, rounds(100) // _WEEKS_OF_100)
    states: Counter[schedules.RunState] = Counter()
    for number in range(weeks):
        became, should = await live_through(seed + number, tmp_path / str(number))
        assert differing(became, should) == {}
        states.update(became.values())
    figures("weeks", weeks)
    figures("due times", states.total())
    figures("states", ", ".join(f"{name} {count}" for name, count in sorted(states.items())))
    figures("lost or double", 0)
