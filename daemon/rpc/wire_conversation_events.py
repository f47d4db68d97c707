"""Wire events of conversations: their settings, summaries, ends, and what is thought of answers."""

from collections.abc import Iterator
from typing import assert_never

from daemon.domain import events, ids
from daemon.rpc import convert
from proto.ducklm.v1 import events_pb2

Event = (
    events.ConversationCreated
    | events.ConversationUpdated
    | events.ConversationDeleted
    | events.ConversationCompacted
    | events.ExchangeUndone
    | events.ProjectReverted
    | events.FeedbackGiven
)


def contents(given: Event) -> Iterator[ids.ContentId | None]:
    """The texts that one of these events needs."""
    match given:
        case events.ConversationCreated() | events.ConversationUpdated():
            yield given.title
        case events.ConversationCompacted():
            yield given.summary
        case events.FeedbackGiven():
            yield given.text
        case events.ConversationDeleted() | events.ExchangeUndone() | events.ProjectReverted():
            pass
        case _:
            assert_never(given)


def fill(sent: events_pb2.Event, given: Event, texts: convert.Texts) -> None:
    """Say one of these events in an event that is to be sent."""
    match given:
        case events.ConversationCreated():
            _created(sent.conversation_created, given, texts)
        case events.ConversationUpdated():
            sent.conversation_updated.SetInParent()
            _updated(sent.conversation_updated, given, texts)
        case events.ConversationDeleted():
            sent.conversation_deleted.principal = given.principal
        case events.ConversationCompacted():
            sent.conversation_compacted.CopyFrom(
                events_pb2.ConversationCompacted(
                    summary=convert.said(texts, given.summary), up_to_seq=given.up_to_seq
                )
            )
        case events.ExchangeUndone():
            sent.exchange_undone.CopyFrom(
                events_pb2.ExchangeUndone(
                    principal=given.principal,
                    folder=given.folder,
                    commits=given.commits,
                    left_call_ids=given.left,
                )
            )
        case events.ProjectReverted():
            sent.project_reverted.CopyFrom(
                events_pb2.ProjectReverted(commit=given.commit, fault=given.fault)
            )
        case events.FeedbackGiven():
            sent.feedback_given.CopyFrom(
                events_pb2.FeedbackGiven(
                    principal=given.principal,
                    good=given.good,
                    text=convert.said(texts, given.text),
                )
            )
        case _:
            assert_never(given)


def _created(
    sent: events_pb2.ConversationCreated, given: events.ConversationCreated, texts: convert.Texts
) -> None:
    sent.principal = given.principal
    sent.title = convert.said(texts, given.title)
    sent.mode = convert.mode_number(given.mode)
    sent.folder = given.folder
    sent.profile = given.profile
    sent.steering = convert.steering(given.steers)


def _updated(
    sent: events_pb2.ConversationUpdated, given: events.ConversationUpdated, texts: convert.Texts
) -> None:
    if given.title is not None:
        sent.title = convert.said(texts, given.title)
    if given.mode is not None:
        sent.mode = convert.mode_number(given.mode)
    if given.folder is not None:
        sent.folder = given.folder
    if given.profile is not None:
        sent.profile = given.profile
    if given.steers is not None:
        sent.steering = convert.steering(given.steers)
