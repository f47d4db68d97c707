"""How projections are kept in SQLite.

Loads the rows that events build on, writes those that changed, and rebuilds all of them from the
log when they do not agree with it. Never decides what a row says: `projections` does.
"""

from collections.abc import Callable, Iterable

import sqlalchemy

from daemon.domain import events, views
from daemon.storage import bulk, codec, projections, tables

_TASK = tables.METADATA.tables["task"]
_APPROVAL = tables.METADATA.tables["approval"]
_CONVERSATION = tables.METADATA.tables["conversation"]
_REBUILD_PAGE_EVENTS = 2000

ReadPage = Callable[[int, int], tuple[events.Recorded, ...]]
"""Events after a sequence number, and at most so many."""


def load(
    connection: sqlalchemy.Connection, known: projections.Rows, needed: projections.Named
) -> None:
    """Read the rows that are needed and not known yet into `known`."""
    for body in _bodies(connection, "task", "task_id", needed.tasks - known.tasks.keys()):
        row = projections.TaskRow.model_validate_json(body)
        known.tasks[row.view.task_id] = row
    missing = needed.approvals - known.approvals.keys()
    for body in _bodies(connection, "approval", "approval_id", missing):
        approval = views.ApprovalView.model_validate_json(body)
        known.approvals[approval.approval_id] = approval
    chats = needed.conversations - known.conversations.keys()
    for body in _bodies(connection, "conversation", "conversation_id", chats):
        conversation = views.ConversationView.model_validate_json(body)
        known.conversations[conversation.conversation_id] = conversation


def _bodies(
    connection: sqlalchemy.Connection, table: str, key: str, wanted: Iterable[str]
) -> list[str]:
    names = tuple(wanted)
    if not names:
        return []
    text = f"SELECT body FROM {table} WHERE {key} IN ({bulk.placeholders(len(names))})"
    return [str(body) for (body,) in connection.exec_driver_sql(text, names)]


def write(
    connection: sqlalchemy.Connection,
    known: projections.Rows,
    changed: projections.Rows,
    span: tuple[int, int],
) -> None:
    """Keep rows that changed by the events after `span[0]` up to `span[1]`.

    `known` has the conversation of every task among them, as it was or as it is.
    """
    tasks: list[bulk.Row] = [
        (
            row.view.submitted_seq,
            row.view.task_id,
            known.conversations[row.view.conversation_id].created_seq,
            row.view.state.value,
            int(row.view.answer is not None),
            codec.to_json(row),
        )
        for row in changed.tasks.values()
    ]
    approvals: list[bulk.Row] = [
        (
            row.requested_seq,
            row.approval_id,
            None if row.outcome is None else row.outcome.value,
            codec.to_json(row),
        )
        for row in changed.approvals.values()
    ]
    conversations: list[bulk.Row] = [
        (row.created_seq, row.conversation_id, codec.to_json(row))
        for row in changed.conversations.values()
    ]
    bulk.insert(connection, _TASK, tasks, changes=("state", "answered", "body"))
    bulk.insert(connection, _APPROVAL, approvals, changes=("outcome", "body"))
    bulk.insert(connection, _CONVERSATION, conversations, changes=("body",))
    after, upto = span
    begun = (
        sum(row.view.submitted_seq > after for row in changed.tasks.values()),
        sum(row.requested_seq > after for row in changed.approvals.values()),
        sum(row.created_seq > after for row in changed.conversations.values()),
    )
    connection.exec_driver_sql(
        "UPDATE projection SET seq = ?, tasks = tasks + ?, approvals = approvals + ?, "
        "conversations = conversations + ?",
        (upto, *begun),
    )


def agree(connection: sqlalchemy.Connection, head_seq: int) -> bool:
    """Whether the projections are of this version, reach the head of the log, and are all there."""
    kept = connection.exec_driver_sql(
        "SELECT version, seq, tasks, approvals, conversations FROM projection"
    ).all()
    counted = connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM approval), "
        "(SELECT count(*) FROM conversation)"
    ).one()
    return [tuple(row) for row in kept] == [(projections.VERSION, head_seq, *counted)]


def rebuild(connection: sqlalchemy.Connection, read_page: ReadPage) -> None:
    """Make all projections anew from the log; to be called within a transaction."""
    for table in ("task", "approval", "conversation", "projection"):
        connection.exec_driver_sql(f"DELETE FROM {table}")
    connection.exec_driver_sql(
        "INSERT INTO projection VALUES (?, 0, 0, 0, 0)", (projections.VERSION,)
    )
    rows, after = projections.Rows(), 0
    while page := read_page(after, _REBUILD_PAGE_EVENTS):
        load(connection, rows, projections.named(page))
        changed = projections.project(rows, page)
        rows.adopt(changed)
        write(connection, rows, changed, (after, page[-1].seq))
        rows, after = projections.Rows(), page[-1].seq
