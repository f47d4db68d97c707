"""The tables of the state database, under a MetaData of their own.

These classes never validate: what goes in has been validated as a value of `domain`. Columns are in
the order in which `bulk` writes them. The schema itself is made by `migrations`; a test compares.
"""

import sqlalchemy
import sqlmodel
from sqlalchemy import orm


class _Table(sqlmodel.SQLModel, registry=orm.registry()):
    """Base of this database's tables: no other database shares its MetaData."""


METADATA = _Table.metadata


class Event(_Table, table=True):
    """The log. `task_seq` and `conversation_seq` are where those began, and what is searched by."""

    __table_args__ = (
        sqlalchemy.Index("event_by_task", "task_seq"),
        sqlalchemy.Index("event_by_conversation", "conversation_seq"),
    )
    seq: int = sqlmodel.Field(primary_key=True)
    at_ms: int
    task_id: str | None
    conversation_id: str
    correlation_id: str
    type: str
    version: int
    body: str
    task_seq: int | None
    conversation_seq: int


class Content(_Table, table=True):
    """Texts that events refer to; NULL once forgotten. `taint` is NULL where there is none."""

    content_id: str = sqlmodel.Field(primary_key=True)
    owner: str
    text: str | None
    taint: str | None


class ArtifactTaint(_Table, table=True):
    """Where the untrusted text in an artifact came from; one without a row has none."""

    __tablename__ = "artifact_taint"
    artifact_id: str = sqlmodel.Field(primary_key=True)
    taint: str


class ClientKey(_Table, table=True):
    """Answers to keyed writes, so that a repetition gets the same."""

    __tablename__ = "client_key"
    credential: str = sqlmodel.Field(primary_key=True)
    client_key: str = sqlmodel.Field(primary_key=True)
    body_hash: str
    reply: str
    at_ms: int


class Checkpoint(_Table, table=True):
    """The folded world at a place in the log."""

    head_seq: int = sqlmodel.Field(primary_key=True)
    version: int
    body: str


class Task(_Table, table=True):
    """A projection: `body` is a `views.TaskView`, `open_calls` and `plan` what it does not tell."""

    __table_args__ = (
        sqlalchemy.Index("task_by_id", "task_id", unique=True),
        sqlalchemy.Index("task_by_conversation", "conversation_seq", "submitted_seq"),
        sqlalchemy.Index("task_by_state", "state", "submitted_seq"),
    )
    submitted_seq: int = sqlmodel.Field(primary_key=True)
    task_id: str
    conversation_seq: int
    state: str
    answered: int
    body: str
    open_calls: str | None
    plan: str | None


class Approval(_Table, table=True):
    """A projection: `body` is a `views.ApprovalView`; no outcome while it is pending."""

    __table_args__ = (
        sqlalchemy.Index("approval_by_id", "approval_id", unique=True),
        sqlalchemy.Index("approval_by_outcome", "outcome", "requested_seq"),
    )
    requested_seq: int = sqlmodel.Field(primary_key=True)
    approval_id: str
    outcome: str | None
    body: str
    conversation_seq: int


class Conversation(_Table, table=True):
    """A projection: `body` is a `views.ConversationView`; one that is `deleted` is not shown."""

    __table_args__ = (
        sqlalchemy.Index("conversation_by_id", "conversation_id", unique=True),
        sqlalchemy.Index(
            "conversation_by_deleted",
            "conversation_id",
            sqlite_where=sqlalchemy.text("deleted = 1"),
        ),
    )
    created_seq: int = sqlmodel.Field(primary_key=True)
    conversation_id: str
    body: str
    deleted: int


class Said(_Table, table=True):
    """A projection: `body` is what an event added to what a task's models are told."""

    __table_args__ = (sqlalchemy.Index("said_by_task", "task_seq"),)
    seq: int = sqlmodel.Field(primary_key=True)
    task_seq: int
    body: str


