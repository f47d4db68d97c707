"""What a decision is: events that happened by it, records to keep with them, actions to perform.

A `Step` is a value: the loop folds its events, commits them with the records in one transaction,
and only then answers the caller and starts the actions. What never leaves the process is a plain
frozen value; what is kept or sent is a closed contract.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from daemon.domain import base, errors, events, ids, messages, presets, principals, taints, verdicts
from daemon.domain.replies import (
    ApprovalKept as ApprovalKept,
    ChatKept as ChatKept,
    ConversationKept as ConversationKept,
    CursorKept as CursorKept,
    DeliveryKept as DeliveryKept,
    GrantKept as GrantKept,
    PersonKept as PersonKept,
    ProfileKept as ProfileKept,
    ProjectKept as ProjectKept,
    Reply as Reply,
    ScheduleKept as ScheduleKept,
    SkillKept as SkillKept,
    Submitted as Submitted,
    TaskKept as TaskKept,
    TokenKept as TokenKept,
    Undone as Undone,
)


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to run one call, tied to everything that was judged. Granted by `permission`."""

    call_id: ids.CallId
    digest: str
    basis: verdicts.Basis
    approval_id: ids.ApprovalId | None = None
    grant_id: ids.GrantId | None = None


class TurnPart(NamedTuple):
    """A kept text with the fixed words that go around it in a prompt; or those words alone.

    `shortens` when what is kept may be told in fewer words once it is old.
    """

    speaker: messages.Speaker
    content: ids.ContentId | None = None
    before: str = ""
    after: str = ""
    shortens: bool = False


@dataclass(frozen=True, slots=True)
class GatherContext:
    """Read and count what the next model call of a task may be told, in the role's slot.

    `asked` tells it from earlier ones of the task, `heard` are the further messages in it.
    """

    kind: ClassVar[str] = "gather_context"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    submitted_seq: int
    role: messages.Role
    asked: int
    heard: tuple[ids.ContentId, ...]
    summarized: bool
    """Earlier messages may have been summarized since the task began."""
    system: str
    turn: tuple[TurnPart, ...]
    correlation_id: str


@dataclass(frozen=True, slots=True)
class CallModel:
    kind: ClassVar[str] = "call_model"
    request: messages.ModelRequest
    correlation_id: str


@dataclass(frozen=True, slots=True)
class CancelCall:
    """End a model or tool call that runs; its outcome still comes in."""

    kind: ClassVar[str] = "cancel_call"
    call_id: ids.CallId


@dataclass(frozen=True, slots=True)
class CallSite:
    """A tool call with what surrounds it."""

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    correlation_id: str
    requester: principals.Principal
    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    read_only: bool = False
    """Nothing may be written, whatever the call is: its conversation only plans."""
    folder: str = ""
    """The folder of its conversation's project; empty for the daemon's own."""


@dataclass(frozen=True, slots=True)
class InspectCall:
    """Find the facts about a tool call, and hold them until it runs or is dropped."""

    kind: ClassVar[str] = "inspect_call"
    site: CallSite


@dataclass(frozen=True, slots=True)
class ReleaseCall:
    """Let go of an inspection that will not be run."""

    kind: ClassVar[str] = "release_call"
    call_id: ids.CallId


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run what was inspected, if the permit still fits it."""

    kind: ClassVar[str] = "call_tool"
    site: CallSite
    permit: Permit


@dataclass(frozen=True, slots=True)
class ReconcileCall:
    """Look whether the effect of a call that was cut off is there."""

    kind: ClassVar[str] = "reconcile_call"
    site: CallSite
    intent: str


@dataclass(frozen=True, slots=True)
class RevertCommits:
    """Take back an undone task's commits in its project, newest first; what is done stays so."""

    kind: ClassVar[str] = "revert_commits"
    task_id: ids.TaskId
    folder: str
    commits: tuple[str, ...]
    correlation_id: str


class TimerKind(StrEnum):
    """What a timer reminds of."""

    APPROVAL_EXPIRY = "approval_expiry"
    SECRET_EXPIRY = "secret_expiry"
    TASK_BUDGET = "task_budget"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Remind at a wall-clock time; the same kind and subject replaces the earlier one."""

    kind: ClassVar[str] = "set_timer"
    timer: TimerKind
    subject: str
    due_ms: int


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """Say the digest of what a schedule's run answered."""

    kind: ClassVar[str] = "read_answer"
    schedule_id: ids.ScheduleId
    run_id: ids.RunId
    task_id: ids.TaskId
    answer: ids.ContentId


Action = (
    GatherContext
    | CallModel
    | CancelCall
    | InspectCall
    | ReleaseCall
    | CallTool
    | ReconcileCall
    | RevertCommits
    | SetTimer
    | ReadAnswer
)


class Rejected(base.Value):
    """The input was refused; nothing happened."""

    refusal: errors.RefusalKind
    message: str


class ContentRecord(base.Value):
    """A text to keep. `owner` is the conversation that it belongs to."""

    content_id: ids.ContentId
    owner: ids.ConversationId
    text: str
    taint: taints.Taint = taints.CLEAN


class ArtifactTaint(base.Value):
    """An artifact came of a tainted task; what it had before stays."""

    artifact_id: ids.ArtifactId
    taint: taints.Taint


class ClientKeyRecord(base.Value):
    """The answer to a keyed write, so that a repetition gets the same."""

    credential: str
    client_key: str
    body_hash: str
    reply: Reply
    at_ms: int


class TokenRecord(base.Value):
    """A token. Of its secret only the SHA-256 is kept, as hexadecimal digits."""

    token_id: ids.TokenId
    name: str
    digest: str
    principal: principals.Principal
    scopes: frozenset[principals.Scope]
    created_ms: int


class TokenRevoked(base.Value):
    """The end of a token; of one that was revoked before, the first end stays."""

    token_id: ids.TokenId
    revoked_ms: int


class ProjectRecord(base.Value):
    """A project that the owner named: its folder's real path."""

    name: str
    folder: str
    created_ms: int


class ProfileRecord(base.Value):
    """A profile that was set, in the place of the one before; None takes it back."""

    name: str
    profile: presets.Profile | None


class SkillRecord(base.Value):
    """A skill that was set, in the place of the one before; None takes it back."""

    name: str
    skill: presets.Skill | None


class CursorRecord(base.Value):
    """A word of a bot's own (`credential` is whose) in the place of the one with that name."""

    credential: str
    name: str
    value: str


class ForgottenRecord(base.Value):
    """Every text of a conversation is to be forgotten."""

    owner: ids.ConversationId


Record = (
    ContentRecord
    | ArtifactTaint
    | ClientKeyRecord
    | TokenRecord
    | TokenRevoked
    | ProjectRecord
    | ProfileRecord
    | SkillRecord
    | CursorRecord
    | ForgottenRecord
)

_Log = tuple[events.Recorded, ...]


class Step(NamedTuple):
    """What one input led to. Empty when the input came too late to matter."""

    events: _Log = ()
    records: tuple[Record, ...] = ()
    actions: tuple[Action, ...] = ()
    reply: Reply | Rejected | None = None
