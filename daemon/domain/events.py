"""Everything that can have happened, in the past tense: the log is made of these and nothing else.

Text of users, models and tools is content: events carry its id, so that forgetting the text leaves
the log whole. `VERSION` grows when a field changes its meaning; `storage.codec` lifts older ones.
"""

from enum import StrEnum
from typing import Literal, NamedTuple

from daemon.domain import base, ids, messages, principals, state, taints, verdicts
from daemon.domain.approval_events import (
    ApprovalOutcome as ApprovalOutcome,
    ApprovalRequested as ApprovalRequested,
    ApprovalResolved as ApprovalResolved,
    GrantCreated as GrantCreated,
    GrantRevoked as GrantRevoked,
)
from daemon.domain.channel_events import (
    ChatMoved as ChatMoved,
    DeliveryReported as DeliveryReported,
    NoticePosted as NoticePosted,
    PairingDecided as PairingDecided,
    PairingRequested as PairingRequested,
)
from daemon.domain.conversation_events import (
    ConversationCompacted as ConversationCompacted,
    ConversationCreated as ConversationCreated,
    ConversationDeleted as ConversationDeleted,
    ConversationUpdated as ConversationUpdated,
    ExchangeUndone as ExchangeUndone,
    FeedbackGiven as FeedbackGiven,
    ProjectReverted as ProjectReverted,
    ProjectTainted as ProjectTainted,
    ProjectTrusted as ProjectTrusted,
)
from daemon.domain.plan_events import (
    ANSWER as ANSWER,
    DirectiveSource as DirectiveSource,
    DirectiveTaken as DirectiveTaken,
    PlanMade as PlanMade,
    PlannedStep as PlannedStep,
    ReplyRefused as ReplyRefused,
    StepEnded as StepEnded,
    StepJudged as StepJudged,
    StepOutcome as StepOutcome,
    StepStarted as StepStarted,
)
from daemon.domain.schedule_events import (
    LeftOut as LeftOut,
    RunOf as RunOf,
    RunOutcome as RunOutcome,
    Schedule as Schedule,
    ScheduleRemoved as ScheduleRemoved,
    ScheduleRunEnded as ScheduleRunEnded,
    ScheduleRunQueued as ScheduleRunQueued,
    ScheduleRunsLeftOut as ScheduleRunsLeftOut,
    ScheduleRunStarted as ScheduleRunStarted,
    ScheduleSet as ScheduleSet,
    due_run as due_run,
    shown_at as shown_at,
)
from tools import contract

VERSION = 1


class TaskKind(StrEnum):
    """What a task is there for."""

    ANSWER = "answer"
    COMPACT = "compact"
    """To summarize its conversation; its text is no message."""
    REHEARSAL = "rehearsal"
    """To have a schedule's command allowed; nothing runs, and its text is no message."""


class TaskSubmitted(base.Value):
    """A task was accepted; it is QUEUED."""

    type: Literal["task_submitted"] = "task_submitted"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    origin: principals.Origin
    text: ids.ContentId
    attachments: tuple[ids.ArtifactId, ...] = ()
    skill: str = ""
    """The method that its words call for."""
    kind: TaskKind = TaskKind.ANSWER
    urls: tuple[str, ...] = ()
    """Addresses in the message, when the user wrote it: what they lead to was asked for."""
    note: str = ""
    """What its models are told of the time and the place, in the daemon's words."""
    profile: str = ""
    """That it works with from its beginning to its end; empty is the default."""
    run: RunOf | None = None
    """The schedule's run that it is of."""


class TaskSteered(base.Value):
    """A further message joined the task while it ran."""

    type: Literal["task_steered"] = "task_steered"
    task_id: ids.TaskId
    origin: principals.Origin
    text: ids.ContentId


class TaskStateChanged(base.Value):
    type: Literal["task_state_changed"] = "task_state_changed"
    task_id: ids.TaskId
    previous: state.TaskState
    state: state.TaskState
    reason: str = ""


class TaskRecovered(base.Value):
    """The daemon had stopped while the task ran, and it goes on; the time between does not count.

    `count` is how often that was without draining.
    """

    type: Literal["task_recovered"] = "task_recovered"
    task_id: ids.TaskId
    count: int


class TaskTainted(base.Value):
    """Untrusted text came into the task; `sources` are those that are new to it."""

    type: Literal["task_tainted"] = "task_tainted"
    task_id: ids.TaskId
    sources: taints.Taint


class Decision(StrEnum):
    """What a person can say to a task that cannot go on by itself."""

    MARK_DONE = "mark_done"
    RUN_AGAIN = "run_again"
    ABANDON = "abandon"
    RETRY = "retry"


class TaskDecided(base.Value):
    type: Literal["task_decided"] = "task_decided"
    task_id: ids.TaskId
    decision: Decision
    principal: principals.Principal
    call_id: ids.CallId | None = None


class ModelCallStarted(base.Value):
    """`step_id` names the step of the plan that it serves."""

    type: Literal["model_call_started"] = "model_call_started"
    task_id: ids.TaskId
    call_id: ids.CallId
    role: messages.Role
    attempt: int
    replaces: ids.CallId | None = None
    purpose: messages.Purpose = messages.Purpose.THINK
    step_id: str | None = None
    up_to_seq: int = 0
    """Of a summary: the last exchange that it tells."""
    heard: tuple[ids.ContentId, ...] = ()
    """Further messages of the user that the thinker is told from this call on."""


