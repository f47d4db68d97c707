"""The only translator: protobuf requests into the domain, and domain values into protobuf.

What is sent carries the texts that domain values refer to by id; for each kind, a function says
which texts it needs, so that a page's are read at once. A forgotten text reads as empty.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, assert_never

from google.protobuf import message, timestamp_pb2

from daemon.domain import (
    errors,
    events,
    ids,
    inputs,
    messages,
    principals,
    state,
    taints,
    verdicts,
    views,
    world,
)
from daemon.rpc import caller
from daemon.runtime import bus
from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)

Texts = Mapping[ids.ContentId, str | None]

_STATES = {one: common_pb2.TaskState.Value(one.name) for one in state.TaskState}
_STATES_BACK = {number: one for one, number in _STATES.items()}
_STAGES = {one: events_pb2.Progress.Stage.Value(one.name) for one in messages.Stage}
_OUTCOMES = {one: events_pb2.ToolCallEnded.Outcome.Value(one.name) for one in events.CallOutcome}
_DECISIONS = {tasks_pb2.TaskDecision.Value(one.name): one for one in events.Decision}
_MODES = {one: common_pb2.Mode.Value(one.name) for one in verdicts.Mode}
_MODES_BACK = {number: one for one, number in _MODES.items()}
_ANSWERS = {approvals_pb2.Answer.Value(one.name): one for one in inputs.Answer}
_MOST_FILES = 16
_STEERS = {common_pb2.QUEUE: False, common_pb2.STEER: True}


def timestamp(at_ms: int) -> timestamp_pb2.Timestamp:
    """Milliseconds since the epoch as a protobuf timestamp."""
    return timestamp_pb2.Timestamp(seconds=at_ms // 1000, nanos=at_ms % 1000 * 1_000_000)


def _refuse(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)


def origin(given: common_pb2.Origin, who: principals.Credential) -> principals.Origin:
    """Where a request was made. Only a channel token may state another principal, of its own."""
    stated = principals.Principal(given.principal) or who.principal
    if stated != who.principal:
        if "channel" not in who.scopes:
            raise errors.Refusal(
                errors.RefusalKind.FORBIDDEN,
                "Only a token with scope channel may speak for another principal.",
            )
        if not principals.is_principal(stated):
            raise _refuse("origin.principal must look like platform:account:user.")
        if not principals.may_state(who, stated):
            raise errors.Refusal(
                errors.RefusalKind.FORBIDDEN,
                "This token speaks for principals of "
                f"{principals.account_of(who.principal)} alone; origin.principal is of another.",
            )
    return principals.Origin(
        principal=stated,
        channel=given.channel,
        chat=given.chat,
        topic=given.topic,
        message_id=given.message_id,
        reply_to=given.reply_to,
        forwarded=given.forwarded,
        speaker=given.speaker,
    )


def body_hash(request: message.Message) -> str:
    """The digest of a request without its client_key."""
    body = type(request)()
    body.CopyFrom(request)
    body.ClearField("client_key")
    name = request.DESCRIPTOR.full_name.encode()
    return hashlib.sha256(name + b"\0" + body.SerializeToString(deterministic=True)).hexdigest()


class Keyed(TypedDict):
    """The fields of `inputs.Keyed`, to be unpacked into one of its kinds."""

    credential: str
    principal: principals.Principal
    correlation_id: str
    client_key: str
    body_hash: str


def keyed(
    request: message.Message,
    client_key: str,
    who: caller.Caller,
    principal: principals.Principal | None = None,
) -> Keyed:
    """What every write by an RPC says of itself; no principal means the token's own."""
    return Keyed(
        credential=who.credential.name,
        principal=who.credential.principal if principal is None else principal,
        correlation_id=who.correlation_id,
        client_key=client_key,
        body_hash=body_hash(request),
    )


def submission(
    request: tasks_pb2.SubmitRequest, folder: str | None, who: caller.Caller
) -> inputs.SubmitTask:
    stated = origin(request.origin, who.credential)
    return inputs.SubmitTask(
        **keyed(request, request.client_key, who, stated.principal),
        origin=stated,
        text=request.text,
        conversation_id=ids.ConversationId(request.conversation_id) or None,
        attachments=tuple(ids.ArtifactId(one) for one in request.attachments),
        mode=mode(request.mode),
        folder=folder,
        profile=request.profile,
        files=_came_with(request.files),
    )


