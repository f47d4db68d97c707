"""The judgement of an inspected call: it starts, waits for a person, or is refused.

A call starts only by a permit over the digest of what the last inspection found, and the event that
announces it uses up the approval or a use of the grant in the same transaction.
"""

from typing import assert_never

from daemon.decide import calls, endings, engine, rehearsals, secrecy, spreading, turn
from daemon.domain import decisions, events, ids, inputs, taints, verdicts, world
from daemon.permission import binding, card, policy
from tools import contract

_MOST_FILES = 64


def inspected(
    current: turn.Turn, task: world.Task, call: world.ToolCall, given: inputs.CallInspected
) -> None:
    """Judge an inspected call: start it, ask for it, or refuse it."""
    match call.status:
        case world.CallStatus.PROPOSED | world.CallStatus.INSPECTED:
            _judge(current, task, call, given)
        case world.CallStatus.APPROVED:
            _use_approval(current, task, call, given)
        case world.CallStatus.STARTED:
            _start_again(current, task, call, given)
        case world.CallStatus.AWAITING_APPROVAL | world.CallStatus.ENDED:
            current.act(decisions.ReleaseCall(call_id=call.call_id))
        case _:
            assert_never(call.status)


def _key(
    current: turn.Turn, task: world.Task, call: world.ToolCall, given: inputs.CallInspected
) -> str:
    spec, who = current.rules.tools[call.tool], task.origin.principal
    return binding.key(spec, given.arguments, given.facts, given.policy, who)


def _settle(
    current: turn.Turn, task: world.Task, key: str, given: inputs.CallInspected
) -> policy.Settled:
    """The way of a call as things are now: the mode, the taint and the grants."""
    judged = policy.confined(given.judged, given.facts.missing)
    unread = [path for path in given.facts.replaces if path not in task.files]
    situation = policy.Situation(
        unread=unread[0] if unread else "",
        reads=bool(given.facts.hosts) and not given.facts.touched,
        named=bool(given.facts.sources) and set(given.facts.sources) <= set(task.urls),
        mode=_mode(current, task),
        taint=taints.join(task.taint, spreading.of_call(current.world, given)),
        grant_id=_grant(current, task, key, given.folder),
        denied=key in task.denied,
    )
    return policy.settle(judged, situation)


def _mode(current: turn.Turn, task: world.Task) -> verdicts.Mode:
    """The mode of the conversation; yolo is only for owners: to others, who may not approve, it
    would give what no one gave them."""
    mode = current.world.mode(task.conversation_id)
    is_owner = current.rules.owners.is_owner(task.origin.principal)
    return verdicts.Mode.BUILD if mode is verdicts.Mode.YOLO and not is_owner else mode


def _grant(current: turn.Turn, task: world.Task, key: str, folder: str) -> ids.GrantId | None:
    of = (None,) if task.run is None else (None, task.run.schedule_id)
    for grant in current.world.live_grants(current.at_ms):
        if (grant.key, grant.folder) == (key, folder) and grant.schedule_id in of:
            return grant.grant_id
    return None


def _judge(
    current: turn.Turn, task: world.Task, call: world.ToolCall, given: inputs.CallInspected
) -> None:
    key = _key(current, task, call, given)
    digest = binding.digest(key, task.task_id)
    settled = _settle(current, task, key, given)
    task = current.emit(
        task,
        events.ToolCallInspected(
            task_id=task.task_id,
            call_id=call.call_id,
            effect=given.facts.effect,
            digest=digest,
            verdict=settled.verdict,
            reasons=settled.reasons,
        ),
    )
    if task.kind is events.TaskKind.REHEARSAL:
        shown = card.of(current.rules.tools[call.tool], given.facts)
        if not rehearsals.asks(settled, card.is_long(shown)):
            rehearsals.end(current, task, rehearsals.told(settled))
            return
    match settled.way:
        case policy.Way.RUN:
            _start(current, task, call, given, policy.permit(call.call_id, digest, settled))
        case policy.Way.ASK:
            _ask(current, task, call, given, digest, key, settled)
        case policy.Way.REFUSE:
            engine.refuse(current, task, call, "Refused: " + ", ".join(settled.reasons))
        case _:
            assert_never(settled.way)


