"""Domain events as wire events: the same facts, with the texts in place of their ids."""

from collections.abc import Iterable
from typing import assert_never

from daemon.domain import events, ids, principals
from daemon.rpc import (
    convert,
    wire_channel_events,
    wire_conversation_events,
    wire_plan_events,
    wire_schedule_events,
)
from proto.ducklm.v1 import common_pb2, events_pb2


def content_of(recorded: Iterable[events.Recorded]) -> list[ids.ContentId]:
    """The texts that these events need."""
    found: list[ids.ContentId | None] = []
    for one in recorded:
        match one.event:
            case (
                events.TaskSubmitted()
                | events.TaskSteered()
                | events.ModelCallFailed()
                | events.AnswerGiven()
            ):
                found.append(one.event.text)
            case events.NoticePosted():
                found.append(one.event.text)
            case events.ModelCallFinished():
                found += (one.event.text, one.event.reasoning)
            case events.ToolCallProposed():
                found.append(one.event.arguments)
            case events.ToolCallEnded():
                found += (one.event.result, one.event.diff)
            case events.ApprovalRequested() | events.GrantCreated():
                found.append(one.event.card)
            case events.ApprovalResolved():
                found.append(one.event.reason)
            case (
                events.ReplyRefused() | events.PlanMade() | events.StepJudged() | events.StepEnded()
            ):
                found += wire_plan_events.contents(one.event)
            case (
                events.ConversationCreated()
                | events.ConversationUpdated()
                | events.ConversationCompacted()
                | events.FeedbackGiven()
            ):
                found += wire_conversation_events.contents(one.event)
            case events.ScheduleSet():
                found += (one.event.schedule.name, one.event.schedule.text)
            case _:
                pass
    return [content_id for content_id in found if content_id is not None]


def event(recorded: events.Recorded, texts: convert.Texts) -> events_pb2.Event:
    """One event as it is sent."""
    sent = events_pb2.Event(
        seq=recorded.seq,
        at=convert.timestamp(recorded.at_ms),
        task_id=recorded.task_id or "",
        conversation_id=recorded.conversation_id,
        correlation_id=recorded.correlation_id,
    )
    _fill(sent, recorded.event, texts)
    return sent


def _fill(sent: events_pb2.Event, given: events.Event, texts: convert.Texts) -> None:
    match given:
        case (
            events.ConversationCreated()
            | events.ConversationUpdated()
            | events.ConversationDeleted()
            | events.ConversationCompacted()
            | events.ExchangeUndone()
            | events.ProjectReverted()
            | events.FeedbackGiven()
        ):
            wire_conversation_events.fill(sent, given, texts)
        case (
            events.DirectiveTaken()
            | events.ReplyRefused()
            | events.PlanMade()
            | events.StepStarted()
            | events.StepJudged()
            | events.StepEnded()
        ):
            wire_plan_events.fill(sent, given, texts)
        case (
            events.TaskSubmitted()
            | events.TaskSteered()
            | events.TaskStateChanged()
            | events.TaskRecovered()
            | events.TaskDecided()
            | events.AnswerGiven()
        ):
            _task(sent, given, texts)
        case events.ModelCallStarted() | events.ModelCallFinished() | events.ModelCallFailed():
            _model_call(sent, given, texts)
        case events.ApprovalRequested() | events.ApprovalResolved():
            _approval(sent, given, texts)
        case events.GrantCreated() | events.GrantRevoked():
            _grant(sent, given, texts)
        case events.SecretRequested() | events.SecretProvided():
            _secret(sent, given)
        case events.TaskTainted() | events.ProjectTainted() | events.ProjectTrusted():
            _taint(sent, given)
        case (
            events.DeliveryReported()
            | events.NoticePosted()
            | events.ChatMoved()
            | events.PairingRequested()
            | events.PairingDecided()
        ):
            wire_channel_events.fill(sent, given, texts)
        case (
            events.ScheduleSet()
            | events.ScheduleRemoved()
            | events.ScheduleRunQueued()
            | events.ScheduleRunStarted()
            | events.ScheduleRunsLeftOut()
            | events.ScheduleRunEnded()
        ):
            wire_schedule_events.fill(sent, given, texts)
        case (
            events.ToolCallProposed()
            | events.ToolCallInspected()
            | events.ToolCallStarted()
            | events.ToolCallEnded()
        ):
            _tool_call(sent, given, texts)
        case _:
            assert_never(given)


