"""What people and scripts ask by RPC: each is carried out, or refused with how to mend it."""

from typing import assert_never

from daemon.decide import (
    calls,
    channels,
    conversations,
    endings,
    engine,
    grants,
    people,
    profiles,
    projects,
    schedules,
    skills,
    submitting,
    tokens,
    turn,
)
from daemon.domain import (
    decisions,
    errors,
    events,
    ids,
    inputs,
    principals,
    state,
    world,
)
from daemon.permission import policy

_KIND = errors.RefusalKind


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def answer(current: turn.Turn, given: inputs.RpcInput) -> decisions.Reply | decisions.Rejected:
    """Carry out a write; a repeated client key gets the answer that it got before."""
    if given.client_key and current.known.key_reply is not None:
        if current.known.key_body_hash == given.body_hash:
            return current.known.key_reply
        return _reject(
            _KIND.CONFLICT,
            "This client_key was used for another request. Use a new one for each new request.",
        )
    reply = people.refused(current, given) or _carry_out(current, given)
    if not isinstance(reply, decisions.Rejected):
        current.note_key(given, reply)
    return reply


def _carry_out(current: turn.Turn, given: inputs.RpcInput) -> decisions.Reply | decisions.Rejected:
    match given:
        case inputs.SubmitTask():
            return submitting.submit(current, given)
        case inputs.CreateConversation():
            return conversations.create(current, given)
        case inputs.UpdateConversation():
            return conversations.update(current, given)
        case inputs.DeleteConversation():
            return conversations.delete(current, given)
        case inputs.CompactConversation():
            return conversations.compact(current, given)
        case inputs.UndoExchange():
            return conversations.undo(current, given)
        case inputs.GiveFeedback():
            return conversations.feedback(current, given)
        case inputs.CancelTask():
            return _cancel(current, given)
        case inputs.DecideTask():
            return _decide(current, given)
        case inputs.ResolveApproval():
            return _resolve(current, given)
        case inputs.RevokeGrant():
            return grants.revoke(current, given)
        case inputs.ProvideSecret():
            return _provide_secret(current, given)
        case inputs.TrustProject():
            return projects.trust(current, given)
        case inputs.RegisterProject():
            return projects.register(current, given)
        case inputs.SetProfile():
            return profiles.set_one(current, given)
        case inputs.SetSkill():
            return skills.set_one(current, given)
        case inputs.CreateToken():
            return tokens.create(current, given)
        case inputs.RevokeToken():
            return tokens.revoke(current, given)
        case inputs.ReportDelivery():
            return channels.report(current, given)
        case inputs.PostNotice():
            return channels.post(current, given)
        case inputs.MoveChat():
            return channels.move(current, given)
        case inputs.TaintProject():
            return projects.taint(current, given)
        case inputs.SetCursor():
            return channels.set_cursor(current, given)
        case inputs.CreateSchedule():
            return schedules.create(current, given)
        case inputs.UpdateSchedule():
            return schedules.update(current, given)
        case inputs.DeleteSchedule():
            return schedules.delete(current, given)
        case inputs.PauseSchedule():
            return schedules.pause(current, given)
        case inputs.RunSchedule():
            return schedules.run(current, given)
        case inputs.StopSchedule():
            return schedules.stop(current, given)
        case inputs.RequestPairing():
            return people.request(current, given)
        case inputs.DecidePairing():
            return people.decide(current, given)
        case _:
            assert_never(given)


def _no_task(current: turn.Turn, task_id: ids.TaskId) -> decisions.Rejected:
    if current.known.task_exists:
        return _reject(_KIND.STATE, f"{task_id} has ended; nothing can be decided about it.")
    return _reject(_KIND.NOT_FOUND, f"There is no task {task_id}.")


def _cancel(current: turn.Turn, given: inputs.CancelTask) -> decisions.Reply | decisions.Rejected:
    task = current.task(given.task_id)
    if task is None and not current.known.task_exists:
        return _no_task(current, given.task_id)
    if task is not None and task.state not in state.FINAL:
        endings.end(current, task, state.TaskState.CANCELLED)
    return decisions.TaskKept(task_id=given.task_id)


