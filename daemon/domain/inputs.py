"""Everything that can happen to the runtime, in the imperative: what the one inbox takes.

An input arrives alone; the loop stamps it with the time, a seed of chance, and what the store knows
about the ids in it, so that a decision needs nothing else.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from daemon.domain import (
    base,
    decisions,
    events,
    ids,
    messages,
    presets,
    principals,
    state,
    taints,
    verdicts,
)
from daemon.domain.channel_inputs import (
    DecidePairing as DecidePairing,
    MoveChat as MoveChat,
    PostNotice as PostNotice,
    ReportDelivery as ReportDelivery,
    RequestPairing as RequestPairing,
    SetCursor as SetCursor,
    TaintProject as TaintProject,
)
from daemon.domain.keyed import Keyed as Keyed
from daemon.domain.knowledge import Known as Known, LastTask as LastTask, Shown as Shown
from daemon.domain.schedule_inputs import (
    AnswerRead as AnswerRead,
    CreateSchedule as CreateSchedule,
    DeleteSchedule as DeleteSchedule,
    PauseSchedule as PauseSchedule,
    RecoverSchedule as RecoverSchedule,
    RunSchedule as RunSchedule,
    StopSchedule as StopSchedule,
    UpdateSchedule as UpdateSchedule,
)
from tools import contract


class SubmitTask(Keyed):
    origin: principals.Origin
    text: str
    conversation_id: ids.ConversationId | None = None
    attachments: tuple[ids.ArtifactId, ...] = ()
    mode: verdicts.Mode | None = None
    """Of the conversation that it begins, as are the project's folder and the profile."""
    folder: str | None = None
    profile: str = ""
    files: tuple[str, ...] = ()
    """That came with it, by their paths in the project's folder."""


class CreateConversation(Keyed):
    """`folder` is the project's that it works in; empty for the daemon's own."""

    title: str = ""
    mode: verdicts.Mode = verdicts.Mode.BUILD
    folder: str = ""
    profile: str = ""
    steers: bool | None = None
    place: str = ""
    """The chat and topic that go on with it; what is not said it takes over from the one before."""


class UpdateConversation(Keyed):
    """What is None stays as it is."""

    conversation_id: ids.ConversationId
    title: str | None = None
    mode: verdicts.Mode | None = None
    folder: str | None = None
    profile: str | None = None
    steers: bool | None = None


class DeleteConversation(Keyed):
    conversation_id: ids.ConversationId


class CompactConversation(Keyed):
    """Have what was said so far summarized, by a task of its own."""

    conversation_id: ids.ConversationId
    origin: principals.Origin


class UndoExchange(Keyed):
    """Take back the last answered message of a conversation, and the commits of its task."""

    conversation_id: ids.ConversationId


class GiveFeedback(Keyed):
    task_id: ids.TaskId
    good: bool
    text: str = ""


class CancelTask(Keyed):
    task_id: ids.TaskId


class DecideTask(Keyed):
    task_id: ids.TaskId
    decision: events.Decision
    call_id: ids.CallId | None = None


class Answer(StrEnum):
    """What a person says to an approval."""

    ALLOW_ONCE = "allow_once"
    ALLOW_ALWAYS = "allow_always"
    DENY = "deny"


class ResolveApproval(Keyed):
    approval_id: ids.ApprovalId
    answer: Answer
    reason: str = ""
    place: str = ""
    """The chat in which it was answered, where a bot says so, and there the message."""
    message_id: str = ""


class RevokeGrant(Keyed):
    grant_id: ids.GrantId


class ProvideSecret(Keyed):
    """The secret is in the vault already; it is in no input."""

    task_id: ids.TaskId


class TrustProject(Keyed):
    folder: str


class RegisterProject(Keyed):
    """Name a folder, which is there and was checked, as a project."""

    name: str
    folder: str


class SetProfile(Keyed):
    name: str
    profile: presets.Profile | None


class SetSkill(Keyed):
    name: str
    skill: presets.Skill | None


class CreateToken(Keyed):
    """`digest` is of a secret that only the caller will know; `maker` is who asks."""

    maker: principals.Credential
    name: str
    scopes: frozenset[principals.Scope]
    platform: str = ""
    account: str = ""
    digest: str


class RevokeToken(Keyed):
    token_id: ids.TokenId


@dataclass(frozen=True, slots=True)
class Piece:
    """A text that may stand in a prompt, with its tokens in the slot that reads it, or a bound."""

    speaker: messages.Speaker
    text: str
    tokens: int
    shortens: bool = False
    """It may be told in fewer words where there is little room."""
    seq: int = 0
    """Of an earlier exchange: its place in the log."""


