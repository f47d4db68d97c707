"""Reads for those who look: pages of views, and what is known of the ids in a write by an RPC.

Short reads only: an open read keeps the write-ahead log from being emptied.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import sqlalchemy
import sqlmodel

from daemon.domain import decisions, events, ids, inputs, principals, state, taints, views
from daemon.storage import artifacts, delivery_queries, history, records, tables

_View = TypeVar("_View")
_Bodies = sqlalchemy.Select[str]


class Queries:
    """Reads over one connection."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection

    def index(self, files: artifacts.FileArtifacts) -> "Index":
        """What a write is looked up in."""
        return Index(self._connection, files)

    def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        query = sqlalchemy.select(sqlmodel.col(tables.Task.body))
        query = query.where(sqlmodel.col(tables.Task.task_id) == task_id, _shown(tables.Task))
        body = self._connection.execute(query).scalar()
        return None if body is None else _task_view(body)

    def tasks(
        self,
        limit: int,
        before: int | None,
        conversation_id: ids.ConversationId | None,
        states: frozenset[state.TaskState],
    ) -> views.Page[views.TaskView]:
        """A page of tasks, newest first."""
        seq = sqlmodel.col(tables.Task.submitted_seq)
        query = sqlalchemy.select(sqlmodel.col(tables.Task.body)).order_by(seq.desc())
        query = query.where(_shown(tables.Task))
        if before is not None:
            query = query.where(seq < before)
        if conversation_id is not None:
            query = query.where(_in_conversation(conversation_id))
        if states:
            query = query.where(sqlmodel.col(tables.Task.state).in_(sorted(states)))
        return _page(self._connection, query, limit, _task_view, lambda view: view.submitted_seq)

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        query = sqlalchemy.select(sqlmodel.col(tables.Approval.body))
        query = query.where(sqlmodel.col(tables.Approval.approval_id) == approval_id)
        query = query.where(_shown(tables.Approval))
        body = self._connection.execute(query).scalar()
        return None if body is None else views.ApprovalView.model_validate_json(body)

    def approvals(
        self,
        limit: int,
        outcome: events.ApprovalOutcome | None,
        before: int | None,
    ) -> views.Page[views.ApprovalView]:
        """A page of approvals with this outcome (None: pending), newest first."""
        seq = sqlmodel.col(tables.Approval.requested_seq)
        query = sqlalchemy.select(sqlmodel.col(tables.Approval.body)).order_by(seq.desc())
        query = query.where(sqlmodel.col(tables.Approval.outcome).is_(outcome))
        query = query.where(_shown(tables.Approval))
        if before is not None:
            query = query.where(seq < before)
        read = views.ApprovalView.model_validate_json
        return _page(self._connection, query, limit, read, lambda view: view.requested_seq)

    def conversation(self, conversation_id: ids.ConversationId) -> views.ConversationView | None:
        query = sqlalchemy.select(sqlmodel.col(tables.Conversation.body))
        query = query.where(sqlmodel.col(tables.Conversation.conversation_id) == conversation_id)
        query = query.where(sqlmodel.col(tables.Conversation.deleted) == 0)
        body = self._connection.execute(query).scalar()
        return None if body is None else views.ConversationView.model_validate_json(body)

    def conversations(self, limit: int, before: int | None) -> views.Page[views.ConversationView]:
        """A page of conversations, newest first."""
        seq = sqlmodel.col(tables.Conversation.created_seq)
        query = sqlalchemy.select(sqlmodel.col(tables.Conversation.body)).order_by(seq.desc())
        query = query.where(sqlmodel.col(tables.Conversation.deleted) == 0)
        if before is not None:
            query = query.where(seq < before)
        read = views.ConversationView.model_validate_json
        return _page(self._connection, query, limit, read, lambda view: view.created_seq)

    def token(self, token_id: ids.TokenId) -> views.TokenView | None:
        query = sqlalchemy.select(tables.Token).where(
            sqlmodel.col(tables.Token.token_id) == token_id
        )
        row = self._connection.execute(query).one_or_none()
        return None if row is None else _token_view(row)

    def tokens(self, limit: int, before: int | None, revoked: bool) -> views.Page[views.TokenView]:
        """A page of tokens, newest first; those that were revoked only when asked for."""
        seq = sqlmodel.col(tables.Token.created_seq)
        query = sqlalchemy.select(tables.Token).order_by(seq.desc()).limit(limit + 1)
        if before is not None:
            query = query.where(seq < before)
        if not revoked:
            query = query.where(sqlmodel.col(tables.Token.revoked_ms).is_(None))
        found = self._connection.execute(query).all()
        rows = tuple(_token_view(row) for row in found[:limit])
        more = len(found) > limit and rows
        return views.Page(rows=rows, next_before=rows[-1].created_seq if more else None)


