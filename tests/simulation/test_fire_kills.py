"""kill -9 between the moment at which a schedule is due and the end of its run: one task a time."""

import random
from collections import Counter

import grpc
import pytest

from daemon.domain import decisions
from daemon.runtime import failpoints
from proto.ducklm.v1 import events_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import crashing_daemon, daemon_process, invariants, planner

Policy = planner.Policy
KILLS = 100
READ = decisions.ReadAnswer.kind
SOON_MS = 1500
"""So long before it is due the daemon is started: it is killed at its start, or when it fires."""
MOST_HITS = 6
"""Commits from the start of a daemon to the end of a run."""
ALL = Policy(missed=Policy.RUN_ALL, catch_up=100, grace_seconds=1, tell=Policy.ON_CHANGE)
ACTIONS = (
    decisions.SetTimer,
    decisions.GatherContext,
    decisions.CallModel,
    decisions.ReadAnswer,
)
COMMITS = (failpoints.BEFORE_COMMIT, failpoints.AFTER_COMMIT)
POINTS = (
    *COMMITS,
    *(point(one.kind) for one in ACTIONS for point in (failpoints.before, failpoints.after)),
)


def dies(planning: planner.Planner, point: str, hit: int, schedule_id: str, due_ms: int) -> bool:
    """Whether a daemon died of itself before the run that is due soon was over."""
    daemon = planning.launch("--point", point, "--hit", str(hit))
    if daemon.serves():
        try:
            planning.until_ended(schedule_id, due_ms)
        except grpc.RpcError as error:
            if not planner.died(error):
                raise
            return daemon.ended() == crashing_daemon.CRASHED
        daemon.kill()
        return False
    return daemon.ended() == crashing_daemon.CRASHED


@pytest.mark.acceptance(38)
@pytest.mark.timeout(300)
def test_one_task_for_each_due_time(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    chance = random.Random(seed)
    planning = planner.Planner(place, daemons)
    first_ms = planning.now_ms() // planner.MINUTE_MS * planner.MINUTE_MS + planner.HOUR_MS
    planning.set(first_ms - 20 * planner.SECOND_MS)
    planning.start()
    schedule_id = planning.minutely(ALL).schedule_id
    planning.daemon.kill()
    kills: Counter[str] = Counter()
    due_ms = first_ms
    while kills.total() < rounds(KILLS):
        planning.set(due_ms - SOON_MS)
        point = chance.choice(POINTS)
        hit = chance.randint(1, MOST_HITS if point in COMMITS else 2)
        kills[point] += dies(planning, point, hit, schedule_id, due_ms)
        due_ms += planner.MINUTE_MS
    planning.set(due_ms - 10 * planner.SECOND_MS)
    planning.start()
    dues = list(range(first_ms, due_ms, planner.MINUTE_MS))
    runs = planning.await_runs(schedule_id, len(dues))
    assert [one.due_at.ToMilliseconds() for one in runs] == dues
    log = planning.api.log()
    invariants.check_sequence(log)
    invariants.check_states(log, planning.api)
    tasks = tasks_by_due(log, schedule_id)
    assert set(tasks) == {one.due_at.ToMilliseconds() for one in runs if one.task_id}
    assert all(len(found) == 1 for found in tasks.values())
    assert [[one.task_id] for one in runs if one.task_id] == [
        tasks[due_ms] for due_ms in sorted(tasks)
    ]
    figures("kills between fire and task", kills.total())
    figures("points", f"{len(+kills)} of {len(POINTS)}")
    figures("due times", len(dues))
    figures("tasks lost or double", 0)


def tasks_by_due(log: list[events_pb2.Event], schedule_id: str) -> dict[int, list[str]]:
    """The tasks that the log has for each time, by what it says of starts and of tasks."""
    submitted = {one.task_id for one in log if one.HasField("task_submitted")}
    found: dict[int, list[str]] = {}
    for one in log:
        started = one.schedule_run_started
        if started.schedule_id == schedule_id:
            assert started.run_task_id in submitted
            found.setdefault(started.due_at.ToMilliseconds(), []).append(started.run_task_id)
    return found


@pytest.mark.acceptance(2)
@pytest.mark.parametrize("point", [failpoints.before(READ), failpoints.after(READ)])
def test_an_answer_is_read_again_after_a_crash(
    point: str, place: daemon_process.Place, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    """The run's task has ended, and whether its answer is another was not kept."""
    planning = planner.Planner(place, daemons)
    daemon = planning.launch("--point", point)
    assert daemon.serves()
    schedule_id = planning.make("0 0 1 1 *", ALL).schedule_id
    run_id = planning.api.run_now(schedule_id, "now").task_id
    assert daemon.ended() == crashing_daemon.CRASHED
    planning.start()
    (run,) = planning.await_runs(schedule_id, 1)
    assert (run.state, run.task_id) == (planner.Run.DONE, run_id)
    kinds = [one.WhichOneof("kind") for one in planning.api.log()]
    assert kinds.count("schedule_run_ended") == 1
    figures("read again after", point)
