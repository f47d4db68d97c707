"""Lists and single things as lines for people: tasks, events, approvals, tokens, the status.

Answers for: the wording of lists; every foreign text on them is inert. It must never make a call.
"""

import datetime
import typing
from collections.abc import Iterable, Iterator

from google.protobuf import message, timestamp_pb2

from bots import presenter, render, texts, views
from bots.terminal import screen
from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)

VALUE_CHARACTERS: typing.Final = 80

_Row = typing.TypeVar("_Row", bound=message.Message)


def lines(
    rows: Iterable[_Row],
    as_json: bool,
    line: typing.Callable[[_Row], str],
) -> Iterator[str]:
    """Each row as one JSON object or as a line for people."""
    for row in rows:
        yield screen.json_line(row) if as_json else line(row) + "\n"


def _time(at: timestamp_pb2.Timestamp, zone: datetime.tzinfo | None = None) -> str:
    return render.moment(at.ToDatetime(tzinfo=datetime.UTC), zone)


def task(row: tasks_pb2.Task) -> str:
    """A task: when, id, state, and what was asked."""
    state = render.state_line(row.state, row.reason)
    asked = render.one_line(row.text, VALUE_CHARACTERS)
    return f"{_time(row.created_at)}  {render.one_line(row.task_id)}  [{state}]  {asked}"


def conversation(row: conversations_pb2.Conversation) -> str:
    """A conversation: when last used, id and title."""
    title = render.one_line(row.title, VALUE_CHARACTERS) or texts.CONVERSATION_UNTITLED
    line = f"{_time(row.updated_at)}  {render.one_line(row.conversation_id)}  {title}"
    if row.folder:
        line += f"  {render.one_line(row.folder, VALUE_CHARACTERS)}"
    if row.mode in (common_pb2.PLAN, common_pb2.YOLO):
        line += f"  [{render.enum_name(common_pb2.Mode.DESCRIPTOR, row.mode).lower()}]"
    return line


def conversation_whole(row: conversations_pb2.Conversation) -> str:
    """A conversation with its settings, a line a matter."""
    names = texts.CONVERSATION
    steers = render.enum_name(common_pb2.Steering.DESCRIPTOR, row.steering).lower()
    pairs = [
        (names["id"], row.conversation_id),
        (names["title"], row.title or texts.CONVERSATION_UNTITLED),
        (names["principal"], row.principal),
        (names["created"], _time(row.created_at)),
        (names["updated"], _time(row.updated_at)),
        (names["mode"], render.enum_name(common_pb2.Mode.DESCRIPTOR, row.mode).lower()),
        (names["folder"], row.folder or texts.CONVERSATION_NO_PROJECT),
        (names["profile"], row.profile),
        (names["steering"], steers),
    ]
    return "\n".join(f"{name:<13} {render.one_line(value)}" for name, value in pairs if value)


def approval(row: approvals_pb2.Approval) -> str:
    """An approval with its card."""
    lines_of_card = render.card(presenter.card_of(row))
    return f"{lines_of_card}\n  task {render.one_line(row.task_id)}"


def grant(row: approvals_pb2.Grant) -> str:
    """A grant with exactly what runs."""
    title = texts.GRANT_TITLE.format(
        id=render.one_line(row.grant_id),
        by=render.one_line(row.granted_by),
        until=_time(row.expires_at),
        uses=row.uses_left,
    )
    every = [title, *(f"  | {line}" for line in render.inert_exact(row.card).split("\n"))]
    who = texts.GRANT_FOR.format(
        principal=render.one_line(row.principal), folder=render.one_line(row.folder)
    )
    if row.schedule_id:
        who += texts.GRANT_FOR_SCHEDULE.format(id=render.one_line(row.schedule_id))
    return "\n".join([*every, f"  {who}"])


def resolved(row: approvals_pb2.Approval) -> str:
    """What became of an approval."""
    closed = views.ApprovalClosed(
        row.task_id,
        row.approval_id,
        render.approval_status(row.status),
        row.decided_by,
        row.reason,
    )
    line = render.view_text(closed)
    if row.grant_id:
        line += "\n" + texts.GRANT_GIVEN.format(id=render.one_line(row.grant_id))
    return line


def event(row: events_pb2.Event) -> str:
    """An event on one line: its sequence number, time, task and content, shortened."""
    kind = row.WhichOneof("kind")
    what = texts.EVENT_UNKNOWN
    if kind is not None:
        what = f"{kind} {_fields(getattr(row, kind))}".rstrip()
    task_id = render.one_line(row.task_id) or "-"
    return f"{row.seq:>6}  {_time(row.at)}  {task_id}  {what}"


def _fields(content: message.Message) -> str:
    shown = []
    for field, value in content.ListFields():
        if field.is_repeated:
            value = "; ".join(map(str, value))
        elif field.enum_type is not None and isinstance(value, int):
            value = render.enum_name(field.enum_type, value)
        elif isinstance(value, timestamp_pb2.Timestamp):
            value = _time(value)
        elif isinstance(value, message.Message):
            value = f"{{{_fields(value)}}}"
        shown.append(f"{field.name}={render.one_line(str(value), VALUE_CHARACTERS)}")
    return " ".join(shown)


def scopes(row: admin_pb2.Token) -> list[str]:
    """The names of a token's scopes."""
    kind = admin_pb2.Token.Scope.DESCRIPTOR
    return [render.enum_name(kind, number).lower() for number in row.scopes]


def token(row: admin_pb2.Token) -> str:
    """A token: since when, its id, for whom it speaks, and what it may."""
    line = f"{_time(row.created_at)}  {render.one_line(row.token_id)}  {render.one_line(row.name)}"
    line += f"  {render.one_line(row.principal)}  {', '.join(scopes(row))}"
    if row.HasField("revoked_at"):
        line += "  " + texts.TOKEN_REVOKED.format(at=_time(row.revoked_at))
    return line


def status(row: admin_pb2.StatusResponse) -> str:
    """The daemon's status, a line a matter."""
    names = texts.STATUS
    counts = texts.STATUS_TASKS.format(
        running=row.tasks_running, queued=row.tasks_queued, waiting=row.tasks_waiting
    )
    pairs = [
        (names["version"], row.version),
        (names["started"], _time(row.started_at)),
        (names["state"], row.state_folder),
        (names["head"], str(row.head_seq)),
        (names["tasks"], counts),
        (names["approvals"], texts.STATUS_APPROVALS.format(count=row.approvals_pending)),
        (names["memory"], texts.STATUS_MEMORY.format(megabytes=row.resident_bytes // 1_000_000)),
    ]
    pairs += [(names["slot"], _slot(slot)) for slot in row.slots]
    pairs += [(names["notice"], notice) for notice in row.notices]
    every = [f"{name:<13} {render.one_line(value)}" for name, value in pairs]
    if row.draining:
        every.append(names["draining"])
    return "\n".join(every)


def _slot(slot: admin_pb2.SlotStatus) -> str:
    return texts.STATUS_SLOT.format(
        name=slot.name,
        state=slot.state,
        roles=", ".join(slot.roles) or texts.STATUS_NO_ROLE,
        tokens=slot.context_tokens,
        detail=slot.detail,
    ).rstrip()
