"""Approval cards, waiting tasks, people who ask to talk, and posted texts, as Telegram messages.

Answers for: that a card shows every byte of what would run, or carries a file that does. Its text
is the daemon's, made of the call itself; nothing that a model said stands in it.
"""

import dataclasses
import datetime
import re
import typing

from bots import presenter, render
from bots.telegram import buttons, outgoing, rendering, texts
from proto.ducklm.v1 import approvals_pb2, channels_pb2, common_pb2, tasks_pb2

CARD_UNITS: typing.Final = 3000  # of a card in a message; a longer one goes along as a file
LINE_CHARACTERS: typing.Final = 100  # of a reason beside a card that goes along as a file
REASONS: typing.Final = 5  # beside such a card
_BEGINNING_UNITS: typing.Final = 1000
_END_CHARACTERS: typing.Final = 400
_ALL: typing.Final = 1_000_000

# What Telegram drops from a text or makes a space of, though it can be seen.
_NOT_KEPT: typing.Final = re.compile("[\t\u030a\u0333\u033f]")


@dataclasses.dataclass(frozen=True)
class Shown:
    """A message, and the file that belongs to it."""

    text: outgoing.Text
    document: outgoing.Document | None = None


def approval(
    given: approvals_pb2.Approval, zone: datetime.tzinfo | None, schedule: str = ""
) -> Shown:
    """The card of an approval; without buttons once it is decided. `schedule` is the name of the
    one whose run asks."""
    body = _exact(given.card)
    foot = _foot(given, zone)
    title = _title(given, schedule)
    parts = [title, rendering.marked(body, "pre"), *_said(given, _ALL, _ALL), foot]
    text = rendering.joined(parts, "\n")
    long = outgoing.units(body) > CARD_UNITS or outgoing.units(text.text) > outgoing.TEXT_UNITS
    document = None
    if long:
        file = "\n".join([body, *(one.text for one in _said(given, _ALL, _ALL))])
        said = _said(given, LINE_CHARACTERS, REASONS)
        text = rendering.joined([title, *_shortened(body, file), *said, foot], "\n")
        document = outgoing.Document(texts.CARD_FILE, file.encode())
    if given.status != approvals_pb2.PENDING:
        return Shown(text)
    return Shown(dataclasses.replace(text, rows=_answers(given, always=not long)), document)


def _exact(text: str) -> str:
    """The card's text with everything spelled out that would not be seen on Telegram."""
    spelled = render.inert_exact(text)
    return _NOT_KEPT.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", spelled)


def _title(given: approvals_pb2.Approval, schedule: str) -> outgoing.Text:
    title = texts.CARD_TITLE.format(tool=render.one_line(given.tool, LINE_CHARACTERS))
    if schedule:
        name = render.one_line(schedule, LINE_CHARACTERS)
        title = f"{title}\n{texts.CARD_SCHEDULE.format(name=name)}"
    return rendering.inert(rendering.marked(title, "bold"))


def _said(given: approvals_pb2.Approval, characters: int, reasons: int) -> list[outgoing.Text]:
    """Why it is asked, and where it would run if the card does not say it."""
    lines = [
        texts.CARD_REASON.format(reason=render.one_line(one, characters))
        for one in given.reasons[:reasons]
    ]
    if given.folder and f"folder: {given.folder}" not in given.card.split("\n"):
        folder = render.one_line(given.folder, characters)
        lines.append(texts.CARD_FOLDER.format(folder=folder))
    return [rendering.plain(line) for line in lines]


def _foot(given: approvals_pb2.Approval, zone: datetime.tzinfo | None) -> outgoing.Text:
    if given.status != approvals_pb2.PENDING:
        return _closed(given)
    if not given.HasField("expires_at"):
        return outgoing.Text("")
    expires = render.moment(given.expires_at.ToDatetime(tzinfo=datetime.UTC), zone)
    return rendering.plain(texts.CARD_EXPIRES.format(at=expires))


def announced(given: approvals_pb2.Approval, schedule: str = "") -> outgoing.Text:
    """What stands there until the card does: nothing to press yet."""
    return rendering.joined([_title(given, schedule), outgoing.Text(texts.STARTING)], " ")


def _shortened(body: str, file: str) -> list[outgoing.Text]:
    """The beginning and the end of a card, and how much the file with all of it holds."""
    first = rendering.split(outgoing.Text(body), _BEGINNING_UNITS)[0].text
    size = texts.CARD_LONG.format(bytes=len(file.encode()), lines=file.count("\n") + 1)
    shown = body
    if outgoing.units(body) > _BEGINNING_UNITS + _END_CHARACTERS:
        shown = f"{first}{texts.CARD_GAP}{body[-_END_CHARACTERS:]}"
    return [rendering.plain(size), rendering.marked(shown, "pre")]


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


def is_over(given: channels_pb2.Delivery) -> bool:
    """Whether what a notice asks for is done, so that nobody needs to see it for the first time."""
    if given.HasField("person"):
        return given.person.state != channels_pb2.Person.ASKED
    return given.HasField("task") and not given.waits


def notice(given: channels_pb2.Delivery) -> outgoing.Text:
    """What a notice says: of a person, of a task that waits, or as it was posted."""
    if given.HasField("person"):
        return _pairing(given.person)
    if given.HasField("task"):
        return _waiting(given)
    text = rendering.markdown(given.text)
    if given.run.name:
        name = render.one_line(given.run.name, LINE_CHARACTERS)
        title = rendering.marked(texts.RUN_TITLE.format(name=name), "bold")
        text = rendering.joined([rendering.inert(title), text], "\n")
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
    name = render.one_line(given.run.name or task.text, 60)
    is_run = bool(given.run.name)
    if not given.waits:
        pattern = texts.RUN_WAITED if is_run else texts.WAITED
        return rendering.plain(pattern.format(task=name))
    state = render.state_line(task.state, task.reason)
    pattern = texts.RUN_WAITS if is_run else texts.WAITS
    parts = [rendering.plain(pattern.format(task=name, state=state))]
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