class ModelCallFinished(base.Value):
    type: Literal["model_call_finished"] = "model_call_finished"
    task_id: ids.TaskId
    call_id: ids.CallId
    text: ids.ContentId
    finish_reason: messages.FinishReason
    slot: str
    usage: messages.Usage
    script_line: int | None = None
    reasoning: ids.ContentId | None = None


ModelCallFault = Literal[
    "died",
    "unavailable",
    "overflow",
    "rejected",
    "script",
    "stalled",
    "interrupted",
    "cancelled",
]


class ModelCallFailed(base.Value):
    """A model call ended without a result; `text` is what had come before."""

    type: Literal["model_call_failed"] = "model_call_failed"
    task_id: ids.TaskId
    call_id: ids.CallId
    fault: ModelCallFault
    message: str
    text: ids.ContentId | None = None


class ToolCallProposed(base.Value):
    """A tool call is wanted. `direct`: a person typed it, so its result is the answer.

    `fingerprint` is the same for the same call of the same tool; `step_id` names its plan's step,
    `words` are those by which the thinker asked for it.
    """

    type: Literal["tool_call_proposed"] = "tool_call_proposed"
    task_id: ids.TaskId
    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    direct: bool = False
    repeats: ids.CallId | None = None
    fingerprint: str = ""
    step_id: str | None = None
    words: ids.ContentId | None = None


class ToolCallInspected(base.Value):
    type: Literal["tool_call_inspected"] = "tool_call_inspected"
    task_id: ids.TaskId
    call_id: ids.CallId
    effect: contract.Effect
    digest: str
    verdict: verdicts.Verdict
    reasons: tuple[str, ...] = ()


class SecretRequested(base.Value):
    """The call that was allowed needs a secret of a person; `what` says which."""

    type: Literal["secret_requested"] = "secret_requested"
    task_id: ids.TaskId
    call_id: ids.CallId
    what: str
    expires_ms: int


class SecretProvided(base.Value):
    """The secret is there, in the daemon's memory and nowhere else; it is lost with a restart."""

    type: Literal["secret_provided"] = "secret_provided"
    task_id: ids.TaskId
    call_id: ids.CallId
    principal: principals.Principal


class ToolCallStarted(base.Value):
    """The call begins now. `approval_id` or `grant_id` name what this event uses up of it;
    `files` are the real paths that it names."""

    type: Literal["tool_call_started"] = "tool_call_started"
    task_id: ids.TaskId
    call_id: ids.CallId
    digest: str
    effect: contract.Effect
    attempt: int
    intent: str = ""
    approval_id: ids.ApprovalId | None = None
    grant_id: ids.GrantId | None = None
    basis: verdicts.Basis | None = None
    files: tuple[str, ...] = ()


class CallOutcome(StrEnum):
    """The one result of a tool call."""

    FINISHED = "finished"
    FAILED = "failed"
    OUTCOME_UNKNOWN = "outcome_unknown"
    REFUSED = "refused"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    MARKED_DONE = "marked_done"


class ToolCallEnded(base.Value):
    """The call's result. An unknown outcome may be followed once by MARKED_DONE, never by a run.

    `commit` is what the project's history has of its changes, `diff` shows them.
    """

    type: Literal["tool_call_ended"] = "tool_call_ended"
    task_id: ids.TaskId
    call_id: ids.CallId
    outcome: CallOutcome
    result: ids.ContentId | None = None
    exit_code: int | None = None
    artifact: ids.ArtifactId | None = None
    duration_ms: int = 0
    commit: str = ""
    files: tuple[str, ...] = ()
    diff: ids.ContentId | None = None


class AnswerGiven(base.Value):
    type: Literal["answer_given"] = "answer_given"
    task_id: ids.TaskId
    text: ids.ContentId


Event = (
    ConversationCreated
    | ConversationUpdated
    | ConversationDeleted
    | ConversationCompacted
    | ExchangeUndone
    | ProjectReverted
    | FeedbackGiven
    | TaskSubmitted
    | TaskSteered
    | TaskStateChanged
    | TaskRecovered
    | TaskTainted
    | TaskDecided
    | ModelCallStarted
    | ModelCallFinished
    | ModelCallFailed
    | ToolCallProposed
    | ToolCallInspected
    | ApprovalRequested
    | ApprovalResolved
    | SecretRequested
    | SecretProvided
    | ToolCallStarted
    | ToolCallEnded
    | AnswerGiven
    | GrantCreated
    | GrantRevoked
    | DirectiveTaken
    | ReplyRefused
    | PlanMade
    | StepStarted
    | StepJudged
    | StepEnded
    | ProjectTainted
    | ProjectTrusted
    | DeliveryReported
    | NoticePosted
    | ChatMoved
    | PairingRequested
    | PairingDecided
    | ScheduleSet
    | ScheduleRemoved
    | ScheduleRunQueued
    | ScheduleRunStarted
    | ScheduleRunsLeftOut
    | ScheduleRunEnded
)


class Recorded(NamedTuple):
    """An event with its place in the log, which counts from 1 without a gap; its conversation's id
    is empty where it belongs to none."""

    seq: int
    at_ms: int
    task_id: ids.TaskId | None
    conversation_id: ids.ConversationId
    correlation_id: str
    event: Event
