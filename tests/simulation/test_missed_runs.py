"""What became due while no daemon was there, or while one waits for somebody, on real daemons."""

import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2, schedules_pb2
from tests.conftest import Figures
from tests.simulation import daemon_process, invariants, planner
from tests.simulation.planner import Policy, Run

COMMAND = schedules_pb2.Schedule.COMMAND
POLICIES = {
    "skip": Policy(missed=Policy.SKIP, grace_seconds=30),
    "run once": Policy(missed=Policy.RUN_ONCE, grace_seconds=30),
    "run all 3": Policy(missed=Policy.RUN_ALL, catch_up=3, grace_seconds=30, overlap=Policy.WAIT),
}
OVER = frozenset((Run.MISSED, Run.SKIPPED, Run.DONE, Run.FAILED))


def told(runs: list[Run]) -> str:
    """Their states, oldest first; how often each one after the other."""
    names = [Run.State.Name(one.state).lower() for one in runs]
    heads = [at for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
    ends = [*heads[1:], len(names)]
    return ", ".join(f"{end - at} {names[at]}" for at, end in zip(heads, ends, strict=True))


def minute_of(at_ms: int) -> int:
    return at_ms - at_ms % planner.MINUTE_MS


@pytest.mark.acceptance(38)
@pytest.mark.timeout(90)
@pytest.mark.parametrize(
    ("policy", "minute", "day"),
    [
        ("skip", "1 missed, 1 done", "2 missed"),
        ("run once", "1 missed, 1 done", "1 missed, 1 done"),
        ("run all 3", "2 done", "2 done"),
    ],
)
def test_a_miss_of_a_minute_and_of_a_day(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    figures: Figures,
    policy: str,
    minute: str,
    day: str,
) -> None:
    """The daemon is killed in one minute and starts in the one after the next, then two days
    later: each time in between is in the history, once."""
    planning = planner.Planner(place, daemons)
    begin_ms = minute_of(planning.now_ms()) + planner.HOUR_MS
    planning.set(begin_ms + 20 * planner.SECOND_MS)
    planning.start()
    minutely = planning.minutely(POLICIES[policy])
    at = planner.clock(begin_ms + 30 * planner.MINUTE_MS)
    daily = planning.make(f"every day at {at}", POLICIES[policy])
    planning.daemon.kill()
    planning.set(begin_ms + 2 * planner.MINUTE_MS + planner.SECOND_MS)
    planning.start()
    missed = planning.await_runs(minutely.schedule_id, 2)
    assert [one.due_at.ToMilliseconds() for one in missed] == [
        begin_ms + number * planner.MINUTE_MS for number in (1, 2)
    ]
    assert told(missed) == minute
    planning.daemon.kill()
    planning.set(begin_ms + planner.DAY_MS + 2 * planner.HOUR_MS)
    planning.start()
    assert told(planning.await_runs(daily.schedule_id, 2)) == day
    whole = planning.await_runs(minutely.schedule_id, (24 + 2) * 60)
    dues = [one.due_at.ToMilliseconds() for one in whole]
    assert dues == [begin_ms + number * planner.MINUTE_MS for number in range(1, len(dues) + 1)]
    assert {one.state for one in whole} <= OVER
    ran = [one for one in whole[2:] if one.state == Run.DONE]
    assert len(ran) == {"skip": 1, "run once": 1, "run all 3": 3}[policy]
    figures(f"{policy}: minute", told(missed))
    figures(f"{policy}: day", day)


@pytest.mark.acceptance(38)
@pytest.mark.timeout(90)
def test_an_unattended_question_blocks_nobody(
    place: daemon_process.Place, daemons: daemon_process.Daemons
) -> None:
    """Other schedules and chats go on while it waits; it is a no when its own time is over, which
    is no other question's."""
    planning = planner.Planner(place, daemons)
    begin_ms = minute_of(planning.now_ms()) + planner.HOUR_MS
    planning.set(begin_ms + 5 * planner.SECOND_MS)
    planning.start()
    asks = planning.make("* * * * *", Policy(approval_seconds=90), "rm -r old", COMMAND)
    other = planning.minutely(Policy())
    chat = planning.api.submit("`touch by-hand`").task_id
    planning.step(planner.MINUTE_MS)
    runs = planning.await_runs(other.schedule_id, 1)
    assert told(runs) == "1 done"
    waiting = waits(planning, asks.schedule_id)
    assert waiting.state == Run.WAITING
    planning.step(planner.MINUTE_MS)
    assert told(planning.await_runs(other.schedule_id, 2)) == "2 done"
    assert told(planning.await_runs(asks.schedule_id, 1)) == "1 waiting, 1 skipped"
    planning.step(planner.MINUTE_MS)
    over = planning.await_runs(asks.schedule_id, 2)
    assert over[0].state == Run.FAILED
    assert over[0].reason == "nobody answered the approval in time"
    task = planning.api.task(over[0].task_id)
    assert task.state == common_pb2.FAILED
    (mine,) = [one for one in planning.api.pending() if one.task_id == chat]
    planning.api.resolve(mine.approval_id, approvals_pb2.DENY)
    log = planning.api.log()
    invariants.check_sequence(log)
    invariants.check_states(log, planning.api)


def waits(planning: planner.Planner, schedule_id: str) -> Run:
    """The run of a schedule, once it waits for an approval."""
    for update in planning.api.follow(0, live=False):
        if update.event.task_state_changed.to == common_pb2.AWAITING_APPROVAL:
            runs = planning.api.runs(schedule_id)
            if runs and runs[0].task_id == update.event.task_id:
                return runs[0]
    raise AssertionError("the log has no end")