def _decide(current: turn.Turn, given: inputs.DecideTask) -> decisions.Reply | decisions.Rejected:
    task = current.task(given.task_id)
    if task is None:
        return _no_task(current, given.task_id)
    if task.ready or task.state not in state.WAITING:
        return _reject(_KIND.STATE, f"{given.task_id} does not wait for a decision.")
    sentence = policy.may_decide(
        _may_all(current, given.principal),
        given.principal,
        principals.approvers(task.origin),
        "",
        (),
    )
    if sentence:
        return _reject(_KIND.FORBIDDEN, sentence)
    if given.decision is events.Decision.ABANDON:
        return _abandon(current, given, task)
    if task.state is state.TaskState.AWAITING_APPROVAL:
        return _reject(_KIND.STATE, "It waits for an approval: use Approvals.Resolve.")
    if task.state is state.TaskState.AWAITING_SECRET:
        return _reject(_KIND.STATE, "It waits for a password: use Approvals.ProvideSecret.")
    unknown = task.unknown_calls()
    about_call = given.decision in (events.Decision.MARK_DONE, events.Decision.RUN_AGAIN)
    if about_call != (task.state is state.TaskState.AWAITING_DECISION):
        fitting = "MARK_DONE, RUN_AGAIN or ABANDON" if unknown else "RETRY or ABANDON"
        message = f"{given.task_id} is {task.state}: decide {fitting}."
        return _reject(_KIND.STATE, message)
    if not about_call:
        _note_decision(current, given, task, None)
        return decisions.TaskKept(task_id=given.task_id)
    wanted = [c for c in unknown if given.call_id in (None, c.call_id)]
    if len(wanted) != 1:
        listed = ", ".join(call.call_id for call in unknown)
        return _reject(_KIND.INVALID, f"Name the call in call_id, one of: {listed}.")
    _settle(current, given, task, wanted[0])
    return decisions.TaskKept(task_id=given.task_id)


def _may_all(current: turn.Turn, who: principals.Principal) -> bool:
    """An owner; and a script, whose token says what it may."""
    return current.rules.owners.is_owner(who) or not principals.is_chat_user(who)


def _note_decision(
    current: turn.Turn,
    given: inputs.DecideTask,
    task: world.Task,
    call_id: ids.CallId | None,
) -> world.Task:
    return current.emit(
        task,
        events.TaskDecided(
            task_id=task.task_id,
            decision=given.decision,
            principal=given.principal,
            call_id=call_id,
        ),
    )


def _abandon(current: turn.Turn, given: inputs.DecideTask, task: world.Task) -> decisions.Reply:
    task = _note_decision(current, given, task, None)
    endings.end(current, task, state.TaskState.FAILED, "it was abandoned")
    return decisions.TaskKept(task_id=given.task_id)


def _settle(
    current: turn.Turn, given: inputs.DecideTask, task: world.Task, call: world.ToolCall
) -> None:
    task = _note_decision(current, given, task, call.call_id)
    if given.decision is events.Decision.MARK_DONE:
        endings.finish(current, task, call, events.CallOutcome.MARKED_DONE, calls.CONFIRMED)
        return
    calls.propose_again(current, task, call)


_OUTCOMES = {
    inputs.Answer.ALLOW_ONCE: events.ApprovalOutcome.ALLOWED,
    inputs.Answer.ALLOW_ALWAYS: events.ApprovalOutcome.ALLOWED,
    inputs.Answer.DENY: events.ApprovalOutcome.DENIED,
}


