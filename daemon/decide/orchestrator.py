"""The one entry: the state and one stamped input give one Step.

Whatever came too late to matter (a call that has its result, a task that has left) changes nothing.
"""

from dataclasses import replace
from typing import assert_never

from daemon.decide import (
    conversations,
    endings,
    engine,
    judging,
    lanes,
    recovery,
    requests,
    runs,
    secrecy,
    thinking,
    turn,
)
from daemon.domain import decisions, ids, inputs, state, world


def decide(rules: turn.Rules, current: world.World, stamped: inputs.Stamped) -> decisions.Step:
    """What the input leads to. Touches nothing: the world is forked, the step is a value.

    Raises:
        Exception: a fault of the program; the caller ends the task that the input names.
    """
    return advance(rules, current, stamped)[0]


def advance(
    rules: turn.Rules, current: world.World, stamped: inputs.Stamped
) -> tuple[decisions.Step, world.World]:
    """The step, and the world after it: what `current` becomes when the step's events fold."""
    making = turn.Turn(rules, current, stamped)
    given = stamped.input
    reply: decisions.Reply | decisions.Rejected | None = None
    if isinstance(given, inputs.Keyed):
        reply = requests.answer(making, given)
    elif isinstance(given, inputs.TimerFired):
        _timer(making, given)
    elif isinstance(given, inputs.CommitsReverted):
        conversations.reverted(making, given)
    elif isinstance(given, inputs.RecoverRevert):
        conversations.revert_again(making, given)
    elif isinstance(given, inputs.RecoverSchedule):
        runs.recover(making, given)
    elif isinstance(given, inputs.AnswerRead):
        runs.answer_read(making, given)
    else:
        _about_task(making, given)
    _follow(making, frozenset(current.settling))
    return making.step(reply), making.world


def _follow(making: turn.Turn, settling: frozenset[ids.ScheduleId]) -> None:
    """Settle runs whose task has ended, and let what may run begin, which may end at once.

    `settling` are those that something is awaited for."""
    while True:
        ended = [one for one in making.world.settling if one not in settling]
        for schedule_id in ended:
            runs.settle(making, schedule_id)
        lanes.advance(making)
        if not ended and making.world.settling.keys() <= settling:
            return
        settling |= making.world.settling.keys() & frozenset(ended)


_TaskInput = (
    inputs.ContextGathered
    | inputs.ContextFailed
    | inputs.ModelFinished
    | inputs.ModelFailed
    | inputs.CallInspected
    | inputs.InspectionFailed
    | inputs.ToolFinished
    | inputs.ToolStopped
    | inputs.CallReconciled
    | inputs.RecoverTask
    | inputs.AbortTask
)


def _about_task(making: turn.Turn, given: _TaskInput) -> None:
    task = making.task(given.task_id)
    if task is None:
        if isinstance(given, inputs.CallInspected):
            making.act(decisions.ReleaseCall(call_id=given.call_id))
        return
    match given:  # the frequent ones first: each name is a look
        case inputs.ModelFinished() | inputs.ModelFailed():
            _model_outcome(making, task, given)
        case inputs.ToolFinished() | inputs.ToolStopped():
            call = task.call(given.call_id)
            if call is not None and call.status is world.CallStatus.STARTED:
                engine.ended(making, task, call, given)
        case inputs.ContextGathered() | inputs.ContextFailed():
            if task.state is state.TaskState.RUNNING:
                _context(making, task, given)
        case inputs.CallInspected() | inputs.InspectionFailed() | inputs.CallReconciled():
            _about_call(making, task, given)
        case inputs.RecoverTask():
            recovery.recover(making, task, given)
        case inputs.AbortTask():
            if task.state is state.TaskState.RUNNING:
                reason = "a fault in the daemon; its log has the details"
                endings.end(making, task, state.TaskState.FAILED, reason)
        case _:
            assert_never(given)


def _model_outcome(
    making: turn.Turn, task: world.Task, given: inputs.ModelFinished | inputs.ModelFailed
) -> None:
    if task.model_call is None or task.model_call.call_id != given.call_id:
        return
    if isinstance(given, inputs.ModelFinished):
        thinking.finished(making, task, task.model_call, given)
    else:
        thinking.failed(making, task, given)


def _context(
    making: turn.Turn,
    task: world.Task,
    given: inputs.ContextGathered | inputs.ContextFailed,
) -> None:
    if isinstance(given, inputs.ContextGathered):
        thinking.context_gathered(making, task, given)
    else:
        thinking.context_failed(making, task, given)


def _about_call(
    making: turn.Turn,
    task: world.Task,
    given: inputs.CallInspected | inputs.InspectionFailed | inputs.CallReconciled,
) -> None:
    call = task.call(given.call_id)
    is_open = call is not None and not call.ended
    if call is None or not is_open or task.state is not state.TaskState.RUNNING:
        making.act(decisions.ReleaseCall(call_id=given.call_id))
        if call is not None and is_open and task.state in state.FINAL:
            # It was cut off by a stop, and cancelled while it was looked at: it runs no more.
            endings.finish_cut_off(making, task, call)
        return
    match given:
        case inputs.CallInspected():
            judging.inspected(making, task, call, given)
        case inputs.InspectionFailed():
            engine.not_inspected(making, task, call, given.message, given.parks)
        case inputs.CallReconciled():
            engine.reconciled(making, task, call, given.found)
        case _:
            assert_never(given)


def _timer(making: turn.Turn, given: inputs.TimerFired) -> None:
    match given.timer:
        case decisions.TimerKind.APPROVAL_EXPIRY:
            _approval_timer(making, given.subject)
        case decisions.TimerKind.SECRET_EXPIRY:
            secrecy.timer(making, given.subject)
        case decisions.TimerKind.TASK_BUDGET:
            _budget_timer(making, given.subject)
        case decisions.TimerKind.SCHEDULE:
            runs.timer(making, given.subject)
        case _:
            assert_never(given.timer)


def _approval_timer(making: turn.Turn, subject: str) -> None:
    approval = next((a for a in making.world.approvals.values() if a.approval_id == subject), None)
    if approval is None or approval.outcome is not None:
        return
    if making.at_ms < approval.expires_ms:
        making.act(judging.expiry_timer(approval.approval_id, approval.expires_ms))
        return
    requests.expire(making, making.world.tasks[approval.task_id], approval)


def _budget_timer(making: turn.Turn, subject: str) -> None:
    task = next((t for t in making.world.tasks.values() if t.task_id == subject), None)
    if task is None or task.state is not state.TaskState.RUNNING:
        return
    used_ms = task.active_ms + max(0, making.at_ms - task.running_since_ms)
    limit_seconds = making.rules.limits.task_seconds
    if used_ms < limit_seconds * 1000:
        left = lanes.budget_timer(making, task)
        making.act(replace(left, due_ms=making.at_ms + limit_seconds * 1000 - used_ms))
        return
    reason = f"it ran for {limit_seconds} seconds, which is all it may"
    endings.end(making, task, state.TaskState.BUDGET_EXHAUSTED, reason)