def _ask(
    current: turn.Turn,
    task: world.Task,
    call: world.ToolCall,
    given: inputs.CallInspected,
    digest: str,
    key: str,
    settled: policy.Settled,
) -> None:
    spec = current.rules.tools[call.tool]
    approval_id = current.ids.approval()
    expires_ms = current.at_ms + rehearsals.approval_seconds(current, task) * 1000
    approvers, places = rehearsals.asked(task)
    shown = card.of(spec, given.facts)
    task = current.emit(
        task,
        events.ApprovalRequested(
            task_id=task.task_id,
            approval_id=approval_id,
            call_id=call.call_id,
            tool=call.tool,
            digest=digest,
            card=current.keep_of(task, shown),
            reasons=(*rehearsals.reasons(task), *settled.reasons),
            always_allowed=settled.always_allowed and not card.is_long(shown),
            expires_ms=expires_ms,
            key=key,
            folder=given.folder,
            approvers=approvers,
            places=places,
        ),
    )
    current.act(decisions.ReleaseCall(call_id=call.call_id))
    current.act(expiry_timer(approval_id, expires_ms))
    engine.proceed(current, task)


def expiry_timer(approval_id: ids.ApprovalId, expires_ms: int) -> decisions.SetTimer:
    """Reminds when an approval runs out."""
    return decisions.SetTimer(
        timer=decisions.TimerKind.APPROVAL_EXPIRY, subject=approval_id, due_ms=expires_ms
    )


def _use_approval(
    current: turn.Turn, task: world.Task, call: world.ToolCall, given: inputs.CallInspected
) -> None:
    """Start what was allowed, if it is still exactly that, and still may be."""
    key = _key(current, task, call, given)
    digest = binding.digest(key, task.task_id)
    approval = current.world.approvals.get(call.approval_id) if call.approval_id else None
    if task.kind is events.TaskKind.REHEARSAL:
        rehearsals.allowed(current, task, approval)
        return
    settled = _settle(current, task, key, given)
    if approval is not None and approval.digest == digest and settled.way is not policy.Way.REFUSE:
        permit = policy.permit(call.call_id, digest, settled, approval.approval_id)
        _start(current, task, call, given, permit)
        return
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
    if settled.way is policy.Way.REFUSE:
        engine.refuse(current, task, call, "Refused: " + ", ".join(settled.reasons))
        return
    engine.refuse(current, task, call, "Refused: what would run has changed since it was allowed.")


def _start_again(
    current: turn.Turn, task: world.Task, call: world.ToolCall, given: inputs.CallInspected
) -> None:
    """Repeat a call that a stop cut off; only effects for which that is harmless come here.

    Raises:
        ValueError: the call is unsafe: it ran already, and never runs by itself again.
    """
    if contract.Effect.UNSAFE in (call.effect, given.facts.effect) or call.basis is None:
        raise ValueError(f"{call.call_id} is unsafe and was started already")
    digest = binding.digest(_key(current, task, call, given), task.task_id)
    judged = policy.confined(given.judged, given.facts.missing)
    if digest != call.digest or judged.verdict is verdicts.Verdict.HARD_STOP:
        current.act(decisions.ReleaseCall(call_id=call.call_id))
        text = "It was cut off, and what it would do has changed since."
        task = endings.finish(current, task, call, events.CallOutcome.FAILED, text)
        engine.proceed(current, task)
        return
    permit = policy.permit_again(call.call_id, digest, call.basis)
    _start(current, task, call, given, permit)


def _start(
    current: turn.Turn,
    task: world.Task,
    call: world.ToolCall,
    given: inputs.CallInspected,
    permit: decisions.Permit,
) -> None:
    if given.facts.secret and not given.has_secret:
        secrecy.ask(current, task, call, given.facts.secret)
        return
    task = _spread_taint(current, task, given)
    files = tuple(dict.fromkeys(one.real for one in given.facts.touched))
    current.emit(
        task,
        events.ToolCallStarted(
            task_id=task.task_id,
            call_id=call.call_id,
            digest=permit.digest,
            effect=given.facts.effect,
            attempt=call.attempt + 1,
            intent=given.facts.intent,
            approval_id=permit.approval_id,
            grant_id=permit.grant_id,
            basis=permit.basis,
            files=files[:_MOST_FILES],
        ),
    )
    current.act(decisions.CallTool(site=calls.site(current, task, call), permit=permit))


def _spread_taint(current: turn.Turn, task: world.Task, given: inputs.CallInspected) -> world.Task:
    """A tainted folder taints who works in it or reads of it, and a tainted task the folders that
    it changes; what comes from the web taints before it is there."""
    web = taints.Kind.WEB
    fetched = tuple(taints.Source(kind=web, source_id=one) for one in given.facts.sources)
    task = current.taint(task, taints.join(spreading.of_call(current.world, given), fetched))
    if given.judged.verdict is verdicts.Verdict.ALLOW_READONLY:
        return task
    for folder in spreading.written(given):
        new = taints.beyond(task.taint, spreading.of_place(current.world, folder))
        if new:
            task = current.emit(task, events.ProjectTainted(folder=folder, sources=new))
    return task
