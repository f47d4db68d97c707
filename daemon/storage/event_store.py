"""The log in SQLite: appends events, and reads them back in order.

Never skips a number: a gap or a repetition is refused here, and once more by the primary key. Asks
by the tables' columns, not by their classes, whose mapping would be made at each start.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import sqlalchemy

from daemon.domain import events, ids
from daemon.storage import bulk, codec, projections, tables

_EVENT = tables.METADATA.tables["event"]
_TASK = tables.METADATA.tables["task"]
_CONVERSATION = tables.METADATA.tables["conversation"]
_READ_COLUMNS = tuple(
    _EVENT.c[name]
    for name in (
        "seq",
        "at_ms",
        "task_id",
        "conversation_id",
        "correlation_id",
        "type",
        "version",
        "body",
    )
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
            None if one.task_id is None else draft.task(one.task_id).view.submitted_seq,
            draft.conversation(one.conversation_id).created_seq,
        )
        for one in recorded
    ]
    bulk.insert(connection, _EVENT, cells)


def head_seq(connection: sqlalchemy.Connection) -> int:
    """The last sequence number; 0 when the log is empty."""
    last = connection.execute(sqlalchemy.select(sqlalchemy.func.max(_EVENT.c.seq))).scalar()
    return last or 0


def read(
    connection: sqlalchemy.Connection,
    read_by: codec.Codec,
    after_seq: int,
    limit: int,
    task_id: ids.TaskId | None = None,
    conversation_id: ids.ConversationId | None = None,
) -> tuple[events.Recorded, ...]:
    """At most `limit` events after a sequence number, in order."""
    seq = _EVENT.c.seq
    query = sqlalchemy.select(*_READ_COLUMNS).where(seq > after_seq)
    if task_id is not None:
        begun = sqlalchemy.select(_TASK.c.submitted_seq)
        begun = begun.where(_TASK.c.task_id == task_id)
        query = query.where(_EVENT.c.task_seq == begun.scalar_subquery())
    if conversation_id is not None:
        begun = sqlalchemy.select(_CONVERSATION.c.created_seq)
        begun = begun.where(_CONVERSATION.c.conversation_id == conversation_id)
        query = query.where(_EVENT.c.conversation_seq == begun.scalar_subquery())
    return tuple(_decode(connection.execute(query.order_by(seq).limit(limit)), read_by))


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
