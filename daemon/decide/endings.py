"""How a task stops: nothing of it starts afterwards, and every call it began gets one result."""

from daemon.decide import turn
from daemon.domain import decisions, events, ids, inputs, state, world
from tools import contract

CUT_OFF = "The daemon stopped while this call ran."


def withdraw(current: turn.Turn, task: world.Task) -> world.Task:
    """Take back what waits for a human or has not started."""
    for call in task.open_calls():
        if call.status is not world.CallStatus.STARTED:
            task = _withdraw_call(current, task, call)
    return task


def _withdraw_call(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    approval = current.world.approvals.get(call.approval_id) if call.approval_id else None
    if approval is not None:
        task = current.emit(
            task,
            events.ApprovalResolved(
                task_id=task.task_id,
                approval_id=approval.approval_id,
                call_id=call.call_id,
                outcome=events.ApprovalOutcome.WITHDRAWN,
            ),
        )
    current.act(decisions.ReleaseCall(call_id=call.call_id))
    return current.emit(
        task,
        events.ToolCallEnded(
            task_id=task.task_id, call_id=call.call_id, outcome=events.CallOutcome.CANCELLED
        ),
    )


def finish(
    current: turn.Turn,
    task: world.Task,
    call: world.ToolCall,
    outcome: events.CallOutcome,
    text: str,
    exit_code: int | None = None,
    artifact: ids.ArtifactId | None = None,
    duration_ms: int = 0,
    change: inputs.Change | None = None,
) -> world.Task:
    """Give a call its result; `text` is what the model is told of it."""
    result = current.keep_of(task, text)
    diff = current.keep_of(task, change.diff) if change is not None and change.diff else None
    if artifact is not None and task.taint:
        current.keep_record(decisions.ArtifactTaint(artifact_id=artifact, taint=task.taint))
    return current.emit(
        task,
        events.ToolCallEnded(
            task_id=task.task_id,
            call_id=call.call_id,
            outcome=outcome,
            result=result,
            exit_code=exit_code,
            artifact=artifact,
            duration_ms=duration_ms,
            commit=change.commit if change is not None else "",
            files=change.files if change is not None else (),
            diff=diff,
        ),
    )


def finish_cut_off(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    """Give a started call that nothing runs any more, and nobody waits for, its result."""
    unsafe = call.effect is contract.Effect.UNSAFE
    outcome = events.CallOutcome.OUTCOME_UNKNOWN if unsafe else events.CallOutcome.CANCELLED
    return finish(current, task, call, outcome, CUT_OFF)


def end(current: turn.Turn, task: world.Task, to: state.TaskState, reason: str = "") -> world.Task:
    """Bring a task to a final state and end what still runs for it; returns it after that."""
    task = withdraw(current, task)
    if task.model_call is not None:
        current.act(decisions.CancelCall(call_id=task.model_call.call_id))
    for call in task.open_calls():
        if task.state is state.TaskState.RUNNING:
            current.act(decisions.CancelCall(call_id=call.call_id))
        else:
            task = finish_cut_off(current, task, call)
    return current.change_state(task, to, reason)


def answer(current: turn.Turn, task: world.Task, text: str) -> world.Task:
    """End a task with its answer."""
    return answer_kept(current, task, current.keep_of(task, text))


def answer_kept(current: turn.Turn, task: world.Task, text: ids.ContentId) -> world.Task:
    """End a task with an answer that is kept already."""
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=text))
    return end(current, task, state.TaskState.COMPLETED)


def give_up(current: turn.Turn, task: world.Task, text: str, reason: str) -> world.Task:
    """End a task as FAILED with a text of the model's that says why."""
    content = current.keep_of(task, text)
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=content))
    return end(current, task, state.TaskState.FAILED, reason)
