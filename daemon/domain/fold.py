"""How each event changes the world: the only place where state changes.

Total over the log: content that was forgotten does not matter here, and a transition that the table
does not list raises, because the log would then be wrong.
"""

from typing import assert_never

from daemon.domain import (
    events,
    fold_beside,
    fold_calls,
    fold_channels,
    fold_plan,
    fold_said,
    fold_schedules,
    messages,
    state,
    taints,
    world,
)

_SUMMARIZE = messages.Purpose.SUMMARIZE


def apply(target: world.World, recorded: events.Recorded) -> None:
    """Fold one event into a world that belongs to the caller (a fork, or one being rebuilt).

    Raises:
        ValueError: the sequence has a gap, or the event names a task that is not live.
        state.ImpossibleTransition: the log says what cannot be.
    """
    if recorded.seq != target.head_seq + 1:
        raise ValueError(f"event {recorded.seq} does not follow {target.head_seq}")
    target.head_seq = recorded.seq
    event = recorded.event
    match event:  # here and below the frequent ones come first: each name is a look
        case (
            events.ModelCallStarted()
            | events.ModelCallFinished()
            | events.ToolCallProposed()
            | events.ToolCallInspected()
            | events.ToolCallStarted()
            | events.ToolCallEnded()
            | events.DirectiveTaken()
            | events.TaskStateChanged()
        ):
            task = target.tasks.get(event.task_id)
        case (
            events.ConversationCompacted()
            | events.FeedbackGiven()
            | events.ConversationCreated()
            | events.ConversationUpdated()
            | events.GrantCreated()
            | events.GrantRevoked()
            | events.ProjectTainted()
            | events.ProjectTrusted()
            | events.ExchangeUndone()
            | events.ProjectReverted()
            | events.ConversationDeleted()
        ):
            fold_beside.apply(target, event, recorded)
            return
        case (
            events.DeliveryReported()
            | events.NoticePosted()
            | events.ChatMoved()
            | events.PairingRequested()
            | events.PairingDecided()
        ):
            fold_channels.apply(target, event, recorded.at_ms)
            return
        case (
            events.ScheduleSet()
            | events.ScheduleRemoved()
            | events.ScheduleRunQueued()
            | events.ScheduleRunStarted()
            | events.ScheduleRunsLeftOut()
            | events.ScheduleRunEnded()
        ):
            fold_schedules.apply(target, event, recorded.at_ms)
            return
        case events.TaskSubmitted():
            fold_beside.begin(target, event, recorded)
            return
        case _:
            task = target.tasks.get(event.task_id)
    if task is None:
        raise ValueError(f"event {recorded.seq} names {event.task_id}, which is not live")
    _apply_to(target, task, recorded)


def _apply_to(target: world.World, task: world.Task, recorded: events.Recorded) -> None:
    """Fold an event of a live task, which leaves with its last one."""
    changed = _fold_task(target, task, recorded)
    if task.run is not None and changed.state in state.FINAL and task.state not in state.FINAL:
        fold_schedules.task_ended(target, changed)
    if changed.state in state.FINAL and not changed.busy():
        _leave(target, changed)
    else:
        target.tasks[task.task_id] = changed


def _leave(target: world.World, task: world.Task) -> None:
    del target.tasks[task.task_id]
    for call in task.calls:
        if call.approval_id is not None:
            target.approvals.pop(call.approval_id, None)


def _fold_task(target: world.World, task: world.Task, recorded: events.Recorded) -> world.Task:
    event = recorded.event
    match event:
        case events.ModelCallStarted() | events.ModelCallFinished():
            return _model_call(task, event)
        case events.DirectiveTaken():
            return fold_plan.apply(task, event)
        case events.ToolCallProposed():
            return fold_calls.propose(task, event)
        case events.ToolCallInspected() | events.ToolCallStarted() | events.ToolCallEnded():
            return fold_calls.apply(target, task, event, recorded.at_ms)
        case events.TaskStateChanged():
            return _change_state(target, task, event, recorded.at_ms)
        case events.TaskRecovered():
            # When it stopped nobody knows; at least the time since then is no time of running.
            running_since_ms = recorded.at_ms
            return task.but({"recoveries": event.count, "running_since_ms": running_since_ms})
        case events.TaskDecided():
            return _decide(target, task, event)
        case events.TaskTainted():
            return task.but({"taint": taints.join(task.taint, event.sources)})
        case events.SecretRequested():
            waits = {"secret_call": event.call_id, "secret_expires_ms": event.expires_ms}
            return task.but(waits)
        case events.SecretProvided():
            return _make_ready(target, task.but({"secret_call": None}))
        case events.ApprovalRequested() | events.ApprovalResolved():
            return _approval(target, task, event)
        case events.AnswerGiven():
            return task.but({"answer": event.text})
        case events.TaskSteered():
            return task.but({"steered": (*task.steered, event.text)})
        case events.ModelCallFailed():
            return _model_call(task, event)
        case (
            events.ReplyRefused()
            | events.PlanMade()
            | events.StepStarted()
            | events.StepJudged()
            | events.StepEnded()
        ):
            return fold_plan.apply(task, event)
        case (
            events.ConversationCreated()
            | events.ConversationUpdated()
            | events.ConversationDeleted()
            | events.ConversationCompacted()
            | events.ExchangeUndone()
            | events.ProjectReverted()
            | events.FeedbackGiven()
            | events.TaskSubmitted()
            | events.GrantCreated()
            | events.GrantRevoked()
            | events.ProjectTainted()
            | events.ProjectTrusted()
            | events.DeliveryReported()
            | events.NoticePosted()
            | events.ChatMoved()
            | events.PairingRequested()
            | events.PairingDecided()
            | events.ScheduleSet()
            | events.ScheduleRemoved()
            | events.ScheduleRunQueued()
            | events.ScheduleRunStarted()
            | events.ScheduleRunsLeftOut()
            | events.ScheduleRunEnded()
        ):
            raise ValueError("not an event of a live task")
        case _:
            assert_never(event)


