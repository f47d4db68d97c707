"""Wire events of chats: what was shown there, and who may talk."""

from collections.abc import Iterable, Sequence
from typing import assert_never

from daemon.domain import deliveries, events
from daemon.rpc import convert
from proto.ducklm.v1 import common_pb2, events_pb2

Event = (
    events.DeliveryReported
    | events.NoticePosted
    | events.ChatMoved
    | events.PairingRequested
    | events.PairingDecided
)


def rows(given: Iterable[Sequence[deliveries.Button]]) -> list[common_pb2.ButtonRow]:
    """Buttons as they are sent."""
    return [
        common_pb2.ButtonRow(
            buttons=[common_pb2.Button(text=one.text, data=one.data) for one in row]
        )
        for row in given
    ]


def fill(sent: events_pb2.Event, given: Event, texts: convert.Texts) -> None:
    """Say one of these events in an event that is to be sent."""
    match given:
        case events.DeliveryReported():
            sent.delivery_reported.CopyFrom(
                events_pb2.DeliveryReported(
                    delivery_id=given.delivery_id,
                    revision=given.revision,
                    state=given.state.value,
                    platform_ids=given.platform_ids,
                    fault=given.fault,
                )
            )
        case events.NoticePosted():
            _posted(sent.notice_posted, given, texts)
        case events.ChatMoved():
            sent.chat_moved.CopyFrom(
                events_pb2.ChatMoved(account=given.account, chat=given.chat, to=given.to)
            )
        case events.PairingRequested():
            sent.pairing_requested.CopyFrom(
                events_pb2.PairingRequested(
                    principal=given.principal, name=given.name, code=given.code
                )
            )
        case events.PairingDecided():
            sent.pairing_decided.CopyFrom(
                events_pb2.PairingDecided(
                    principal=given.principal, allowed=given.allowed, decided_by=given.decided_by
                )
            )
        case _:
            assert_never(given)


def _posted(
    sent: events_pb2.NoticePosted, given: events.NoticePosted, texts: convert.Texts
) -> None:
    target = given.target
    sent.CopyFrom(
        events_pb2.NoticePosted(
            delivery_id=given.delivery_id,
            account=target.account,
            chat=target.chat,
            topic=target.topic,
            reply_to=target.reply_to,
            principal=target.principal or "",
            text=convert.said(texts, given.text),
            rows=rows(given.rows),
            artifact_ids=given.artifacts,
            approval_id=given.approval_id or "",
        )
    )
