"""How a task stops: nothing of it starts afterwards, and every call it began gets one result."""

from daemon.decide import turn
from daemon.domain import decisions, events, ids, state, world
from tools import contract

CUT_OFF = "The daemon stopped while this call ran."


def withdraw(current: turn.Turn, task: world.Task) -> world.Task:
    """Take back what waits for a human or has not started."""
    call = task.open_call()
    if call is None or call.status is world.CallStatus.STARTED:
        return task
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
) -> world.Task:
    """Give a call its result; `text` is what the model is told of it."""
    result = current.keep_of(task, text)
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
        ),
    )


def finish_cut_off(current: turn.Turn, task: world.Task, call: world.ToolCall) -> world.Task:
    """Give a started call that nothing runs any more, and nobody waits for, its result."""
    unsafe = call.effect is contract.Effect.UNSAFE
    outcome = events.CallOutcome.OUTCOME_UNKNOWN if unsafe else events.CallOutcome.CANCELLED
    return finish(current, task, call, outcome, CUT_OFF)


def end(current: turn.Turn, task: world.Task, to: state.TaskState, reason: str = "") -> None:
    """Bring a task to a final state and end what still runs for it."""
    task = withdraw(current, task)
    if task.model_call is not None:
        current.act(decisions.CancelCall(call_id=task.model_call.call_id))
    call = task.open_call()
    if call is not None and task.state is not state.TaskState.RUNNING:
        task = finish_cut_off(current, task, call)
    elif call is not None:
        current.act(decisions.CancelCall(call_id=call.call_id))
    current.change_state(task, to, reason)


def answer(current: turn.Turn, task: world.Task, text: str) -> None:
    """End a task with its answer."""
    content = current.keep_of(task, text)
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=content))
    current.change_state(task, state.TaskState.COMPLETED)


def give_up(current: turn.Turn, task: world.Task, text: str, reason: str) -> None:
    """End a task as FAILED with a text of the model's that says why."""
    content = current.keep_of(task, text)
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=content))
    current.change_state(task, state.TaskState.FAILED, reason)