def _change_state(
    target: world.World, task: world.Task, event: events.TaskStateChanged, at_ms: int
) -> world.Task:
    if event.previous is not task.state:
        raise ValueError(f"{task.task_id} is {task.state}, not {event.previous}")
    state.check(task.task_id, task.state, event.state)
    target.queued.pop(task.task_id, None)
    target.ready.pop(task.task_id, None)
    update: dict[str, object] = {"state": event.state, "reason": event.reason, "ready": False}
    if task.state is state.TaskState.RUNNING:
        del target.running[task.conversation_id]
        update["active_ms"] = task.active_ms + max(0, at_ms - task.running_since_ms)
    if event.state is state.TaskState.RUNNING:
        if task.conversation_id in target.running:
            raise ValueError(f"{task.conversation_id} already runs a task")
        target.running[task.conversation_id] = task.task_id
        update["running_since_ms"] = at_ms
    return task.but(update)


def _make_ready(target: world.World, task: world.Task) -> world.Task:
    """It may go on; one that still runs, because other calls of it do, goes on as it is."""
    if task.state is state.TaskState.RUNNING:
        return task
    target.ready[task.task_id] = None
    return task.but({"ready": True})


def _decide(target: world.World, task: world.Task, event: events.TaskDecided) -> world.Task:
    if event.decision is events.Decision.ABANDON:
        return task
    return _make_ready(target, task.but({"model_faults": 0, "shrinks": 0}))


def _model_call(
    task: world.Task,
    event: events.ModelCallStarted | events.ModelCallFinished | events.ModelCallFailed,
) -> world.Task:
    match event:
        case events.ModelCallStarted():
            call = world.ModelCall(
                call_id=event.call_id,
                role=event.role,
                attempt=event.attempt,
                purpose=event.purpose,
                step_id=event.step_id,
                up_to_seq=event.up_to_seq,
            )
            update: dict[str, object] = {
                "model_call": call,
                "failed_call": None,
                "asked": task.asked + 1,
                "summarized": task.summarized or event.purpose is _SUMMARIZE,
            }
            if event.purpose is messages.Purpose.THINK:
                said = (*task.said, *fold_said.of_hearing(event))
                update |= {"said": said, "told": len(said)}
                update["rounds"] = task.rounds + (1 if event.replaces is None else 0)
            if event.heard:
                left = tuple(text for text in task.steered if text not in event.heard)
                update["steered"] = left
            return task.but(update)
        case events.ModelCallFinished():
            return _model_finished(task, event)
        case events.ModelCallFailed():
            broke = event.fault in ("died", "stalled")
            return task.but(
                {
                    "model_call": None,
                    "failed_call": task.model_call,
                    "model_faults": task.model_faults + (1 if broke else 0),
                    "shrinks": task.shrinks + (1 if event.fault == "overflow" else 0),
                }
            )
        case _:
            assert_never(event)


def _model_finished(task: world.Task, event: events.ModelCallFinished) -> world.Task:
    update: dict[str, object] = {"model_call": None, "shrinks": 0, "model_faults": 0}
    update["cuts"] = task.cuts + 1 if event.finish_reason == "length" else 0
    call = task.model_call
    if event.script_line is not None and call is not None:
        update["script_lines"] = (*task.script_lines, (call.role, event.script_line))
    if call is not None and call.purpose is messages.Purpose.THINK:
        update["draft"] = event.text
    if call is not None and call.purpose in (messages.Purpose.CODE, messages.Purpose.WRITE):
        update["plan"] = fold_plan.with_result(task, call.step_id, event.text)
    return task.but(update)


def _approval(
    target: world.World,
    task: world.Task,
    event: events.ApprovalRequested | events.ApprovalResolved,
) -> world.Task:
    call = task.call(event.call_id)
    if call is None:
        raise ValueError(f"{event.approval_id} names an unknown call")
    match event:
        case events.ApprovalRequested():
            target.approvals[event.approval_id] = world.Approval(
                approval_id=event.approval_id,
                task_id=event.task_id,
                call_id=event.call_id,
                digest=event.digest,
                expires_ms=event.expires_ms,
                always_allowed=event.always_allowed,
                tool=event.tool,
                card=event.card,
                key=event.key,
                folder=event.folder,
                approvers=event.approvers,
                places=event.places,
            )
            status = world.CallStatus.AWAITING_APPROVAL
            update: dict[str, object] = {"status": status, "approval_id": event.approval_id}
            return fold_calls.with_call(task, call.but(update))
        case events.ApprovalResolved():
            approval = target.approvals[event.approval_id]
            if event.outcome is events.ApprovalOutcome.ALLOWED:
                target.approvals[event.approval_id] = approval.but(
                    {
                        "outcome": event.outcome,
                        "decided_by": event.decided_by,
                        "grant_id": event.grant_id,
                    }
                )
                status = world.CallStatus.APPROVED
                task = fold_calls.with_call(task, call.but({"status": status}))
                return _make_ready(target, task)
            del target.approvals[event.approval_id]
            if event.outcome is events.ApprovalOutcome.DENIED and approval.key:
                task = task.but({"denied": (*task.denied, approval.key)})
            goes_on = event.reason is not None
            return _make_ready(target, task) if goes_on else task
        case _:
            assert_never(event)
