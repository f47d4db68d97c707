"""Approval cards, waiting tasks, people who ask to talk, and posted texts, as Telegram messages.

Answers for: that a card shows every byte of what would run, or carries a file that does. Its text
is the daemon's, made of the call itself; nothing that a model said stands in it.
"""

import dataclasses
import datetime
import typing

from bots import presenter, render
from bots.telegram import buttons, outgoing, rendering, texts
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, tasks_pb2

CARD_UNITS: typing.Final = 3000  # of a card in a message; a longer one goes along as a file
_END_UNITS: typing.Final = 1000


@dataclasses.dataclass(frozen=True)
class Shown:
    """A message, and the file that belongs to it."""

    text: outgoing.Text
    document: outgoing.Document | None = None


def approval(given: approvals_pb2.Approval, zone: datetime.tzinfo | None) -> Shown:
    """The card of an approval; without buttons once it is decided."""
    body = render.inert_exact(given.card)
    head = rendering.marked(texts.CARD_TITLE.format(tool=_line(given.tool)), "bold")
    parts = [head, *_body(body)]
    parts += [rendering.plain(texts.CARD_REASON.format(reason=_line(one))) for one in given.reasons]
    if given.folder and given.folder not in given.card:
        parts.append(rendering.plain(texts.CARD_FOLDER.format(folder=_line(given.folder))))
    pending = given.status == approvals_pb2.PENDING
    if pending:
        expires = render.moment(given.expires_at.ToDatetime(tzinfo=datetime.UTC), zone)
        parts.append(rendering.plain(texts.CARD_EXPIRES.format(at=expires)))
    else:
        parts.append(_closed(given))
    text = rendering.joined(parts, "\n")
    long = outgoing.units(body) > CARD_UNITS
    if pending:
        text = dataclasses.replace(text, rows=_answers(given, always=not long))
    document = outgoing.Document(texts.CARD_FILE, body.encode()) if long and pending else None
    return Shown(text, document)


def announced(given: approvals_pb2.Approval) -> outgoing.Text:
    """What stands there until the card does: nothing to press yet."""
    title = texts.CARD_TITLE.format(tool=_line(given.tool))
    return rendering.marked(f"{title} {texts.STARTING}", "bold")


def _body(body: str) -> list[outgoing.Text]:
    if outgoing.units(body) <= CARD_UNITS:
        return [rendering.marked(body, "pre")]
    whole = outgoing.Text(body)
    first = rendering.split(whole, _END_UNITS)[0].text
    last = body[-_END_UNITS // 2 :]
    size = texts.CARD_LONG.format(bytes=len(body.encode()), lines=body.count("\n") + 1)
    shortened = rendering.marked(f"{first}{texts.CARD_GAP}{last}", "pre")
    return [rendering.plain(size), shortened]


def _answers(
    given: approvals_pb2.Approval, always: bool
) -> tuple[tuple[outgoing.Button, ...], ...]:
    approval_id = given.approval_id
    once = buttons.Answer(approval_id, approvals_pb2.ALLOW_ONCE)
    first = [_button(texts.ONCE, once)]
    if given.always_allowed and always:
        first.append(_button(texts.ALWAYS, buttons.Answer(approval_id, approvals_pb2.ALLOW_ALWAYS)))
    no = buttons.Answer(approval_id, approvals_pb2.DENY)
    second = (_button(texts.DENY, no), _button(texts.DENY_WHY, dataclasses.replace(no, asks=True)))
    return (tuple(first), second)


def _button(text: str, press: buttons.Press) -> outgoing.Button:
    return outgoing.Button(text, buttons.data(press))


def _closed(given: approvals_pb2.Approval) -> outgoing.Text:
    status = render.enum_name(approvals_pb2.ApprovalStatus.DESCRIPTOR, given.status)
    by = _who(given.decided_by)
    line = rendering.plain(texts.CARD_CLOSED.get(status, status).format(by=by))
    if given.reason:
        why = texts.CARD_WHY.format(reason=_line(given.reason))
        line = rendering.joined([line, rendering.plain(why)], " ")
    return line


def _who(principal: str) -> str:
    """A person as others of the chat may know them."""
    return _line(principal.split(":", 2)[-1]) if principal else texts.NOBODY


def _line(text: str) -> str:
    return render.one_line(text)


def notice(given: channels_pb2.Delivery) -> outgoing.Text:
    """What a notice says: of a person, of a task that waits, or as it was posted."""
    if given.HasField("person"):
        return _pairing(given.person)
    if given.HasField("task"):
        return _waiting(given)
    text = rendering.markdown(given.text)
    rows = tuple(
        tuple(outgoing.Button(one.text, one.data) for one in row.buttons) for row in given.rows
    )
    return dataclasses.replace(text, rows=rows, asks=given.HasField("approval"))


def _pairing(person: channels_pb2.Person) -> outgoing.Text:
    pattern, rows = texts.PAIRING, [(texts.LET_IN, True), (texts.KEEP_OUT, False)]
    if person.state != channels_pb2.Person.ASKED:
        allowed = person.state in (channels_pb2.Person.ALLOWED, channels_pb2.Person.NAMED)
        pattern = texts.PAIRING_ALLOWED if allowed else texts.PAIRING_REFUSED
        rows = []
    text = rendering.plain(
        pattern.format(
            name=_line(person.name),
            who=_who(person.principal),
            code=person.code,
            by=_who(person.decided_by),
        )
    )
    row = tuple(_button(words, buttons.Pair(allow)) for words, allow in rows)
    return dataclasses.replace(text, rows=(row,) if row else ())


def _waiting(given: channels_pb2.Delivery) -> outgoing.Text:
    task = given.task
    name = render.one_line(task.text, 60)
    if given.revision > 1:
        return rendering.plain(texts.WAITED.format(task=name))
    state = render.state_line(task.state, task.reason)
    parts = [rendering.plain(texts.WAITS.format(task=name, state=state))]
    rows: list[tuple[outgoing.Button, ...]] = []
    give_up = _button(texts.ABANDON, buttons.Decide(tasks_pb2.ABANDON))
    if task.state == common_pb2.AWAITING_SECRET:
        private = given.chat == given.principal.split(":", 2)[-1]
        pattern = texts.SECRET if private else texts.SECRET_ELSEWHERE
        parts.append(rendering.plain(pattern.format(what=_line(task.secret))))
    elif task.state == common_pb2.AWAITING_DECISION:
        for unknown in task.unknown_outcomes:
            call = presenter.summary(unknown.tool, unknown.arguments_json)
            parts.append(rendering.plain(texts.UNKNOWN_CALL.format(call=_line(call))))
            rows.append(
                (
                    _button(texts.MARK_DONE, buttons.Decide(tasks_pb2.MARK_DONE, unknown.call_id)),
                    _button(texts.RUN_AGAIN, buttons.Decide(tasks_pb2.RUN_AGAIN, unknown.call_id)),
                )
            )
        rows.append((give_up,))
    else:
        rows.append((_button(texts.RETRY, buttons.Decide(tasks_pb2.RETRY)), give_up))
    return dataclasses.replace(rendering.joined(parts, "\n"), rows=tuple(rows))
