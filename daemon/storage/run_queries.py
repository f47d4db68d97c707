"""Reads of schedules' runs over one connection. Short reads only."""

import sqlalchemy

from daemon.domain import ids, principals, views
from daemon.storage import bulk, run_rows

_SELECT = (
    "SELECT r.number, r.body, c.body, t.body, d.body FROM schedule_run r "
    "JOIN conversation c ON c.created_seq = r.conversation_seq "
    "LEFT JOIN task t ON t.task_id = r.task_id "
    "LEFT JOIN delivery d ON d.delivery_id = 'answer.' || r.task_id "
    "WHERE c.deleted = 0"
)


def _read(row: tuple[int, str, str, str | None, str | None]) -> views.RunView:
    number, body, conversation, task, delivery = row
    return run_rows.view(
        run_rows.RunRow.model_validate_json(body),
        number,
        views.ConversationView.model_validate_json(conversation).title,
        None if task is None else views.TaskView.model_validate_json(task),
        None if delivery is None else views.DeliveryView.model_validate_json(delivery),
    )


def one(connection: sqlalchemy.Connection, run_id: ids.RunId) -> views.RunView | None:
    """A run by its id."""
    found = bulk.find(connection, f"{_SELECT} AND r.run_id = ?", (run_id,))
    return next((_read((*row,)) for row in found), None)


def page(
    connection: sqlalchemy.Connection,
    limit: int,
    before: int | None,
    schedule_id: ids.ScheduleId | None,
    principal: principals.Principal | None,
) -> views.Page[views.RunView]:
    """Newest first: in the order in which they were first known."""
    text, cells = _SELECT, list[bulk.Cell]()
    if before is not None:
        text, cells = f"{text} AND r.number < ?", [*cells, before]
    if schedule_id is not None:
        text, cells = f"{text} AND r.schedule_id = ?", [*cells, schedule_id]
    if principal is not None:
        text, cells = f"{text} AND r.principal = ?", [*cells, principal]
    found = bulk.find(connection, f"{text} ORDER BY r.number DESC LIMIT ?", (*cells, limit + 1))
    rows = tuple(_read((*row,)) for row in found[:limit])
    more = len(found) > limit and rows
    return views.Page(rows=rows, next_before=rows[-1].number if more else None)
