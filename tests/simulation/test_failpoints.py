"""The process ends before and after every commit and every action: the same holds as when killed.

The list of points is the product's own, made from its code. A day's work passes all of them but
those around a reconciliation, which only follows a crash and so gets a crash of its own.
"""

import random
from collections import Counter

import pytest

from daemon.domain import decisions
from daemon.runtime import failpoints
from proto.ducklm.v1 import common_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, invariants, working_days

EXTRA_CRASHES = 100
TOOL, RECONCILE, REVERT, READ = (
    (failpoints.before(kind), failpoints.after(kind))
    for kind in (
        decisions.CallTool.kind,
        decisions.ReconcileCall.kind,
        decisions.RevertCommits.kind,
        decisions.ReadAnswer.kind,
    )
)
ELSEWHERE = {*REVERT, *READ}
"""They have tests of their own: `test_undo_crashes`, `test_fire_kills`."""


def plan(passed: Counter[str], chance: random.Random, extra: int) -> list[tuple[str, int]]:
    """Each point that a day passes at one of its hits, and so many hits more."""
    everything = [(point, hit) for point in passed for hit in range(1, passed[point] + 1)]
    chance.shuffle(everything)
    first = {point: (point, hit) for point, hit in everything}
    more = [one for one in everything if one not in first.values()]
    chosen = [*first.values(), *more[:extra]]
    chance.shuffle(chosen)
    return chosen


def points_of_a_day(
    work: working_days.Work, place: daemon_process.Place, daemons: daemon_process.Daemons
) -> Counter[str]:
    """The points that an undisturbed day passes, and how often."""
    passed = place.outside / "passed"
    daemon = daemons.start("--passed", str(passed), module=working_days.MODULE)
    work.add()
    work.finish(daemon.api)
    daemon.kill()
    return Counter(daemon_process.lines_of(passed))


@pytest.mark.acceptance(2)
@pytest.mark.timeout(300)
def test_every_point_may_be_the_last(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare(working_days.lines(place))
    work = working_days.Work(place, daemons)
    passed = points_of_a_day(work, place, daemons)
    assert set(passed) == set(failpoints.every()) - {*RECONCILE, *ELSEWHERE}
    crashes: Counter[str] = Counter()
    for point, hit in plan(passed, random.Random(seed), rounds(EXTRA_CRASHES)):
        work.add()
        crashes[point] += work.crash(point, hit)
    finish_all(work, daemons)
    for first in TOOL:
        work.add(working_days.WRITE)
        crashes[first] += work.crash(first, 1)
        for point in RECONCILE:
            crashes[point] += work.crash(point, 1)
        finish_all(work, daemons)
    missed = set(failpoints.every()) - set(+crashes) - ELSEWHERE
    assert missed == set()
    daemon = daemons.start()
    check(work, daemon.api, place)
    figures("crashes", crashes.total())
    figures("points", f"{len(+crashes)} of {len(failpoints.every())}")
    figures("days", len(work.days))
    figures("lost or double", 0)


def finish_all(work: working_days.Work, daemons: daemon_process.Daemons) -> None:
    daemon = daemons.start()
    work.finish(daemon.api)
    daemon.kill()


def check(work: working_days.Work, speaks: client.Client, place: daemon_process.Place) -> None:
    """Nothing is lost, and what is unsafe happened exactly once: the person looked each time."""
    log = speaks.log()
    invariants.check_sequence(log)
    invariants.check_calls(log, place.noted())
    invariants.check_states(log, speaks)
    tasks = speaks.tasks()
    assert len(tasks) == sum(len(day.tasks) for day in work.days)
    noted = Counter(place.noted())
    for day in work.days:
        for text, task_id in day.tasks.items():
            if text == working_days.SPEAK:
                assert tasks[task_id].state == common_pb2.CANCELLED
            else:
                assert tasks[task_id].state == common_pb2.COMPLETED, tasks[task_id]
            if text == working_days.USE:
                calls = invariants.calls_of(speaks.log(task_id)).items()
                assert sum(noted[c] for c, call in calls if call.effect == "unsafe") == 1
        if working_days.USE in day.tasks:
            assert work.runs(day) == 1