def _came_with(files: Sequence[str]) -> tuple[str, ...]:
    """Paths of files as Projects.PutFile names them: a model is told them as they stand."""
    if len(files) > _MOST_FILES:
        raise _refuse(f"files names {len(files)} files; at most {_MOST_FILES} are taken.")
    for path in files:
        if not path.isprintable() or path.startswith("/") or {"", ".", ".."} & {*path.split("/")}:
            raise _refuse("files are paths below the project's folder, as Projects.PutFile gives.")
    return tuple(files)


def decision(request: tasks_pb2.DecideRequest, who: caller.Caller) -> inputs.DecideTask:
    if request.decision not in _DECISIONS:
        raise _refuse("decision is one of MARK_DONE, RUN_AGAIN, ABANDON, RETRY.")
    stated = origin(request.origin, who.credential)
    return inputs.DecideTask(
        **keyed(request, request.client_key, who, stated.principal),
        task_id=ids.TaskId(request.task_id),
        decision=_DECISIONS[request.decision],
        call_id=ids.CallId(request.call_id) or None,
    )


def resolution(request: approvals_pb2.ResolveRequest, who: caller.Caller) -> inputs.ResolveApproval:
    if request.answer not in _ANSWERS:
        raise _refuse("answer is one of ALLOW_ONCE, ALLOW_ALWAYS, DENY.")
    stated = origin(request.origin, who.credential)
    in_chat = _is_bots(who.credential)
    return inputs.ResolveApproval(
        **keyed(request, request.client_key, who, stated.principal),
        approval_id=ids.ApprovalId(request.approval_id),
        answer=_ANSWERS[request.answer],
        reason=request.reason,
        place=principals.place(stated) if in_chat else "",
        message_id=stated.message_id if in_chat else "",
    )


def _is_bots(who: principals.Credential) -> bool:
    """Whether a chat is behind a token: what is answered there must have been asked there."""
    return "channel" in who.scopes and who.principal != principals.LOCAL_OWNER


def mode(number: "common_pb2.Mode.ValueType") -> verdicts.Mode | None:
    """The mode that a number asks for; None for unspecified."""
    return _MODES_BACK.get(number)


def mode_number(given: verdicts.Mode) -> "common_pb2.Mode.ValueType":
    return _MODES[given]


def steers(number: "common_pb2.Steering.ValueType") -> bool | None:
    """Whether further messages are to join a running task; None for unspecified."""
    return _STEERS.get(number)


def steering(given: bool) -> "common_pb2.Steering.ValueType":
    return common_pb2.STEER if given else common_pb2.QUEUE


def taint(sources: taints.Taint) -> list[common_pb2.TaintSource]:
    return [common_pb2.TaintSource(kind=one.kind.value, source_id=one.source_id) for one in sources]


def states(numbers: Iterable["common_pb2.TaskState.ValueType"]) -> frozenset[state.TaskState]:
    return frozenset(_STATES_BACK[number] for number in numbers if number in _STATES_BACK)


def task_contents(view: views.TaskView) -> list[ids.ContentId]:
    """The texts that showing a task needs."""
    unknown = [call.arguments for call in view.unknown_calls]
    return [view.text, *([view.answer] if view.answer else []), *unknown]


def said(texts: Texts, content_id: ids.ContentId | None) -> str:
    """A text; empty for none and for a forgotten one."""
    return (texts.get(content_id) or "") if content_id is not None else ""


def task(view: views.TaskView, texts: Texts) -> tasks_pb2.Task:
    return tasks_pb2.Task(
        task_id=view.task_id,
        conversation_id=view.conversation_id,
        principal=view.principal,
        state=_STATES[view.state],
        reason=view.reason,
        text=said(texts, view.text),
        answer=said(texts, view.answer),
        created_at=timestamp(view.created_ms),
        updated_at=timestamp(view.updated_ms),
        approval_ids=view.pending_approvals,
        unknown_outcomes=[
            tasks_pb2.UnknownOutcome(
                call_id=call.call_id,
                tool=call.tool,
                arguments_json=said(texts, call.arguments),
            )
            for call in view.unknown_calls
        ],
        taint=taint(view.taint),
        secret=view.secret,
        kind=view.kind.value,
        folder=view.folder,
        commits=view.commits,
        undone=view.undone,
        good=view.good,
    )


