"""How a task stops: nothing of it starts afterwards, and every call it began gets one result."""

from daemon.decide import turn
from daemon.domain import decisions, events, state, world


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


def end(current: turn.Turn, task: world.Task, to: state.TaskState, reason: str = "") -> None:
    """Bring a task to a final state and end what still runs for it."""
    task = withdraw(current, task)
    if task.model_call is not None:
        current.act(decisions.CancelCall(call_id=task.model_call.call_id))
    call = task.open_call()
    if call is not None:
        current.act(decisions.CancelCall(call_id=call.call_id))
    current.change_state(task, to, reason)


def answer(current: turn.Turn, task: world.Task, text: str) -> None:
    """End a task with its answer."""
    content = current.keep(task.conversation_id, text)
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=content))
    current.change_state(task, state.TaskState.COMPLETED)


def give_up(current: turn.Turn, task: world.Task, text: str, reason: str) -> None:
    """End a task as FAILED with a text of the model's that says why."""
    content = current.keep(task.conversation_id, text)
    task = current.emit(task, events.AnswerGiven(task_id=task.task_id, text=content))
    current.change_state(task, state.TaskState.FAILED, reason)