def _task(
    sent: events_pb2.Event,
    given: events.TaskSubmitted
    | events.TaskSteered
    | events.TaskStateChanged
    | events.TaskRecovered
    | events.TaskDecided
    | events.AnswerGiven,
    texts: convert.Texts,
) -> None:
    match given:
        case events.TaskSubmitted():
            sent.task_submitted.CopyFrom(
                events_pb2.TaskSubmitted(
                    origin=_origin(given.origin),
                    text=convert.said(texts, given.text),
                    attachments=given.attachments,
                    kind=given.kind.value,
                    skill=given.skill,
                    note=given.note,
                    profile=given.profile,
                    schedule_id=given.run.schedule_id if given.run is not None else "",
                    run_id=given.run.run_id if given.run is not None else "",
                )
            )
        case events.TaskSteered():
            sent.task_steered.CopyFrom(
                events_pb2.TaskSteered(
                    origin=_origin(given.origin), text=convert.said(texts, given.text)
                )
            )
        case events.TaskStateChanged():
            sent.task_state_changed.CopyFrom(
                events_pb2.TaskStateChanged(to=convert.task_state(given.state), reason=given.reason)
            )
            setattr(sent.task_state_changed, "from", convert.task_state(given.previous))
        case events.TaskRecovered():
            sent.task_recovered.count = given.count
        case events.TaskDecided():
            sent.task_decided.CopyFrom(
                events_pb2.TaskDecided(
                    decision=given.decision.value,
                    principal=given.principal,
                    call_id=given.call_id or "",
                )
            )
        case events.AnswerGiven():
            sent.answer_given.CopyFrom(events_pb2.AnswerGiven(text=convert.said(texts, given.text)))
        case _:
            assert_never(given)


def _origin(given: principals.Origin) -> common_pb2.Origin:
    return common_pb2.Origin(**given.model_dump())


def _model_call(
    sent: events_pb2.Event,
    given: events.ModelCallStarted | events.ModelCallFinished | events.ModelCallFailed,
    texts: convert.Texts,
) -> None:
    match given:
        case events.ModelCallStarted():
            sent.model_call_started.CopyFrom(
                events_pb2.ModelCallStarted(
                    call_id=given.call_id,
                    role=given.role.value,
                    attempt=given.attempt,
                    replaces_call_id=given.replaces or "",
                    purpose=given.purpose.value,
                    up_to_seq=given.up_to_seq,
                    step_id=given.step_id or "",
                )
            )
        case events.ModelCallFinished():
            sent.model_call_finished.CopyFrom(
                events_pb2.ModelCallFinished(
                    call_id=given.call_id,
                    text=convert.said(texts, given.text),
                    finish_reason=given.finish_reason,
                    slot=given.slot,
                    prompt_tokens=given.usage.prompt_tokens,
                    reused_tokens=given.usage.reused_tokens,
                    completion_tokens=given.usage.completion_tokens,
                    queued_ms=given.usage.queued_ms,
                    prefill_ms=given.usage.prefill_ms,
                    decode_ms=given.usage.decode_ms,
                    reasoning=convert.said(texts, given.reasoning),
                )
            )
        case events.ModelCallFailed():
            sent.model_call_failed.CopyFrom(
                events_pb2.ModelCallFailed(
                    call_id=given.call_id,
                    fault=given.fault,
                    message=given.message,
                    text=convert.said(texts, given.text),
                )
            )
        case _:
            assert_never(given)


def _approval(
    sent: events_pb2.Event,
    given: events.ApprovalRequested | events.ApprovalResolved,
    texts: convert.Texts,
) -> None:
    match given:
        case events.ApprovalRequested():
            sent.approval_requested.CopyFrom(
                events_pb2.ApprovalRequested(
                    approval_id=given.approval_id,
                    call_id=given.call_id,
                    tool=given.tool,
                    card=convert.said(texts, given.card),
                    reasons=given.reasons,
                    always_allowed=given.always_allowed,
                    expires_at=convert.timestamp(given.expires_ms),
                    folder=given.folder,
                    places=given.places,
                )
            )
        case events.ApprovalResolved():
            sent.approval_resolved.CopyFrom(
                events_pb2.ApprovalResolved(
                    approval_id=given.approval_id,
                    call_id=given.call_id,
                    outcome=given.outcome.value,
                    decided_by=given.decided_by or "",
                    reason=convert.said(texts, given.reason),
                )
            )
        case _:
            assert_never(given)