class Index:
    """What `known` looks up in: one connection, and the artifacts beside it."""

    def __init__(self, connection: sqlalchemy.Connection, files: artifacts.FileArtifacts) -> None:
        self._connection = connection
        self._queries = Queries(connection)
        self._files = files

    def client_key(self, credential: str, key: str) -> tuple[str, decisions.Reply] | None:
        return records.client_key(self._connection, credential, key)

    def has_conversation(self, conversation_id: ids.ConversationId) -> bool:
        return self._queries.conversation(conversation_id) is not None

    def has_task(self, task_id: ids.TaskId) -> bool:
        return self._queries.task(task_id) is not None

    def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return self._queries.task(task_id)

    def last_task(self, conversation_id: ids.ConversationId) -> inputs.LastTask | None:
        return history.last_task(self._connection, conversation_id)

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return self._queries.approval(approval_id)

    def has_artifact(self, artifact_id: ids.ArtifactId) -> bool:
        return self._files.holds(artifact_id)

    def artifact_taint(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint:
        return records.artifact_taint(self._connection, artifact_ids)

    def has_token(self, token_id: ids.TokenId) -> bool:
        return self._queries.token(token_id) is not None

    def live_token_names(self) -> frozenset[str]:
        return frozenset(one.name for one in records.live_tokens(self._connection))

    def project_folder(self, name: str) -> str | None:
        return records.project_folder(self._connection, name)

    def project_name(self, folder: str) -> str | None:
        return records.project_name(self._connection, folder)

    def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None:
        return delivery_queries.one(self._connection, delivery_id)

    def delivery_of(self, account: str, chat: str, message_id: str) -> views.DeliveryView | None:
        return delivery_queries.of_message(self._connection, account, chat, message_id)

    def open_deliveries(self, account: str, chat: str) -> tuple[ids.DeliveryId, ...]:
        return delivery_queries.open_in(self._connection, account, chat)


def _token_view(row: sqlalchemy.Row[Any]) -> views.TokenView:
    return views.TokenView(
        token_id=ids.TokenId(row.token_id),
        name=row.name,
        principal=principals.Principal(row.principal),
        scopes=records.scopes(row.scopes),
        created_ms=row.created_ms,
        revoked_ms=row.revoked_ms,
        created_seq=row.created_seq,
    )


def _task_view(body: str) -> views.TaskView:
    return views.TaskView.model_validate_json(body)


def _in_conversation(conversation_id: ids.ConversationId) -> sqlalchemy.ColumnElement[bool]:
    begun = sqlalchemy.select(sqlmodel.col(tables.Conversation.created_seq))
    begun = begun.where(sqlmodel.col(tables.Conversation.conversation_id) == conversation_id)
    return sqlmodel.col(tables.Task.conversation_seq) == begun.scalar_subquery()


def _page(
    connection: sqlalchemy.Connection,
    query: _Bodies,
    limit: int,
    read: Callable[[str], _View],
    place: Callable[[_View], int],
) -> views.Page[_View]:
    found = connection.execute(query.limit(limit + 1)).scalars().all()
    rows = tuple(read(body) for body in found[:limit])
    more = len(found) > limit and rows
    return views.Page(rows=rows, next_before=place(rows[-1]) if more else None)


def _shown(table: type[tables.Task] | type[tables.Approval]) -> sqlalchemy.ColumnElement[bool]:
    """Its conversation is not deleted."""
    created = sqlmodel.col(tables.Conversation.created_seq)
    gone = sqlalchemy.select(created).where(
        created == sqlmodel.col(table.conversation_seq),
        sqlmodel.col(tables.Conversation.deleted) == 1,
    )
    return ~gone.exists()
