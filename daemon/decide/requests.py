"""What people and scripts ask by RPC: each is carried out, or refused with how to mend it."""

from typing import assert_never

from daemon.decide import endings, engine, grants, intent, tokens, turn
from daemon.domain import (
    decisions,
    directives,
    errors,
    events,
    ids,
    inputs,
    principals,
    state,
    taints,
    verdicts,
    world,
)
from daemon.permission import policy

_KIND = errors.RefusalKind
SHELL = "shell_exec"


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
    reply = _carry_out(current, given)
    if not isinstance(reply, decisions.Rejected):
        current.note_key(given, reply)
    return reply


def _carry_out(current: turn.Turn, given: inputs.RpcInput) -> decisions.Reply | decisions.Rejected:
    match given:
        case inputs.SubmitTask():
            return _submit(current, given)
        case inputs.CreateConversation():
            return _create_conversation(current, given)
        case inputs.UpdateConversation():
            return _update_conversation(current, given)
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
            return _trust_project(current, given)
        case inputs.CreateToken():
            return tokens.create(current, given)
        case inputs.RevokeToken():
            return tokens.revoke(current, given)
        case _:
            assert_never(given)


def _refuse_submission(current: turn.Turn, given: inputs.SubmitTask) -> decisions.Rejected | None:
    limits = current.rules.limits
    if not given.text.strip():
        return _reject(_KIND.INVALID, "The text is empty. Say what you want done.")
    size = len(given.text.encode())
    if size > limits.message_bytes:
        return _reject(
            _KIND.EXHAUSTED,
            f"The text has {size} bytes; at most {limits.message_bytes} are taken. "
            "Send long material as an attachment with Artifacts.Put.",
        )
    if len(current.world.queued) >= limits.queued_tasks:
        return _reject(
            _KIND.EXHAUSTED,
            f"{limits.queued_tasks} tasks wait already. Try again when some have ended.",
        )
    if given.conversation_id is not None and not current.known.conversation_exists:
        return _reject(
            _KIND.NOT_FOUND,
            f"There is no conversation {given.conversation_id}. "
            "Leave conversation_id empty to start a new one.",
        )
    if given.mode is not None and given.conversation_id is not None:
        return _reject(
            _KIND.INVALID,
            "mode is for a new conversation; change this one's with Conversations.Update.",
        )
    if current.known.missing_artifact is not None:
        return _reject(
            _KIND.NOT_FOUND,
            f"There is no artifact {current.known.missing_artifact}. Send it with Artifacts.Put.",
        )
    return None


def _submit(current: turn.Turn, given: inputs.SubmitTask) -> decisions.Reply | decisions.Rejected:
    refused = _refuse_submission(current, given)
    if refused is not None:
        return refused
    conversation_id = given.conversation_id
    if conversation_id is None:
        conversation_id = current.ids.conversation()
        created = events.ConversationCreated(
            conversation_id=conversation_id,
            principal=given.origin.principal,
            mode=given.mode or verdicts.Mode.BUILD,
        )
        current.record(created, conversation_id, given.correlation_id)
    taint = taints.join(_of_origin(given.origin), current.known.taint)
    task_id = current.ids.task()
    seq = current.next_seq
    submitted = events.TaskSubmitted(
        task_id=task_id,
        conversation_id=conversation_id,
        origin=given.origin,
        text=current.keep(conversation_id, given.text, taint),
        attachments=given.attachments,
    )
    current.record(submitted, conversation_id, given.correlation_id, task_id)
    current.taint(current.world.tasks[task_id], taint)
    command = intent.explicit_command(given.text)
    if command is not None and SHELL in current.rules.tools:
        task = current.world.tasks[task_id]
        arguments = directives.arguments_json({"command": command})
        engine.propose(current, task, SHELL, arguments, direct=True)
    return decisions.Submitted(task_id=task_id, conversation_id=conversation_id, seq=seq)


def _of_origin(origin: principals.Origin) -> taints.Taint:
    """What a forwarded message brings along: who wrote it is not who sent it."""
    if not origin.forwarded:
        return taints.CLEAN
    return (taints.Source(kind=taints.Kind.FORWARDED, source_id=origin.message_id),)


def _create_conversation(current: turn.Turn, given: inputs.CreateConversation) -> decisions.Reply:
    conversation_id = current.ids.conversation()
    title = current.keep(conversation_id, given.title) if given.title else None
    created = events.ConversationCreated(
        conversation_id=conversation_id, principal=given.principal, title=title, mode=given.mode
    )
    current.record(created, conversation_id, given.correlation_id)
    return decisions.ConversationKept(conversation_id=conversation_id)


def _update_conversation(
    current: turn.Turn, given: inputs.UpdateConversation
) -> decisions.Reply | decisions.Rejected:
    if not current.known.conversation_exists:
        message = f"There is no conversation {given.conversation_id}."
        return _reject(_KIND.NOT_FOUND, message)
    title = None if given.title is None else current.keep(given.conversation_id, given.title)
    updated = events.ConversationUpdated(
        conversation_id=given.conversation_id, title=title, mode=given.mode
    )
    current.record(updated, given.conversation_id, given.correlation_id)
    return decisions.ConversationKept(conversation_id=given.conversation_id)


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
        outcome = events.CallOutcome.MARKED_DONE
        endings.finish(current, task, call, outcome, engine.marked_done_text())
        return
    current.emit(
        task,
        events.ToolCallProposed(
            task_id=task.task_id,
            call_id=current.ids.call(),
            tool=call.tool,
            arguments=call.arguments,
            direct=call.direct,
            repeats=call.call_id,
        ),
    )


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
    if task.state is not state.TaskState.AWAITING_SECRET or task.secret_call is None:
        return _reject(_KIND.STATE, f"{given.task_id} does not wait for a password.")
    is_owner = current.rules.owners.is_owner(given.principal)
    may = principals.approvers(task.origin)
    sentence = policy.may_decide(is_owner, given.principal, may, "", ())
    if sentence:
        return _reject(_KIND.FORBIDDEN, sentence)
    provided = events.SecretProvided(
        task_id=task.task_id, call_id=task.secret_call, principal=given.principal
    )
    current.emit(task, provided)
    return decisions.TaskKept(task_id=task.task_id)


def _trust_project(
    current: turn.Turn, given: inputs.TrustProject
) -> decisions.Reply | decisions.Rejected:
    if not current.rules.owners.is_owner(given.principal):
        return _reject(_KIND.FORBIDDEN, "Only the owner of this daemon may trust a project.")
    project = current.world.projects.get(given.folder)
    if project is not None:
        trusted = events.ProjectTrusted(folder=given.folder, principal=given.principal)
        current.record(trusted, project.conversation_id, given.correlation_id)
    return decisions.ProjectKept(folder=given.folder)


def _deny(current: turn.Turn, task: world.Task, approval: world.Approval, reason: str) -> None:
    call = task.call(approval.call_id)
    if call is None:
        raise ValueError(f"{approval.approval_id} names an unknown call")
    text = engine.denied_text(reason)
    task = endings.finish(current, task, call, events.CallOutcome.DENIED, text)
    if not reason:
        endings.end(current, task, state.TaskState.FAILED, "a command was not allowed")


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
