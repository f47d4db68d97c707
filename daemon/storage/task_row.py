"""What events make of one task's row. Pure.

A row is the task's view with what the view does not tell yet: calls without a result, and the plan.
"""

from dataclasses import dataclass

from daemon.domain import base, events, fold_said, ids, views, world
from tools import contract

_DID_SOMETHING = frozenset(
    {
        events.CallOutcome.FINISHED,
        events.CallOutcome.FAILED,
        events.CallOutcome.OUTCOME_UNKNOWN,
        events.CallOutcome.MARKED_DONE,
        events.CallOutcome.CANCELLED,
    }
)


class OpenCall(base.Value):
    """A call that has no result yet; `changes` once it was started and is not pure."""

    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    words: ids.ContentId | None = None
    changes: bool = False

    def unknown(self) -> views.UnknownCall:
        return views.UnknownCall(
            call_id=self.call_id, tool=self.tool, arguments=self.arguments, words=self.words
        )


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task's view, its calls that have no result yet, and the steps of its newest plan.

    A view tells of a call once it is known that nobody saw its end.
    """

    view: views.TaskView
    open_calls: tuple[OpenCall, ...] = ()
    plan: tuple[events.PlannedStep, ...] = ()

    def said_of_call(self, event: events.ToolCallEnded) -> world.Said | None:
        """What the end of a call adds to what is said; of one that ended before, nothing."""
        for call in self.open_calls:
            if call.call_id == event.call_id:
                return fold_said.of_call(call, event)
        for unknown in self.view.unknown_calls:
            if unknown.call_id == event.call_id:
                return fold_said.of_call(unknown, event)
        return None

    def said_of_step(self, event: events.StepEnded) -> world.Said | None:
        """What the end of a step adds to what is said.

        Raises:
            ValueError: the plan has no such step.
        """
        for planned in self.plan:
            if planned.step_id == event.step_id:
                return fold_said.of_step(planned, event)
        raise ValueError(f"the plan of {event.task_id} has no step {event.step_id}")


def propose(row: TaskRow, event: events.ToolCallProposed, at_ms: int) -> TaskRow:
    """The row with one more open call; one that it repeats is settled."""
    call = OpenCall(
        call_id=event.call_id, tool=event.tool, arguments=event.arguments, words=event.words
    )
    view = _without_unknown(row.view, event.repeats, at_ms)
    return TaskRow(view, (*row.open_calls, call), row.plan)


def start(row: TaskRow, event: events.ToolCallStarted) -> TaskRow:
    """The row after a call began, which may change something."""
    if event.effect is contract.Effect.PURE:
        return row
    calls = tuple(
        call.but({"changes": True}) if call.call_id == event.call_id else call
        for call in row.open_calls
    )
    return TaskRow(row.view, calls, row.plan)


def end(row: TaskRow, event: events.ToolCallEnded, at_ms: int) -> TaskRow:
    """The row after a call got its result, with what it changed."""
    view = _without_unknown(row.view, event.call_id, at_ms)
    ended = next((call for call in row.open_calls if call.call_id == event.call_id), None)
    update: dict[str, object] = {}
    if event.outcome is events.CallOutcome.OUTCOME_UNKNOWN and ended is not None:
        update["unknown_calls"] = (*view.unknown_calls, ended.unknown())
    if event.commit:
        update["commits"] = (*view.commits, event.commit)
        update["left"] = tuple(call_id for call_id in view.left if call_id != event.call_id)
    elif ended is not None and ended.changes and event.outcome in _DID_SOMETHING:
        update["left"] = (*view.left, event.call_id)
    if update:
        view = view.but({**update, "updated_ms": at_ms})
    still_open = tuple(call for call in row.open_calls if call.call_id != event.call_id)
    return TaskRow(view, still_open, row.plan)


def _without_unknown(
    view: views.TaskView, settled: ids.CallId | None, at_ms: int
) -> views.TaskView:
    """The view after a person settled what became of a call: marked as done, or run again."""
    if all(call.call_id != settled for call in view.unknown_calls):
        return view
    unknown = tuple(call for call in view.unknown_calls if call.call_id != settled)
    return view.but({"unknown_calls": unknown, "updated_ms": at_ms})
