"""How a live task goes on after the daemon has started again.

Nothing of it is in flight then: what was begun and not ended is found in its state, a model call is
repeated, and a tool call goes on by its effect. A task that was running at each of too many stops
without a drain may be what stopped the daemon: it is parked until a person says go on.
"""

from daemon.decide import endings, engine, judging, lanes, secrecy, turn
from daemon.domain import events, inputs, state, world
from tools import contract


def recover(current: turn.Turn, task: world.Task, given: inputs.RecoverTask) -> None:
    """Let a task go on from where its log stands, unless a lane that came free did so already."""
    if task.state is not given.state:
        return
    if task.model_call is not None:
        task = _interrupt(current, task, task.model_call)
    if task.state in state.FINAL:
        _close(current, task)
        return
    _wait_for_approvals(current, task)
    if task.secret_call is not None:
        current.act(secrecy.expiry_timer(task.secret_call, task.secret_expires_ms))
    if task.state is not state.TaskState.RUNNING:
        return
    count = task.recoveries + (0 if given.clean else 1)
    task = current.emit(task, events.TaskRecovered(task_id=task.task_id, count=count))
    current.act(lanes.budget_timer(current, task))
    if count > current.rules.limits.task_recoveries and not _lost_unsafe(task):
        reason = f"the daemon stopped {count} times while it ran"
        current.change_state(task, state.TaskState.PARKED, reason)
        return
    engine.resume(current, task)


def _interrupt(current: turn.Turn, task: world.Task, call: world.ModelCall) -> world.Task:
    cancelled = task.state in state.FINAL
    return current.emit(
        task,
        events.ModelCallFailed(
            task_id=task.task_id,
            call_id=call.call_id,
            fault="cancelled" if cancelled else "interrupted",
            message="the daemon stopped while the model answered",
        ),
    )


def _lost_unsafe(task: world.Task) -> bool:
    started = [call for call in task.calls if call.status is world.CallStatus.STARTED]
    return any(call.effect is contract.Effect.UNSAFE for call in started)


def _close(current: turn.Turn, task: world.Task) -> None:
    """A task that had ended while its last call ran: the call still needs its one result."""
    for call in task.open_calls() if current.task(task.task_id) is not None else ():
        task = endings.finish_cut_off(current, task, call)


def _wait_for_approvals(current: turn.Turn, task: world.Task) -> None:
    for call in task.open_calls():
        approval = current.world.approvals.get(call.approval_id) if call.approval_id else None
        if approval is not None and approval.outcome is None:
            current.act(judging.expiry_timer(approval.approval_id, approval.expires_ms))