def _grant(
    sent: events_pb2.Event,
    given: events.GrantCreated | events.GrantRevoked,
    texts: convert.Texts,
) -> None:
    match given:
        case events.GrantCreated():
            sent.grant_created.CopyFrom(
                events_pb2.GrantCreated(
                    grant_id=given.grant_id,
                    tool=given.tool,
                    card=convert.said(texts, given.card),
                    principal=given.principal,
                    folder=given.folder,
                    granted_by=given.granted_by,
                    expires_at=convert.timestamp(given.expires_ms),
                    uses=given.uses,
                    schedule_id=given.schedule_id or "",
                )
            )
        case events.GrantRevoked():
            sent.grant_revoked.CopyFrom(
                events_pb2.GrantRevoked(grant_id=given.grant_id, principal=given.principal)
            )
        case _:
            assert_never(given)


def _secret(sent: events_pb2.Event, given: events.SecretRequested | events.SecretProvided) -> None:
    match given:
        case events.SecretRequested():
            sent.secret_requested.CopyFrom(
                events_pb2.SecretRequested(
                    call_id=given.call_id,
                    what=given.what,
                    expires_at=convert.timestamp(given.expires_ms),
                )
            )
        case events.SecretProvided():
            sent.secret_provided.CopyFrom(
                events_pb2.SecretProvided(call_id=given.call_id, principal=given.principal)
            )
        case _:
            assert_never(given)


def _taint(
    sent: events_pb2.Event,
    given: events.TaskTainted | events.ProjectTainted | events.ProjectTrusted,
) -> None:
    match given:
        case events.TaskTainted():
            sent.task_tainted.CopyFrom(events_pb2.TaskTainted(sources=convert.taint(given.sources)))
        case events.ProjectTainted():
            sent.project_tainted.CopyFrom(
                events_pb2.ProjectTainted(folder=given.folder, sources=convert.taint(given.sources))
            )
        case events.ProjectTrusted():
            sent.project_trusted.CopyFrom(
                events_pb2.ProjectTrusted(folder=given.folder, principal=given.principal)
            )
        case _:
            assert_never(given)


def _tool_call(
    sent: events_pb2.Event,
    given: events.ToolCallProposed
    | events.ToolCallInspected
    | events.ToolCallStarted
    | events.ToolCallEnded,
    texts: convert.Texts,
) -> None:
    match given:
        case events.ToolCallProposed():
            sent.tool_call_proposed.CopyFrom(
                events_pb2.ToolCallProposed(
                    call_id=given.call_id,
                    tool=given.tool,
                    arguments_json=convert.said(texts, given.arguments),
                    step_id=given.step_id or "",
                )
            )
        case events.ToolCallInspected():
            sent.tool_call_inspected.CopyFrom(
                events_pb2.ToolCallInspected(
                    call_id=given.call_id,
                    effect=given.effect.value,
                    verdict=given.verdict.value,
                    reasons=given.reasons,
                )
            )
        case events.ToolCallStarted():
            sent.tool_call_started.CopyFrom(
                events_pb2.ToolCallStarted(
                    call_id=given.call_id,
                    digest=given.digest,
                    attempt=given.attempt,
                    approval_id=given.approval_id or "",
                    basis=given.basis.value if given.basis is not None else "",
                    grant_id=given.grant_id or "",
                )
            )
        case events.ToolCallEnded():
            sent.tool_call_ended.CopyFrom(
                events_pb2.ToolCallEnded(
                    call_id=given.call_id,
                    outcome=convert.call_outcome(given.outcome),
                    text=convert.said(texts, given.result),
                    exit_code=given.exit_code,
                    artifact_id=given.artifact or "",
                    duration_ms=given.duration_ms,
                    commit=given.commit,
                    files=given.files,
                    diff=convert.said(texts, given.diff),
                )
            )
        case _:
            assert_never(given)
