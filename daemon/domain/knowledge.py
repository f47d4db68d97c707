"""What a store knows of the ids in an input. Used by its names in `inputs`."""

from daemon.domain import base, decisions, events, ids, taints


class LastTask(base.Value):
    """The last answered task of a conversation that is not undone."""

    task_id: ids.TaskId
    folder: str
    commits: tuple[str, ...]
    """Oldest first."""
    left: tuple[ids.CallId, ...]
    """Calls that changed something which no commit holds."""


class Shown(base.Value):
    """A delivery, as far as decisions about it go."""

    delivery_id: ids.DeliveryId
    conversation_id: ids.ConversationId
    account: str
    chat: str
    revision: int
    approval_id: ids.ApprovalId | None = None


class Known(base.Value):
    """What the store knows of an input's ids, beyond the live state."""

    key_body_hash: str | None = None
    """The body that came with this client key before."""
    key_reply: decisions.Reply | None = None
    conversation_exists: bool = False
    task_exists: bool = False
    """The named task was submitted once; when it is not live, it has ended."""
    approval_outcome: events.ApprovalOutcome | None = None
    approval_grant: ids.GrantId | None = None
    """What "always" made of the approval."""
    missing_artifact: ids.ArtifactId | None = None
    taint: taints.Taint = taints.CLEAN
    """Of the attachments."""
    live_tokens: frozenset[str] = frozenset()
    """The names of the tokens that are not revoked."""
    token_exists: bool = False
    project_folder: str | None = None
    """What the named project is already."""
    project_name: str | None = None
    """What the folder is named already."""
    last_task: LastTask | None = None
    task_answered: bool = False
    """The named task has ended with an answer."""
    task_conversation: ids.ConversationId | None = None
    delivery: Shown | None = None
    """The named one; or what the named message shows."""
    open_deliveries: tuple[ids.DeliveryId, ...] = ()
    """Of the chat that moves: what is to be shown there, and what a task waits for."""