def ask_response(view: views.TaskView, texts: Texts) -> tasks_pb2.AskResponse:
    return tasks_pb2.AskResponse(
        task_id=view.task_id,
        conversation_id=view.conversation_id,
        state=_STATES[view.state],
        answer=said(texts, view.answer),
        reason=view.reason,
        approval_ids=view.pending_approvals,
        secret=view.secret,
    )


_STATUS = {
    None: approvals_pb2.PENDING,
    events.ApprovalOutcome.ALLOWED: approvals_pb2.ALLOWED,
    events.ApprovalOutcome.DENIED: approvals_pb2.DENIED,
    events.ApprovalOutcome.EXPIRED: approvals_pb2.EXPIRED,
    events.ApprovalOutcome.WITHDRAWN: approvals_pb2.WITHDRAWN,
}
_STATUS_BACK = {number: outcome for outcome, number in _STATUS.items()}


def outcome(status: "approvals_pb2.ApprovalStatus.ValueType") -> events.ApprovalOutcome | None:
    """The outcome that a status asks for; unspecified means pending."""
    return _STATUS_BACK.get(status)


def approval_contents(view: views.ApprovalView) -> list[ids.ContentId]:
    return [view.card, *([view.reason] if view.reason else [])]


def approval(view: views.ApprovalView, texts: Texts) -> approvals_pb2.Approval:
    return approvals_pb2.Approval(
        approval_id=view.approval_id,
        task_id=view.task_id,
        call_id=view.call_id,
        conversation_id=view.conversation_id,
        tool=view.tool,
        card=said(texts, view.card),
        digest=view.digest,
        reasons=view.reasons,
        always_allowed=view.always_allowed,
        status=_STATUS[view.outcome],
        decided_by=view.decided_by or "",
        reason=said(texts, view.reason),
        created_at=timestamp(view.created_ms),
        expires_at=timestamp(view.expires_ms),
        folder=view.folder,
        places=view.places,
    )


def grant(given: world.Grant, texts: Texts) -> approvals_pb2.Grant:
    return approvals_pb2.Grant(
        grant_id=given.grant_id,
        tool=given.tool,
        card=said(texts, given.card),
        principal=given.principal,
        folder=given.folder,
        granted_by=given.granted_by,
        created_at=timestamp(given.created_ms),
        expires_at=timestamp(given.expires_ms),
        uses_left=given.uses_left,
        schedule_id=given.schedule_id or "",
    )


def conversation(view: views.ConversationView, texts: Texts) -> conversations_pb2.Conversation:
    return conversations_pb2.Conversation(
        conversation_id=view.conversation_id,
        principal=view.principal,
        title=said(texts, view.title),
        created_at=timestamp(view.created_ms),
        updated_at=timestamp(view.updated_ms),
        mode=_MODES[view.mode],
        folder=view.folder,
        profile=view.profile,
        steering=steering(view.steers),
        summarized_seq=view.summarized_seq,
    )


def live(update: bus.LivePiece | bus.ProgressNote) -> events_pb2.Update:
    match update:
        case bus.LivePiece():
            return events_pb2.Update(
                live=events_pb2.LiveText(
                    task_id=update.task_id,
                    call_id=update.call_id,
                    offset=update.offset,
                    text=update.text,
                    tool=update.tool,
                    thinking=update.thinking,
                    purpose=update.purpose.value if update.purpose is not None else "",
                )
            )
        case bus.ProgressNote():
            return events_pb2.Update(
                progress=events_pb2.Progress(
                    task_id=update.task_id,
                    call_id=update.call_id,
                    stage=_STAGES[update.stage],
                    done=update.done,
                    total=update.total,
                    elapsed_ms=update.elapsed_ms,
                )
            )
        case _:
            assert_never(update)


def task_state(given: state.TaskState) -> "common_pb2.TaskState.ValueType":
    return _STATES[given]


def call_outcome(given: events.CallOutcome) -> "events_pb2.ToolCallEnded.Outcome.ValueType":
    return _OUTCOMES[given]