def _resolve(
    current: turn.Turn, given: inputs.ResolveApproval
) -> decisions.Reply | decisions.Rejected:
    kept = decisions.ApprovalKept(approval_id=given.approval_id)
    wanted = _OUTCOMES[given.answer]
    approval = current.world.approvals.get(given.approval_id)
    outcome = approval.outcome if approval else current.known.approval_outcome
    grant_id = approval.grant_id if approval else current.known.approval_grant
    if outcome is wanted and given.answer is inputs.Answer.ALLOW_ALWAYS and grant_id is None:
        return _reject(_KIND.STATE, "It was allowed once already. Allow the next one always.")
    if outcome is wanted:
        return kept.but({"grant_id": grant_id})
    if outcome is not None:
        return _reject(_KIND.STATE, f"It is decided already: {outcome}.")
    if approval is None:
        return _reject(_KIND.NOT_FOUND, f"There is no approval {given.approval_id}.")
    task = current.world.tasks[approval.task_id]
    if current.at_ms >= approval.expires_ms:
        expire(current, task, approval)
        return _reject(_KIND.STATE, "It has expired. Ask for the same thing again.")
    refused = _may_not_decide(current, given, approval)
    if refused is not None:
        return refused
    reason = given.reason.strip()
    denied = wanted is events.ApprovalOutcome.DENIED
    if given.answer is inputs.Answer.ALLOW_ALWAYS:
        grant_id = grants.create(current, task, approval, given.principal)
    task = current.emit(
        task,
        events.ApprovalResolved(
            task_id=task.task_id,
            approval_id=approval.approval_id,
            call_id=approval.call_id,
            outcome=wanted,
            decided_by=given.principal,
            reason=current.keep(task.conversation_id, reason) if denied and reason else None,
            grant_id=grant_id,
        ),
    )
    if denied:
        _deny(current, task, approval, reason)
    elif task.state is state.TaskState.RUNNING:
        _go_on(current, task, approval.call_id)
    return kept.but({"grant_id": grant_id})


def _may_not_decide(
    current: turn.Turn, given: inputs.ResolveApproval, approval: world.Approval
) -> decisions.Rejected | None:
    is_owner = current.rules.owners.is_owner(given.principal)
    sentence = policy.may_decide(
        is_owner, given.principal, approval.approvers, given.place, approval.places
    )
    if sentence:
        return _reject(_KIND.FORBIDDEN, sentence)
    shown = current.known.delivery
    if given.message_id and (shown is None or shown.approval_id != given.approval_id):
        message = "That message is not the newest card of this question: answer there."
        return _reject(_KIND.FORBIDDEN, message)
    if given.answer is not inputs.Answer.ALLOW_ALWAYS:
        return None
    if not approval.always_allowed:
        return _reject(_KIND.STATE, "This can only be allowed once.")
    return grants.refuse_more(current)


def _provide_secret(
    current: turn.Turn, given: inputs.ProvideSecret
) -> decisions.Reply | decisions.Rejected:
    task = current.task(given.task_id)
    if task is None:
        return _no_task(current, given.task_id)
    call_id = task.secret_call
    if call_id is None:
        return _reject(_KIND.STATE, f"{given.task_id} does not wait for a password.")
    is_owner = current.rules.owners.is_owner(given.principal)
    may = principals.approvers(task.origin)
    sentence = policy.may_decide(is_owner, given.principal, may, "", ())
    if sentence:
        return _reject(_KIND.FORBIDDEN, sentence)
    provided = events.SecretProvided(
        task_id=task.task_id, call_id=call_id, principal=given.principal
    )
    task = current.emit(task, provided)
    if task.state is state.TaskState.RUNNING:
        _go_on(current, task, call_id)
    return decisions.TaskKept(task_id=task.task_id)


def _deny(current: turn.Turn, task: world.Task, approval: world.Approval, reason: str) -> None:
    call = task.call(approval.call_id)
    if call is None:
        raise ValueError(f"{approval.approval_id} names an unknown call")
    text = calls.denied_text(reason)
    task = endings.finish(current, task, call, events.CallOutcome.DENIED, text)
    if not reason:
        endings.end(current, task, state.TaskState.FAILED, "a command was not allowed")
    else:
        engine.proceed(current, task)


def _go_on(current: turn.Turn, task: world.Task, call_id: ids.CallId) -> None:
    """A call of a task that still runs got what it waited for."""
    call = task.call(call_id)
    if call is not None and not call.ended:
        calls.inspect(current, task, call)


def expire(current: turn.Turn, task: world.Task, approval: world.Approval) -> None:
    """Nobody answered in time: that is a no."""
    task = current.emit(
        task,
        events.ApprovalResolved(
            task_id=task.task_id,
            approval_id=approval.approval_id,
            call_id=approval.call_id,
            outcome=events.ApprovalOutcome.EXPIRED,
        ),
    )
    call = task.call(approval.call_id)
    if call is not None:
        text = "Nobody answered the request for approval in time."
        task = endings.finish(current, task, call, events.CallOutcome.EXPIRED, text)
    endings.end(current, task, state.TaskState.FAILED, "nobody answered the approval in time")
