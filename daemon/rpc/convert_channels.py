"""Deliveries and people as they are sent, and what is asked of them as the domain takes it."""

from collections.abc import Iterable

from daemon.decide import turn
from daemon.domain import deliveries, errors, principals, views, world
from daemon.rpc import convert, wire_channel_events
from proto.ducklm.v1 import channels_pb2, common_pb2

_Kind = channels_pb2.Delivery.Kind
_State = channels_pb2.Delivery.State
_KINDS = {one: _Kind.Value(one.name) for one in deliveries.Kind}
_STATES = {one: _State.Value(one.name) for one in deliveries.State}
_STATES_BACK = {number: one for one, number in _STATES.items()}
_PEOPLE = {
    world.PersonState.ASKED: channels_pb2.Person.ASKED,
    world.PersonState.ALLOWED: channels_pb2.Person.ALLOWED,
    world.PersonState.REFUSED: channels_pb2.Person.REFUSED,
}
_PLATFORMS = ("matrix", "telegram")


def _refuse(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)


def state(number: "channels_pb2.Delivery.State.ValueType") -> deliveries.State:
    """What became of a delivery; raises errors.Refusal for unspecified."""
    if number not in _STATES_BACK:
        raise _refuse("state is one of SENT, SHOWN, FAILED, GONE.")
    return _STATES_BACK[number]


def states(
    numbers: Iterable["channels_pb2.Delivery.State.ValueType"],
) -> frozenset[deliveries.State]:
    return frozenset(_STATES_BACK[number] for number in numbers if number in _STATES_BACK)


def rows(given: Iterable[common_pb2.ButtonRow]) -> tuple[tuple[deliveries.Button, ...], ...]:
    """Buttons to be shown; raises errors.Refusal for one that says or does nothing, or too much."""
    for row in given:
        for one in row.buttons:
            if not one.text or not one.data or len(one.data.encode()) > deliveries.BUTTON_BYTES:
                raise _refuse(
                    f"A button has a text, and data of 1 to {deliveries.BUTTON_BYTES} bytes."
                )
    return tuple(
        tuple(deliveries.Button(text=one.text, data=one.data) for one in row.buttons)
        for row in given
    )


def delivery(view: views.DeliveryView, texts: convert.Texts) -> channels_pb2.Delivery:
    """A delivery without what it is of."""
    return channels_pb2.Delivery(
        delivery_id=view.delivery_id,
        kind=_KINDS[view.kind],
        state=_STATES[view.state],
        revision=view.revision,
        shown_revision=view.shown_revision,
        platform_ids=view.platform_ids,
        account=view.target.account,
        chat=view.target.chat,
        topic=view.target.topic,
        reply_to=view.target.reply_to,
        principal=view.target.principal or "",
        conversation_id=view.conversation_id,
        created_at=convert.timestamp(view.created_ms),
        fault=view.fault,
        text=convert.said(texts, view.text),
        rows=wire_channel_events.rows(view.rows),
        artifact_ids=view.artifacts,
    )


def person(who: principals.Principal, rules: turn.Rules, now: world.World) -> channels_pb2.Person:
    """Somebody as they are known now."""
    known = now.people.get(who)
    if known is None or rules.people.has(who):
        return channels_pb2.Person(
            principal=who, name=principals.user_of(who), state=channels_pb2.Person.NAMED
        )
    return channels_pb2.Person(
        principal=who,
        name=known.name,
        state=_PEOPLE[known.state],
        code=known.code,
        asked_at=convert.timestamp(known.asked_ms),
        decided_by=known.decided_by or "",
    )


def named(rules: turn.Rules) -> list[channels_pb2.Person]:
    """Those that the settings name, whatever bot they talk through."""
    return [
        channels_pb2.Person(
            principal=f"{platform}:*:{user}", name=user, state=channels_pb2.Person.NAMED
        )
        for platform in _PLATFORMS
        for user in sorted(rules.people.users(platform))
    ]