class ContextGathered(base.Value):
    """What a model call can be told: earlier exchanges, oldest first, and this task's own turn."""

    task_id: ids.TaskId
    asked: int
    heard: tuple[ids.ContentId, ...]
    history: tuple[Piece, ...]
    turn: tuple[Piece, ...]
    summary: Piece | None
    """Of the exchanges before the history."""
    system_tokens: int
    context_tokens: int
    taint: taints.Taint = taints.CLEAN
    """Of all that is told."""


class ContextFailed(base.Value):
    task_id: ids.TaskId
    asked: int
    kind: messages.ModelFaultKind
    message: str


class ModelFinished(base.Value):
    task_id: ids.TaskId
    call_id: ids.CallId
    result: messages.ModelResult


class ModelFailed(base.Value):
    """A model call gave no result; `cancelled` when it was ended on purpose."""

    task_id: ids.TaskId
    call_id: ids.CallId
    kind: messages.ModelFaultKind
    message: str
    text: str = ""
    cancelled: bool = False


class CallInspected(base.Value):
    task_id: ids.TaskId
    call_id: ids.CallId
    arguments: str
    facts: contract.Facts
    judged: verdicts.Judgement = verdicts.Judgement(
        verdicts.Verdict.HARD_STOP, ("nobody judged it",)
    )
    policy: str = ""
    """The revision of the rules that judged."""
    folder: str = ""
    has_secret: bool = False
    """The secret that its facts ask for is there."""


class InspectionFailed(base.Value):
    """`parks` when nothing of the task can go on: its project's folder is gone."""

    task_id: ids.TaskId
    call_id: ids.CallId
    message: str
    parks: bool = False


class Change(base.Value):
    """What a call changed in its project, as the project's history keeps it."""

    commit: str
    files: tuple[str, ...]
    diff: str


class ToolFinished(base.Value):
    """A tool ended by itself. `artifact` holds its whole output when `result.text` is shortened."""

    task_id: ids.TaskId
    call_id: ids.CallId
    result: contract.Result
    duration_ms: int
    artifact: ids.ArtifactId | None = None
    change: Change | None = None


class ToolStopped(base.Value):
    """A tool gave no result: its permit did not fit, it could not start, or it was ended."""

    task_id: ids.TaskId
    call_id: ids.CallId
    outcome: events.CallOutcome
    message: str
    duration_ms: int = 0
    change: Change | None = None


class CallReconciled(base.Value):
    task_id: ids.TaskId
    call_id: ids.CallId
    found: contract.Reconciled


class CommitsReverted(base.Value):
    """How taking back commits ended; `fault` says why it did not."""

    task_id: ids.TaskId
    commit: str = ""
    fault: str = ""


class TimerFired(base.Value):
    timer: decisions.TimerKind
    subject: str


class RecoverTask(base.Value):
    """The daemon has started and this task was live. `clean`: the last run had drained.

    `state` is where the task stood then: one that has moved since needs nothing more.
    """

    task_id: ids.TaskId
    state: state.TaskState
    clean: bool


class RecoverRevert(base.Value):
    """The daemon has started and this undone task's commits were still to be taken back."""

    task_id: ids.TaskId


class AbortTask(base.Value):
    """A decision about this task broke the program; it ends, the daemon goes on."""

    task_id: ids.TaskId


RpcInput = (
    SubmitTask
    | CreateConversation
    | UpdateConversation
    | DeleteConversation
    | CompactConversation
    | UndoExchange
    | GiveFeedback
    | CancelTask
    | DecideTask
    | ResolveApproval
    | RevokeGrant
    | ProvideSecret
    | TrustProject
    | RegisterProject
    | SetProfile
    | SetSkill
    | CreateToken
    | RevokeToken
    | ReportDelivery
    | PostNotice
    | MoveChat
    | TaintProject
    | SetCursor
    | RequestPairing
    | DecidePairing
    | CreateSchedule
    | UpdateSchedule
    | DeleteSchedule
    | PauseSchedule
    | RunSchedule
    | StopSchedule
)

Input = (
    RpcInput
    | ContextGathered
    | ContextFailed
    | ModelFinished
    | ModelFailed
    | CallInspected
    | InspectionFailed
    | ToolFinished
    | ToolStopped
    | CallReconciled
    | CommitsReverted
    | TimerFired
    | RecoverTask
    | RecoverRevert
    | RecoverSchedule
    | AnswerRead
    | AbortTask
)


class Stamped(NamedTuple):
    """An input with all that a decision on it may depend on."""

    input: Input
    at_ms: int
    seed: str
    known: Known = Known()
    utc_offset_minutes: int = 0
    """Of the owner's clock."""
