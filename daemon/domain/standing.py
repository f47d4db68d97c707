"""What of the folded state stands beside the tasks: grants, projects, settings, people, chats.

Used by their names in `world`, which holds all of the state.
"""

from enum import StrEnum

from daemon.domain import base, ids, principals, schedule_events, taints, verdicts


class Grant(base.Value):
    """An "always": the call with this key runs unasked, so often and until then."""

    grant_id: ids.GrantId
    conversation_id: ids.ConversationId
    key: str
    tool: str
    principal: principals.Principal
    folder: str
    card: ids.ContentId
    granted_by: principals.Principal
    created_ms: int
    expires_ms: int
    uses_left: int
    schedule_id: ids.ScheduleId | None = None
    """Of the schedule for whose runs alone it counts."""


class Project(base.Value):
    """A project's folder that holds untrusted text, and the conversation that brought it last."""

    folder: str
    conversation_id: ids.ConversationId
    taint: taints.Taint


class Settings(base.Value):
    """How a conversation's tasks work. `folder` is its project's, empty for the daemon's own;
    `steers` when a message that comes while a task runs joins it."""

    mode: verdicts.Mode = verdicts.Mode.BUILD
    folder: str = ""
    profile: str = ""
    steers: bool = False


DEFAULT_SETTINGS = Settings()


class PersonState(StrEnum):
    """How far somebody has come who wants to talk."""

    ASKED = "asked"
    ALLOWED = "allowed"
    REFUSED = "refused"


class Person(base.Value):
    """Somebody of a chat platform who asked to talk. `name` is as the platform said it: data.

    `code` and `chats` are of the request that nobody has decided yet.
    """

    principal: principals.Principal
    name: str
    state: PersonState
    asked_ms: int
    code: str = ""
    chats: tuple[str, ...] = ()
    decided_by: principals.Principal | None = None


class Unreachable(base.Value):
    """A chat that a bot could not reach when it last tried, and why."""

    account: str
    chat: str
    reason: str


class DueRun(base.Value):
    """A run that is due and waits for the one before it."""

    run_id: ids.RunId
    due_ms: int


class LiveRun(base.Value):
    """The run that goes on, or that is to be tried again at `again_ms`.

    `has_chat` when it began with a chat that is asked and told. `ended` is how its task did, until
    it is decided what follows; `answer` what it answered.
    """

    run_id: ids.RunId
    due_ms: int
    task_id: ids.TaskId
    attempt: int
    by_hand: bool
    began_ms: int
    has_chat: bool = False
    again_ms: int | None = None
    ended: schedule_events.RunOutcome | None = None
    answer: ids.ContentId | None = None


class Planned(base.Value):
    """A schedule and how far it is: every time up to `accounted_ms` is accounted for.

    `runs` are those that came due and began, `failures` those in a row.
    """

    schedule: schedule_events.Schedule
    accounted_ms: int
    runs: int = 0
    failures: int = 0
    live: LiveRun | None = None
    queued: tuple[DueRun, ...] = ()
    last_outcome: schedule_events.RunOutcome | None = None
    last_digest: str = ""


class Revert(base.Value):
    """Commits of an undone task that are still to be taken back."""

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    correlation_id: str
    folder: str
    commits: tuple[str, ...]
