"""What cannot have happened does not fold: the log would be wrong, and that is said."""

import pytest

from daemon.domain import events, fold, ids, messages, principals, state, world
from tools import contract

S = state.TaskState
TASK = ids.TaskId("task-1")
CHAT = ids.ConversationId("conversation-1")
CALL = ids.CallId("call-1")
APPROVAL = ids.ApprovalId("approval-1")
TEXT = ids.ContentId("content-1")


def apply(target: world.World, *happened: events.Event, at_ms: int = 0) -> None:
    """Fold events of the one task, each after the other."""
    for event in happened:
        fold.apply(
            target,
            events.Recorded(
                seq=target.head_seq + 1,
                at_ms=at_ms,
                task_id=TASK,
                conversation_id=CHAT,
                correlation_id="correlation",
                event=event,
            ),
        )


def submitted(task_id: ids.TaskId = TASK) -> events.TaskSubmitted:
    return events.TaskSubmitted(
        task_id=task_id,
        conversation_id=CHAT,
        origin=principals.Origin(principal=principals.LOCAL_OWNER),
        text=TEXT,
    )


def moved(previous: S, to: S, task_id: ids.TaskId = TASK) -> events.TaskStateChanged:
    return events.TaskStateChanged(task_id=task_id, previous=previous, state=to)


def ended(outcome: events.CallOutcome) -> events.ToolCallEnded:
    return events.ToolCallEnded(task_id=TASK, call_id=CALL, outcome=outcome)


PROPOSED = events.ToolCallProposed(task_id=TASK, call_id=CALL, tool="look", arguments=TEXT)
STARTED = events.ToolCallStarted(
    task_id=TASK, call_id=CALL, digest="d", effect=contract.Effect.PURE, attempt=1
)
MODEL_STARTED = events.ModelCallStarted(
    task_id=TASK, call_id=CALL, role=messages.Role.THINKER, attempt=1
)
MODEL_FAILED = events.ModelCallFailed(task_id=TASK, call_id=CALL, fault="cancelled", message="")
RESOLVED = events.ApprovalResolved(
    task_id=TASK,
    approval_id=APPROVAL,
    call_id=CALL,
    outcome=events.ApprovalOutcome.ALLOWED,
)
RUNS = (submitted(), moved(S.QUEUED, S.RUNNING))

IMPOSSIBLE: dict[str, tuple[list[events.Event], str]] = {
    "a task that never was": ([moved(S.QUEUED, S.RUNNING)], "not live"),
    "a task that has left": (
        [*RUNS, moved(S.RUNNING, S.COMPLETED), moved(S.COMPLETED, S.RUNNING)],
        "not live",
    ),
    "a wrong previous state": ([submitted(), moved(S.RUNNING, S.FAILED)], "is queued"),
    "a call that was never proposed": ([*RUNS, STARTED], "never proposed"),
    "an approval of an unknown call": ([*RUNS, RESOLVED], "unknown call"),
    "two running tasks of a conversation": (
        [
            *RUNS,
            submitted(ids.TaskId("task-2")),
            moved(S.QUEUED, S.RUNNING, ids.TaskId("task-2")),
        ],
        "already runs",
    ),
}


@pytest.mark.spec("D-03")
@pytest.mark.parametrize(("happened", "reason"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_raises(happened: list[events.Event], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        apply(world.World(), *happened)


def test_a_transition_that_is_not_listed_raises() -> None:
    with pytest.raises(state.ImpossibleTransition):
        apply(world.World(), submitted(), moved(S.QUEUED, S.COMPLETED))


@pytest.mark.spec("D-03")
@pytest.mark.parametrize("seq", [0, 2, 3])
def test_a_gap_or_a_repetition_raises(seq: int) -> None:
    target = world.World()
    apply(target, submitted())
    gap = events.Recorded(
        seq=seq + 1 if seq else 1,
        at_ms=0,
        task_id=TASK,
        conversation_id=CHAT,
        correlation_id="",
        event=moved(S.QUEUED, S.RUNNING),
    )
    with pytest.raises(ValueError, match="does not follow 1"):
        fold.apply(target, gap)
    assert target.head_seq == 1


class TestLeaving:
    """A task that has ended leaves when nothing of it runs."""

    def test_at_once(self) -> None:
        target = world.World()
        apply(target, *RUNS, moved(S.RUNNING, S.FAILED))
        assert (target.tasks, target.running, target.queued) == ({}, {}, {})

    def test_when_its_tool_has_ended(self) -> None:
        target = world.World()
        apply(target, *RUNS, PROPOSED, STARTED, moved(S.RUNNING, S.CANCELLED))
        assert list(target.tasks) == [TASK]
        assert target.running == {}
        apply(target, ended(events.CallOutcome.CANCELLED))
        assert target.tasks == {}

    def test_when_its_model_call_has_ended(self) -> None:
        target = world.World()
        apply(target, *RUNS, MODEL_STARTED, moved(S.RUNNING, S.CANCELLED))
        assert list(target.tasks) == [TASK]
        apply(target, MODEL_FAILED)
        assert target.tasks == {}


def test_running_time_adds_up_over_waits() -> None:
    target = world.World()
    apply(target, submitted(), at_ms=0)
    apply(target, moved(S.QUEUED, S.RUNNING), at_ms=100)
    apply(target, moved(S.RUNNING, S.AWAITING_APPROVAL), at_ms=150)
    apply(target, moved(S.AWAITING_APPROVAL, S.RUNNING), at_ms=900)
    apply(target, moved(S.RUNNING, S.PARKED), at_ms=930)
    assert target.tasks[TASK].active_ms == 80


def test_a_clock_that_goes_back_takes_no_time_away() -> None:
    target = world.World()
    apply(target, *RUNS, at_ms=1000)
    apply(target, moved(S.RUNNING, S.PARKED), at_ms=10)
    assert target.tasks[TASK].active_ms == 0


def test_a_fork_is_its_own() -> None:
    target = world.World()
    apply(target, *RUNS)
    before = world.snapshot(target)
    apply(target.fork(), PROPOSED, STARTED, moved(S.RUNNING, S.CANCELLED))
    assert world.snapshot(target) == before


@pytest.mark.spec("D-04")
def test_a_snapshot_restores_what_it_was_taken_of() -> None:
    target = world.World()
    apply(target, *RUNS, PROPOSED, submitted(ids.TaskId("task-2")))
    kept = world.snapshot(target)
    restored = world.restore(world.Snapshot.model_validate_json(kept.model_dump_json()))
    assert world.snapshot(restored) == kept
    assert restored.running == {CHAT: TASK}
    assert list(restored.queued) == ["task-2"]
