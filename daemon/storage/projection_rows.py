"""How projections are kept in SQLite.

Loads the rows that events build on, writes those that changed, and rebuilds all of them from the
log when they do not agree with it. Never decides what a row says: `projections` does.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pydantic
import sqlalchemy

from daemon.domain import events, views
from daemon.storage import bulk, codec, projections

_TASK = bulk.Upsert("submitted_seq", ("state", "answered", "body", "open_calls"))
_APPROVAL = bulk.Upsert("requested_seq", ("outcome", "body"))
_CONVERSATION = bulk.Upsert("created_seq", ("body",))
_CALLS: pydantic.TypeAdapter[tuple[views.UnknownCall, ...]] = pydantic.TypeAdapter(
    tuple[views.UnknownCall, ...], config=codec.WITH_THE_FIRST
)
REBUILD_PAGE_EVENTS = 2000

ReadPage = Callable[[int, int], tuple[events.Recorded, ...]]
"""Events after a sequence number, and at most so many."""


def load(
    connection: sqlalchemy.Connection, known: projections.Rows, needed: projections.Named
) -> None:
    """Read the rows that are needed and not known yet into `known`."""
    tasks = needed.tasks - known.tasks.keys()
    for body, calls in _find(connection, "body, open_calls FROM task WHERE task_id", tasks):
        view = views.TaskView.model_validate_json(body)
        open_calls = () if calls is None else _CALLS.validate_json(calls)
        known.tasks[view.task_id] = projections.TaskRow(view, open_calls)
    approvals = needed.approvals - known.approvals.keys()
    for (body,) in _find(connection, "body FROM approval WHERE approval_id", approvals):
        approval = views.ApprovalView.model_validate_json(body)
        known.approvals[approval.approval_id] = approval
    chats = needed.conversations - known.conversations.keys()
    for (body,) in _find(connection, "body FROM conversation WHERE conversation_id", chats):
        conversation = views.ConversationView.model_validate_json(body)
        known.conversations[conversation.conversation_id] = conversation


def _find(
    connection: sqlalchemy.Connection, what: str, wanted: Collection[str]
) -> Sequence[Sequence[Any]]:
    if not wanted:
        return ()
    text = f"SELECT {what} IN ({bulk.placeholders(len(wanted))})"
    return connection.exec_driver_sql(text, tuple(wanted)).all()


def write(
    connection: sqlalchemy.Connection, draft: projections.Draft, span: tuple[int, int]
) -> None:
    """Keep rows that changed by the events after `span[0]` up to `span[1]`."""
    changed = draft.changed
    tasks: list[bulk.Row] = [
        (
            row.view.submitted_seq,
            row.view.task_id,
            draft.conversation(row.view.conversation_id).created_seq,
            row.view.state.value,
            int(row.view.answer is not None),
            codec.to_json(row.view),
            _CALLS.dump_json(row.open_calls).decode() if row.open_calls else None,
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
    bulk.insert(connection, "task", tasks, _TASK)
    bulk.insert(connection, "approval", approvals, _APPROVAL)
    bulk.insert(connection, "conversation", conversations, _CONVERSATION)
    after, upto = span
    begun = (
        sum(row.view.submitted_seq > after for row in changed.tasks.values()),
        sum(row.requested_seq > after for row in changed.approvals.values()),
        sum(row.created_seq > after for row in changed.conversations.values()),
    )
    bulk.run(
        connection,
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
    while page := read_page(after, REBUILD_PAGE_EVENTS):
        load(connection, rows, projections.named(page))
        write(connection, projections.project(rows, page), (after, page[-1].seq))
        rows, after = projections.Rows(), page[-1].seq
