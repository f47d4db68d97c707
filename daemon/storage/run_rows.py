"""What events make of the rows of schedules' runs: each time that was due, and each run by hand.

A row tells what became of a run as far as its schedule knows; how its task does, and whether its
result was shown, stands in the rows of the task and of the delivery.
"""

from collections.abc import Sequence
from typing import Protocol

from daemon.domain import base, events, ids, principals, schedules, state, views

CHANGERS = frozenset(
    {
        events.ScheduleRunQueued,
        events.ScheduleRunStarted,
        events.ScheduleRunsLeftOut,
        events.ScheduleRunEnded,
    }
)
"""The events that change any of these rows."""

_State = schedules.RunState
_ENDS: dict[events.RunOutcome, schedules.RunState] = {
    "done": _State.DONE,
    "failed": _State.FAILED,
    "cancelled": _State.CANCELLED,
}
_WHY: dict[events.LeftOut, str] = {
    "missed": "nobody could run it in time",
    "overlap": "another run of the schedule went on",
    "paused": "the schedule was paused",
    "removed": "the schedule was stopped or deleted",
}


class RunRow(base.Value):
    """A run of a schedule; no task before it has begun."""

    run_id: ids.RunId
    schedule_id: ids.ScheduleId
    conversation_id: ids.ConversationId
    principal: principals.Principal
    due_ms: int
    state: schedules.RunState
    reason: str = ""
    task_id: ids.TaskId | None = None
    attempts: int = 0
    by_hand: bool = False
    started_ms: int | None = None
    ended_ms: int | None = None
    late_ms: int = 0


class Draft(Protocol):
    """The rows as they are after the events so far."""

    def conversation(self, conversation_id: ids.ConversationId) -> views.ConversationView: ...

    def run(self, run_id: ids.RunId) -> RunRow | None: ...

    def set_run(self, row: RunRow) -> None: ...


def named(recorded: Sequence[events.Recorded]) -> set[ids.RunId]:
    """The rows that these events may build on."""
    found: set[ids.RunId] = set()
    for one in recorded:
        if type(one.event) not in CHANGERS:
            continue
        match one.event:
            case events.ScheduleRunStarted() | events.ScheduleRunEnded():
                found.add(one.event.run_id)
            case events.ScheduleRunsLeftOut(schedule_id=schedule_id, due_ms=due_ms):
                found.update(events.due_run(schedule_id, at) for at in due_ms)
            case _:
                pass
    return found


def apply(draft: Draft, one: events.Recorded) -> None:
    """Change what is told of runs by one event."""
    match one.event:
        case events.ScheduleRunQueued(schedule_id=schedule_id, due_ms=due_ms):
            draft.set_run(_due(draft, one, schedule_id, due_ms, _State.LATE))
        case events.ScheduleRunsLeftOut():
            _leave_out(draft, one, one.event)
        case events.ScheduleRunStarted():
            _start(draft, one, one.event)
        case events.ScheduleRunEnded():
            _end(draft, one.event, one.at_ms)
        case _:
            pass


def _due(
    draft: Draft,
    one: events.Recorded,
    schedule_id: ids.ScheduleId,
    due_ms: int,
    became: schedules.RunState,
) -> RunRow:
    return RunRow(
        run_id=events.due_run(schedule_id, due_ms),
        schedule_id=schedule_id,
        conversation_id=one.conversation_id,
        principal=draft.conversation(one.conversation_id).principal,
        due_ms=due_ms,
        state=became,
    )


def _leave_out(draft: Draft, one: events.Recorded, event: events.ScheduleRunsLeftOut) -> None:
    became = _State.MISSED if event.why == "missed" else _State.SKIPPED
    for at in event.due_ms:
        known = draft.run(events.due_run(event.schedule_id, at))
        row = known or _due(draft, one, event.schedule_id, at, became)
        changes = {"reason": _WHY[event.why], "ended_ms": one.at_ms}
        draft.set_run(row.but(changes) if known is None else _become(row, became, changes))


def _start(draft: Draft, one: events.Recorded, event: events.ScheduleRunStarted) -> None:
    known = draft.run(event.run_id)
    if known is None:
        known = _due(draft, one, event.schedule_id, event.due_ms, _State.SCHEDULED)
        known = known.but({"run_id": event.run_id, "by_hand": event.by_hand})
    changes: dict[str, object] = {
        "reason": "",
        "task_id": event.run_task,
        "attempts": event.attempt,
    }
    if known.started_ms is None:
        changes |= {"started_ms": one.at_ms, "late_ms": event.late_ms}
    draft.set_run(_become(known, _State.RUNNING, changes))


def _become(row: RunRow, to: schedules.RunState, changes: dict[str, object]) -> RunRow:
    """The row in its next state.

    Raises:
        ValueError: the table of a run's states has no such step.
    """
    if not schedules.may_move(row.state, to):
        raise ValueError(f"{row.run_id} is {row.state} and cannot become {to}")
    return row.but({**changes, "state": to})


def _end(draft: Draft, event: events.ScheduleRunEnded, at_ms: int) -> None:
    known = draft.run(event.run_id)
    if known is None:
        raise ValueError(f"an event ends {event.run_id}, which the log never began")
    if event.again_ms is not None:
        draft.set_run(_become(known, _State.SCHEDULED, {}))
    else:
        draft.set_run(_become(known, _ENDS[event.outcome], {"ended_ms": at_ms}))


def view(
    row: RunRow,
    number: int,
    title: ids.ContentId | None,
    task: views.TaskView | None,
    shown: views.DeliveryView | None,
) -> views.RunView:
    """A run as it is shown: with what its task does and whether its result was shown."""
    is_shown = shown is not None and bool(shown.platform_ids)
    became, reason = row.state, row.reason
    if became is _State.RUNNING and task is not None and task.state in state.WAITING:
        became = _State.WAITING
    elif became is _State.DONE and is_shown:
        became = _State.DELIVERED
    if task is not None and became in (_State.WAITING, _State.FAILED, _State.CANCELLED):
        reason = task.reason
    return views.RunView(
        run_id=row.run_id,
        schedule_id=row.schedule_id,
        conversation_id=row.conversation_id,
        name=title,
        due_ms=row.due_ms,
        state=became,
        reason=reason,
        task_id=row.task_id,
        attempts=row.attempts,
        by_hand=row.by_hand,
        started_ms=row.started_ms,
        ended_ms=row.ended_ms,
        late_ms=row.late_ms,
        platform_ids=shown.platform_ids if shown is not None else (),
        number=number,
    )
