"""Reads of deliveries over one connection. Short reads only."""

from collections.abc import Collection

import sqlalchemy

from daemon.domain import deliveries, ids, state, views
from daemon.storage import bulk

_read = views.DeliveryView.model_validate_json


def one(
    connection: sqlalchemy.Connection, delivery_id: ids.DeliveryId
) -> views.DeliveryView | None:
    text = "SELECT body FROM delivery WHERE delivery_id = ?"
    body = connection.exec_driver_sql(text, (delivery_id,)).scalar()
    return None if body is None else _read(body)


def page(
    connection: sqlalchemy.Connection,
    limit: int,
    before: int | None,
    account: str,
    states: Collection[deliveries.State],
) -> views.Page[views.DeliveryView]:
    """Newest first. Several of one event stand on one page."""
    where, cells = ["1"], list[bulk.Cell]()
    if before is not None:
        where, cells = [*where, "created_seq < ?"], [*cells, before]
    if account:
        where, cells = [*where, "account = ?"], [*cells, account]
    if states:
        where.append(f"state IN ({bulk.placeholders(len(states))})")
        cells += sorted(one.value for one in states)
    text = f"SELECT body, created_seq FROM delivery WHERE {' AND '.join(where)}"
    text += " ORDER BY created_seq DESC, delivery_id DESC LIMIT ?"
    found = bulk.find(connection, text, (*cells, limit + 1))
    rows = tuple(_read(body) for body, _ in found[:limit])
    if len(found) <= limit or not rows:
        return views.Page(rows=rows, next_before=None)
    last_seq = rows[-1].created_seq
    if found[limit][1] == last_seq:
        whole = tuple(view for view in rows if view.created_seq > last_seq)
        rows = whole or rows
    return views.Page(rows=rows, next_before=rows[-1].created_seq)


def open_ones(
    connection: sqlalchemy.Connection, account: str, after_seq: int, limit: int
) -> tuple[views.DeliveryView, ...]:
    """Those that are to be shown, in the order in which they changed."""
    text = (
        "SELECT body FROM delivery WHERE is_open = 1 AND changed_seq > ? AND ? IN ('', account) "
        "ORDER BY changed_seq, delivery_id LIMIT ?"
    )
    found = bulk.find(connection, text, (after_seq, account, limit))
    return tuple(_read(body) for (body,) in found)


def of_message(
    connection: sqlalchemy.Connection, account: str, chat: str, message_id: str
) -> views.DeliveryView | None:
    """The newest that a message shows."""
    if not message_id or " " in message_id:
        return None
    text = (
        "SELECT body FROM delivery_message AS shown JOIN delivery USING (delivery_id) "
        "WHERE shown.account = ? AND shown.chat = ? AND shown.message_id = ? "
        "AND delivery.chat = shown.chat AND instr(messages, ?) "
        "ORDER BY created_seq DESC, delivery_id DESC LIMIT 1"
    )
    found = bulk.find(connection, text, (account, chat, message_id, f" {message_id} "))
    return _read(found[0][0]) if found else None


def open_in(
    connection: sqlalchemy.Connection, account: str, chat: str
) -> tuple[ids.DeliveryId, ...]:
    """Those of a chat that are to be shown, and those that a task still waits for; oldest first."""
    waiting = sorted(one.value for one in state.WAITING)
    text = (
        "SELECT delivery_id FROM delivery WHERE account = ? AND chat = ? AND (is_open = 1 OR "
        "delivery_id IN (SELECT json_extract(body, '$.waiting') FROM task "
        f"WHERE state IN ({bulk.placeholders(len(waiting))}))) ORDER BY created_seq, delivery_id"
    )
    found = bulk.find(connection, text, (account, chat, *waiting))
    return tuple(ids.DeliveryId(delivery_id) for (delivery_id,) in found)
