"""The log in SQLite: appends events, and reads them back in order.

Never skips a number: a gap or a repetition is refused here, and once more by the primary key.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy

from daemon.domain import events, ids
from daemon.storage import bulk, codec, projections

_READ = (
    "SELECT seq, at_ms, task_id, conversation_id, correlation_id, type, version, body FROM event "
    "WHERE seq > ?"
)
_OF_TASK = " AND task_seq = (SELECT submitted_seq FROM task WHERE task_id = ?)"
_OF_CONVERSATION = (
    " AND conversation_seq = (SELECT created_seq FROM conversation WHERE conversation_id = ?)"
)


def check_sequence(head_seq: int, recorded: Sequence[events.Recorded]) -> None:
    """Refuse events that do not follow the head of the log one by one.

    Raises:
        ValueError: there is a gap or a repetition; a fault of the program.
    """
    for expected, one in enumerate(recorded, head_seq + 1):
        if one.seq != expected:
            raise ValueError(f"event {one.seq} does not follow {expected - 1}")


def append(
    connection: sqlalchemy.Connection,
    written: codec.Codec,
    recorded: Sequence[events.Recorded],
    draft: projections.Draft,
) -> None:
    """Insert events. `draft` is what they project to."""
    submitted = {
        task_id: draft.task(task_id).view.submitted_seq
        for task_id in {one.task_id for one in recorded if one.task_id is not None}
    }
    created = {
        conversation_id: draft.conversation(conversation_id).created_seq
        for conversation_id in {one.conversation_id for one in recorded if one.conversation_id}
    }
    cells = [
        (
            one.seq,
            one.at_ms,
            one.task_id,
            one.conversation_id,
            one.correlation_id,
            one.event.type,
            written.version,
            written.encode(one.event),
            None if one.task_id is None else submitted[one.task_id],
            created.get(one.conversation_id, 0),
        )
        for one in recorded
    ]
    bulk.insert(connection, "event", cells)


def head_seq(connection: sqlalchemy.Connection) -> int:
    """The last sequence number; 0 when the log is empty."""
    ((last,),) = bulk.find(connection, "SELECT ifnull(max(seq), 0) FROM event", ())
    return int(last)


def read(
    connection: sqlalchemy.Connection,
    read_by: codec.Codec,
    after_seq: int,
    limit: int,
    task_id: ids.TaskId | None = None,
    conversation_id: ids.ConversationId | None = None,
) -> tuple[events.Recorded, ...]:
    """At most `limit` events after a sequence number, in order."""
    text, cells = _READ, list[bulk.Cell]((after_seq,))
    if task_id is not None:
        text, cells = text + _OF_TASK, [*cells, task_id]
    if conversation_id is not None:
        text, cells = text + _OF_CONVERSATION, [*cells, conversation_id]
    found = bulk.find(connection, f"{text} ORDER BY seq LIMIT ?", (*cells, limit))
    return tuple(_decode(found, read_by))


def _decode(found: Iterable[Sequence[Any]], read_by: codec.Codec) -> Iterator[events.Recorded]:
    for seq, at_ms, task_id, conversation_id, correlation_id, type_name, version, body in found:
        yield events.Recorded(
            seq=seq,
            at_ms=at_ms,
            task_id=None if task_id is None else ids.TaskId(task_id),
            conversation_id=ids.ConversationId(conversation_id),
            correlation_id=correlation_id,
            event=read_by.decode(seq, type_name, version, body),
        )
