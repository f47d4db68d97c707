"""What can have happened to conversations and projects, beside the running of tasks.

Used by their names in `events`, which holds all that can stand in the log.
"""

from typing import Literal

from daemon.domain import base, ids, principals, taints, verdicts


class ConversationCreated(base.Value):
    type: Literal["conversation_created"] = "conversation_created"
    conversation_id: ids.ConversationId
    principal: principals.Principal
    title: ids.ContentId | None = None
    mode: verdicts.Mode = verdicts.Mode.BUILD
    folder: str = ""
    """Of the project that it works in; empty for the daemon's own."""
    profile: str = ""
    steers: bool = False
    place: str = ""
    """The chat and topic whose conversation it is from now on, in the place of the one before."""


class ConversationUpdated(base.Value):
    """What is None stays as it was."""

    type: Literal["conversation_updated"] = "conversation_updated"
    conversation_id: ids.ConversationId
    title: ids.ContentId | None = None
    mode: verdicts.Mode | None = None
    folder: str | None = None
    profile: str | None = None
    steers: bool | None = None


class ConversationDeleted(base.Value):
    """It is gone from every list, and its texts are forgotten."""

    type: Literal["conversation_deleted"] = "conversation_deleted"
    conversation_id: ids.ConversationId
    principal: principals.Principal


class ConversationCompacted(base.Value):
    """Exchanges up to a sequence number are told to models by this summary from now on."""

    type: Literal["conversation_compacted"] = "conversation_compacted"
    conversation_id: ids.ConversationId
    summary: ids.ContentId
    up_to_seq: int


class ExchangeUndone(base.Value):
    """A task's message and answer are told to models no more; its commits are to be taken back.

    `left` are its calls that cannot be taken back.
    """

    type: Literal["exchange_undone"] = "exchange_undone"
    task_id: ids.TaskId
    principal: principals.Principal
    folder: str
    commits: tuple[str, ...]
    left: tuple[ids.CallId, ...] = ()


class ProjectReverted(base.Value):
    """The commits of an undone task were taken back, or not: `fault` says why."""

    type: Literal["project_reverted"] = "project_reverted"
    task_id: ids.TaskId
    commit: str = ""
    fault: str = ""


class FeedbackGiven(base.Value):
    """What a person thinks of a task's answer."""

    type: Literal["feedback_given"] = "feedback_given"
    task_id: ids.TaskId
    principal: principals.Principal
    good: bool
    text: ids.ContentId | None = None


class ProjectTainted(base.Value):
    """A tainted task may have written into a project's folder; `sources` are new to it."""

    type: Literal["project_tainted"] = "project_tainted"
    folder: str
    sources: taints.Taint


class ProjectTrusted(base.Value):
    """The owner has looked at the project's files and clears their taint."""

    type: Literal["project_trusted"] = "project_trusted"
    folder: str
    principal: principals.Principal
