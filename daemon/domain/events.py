"""Everything that can have happened, in the past tense: the log is made of these and nothing else.

Text of users, models and tools is content: events carry its id, so that forgetting the text leaves
the log whole. `VERSION` grows when a field changes its meaning; `storage.codec` lifts older ones.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from daemon.domain import base, ids, messages, principals, state
from tools import contract

VERSION = 1


class ConversationCreated(base.Value):
    type: Literal["conversation_created"] = "conversation_created"
    conversation_id: ids.ConversationId
    principal: principals.Principal
    title: ids.ContentId | None = None


class ConversationUpdated(base.Value):
    type: Literal["conversation_updated"] = "conversation_updated"
    conversation_id: ids.ConversationId
    title: ids.ContentId


class TaskSubmitted(base.Value):
    """A task was accepted; it is QUEUED."""

    type: Literal["task_submitted"] = "task_submitted"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    origin: principals.Origin
    text: ids.ContentId
    attachments: tuple[ids.ArtifactId, ...] = ()


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
    type: Literal["model_call_started"] = "model_call_started"
    task_id: ids.TaskId
    call_id: ids.CallId
    role: messages.Role
    attempt: int
    replaces: ids.CallId | None = None


class ModelCallFinished(base.Value):
    type: Literal["model_call_finished"] = "model_call_finished"
    task_id: ids.TaskId
    call_id: ids.CallId
    text: ids.ContentId
    finish_reason: messages.FinishReason
    slot: str
    usage: messages.Usage
    script_line: int | None = None


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
    """A tool call is wanted. `direct`: a person typed it, so its result is the answer."""

    type: Literal["tool_call_proposed"] = "tool_call_proposed"
    task_id: ids.TaskId
    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    direct: bool = False
    repeats: ids.CallId | None = None


class Verdict(StrEnum):
    """What policy says of a call, from the mildest to the strictest."""

    ALLOW_READONLY = "allow-readonly"
    ASK = "ask"
    ASK_NEVER_ALWAYS = "ask-never-always"
    HARD_STOP = "hard-stop"


class ToolCallInspected(base.Value):
    type: Literal["tool_call_inspected"] = "tool_call_inspected"
    task_id: ids.TaskId
    call_id: ids.CallId
    effect: contract.Effect
    digest: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()


class ApprovalRequested(base.Value):
    """A human must decide; `card` is the content that shows exactly what would run."""

    type: Literal["approval_requested"] = "approval_requested"
    task_id: ids.TaskId
    approval_id: ids.ApprovalId
    call_id: ids.CallId
    tool: str
    digest: str
    card: ids.ContentId
    reasons: tuple[str, ...]
    always_allowed: bool
    expires_ms: int


class ApprovalOutcome(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class ApprovalResolved(base.Value):
    type: Literal["approval_resolved"] = "approval_resolved"
    task_id: ids.TaskId
    approval_id: ids.ApprovalId
    call_id: ids.CallId
    outcome: ApprovalOutcome
    decided_by: principals.Principal | None = None
    reason: ids.ContentId | None = None


class ToolCallStarted(base.Value):
    """The call begins now. `approval_id` names the approval that this event uses up."""

    type: Literal["tool_call_started"] = "tool_call_started"
    task_id: ids.TaskId
    call_id: ids.CallId
    digest: str
    effect: contract.Effect
    attempt: int
    intent: str = ""
    approval_id: ids.ApprovalId | None = None


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
    """The call's result. An unknown outcome may be followed once by MARKED_DONE, never by a run."""

    type: Literal["tool_call_ended"] = "tool_call_ended"
    task_id: ids.TaskId
    call_id: ids.CallId
    outcome: CallOutcome
    result: ids.ContentId | None = None
    exit_code: int | None = None
    artifact: ids.ArtifactId | None = None
    duration_ms: int = 0


class AnswerGiven(base.Value):
    type: Literal["answer_given"] = "answer_given"
    task_id: ids.TaskId
    text: ids.ContentId


Event = (
    ConversationCreated
    | ConversationUpdated
    | TaskSubmitted
    | TaskStateChanged
    | TaskRecovered
    | TaskDecided
    | ModelCallStarted
    | ModelCallFinished
    | ModelCallFailed
    | ToolCallProposed
    | ToolCallInspected
    | ApprovalRequested
    | ApprovalResolved
    | ToolCallStarted
    | ToolCallEnded
    | AnswerGiven
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event with its place in the log. `seq` counts from 1 without a gap."""

    seq: int
    at_ms: int
    task_id: ids.TaskId | None
    conversation_id: ids.ConversationId
    correlation_id: str
    event: Event
