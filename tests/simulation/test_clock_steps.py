"""Steps of the clock by an hour and by a day, over a restart and while the daemon runs."""

import pytest

from proto.ducklm.v1 import common_pb2
from tests.conftest import Figures
from tests.simulation import daemon_process, invariants, planner
from tests.simulation.planner import Policy, Run

HOURLY = Policy(missed=Policy.RUN_ALL, catch_up=100, grace_seconds=30)


@pytest.mark.acceptance(9)
@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["while it runs", "over a restart", "over a drain"])
def test_schedules_questions_and_the_log(
    place: daemon_process.Place, daemons: daemon_process.Daemons, figures: Figures, way: str
) -> None:
    """No time comes twice when the clock goes back, and none is lost when it goes ahead; a question
    expires when its own time has come, and the log keeps its order."""
    planning = planner.Planner(place, daemons)
    hour_ms = planning.now_ms() // planner.HOUR_MS * planner.HOUR_MS + planner.HOUR_MS
    planning.set(hour_ms + 10 * planner.MINUTE_MS)
    planning.start()
    schedule_id = planning.make("0 * * * *", HOURLY).schedule_id
    asked = planning.api.submit("`touch file`").task_id
    wait_for(planning, asked, common_pb2.AWAITING_APPROVAL)
    dues: list[int] = []
    for by_ms, comes in (
        (planner.HOUR_MS, 1),
        (-planner.HOUR_MS, 0),
        (planner.HOUR_MS, 0),
        (planner.HOUR_MS, 1),
        (-planner.DAY_MS, 0),
        (planner.DAY_MS, 0),
        (planner.HOUR_MS, 1),
        (planner.DAY_MS, 24),
    ):
        step(planning, way, by_ms)
        dues += [hour_ms + (len(dues) + number + 1) * planner.HOUR_MS for number in range(comes)]
        runs = planning.await_runs(schedule_id, len(dues))
        assert [one.due_at.ToMilliseconds() for one in runs] == dues
        assert {one.state for one in runs} == {Run.DONE}
        pending = [one.task_id for one in planning.api.pending()]
        assert pending == ([asked] if len(dues) < 24 else [])
    wait_for(planning, asked, common_pb2.FAILED)
    log = planning.api.log()
    invariants.check_sequence(log)
    invariants.check_states(log, planning.api)
    ended = [one.approval_resolved for one in log if one.HasField("approval_resolved")]
    assert [one.outcome for one in ended] == ["expired"]
    figures(f"{way}: due times", len(dues))


@pytest.mark.acceptance(9)
def test_the_times_that_are_told_are_to_come(
    place: daemon_process.Place, daemons: daemon_process.Daemons
) -> None:
    """By the daemon's own clock: of what has been paused for long, of words, of a last run."""
    planning = planner.Planner(place, daemons)
    planning.start()
    paused = planning.make("0 * * * *", HOURLY).schedule_id
    planning.api.pause(paused)
    last = planning.make("30 * * * *", Policy(most_runs=1)).schedule_id
    assert len(planning.api.schedule_of(last).times.next) == 1
    planning.step(30 * planner.DAY_MS)
    now_ms = planning.now_ms()
    told = [one.ToMilliseconds() for one in planning.api.schedule_of(paused).times.next]
    assert len(told) == 3
    assert now_ms < told[0] <= now_ms + planner.HOUR_MS
    (heard,) = planning.api.preview("in 20 minutes", "UTC").next
    assert 0 <= heard.ToMilliseconds() - now_ms - 20 * planner.MINUTE_MS < planner.MINUTE_MS


def step(planning: planner.Planner, way: str, by_ms: int) -> None:
    if way == "while it runs":
        planning.step(by_ms)
        return
    if way == "over a drain":
        planning.daemon.terminate()
        planning.daemon.ended()
    else:
        planning.daemon.kill()
    planning.step(by_ms)
    planning.start()


def wait_for(
    planning: planner.Planner, task_id: str, state: common_pb2.TaskState.ValueType
) -> None:
    for update in planning.api.follow(0, task_id, live=False):
        if update.event.task_state_changed.to == state:
            return
