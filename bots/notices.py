"""What is told of trust, grants, secrets, steps and conversations: one notice an event.

Answers for: the plain words of these events. It must never hold state, and no secret comes here.
"""

import datetime
import typing
from collections.abc import Iterable, Sequence

from bots import texts, views
from proto.ducklm.v1 import common_pb2, events_pb2

SOURCES_NAMED: typing.Final = 5


def of(event: events_pb2.Event) -> Sequence[views.View]:
    """The notice of an event; none where it has none."""
    text = _text(event) or _text_of_conversation(event)
    return (views.Notice(event.task_id, text),) if text else ()


def _text(event: events_pb2.Event) -> str:
    match event.WhichOneof("kind"):
        case "task_tainted":
            return texts.TASK_TAINTED.format(sources=sources(event.task_tainted.sources))
        case "project_tainted":
            tainted = event.project_tainted
            return texts.PROJECT_TAINTED.format(
                folder=tainted.folder, sources=sources(tainted.sources)
            )
        case "project_trusted":
            trusted = event.project_trusted
            return texts.PROJECT_TRUSTED.format(folder=trusted.folder, by=trusted.principal)
        case "grant_created":
            return _granted(event.grant_created)
        case "grant_revoked":
            revoked = event.grant_revoked
            return texts.GRANT_REVOKED.format(id=revoked.grant_id, by=revoked.principal)
        case "secret_requested":
            return texts.SECRET_REQUESTED.format(what=event.secret_requested.what)
        case "secret_provided":
            return texts.SECRET_PROVIDED.format(by=event.secret_provided.principal)
        case _:
            return ""


def _text_of_conversation(event: events_pb2.Event) -> str:
    match event.WhichOneof("kind"):
        case "task_steered":
            return texts.TASK_STEERED.format(text=event.task_steered.text)
        case "conversation_deleted":
            return texts.CONVERSATION_DELETED.format(by=event.conversation_deleted.principal)
        case "conversation_compacted":
            return texts.CONVERSATION_COMPACTED
        case "exchange_undone":
            return texts.EXCHANGE_UNDONE.format(by=event.exchange_undone.principal)
        case "project_reverted":
            fault = event.project_reverted.fault
            return texts.REVERT_FAILED.format(why=fault) if fault else texts.REVERTED
        case "feedback_given":
            return _feedback(event.feedback_given)
        case "pairing_requested":
            asked = event.pairing_requested
            return texts.PAIRING_REQUESTED.format(
                name=asked.name, who=asked.principal, code=asked.code
            )
        case "pairing_decided":
            word = event.pairing_decided
            pattern = texts.PAIRING_ALLOWED if word.allowed else texts.PAIRING_REFUSED
            return pattern.format(who=word.principal, by=word.decided_by)
        case _:
            return ""


def _feedback(given: events_pb2.FeedbackGiven) -> str:
    pattern = texts.FEEDBACK_WITH_TEXT if given.text else texts.FEEDBACK
    worth = texts.FEEDBACK_GOOD if given.good else texts.FEEDBACK_BAD
    return pattern.format(worth=worth, by=given.principal, text=given.text)


def judgement(task_id: str, judged: events_pb2.StepJudged, goal: str) -> Sequence[views.View]:
    """What the critic says of a step; nothing where the plan simply goes on."""
    if judged.follows == "continue":
        return ()
    scores = ", ".join(
        texts.STEP_SCORE.format(name=name, score=score)
        for name, known, score in (
            (texts.CORRECTNESS, judged.HasField("correctness"), judged.correctness),
            (texts.USEFULNESS, judged.HasField("usefulness"), judged.usefulness),
            (texts.SAFETY, judged.HasField("safety"), judged.safety),
        )
        if known
    )
    follows = texts.STEP_FOLLOWS.get(judged.follows, judged.follows)
    text = texts.STEP_JUDGED.format(goal=goal, follows=follows)
    text += texts.STEP_SCORES.format(scores=scores) if scores else ""
    text += texts.STEP_NOTE.format(note=judged.note) if judged.note else ""
    return (views.Notice(task_id, text),)


def _granted(created: events_pb2.GrantCreated) -> str:
    until = created.expires_at.ToDatetime(tzinfo=datetime.UTC).date().isoformat()
    return texts.GRANT_CREATED.format(
        id=created.grant_id, by=created.granted_by, until=until, uses=created.uses
    )


def sources(found: Iterable[common_pb2.TaintSource]) -> str:
    """Where untrusted text came from, in plain words; the first few."""
    named = [_source(one) for one in found]
    more = len(named) - SOURCES_NAMED
    if more > 0:
        named[SOURCES_NAMED:] = [texts.TAINT_MORE.format(count=more)]
    return ", ".join(named)


def _source(one: common_pb2.TaintSource) -> str:
    kind = texts.TAINT_KINDS.get(one.kind, one.kind)
    return f"{kind} ({one.source_id})" if one.source_id else kind
