"""How events of tool calls change the task that they are of."""

from typing import assert_never

from daemon.domain import events, fold_beside, fold_plan, fold_said, ids, verdicts, world

_MOST_FILES = 256


def propose(task: world.Task, event: events.ToolCallProposed) -> world.Task:
    call = world.ToolCall(
        call_id=event.call_id,
        tool=event.tool,
        arguments=event.arguments,
        direct=event.direct,
        fingerprint=event.fingerprint,
        step_id=event.step_id,
        words=event.words,
    )
    return task.but({"calls": (*_settle(task, event.repeats), call)})


def _settle(task: world.Task, repeated: ids.CallId | None) -> tuple[world.ToolCall, ...]:
    if repeated is None:
        return task.calls
    return tuple(
        call.but({"settled": True}) if call.call_id == repeated else call for call in task.calls
    )


def with_call(task: world.Task, changed: world.ToolCall) -> world.Task:
    *earlier, last = task.calls
    if last.call_id == changed.call_id:
        return task.but({"calls": (*earlier, changed)})
    calls = tuple(changed if c.call_id == changed.call_id else c for c in task.calls)
    return task.but({"calls": calls})


def apply(
    target: world.World,
    task: world.Task,
    event: events.ToolCallInspected | events.ToolCallStarted | events.ToolCallEnded,
    at_ms: int,
) -> world.Task:
    call = task.call(event.call_id)
    if call is None:
        raise ValueError(f"{event.call_id} was never proposed")
    match event:
        case events.ToolCallInspected():
            update: dict[str, object] = {"effect": event.effect, "digest": event.digest}
            if call.status is world.CallStatus.PROPOSED:
                update["status"] = world.CallStatus.INSPECTED
        case events.ToolCallStarted():
            if event.approval_id is not None:
                del target.approvals[event.approval_id]
            if event.grant_id is not None:
                fold_beside.use_grant(target, event.grant_id)
            update = {
                "status": world.CallStatus.STARTED,
                "digest": event.digest,
                "effect": event.effect,
                "intent": event.intent,
                "attempt": event.attempt,
                "started_ms": at_ms,
                "basis": event.basis or _basis(call),
                "grant_id": event.grant_id or call.grant_id,
            }
            task = task.but({"files": _with_files(task, event)}) if event.files else task
        case events.ToolCallEnded():
            return _end_call(task, call, event)
        case _:
            assert_never(event)
    return with_call(task, call.but(update))


def _with_files(task: world.Task, event: events.ToolCallStarted) -> tuple[str, ...]:
    """The last files of a task, so many as are remembered."""
    new = tuple(path for path in event.files if path not in task.files)
    return (*task.files, *new)[-_MOST_FILES:]


def _end_call(task: world.Task, call: world.ToolCall, event: events.ToolCallEnded) -> world.Task:
    ended = call.but(
        {
            "status": world.CallStatus.ENDED,
            "outcome": event.outcome,
            "result": event.result,
            "exit_code": event.exit_code,
        }
    )
    changed = with_call(task, ended)
    said = fold_said.of_call(call, event)
    if said is None:
        return changed
    return fold_plan.call_ended(changed.but({"said": (*task.said, said)}), ended, event.exit_code)


def _basis(call: world.ToolCall) -> verdicts.Basis:
    """What let a call run, in a log that does not say it yet."""
    return verdicts.Basis.APPROVAL if call.approval_id else verdicts.Basis.READ_ONLY
