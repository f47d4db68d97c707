"""How projections are kept in SQLite.

Loads the rows that events build on, writes those that changed, and rebuilds all of them from the
log when they do not agree with it. Never decides what a row says: `projections` does.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pydantic
import sqlalchemy

from daemon.domain import deliveries, events, ids, views, world
from daemon.storage import bulk, codec, delivery_rows, projections, run_rows, task_row

_TASK = bulk.Upsert("submitted_seq", ("state", "answered", "body", "open_calls", "plan"))
_APPROVAL = bulk.Upsert("requested_seq", ("outcome", "body"))
_CONVERSATION = bulk.Upsert("created_seq", ("body",))
_DELIVERY = bulk.Upsert(
    "delivery_id", ("changed_seq", "chat", "state", "is_open", "messages", "body")
)
_RUN = bulk.Upsert("run_id", ("task_id", "body"))
_MESSAGE = bulk.Upsert("account, chat, message_id, delivery_id", ("delivery_id",))
_CALLS: pydantic.TypeAdapter[tuple[task_row.OpenCall, ...]] = pydantic.TypeAdapter(
    tuple[task_row.OpenCall, ...], config=codec.WITH_THE_FIRST
)
_PLAN: pydantic.TypeAdapter[tuple[events.PlannedStep, ...]] = pydantic.TypeAdapter(
    tuple[events.PlannedStep, ...], config=codec.WITH_THE_FIRST
)
_SAYINGS: pydantic.TypeAdapter[tuple[world.Said, ...]] = pydantic.TypeAdapter(
    tuple[world.Said, ...], config=codec.WITH_THE_FIRST
)
_TABLES = (
    "task",
    "approval",
    "conversation",
    "said",
    "summary",
    "delivery",
    "schedule_run",
    "delivery_message",
    "projection",
)
REBUILD_PAGE_EVENTS = 2000

ReadPage = Callable[[int, int], tuple[events.Recorded, ...]]
"""Events after a sequence number, and at most so many."""


def load(
    connection: sqlalchemy.Connection, known: projections.Rows, needed: projections.Named
) -> None:
    """Read the rows that are needed and not known yet into `known`."""
    tasks = needed.tasks - known.tasks.keys()
    columns = "body, open_calls, plan FROM task WHERE task_id"
    for body, calls, steps in _find(connection, columns, tasks):
        view = views.TaskView.model_validate_json(body)
        open_calls = () if calls is None else _CALLS.validate_json(calls)
        plan = () if steps is None else _PLAN.validate_json(steps)
        known.tasks[view.task_id] = task_row.TaskRow(view, open_calls, plan)
    approvals = needed.approvals - known.approvals.keys()
    for (body,) in _find(connection, "body FROM approval WHERE approval_id", approvals):
        approval = views.ApprovalView.model_validate_json(body)
        known.approvals[approval.approval_id] = approval
    chats = needed.conversations - known.conversations.keys()
    for (body,) in _find(connection, "body FROM conversation WHERE conversation_id", chats):
        conversation = views.ConversationView.model_validate_json(body)
        known.conversations[conversation.conversation_id] = conversation
    runs = needed.runs - known.runs.keys()
    for (body,) in _find(connection, "body FROM schedule_run WHERE run_id", runs):
        run = run_rows.RunRow.model_validate_json(body)
        known.runs[run.run_id] = run


def load_deliveries(
    connection: sqlalchemy.Connection,
    known: projections.Rows,
    recorded: Sequence[events.Recorded],
) -> None:
    """Read the rows of deliveries that events need; which they are, rows of `load` tell."""
    needed = delivery_rows.named(known, recorded) - known.deliveries.keys()
    for (body,) in _find(connection, "body FROM delivery WHERE delivery_id", needed):
        view = views.DeliveryView.model_validate_json(body)
        known.deliveries[view.delivery_id] = view


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
            _PLAN.dump_json(row.plan).decode() if row.plan else None,
        )
        for row in changed.tasks.values()
    ]
    approvals: list[bulk.Row] = [
        (
            row.requested_seq,
            row.approval_id,
            None if row.outcome is None else row.outcome.value,
            codec.to_json(row),
            draft.conversation(row.conversation_id).created_seq,
        )
        for row in changed.approvals.values()
    ]
    conversations: list[bulk.Row] = [
        (row.created_seq, row.conversation_id, codec.to_json(row), 0)
        for row in changed.conversations.values()
    ]
    bulk.insert(connection, "task", tasks, _TASK)
    bulk.insert(connection, "approval", approvals, _APPROVAL)
    bulk.insert(connection, "conversation", conversations, _CONVERSATION)
    bulk.insert(connection, "delivery", _delivery_cells(changed), _DELIVERY)
    bulk.insert(connection, "schedule_run", _run_cells(draft), _RUN)
    bulk.insert(connection, "delivery_message", _message_cells(changed), _MESSAGE)
    _add(connection, draft)
    after, upto = span
    begun = (
        sum(row.view.submitted_seq > after for row in changed.tasks.values()),
        sum(row.requested_seq > after for row in changed.approvals.values()),
        sum(row.created_seq > after for row in changed.conversations.values()),
        len(draft.added.said),
        len(draft.added.summaries),
        sum(row.created_seq > after for row in changed.deliveries.values()),
        len(changed.runs.keys() - draft.before_runs),
    )
    bulk.run(
        connection,
        "UPDATE projection SET seq = ?, tasks = tasks + ?, approvals = approvals + ?, "
        "conversations = conversations + ?, said = said + ?, summaries = summaries + ?, "
        "deliveries = deliveries + ?, runs = runs + ?",
        (upto, *begun),
    )


def _run_cells(draft: projections.Draft) -> list[bulk.Row]:
    return [
        (
            None,
            row.run_id,
            row.schedule_id,
            draft.conversation(row.conversation_id).created_seq,
            row.principal,
            row.due_ms,
            int(row.by_hand),
            row.task_id,
            codec.to_json(row),
        )
        for row in draft.changed.runs.values()
    ]


def _delivery_cells(changed: projections.Rows) -> list[bulk.Row]:
    return [
        (
            row.delivery_id,
            row.created_seq,
            row.changed_seq,
            row.target.account,
            row.target.chat,
            row.state.value,
            int(row.state in deliveries.OPEN),
            f" {' '.join(row.platform_ids)} " if row.platform_ids else "",
            codec.to_json(row),
        )
        for row in changed.deliveries.values()
    ]


def _message_cells(changed: projections.Rows) -> list[bulk.Row]:
    return [
        (row.target.account, row.target.chat, message, row.delivery_id)
        for row in changed.deliveries.values()
        for message in dict.fromkeys(row.platform_ids)
    ]


def _add(connection: sqlalchemy.Connection, draft: projections.Draft) -> None:
    """Keep what stands beside the rows."""
    added = draft.added
    said: list[bulk.Row] = [
        (seq, draft.task(row.task_id).view.submitted_seq, _SAYINGS.dump_json(row.said).decode())
        for seq, row in added.said.items()
    ]
    summaries: list[bulk.Row] = [
        (seq, draft.conversation(row.conversation_id).created_seq, row.up_to_seq, row.content_id)
        for seq, row in added.summaries.items()
    ]
    bulk.insert(connection, "said", said)
    bulk.insert(connection, "summary", summaries)
    for conversation_id in added.deleted:
        text = "UPDATE conversation SET deleted = 1 WHERE conversation_id = ?"
        bulk.run(connection, text, (conversation_id,))


def said(
    connection: sqlalchemy.Connection, task_seqs: Sequence[int]
) -> dict[int, tuple[world.Said, ...]]:
    """What was said to the models of tasks, by the place of their submission."""
    found: dict[int, tuple[world.Said, ...]] = dict.fromkeys(task_seqs, ())
    text = f"SELECT task_seq, body FROM said WHERE task_seq IN ({bulk.placeholders(len(found))})"
    for seq, body in connection.exec_driver_sql(f"{text} ORDER BY seq", tuple(found)):
        found[seq] += _SAYINGS.validate_json(body)
    return found


def deleted(connection: sqlalchemy.Connection) -> frozenset[ids.ConversationId]:
    """The conversations that are gone."""
    text = "SELECT conversation_id FROM conversation WHERE deleted = 1"
    return frozenset(map(ids.ConversationId, connection.exec_driver_sql(text).scalars()))


def agree(connection: sqlalchemy.Connection, head_seq: int) -> bool:
    """Whether the projections are of this version, reach the head of the log, and are all there."""
    kept = connection.exec_driver_sql(
        "SELECT version, seq, tasks, approvals, conversations, said, summaries, deliveries, "
        "runs FROM projection"
    ).all()
    counted = connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM task), (SELECT count(*) FROM approval), "
        "(SELECT count(*) FROM conversation), (SELECT count(*) FROM said), "
        "(SELECT count(*) FROM summary), (SELECT count(*) FROM delivery), "
        "(SELECT count(*) FROM schedule_run)"
    ).one()
    return [tuple(row) for row in kept] == [(projections.VERSION, head_seq, *counted)]


def rebuild(connection: sqlalchemy.Connection, read_page: ReadPage) -> None:
    """Make all projections anew from the log; to be called within a transaction."""
    for table in _TABLES:
        connection.exec_driver_sql(f"DELETE FROM {table}")
    connection.exec_driver_sql(
        "INSERT INTO projection VALUES (?, 0, 0, 0, 0, 0, 0, 0, 0)", (projections.VERSION,)
    )
    rows, after = projections.Rows(), 0
    while page := read_page(after, REBUILD_PAGE_EVENTS):
        load(connection, rows, projections.named(page))
        load_deliveries(connection, rows, page)
        write(connection, projections.project(rows, page), (after, page[-1].seq))
        rows, after = projections.Rows(), page[-1].seq
