"""What was said in a conversation, as later models are told of it. Short reads only.

Never tells what was undone, what a summary tells, nor anything of a deleted conversation.
"""

import sqlalchemy

from daemon.domain import events, ids, inputs, state, views
from daemon.storage import bulk, projection_rows, records

_EXCHANGES = (
    "FROM task WHERE conversation_seq = ? AND json_extract(body, '$.kind') = ? "
    "AND NOT json_extract(body, '$.undone')"
)
_FINAL = tuple(sorted(state.FINAL))


def read(
    connection: sqlalchemy.Connection,
    conversation_id: ids.ConversationId,
    before_seq: int,
    limit: int,
) -> views.History:
    """The newest summary before a sequence number, and the last answered messages after it."""
    seq = _conversation_seq(connection, conversation_id)
    if seq is None:
        return views.History()
    text = "SELECT content_id, up_to_seq FROM summary WHERE conversation_seq = ? AND up_to_seq < ?"
    kept = connection.exec_driver_sql(f"{text} ORDER BY seq DESC LIMIT 1", (seq, before_seq))
    summary, after_seq = kept.one_or_none() or (None, 0)
    text = f"SELECT body {_EXCHANGES} AND answered = 1 AND submitted_seq > ? AND submitted_seq < ?"
    found = connection.exec_driver_sql(
        f"{text} ORDER BY submitted_seq DESC LIMIT ?",
        (seq, events.TaskKind.ANSWER.value, after_seq, before_seq, limit),
    )
    answered = [views.TaskView.model_validate_json(body) for body in found.scalars()][::-1]
    said = projection_rows.said(connection, [view.submitted_seq for view in answered])
    return views.History(
        summary=summary,
        summary_taint=records.content_taint(connection, (summary,)) if summary else (),
        exchanges=tuple(
            views.Exchange(
                text=view.text,
                answer=view.answer,
                taint=view.taint,
                submitted_seq=view.submitted_seq,
                said=said[view.submitted_seq],
            )
            for view in answered
            if view.answer is not None
        ),
    )


def last_task(
    connection: sqlalchemy.Connection, conversation_id: ids.ConversationId
) -> inputs.LastTask | None:
    """The last task of a conversation that ended and is not undone; a summary is no such task."""
    seq = _conversation_seq(connection, conversation_id)
    text = f"SELECT body {_EXCHANGES} AND state IN ({bulk.placeholders(len(_FINAL))})"
    found = connection.exec_driver_sql(
        f"{text} ORDER BY submitted_seq DESC LIMIT 1",
        (seq, events.TaskKind.ANSWER.value, *_FINAL),
    ).scalar()
    return None if found is None else of_view(views.TaskView.model_validate_json(found))


def of_view(view: views.TaskView) -> inputs.LastTask:
    """What an undo has to know of a task."""
    return inputs.LastTask(
        task_id=view.task_id, folder=view.folder, commits=view.commits, left=view.left
    )


def _conversation_seq(
    connection: sqlalchemy.Connection, conversation_id: ids.ConversationId
) -> int | None:
    text = "SELECT created_seq FROM conversation WHERE conversation_id = ? AND deleted = 0"
    return connection.exec_driver_sql(text, (conversation_id,)).scalar()
