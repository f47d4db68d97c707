"""Reads of schedules' runs without a disk, over the rows of projections."""

from collections.abc import Callable, Iterable, Iterator

from daemon.domain import deliveries, ids, principals, views
from daemon.storage import projections, run_rows


def shown(
    rows: projections.Rows, shows: Callable[[ids.ConversationId], bool]
) -> list[views.RunView]:
    """The runs of conversations that are shown, in the order in which they were first known."""
    found: list[views.RunView] = []
    for number, row in enumerate(rows.runs.values(), 1):
        if not shows(row.conversation_id):
            continue
        title = rows.conversations[row.conversation_id].title
        task = None if row.task_id is None else rows.tasks[row.task_id].view
        delivery = (
            None if row.task_id is None else rows.deliveries.get(deliveries.of_task(row.task_id))
        )
        found.append(run_rows.view(row, number, title, task, delivery))
    return found


def of(
    rows: projections.Rows,
    found: Iterable[views.RunView],
    schedule_id: ids.ScheduleId | None,
    principal: principals.Principal | None,
) -> Iterator[views.RunView]:
    """Those of a schedule, and of those that somebody made, where asked for."""
    for one in found:
        is_of = schedule_id in (None, one.schedule_id)
        if is_of and principal in (None, rows.runs[one.run_id].principal):
            yield one