class Summary(_Table, table=True):
    """A projection: the summaries of a conversation's exchanges up to a sequence number."""

    __table_args__ = (sqlalchemy.Index("summary_by_conversation", "conversation_seq"),)
    seq: int = sqlmodel.Field(primary_key=True)
    conversation_seq: int
    up_to_seq: int
    content_id: str


class Delivery(_Table, table=True):
    """A projection: `body` is a `views.DeliveryView`. `messages` are the ids of those that show it,
    each between spaces; `is_open` is 1 while its newest revision is not reported."""

    __table_args__ = (
        sqlalchemy.Index(
            "delivery_by_open", "changed_seq", sqlite_where=sqlalchemy.text("is_open = 1")
        ),
        sqlalchemy.Index("delivery_by_chat", "account", "chat", "created_seq"),
    )
    delivery_id: str = sqlmodel.Field(primary_key=True)
    created_seq: int
    changed_seq: int
    account: str
    chat: str
    state: str
    is_open: int
    messages: str
    body: str


class ScheduleRun(_Table, table=True):
    """A projection: `body` is a `run_rows.RunRow`; `number` says in which order runs were known. A
    time at which a schedule was due is there once."""

    __tablename__ = "schedule_run"
    __table_args__ = (
        sqlalchemy.Index("run_by_id", "run_id", unique=True),
        sqlalchemy.Index(
            "run_by_due",
            "schedule_id",
            "due_ms",
            unique=True,
            sqlite_where=sqlalchemy.text("by_hand = 0"),
        ),
        sqlalchemy.Index("run_by_schedule", "schedule_id", "number"),
    )
    number: int = sqlmodel.Field(primary_key=True)
    run_id: str
    schedule_id: str
    conversation_seq: int
    principal: str
    due_ms: int
    by_hand: int
    task_id: str | None
    body: str


class DeliveryMessage(_Table, table=True):
    """A projection: the messages that showed a delivery at some time, in the chat that it had."""

    __tablename__ = "delivery_message"
    account: str = sqlmodel.Field(primary_key=True)
    chat: str = sqlmodel.Field(primary_key=True)
    message_id: str = sqlmodel.Field(primary_key=True)
    delivery_id: str = sqlmodel.Field(primary_key=True)


class Projection(_Table, table=True):
    """One row: the shape of the projections, how far they go, and how many rows they have."""

    version: int = sqlmodel.Field(primary_key=True)
    seq: int
    tasks: int
    approvals: int
    conversations: int
    said: int
    summaries: int
    deliveries: int
    runs: int


class Token(_Table, table=True):
    """Tokens by the order in which they were made; `scopes` are words with spaces between."""

    __table_args__ = (
        sqlalchemy.Index("token_by_id", "token_id", unique=True),
        sqlalchemy.Index("token_by_digest", "digest", unique=True),
        sqlalchemy.Index(
            "token_by_live_name",
            "name",
            unique=True,
            sqlite_where=sqlalchemy.text("revoked_ms IS NULL"),
        ),
    )
    created_seq: int = sqlmodel.Field(primary_key=True)
    token_id: str
    name: str
    digest: str
    principal: str
    scopes: str
    created_ms: int
    revoked_ms: int | None


class Project(_Table, table=True):
    """The folders that the owner named."""

    __table_args__ = (sqlalchemy.Index("project_by_folder", "folder", unique=True),)
    name: str = sqlmodel.Field(primary_key=True)
    folder: str
    created_ms: int


class Preset(_Table, table=True):
    """Profiles and skills that were set; `body` is a `presets.Profile` or a `presets.Skill`."""

    kind: str = sqlmodel.Field(primary_key=True)
    name: str = sqlmodel.Field(primary_key=True)
    body: str


class Cursor(_Table, table=True):
    """Words that bots keep, each for itself."""

    credential: str = sqlmodel.Field(primary_key=True)
    name: str = sqlmodel.Field(primary_key=True)
    value: str


class Run(_Table, table=True):
    """One row: how the last run of a daemon ended."""

    run_id: int = sqlmodel.Field(primary_key=True)
    drained: int
