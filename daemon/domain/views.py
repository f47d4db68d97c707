"""What is shown of tasks, approvals, conversations and tokens, as rows of pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from daemon.domain import (
    base,
    deliveries,
    events,
    ids,
    principals,
    schedules,
    state,
    taints,
    verdicts,
    world,
)


class UnknownCall(base.Value):
    """A call that was started and whose end nobody saw."""

    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    words: ids.ContentId | None = None


class TaskView(base.Value):
    """A task, live or ended. Texts are content ids; a forgotten one reads as none.

    `secret` says which secret it waits for.
    """

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    principal: principals.Principal
    state: state.TaskState
    reason: str
    text: ids.ContentId
    answer: ids.ContentId | None
    created_ms: int
    updated_ms: int
    submitted_seq: int
    pending_approvals: tuple[ids.ApprovalId, ...] = ()
    unknown_calls: tuple[UnknownCall, ...] = ()
    taint: taints.Taint = taints.CLEAN
    secret: str = ""
    kind: events.TaskKind = events.TaskKind.ANSWER
    folder: str = ""
    """Of the project that its conversation worked in when it changed something there."""
    commits: tuple[str, ...] = ()
    """What the project's history has of its changes, oldest first."""
    left: tuple[ids.CallId, ...] = ()
    """Calls that changed something which no commit holds."""
    undone: bool = False
    good: bool | None = None
    """What a person thought of its answer, if one said so."""
    account: str = ""
    """The bot's that shows it, as platform:account; empty where none does."""
    waiting: ids.DeliveryId | None = None
    """What says in a chat that it waits, while it does."""


class ApprovalView(base.Value):
    """An approval, pending or decided. `outcome` is None while it is pending."""

    approval_id: ids.ApprovalId
    task_id: ids.TaskId
    call_id: ids.CallId
    conversation_id: ids.ConversationId
    tool: str
    digest: str
    card: ids.ContentId
    reasons: tuple[str, ...]
    always_allowed: bool
    created_ms: int
    expires_ms: int
    requested_seq: int
    outcome: events.ApprovalOutcome | None = None
    decided_by: principals.Principal | None = None
    reason: ids.ContentId | None = None
    grant_id: ids.GrantId | None = None
    folder: str = ""
    places: tuple[str, ...] = ()


class ConversationView(base.Value):
    conversation_id: ids.ConversationId
    principal: principals.Principal
    title: ids.ContentId | None
    created_ms: int
    updated_ms: int
    created_seq: int
    mode: verdicts.Mode = verdicts.Mode.BUILD
    folder: str = ""
    profile: str = ""
    steers: bool = False
    summary: ids.ContentId | None = None
    summarized_seq: int = 0
    """Exchanges submitted up to here are told by the summary."""


class ProjectView(base.Value):
    """A project by its name."""

    name: str
    folder: str
    created_ms: int


class DeliveryView(base.Value):
    """What is to be shown in a chat. `changed_seq` is of the event that made its newest revision.

    `person` is who asks to talk.
    """

    delivery_id: ids.DeliveryId
    kind: deliveries.Kind
    target: deliveries.Target
    conversation_id: ids.ConversationId
    created_ms: int
    created_seq: int
    changed_seq: int
    state: deliveries.State = deliveries.State.PENDING
    revision: int = 1
    shown_revision: int = 0
    platform_ids: tuple[str, ...] = ()
    fault: str = ""
    task_id: ids.TaskId | None = None
    approval_id: ids.ApprovalId | None = None
    text: ids.ContentId | None = None
    rows: tuple[tuple[deliveries.Button, ...], ...] = ()
    artifacts: tuple[ids.ArtifactId, ...] = ()
    person: principals.Principal | None = None
    run_id: ids.RunId | None = None
    """Of the schedule's run whose end it shows."""


class RunView(base.Value):
    """A time at which a schedule was due, or a run by hand, and what became of it. `number` tells
    in which order runs were first known; `name` is of the schedule."""

    run_id: ids.RunId
    schedule_id: ids.ScheduleId
    conversation_id: ids.ConversationId
    name: ids.ContentId | None
    due_ms: int
    state: schedules.RunState
    reason: str
    task_id: ids.TaskId | None
    attempts: int
    by_hand: bool
    started_ms: int | None
    ended_ms: int | None
    late_ms: int
    platform_ids: tuple[str, ...]
    number: int


class FileView(base.Value):
    """A file or folder of a project, by its path from there."""

    path: str
    size: int
    folder: bool = False
    media_type: str = ""
    modified_ms: int = 0


class CommitView(base.Value):
    """A commit of a project's history. `task_id` and `call_id` name what made it, if a call did;
    `reverts` are the commits that it takes back."""

    commit: str
    at_ms: int
    message: str
    task_id: str = ""
    call_id: str = ""
    reverts: tuple[str, ...] = ()


class TokenView(base.Value):
    """A token, live or revoked; nothing of its secret is shown."""

    token_id: ids.TokenId
    name: str
    principal: principals.Principal
    scopes: frozenset[principals.Scope]
    created_ms: int
    revoked_ms: int | None
    created_seq: int


class Exchange(base.Value):
    """One answered message of a conversation, and what was said between message and answer."""

    text: ids.ContentId
    answer: ids.ContentId
    taint: taints.Taint = taints.CLEAN
    submitted_seq: int = 0
    said: tuple[world.Said, ...] = ()


class History(base.Value):
    """What was said in a conversation: a summary, then the exchanges after it, oldest first."""

    summary: ids.ContentId | None = None
    summary_taint: taints.Taint = taints.CLEAN
    exchanges: tuple[Exchange, ...] = ()


Row = TypeVar("Row")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """A page of a list, newest first; `next_before` continues it (a sequence number), or None."""

    rows: Sequence[Row]
    next_before: int | None


class SlotView(base.Value):
    """A model slot as it stands: `state` is idle, loading, ready or failed."""

    name: str
    state: str
    roles: tuple[str, ...]
    context_tokens: int
    detail: str


class DaemonView(base.Value):
    """The daemon at a glance."""

    version: str
    started_ms: int
    state_folder: str
    head_seq: int
    tasks_queued: int
    tasks_running: int
    tasks_waiting: int
    approvals_pending: int
    resident_bytes: int
    draining: bool
    slots: tuple[SlotView, ...]
    notices: tuple[str, ...]
