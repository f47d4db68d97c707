"""What a decision is: events that happened by it, records to keep with them, actions to perform.

A `Step` is a value: the loop folds its events, commits them with the records in one transaction,
and only then answers the caller and starts the actions.
"""

from enum import StrEnum
from typing import Annotated, Literal

import pydantic

from daemon.domain import base, errors, events, ids, messages, principals


class Permit(base.Value):
    """The right to run one call, tied to everything that was judged. Granted by `permission`."""

    call_id: ids.CallId
    digest: str
    verdict: events.Verdict
    approval_id: ids.ApprovalId | None = None


class TurnPart(base.Value):
    """A kept text with the fixed words that go around it in a prompt."""

    speaker: messages.Speaker
    content: ids.ContentId
    before: str = ""
    after: str = ""


class GatherContext(base.Value):
    """Read and count what the next model call of a task may be told."""

    kind: Literal["gather_context"] = "gather_context"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    submitted_seq: int
    system: str
    turn: tuple[TurnPart, ...]


class CallModel(base.Value):
    kind: Literal["call_model"] = "call_model"
    request: messages.ModelRequest
    correlation_id: str


class CancelCall(base.Value):
    """End a model or tool call that runs; its outcome still comes in."""

    kind: Literal["cancel_call"] = "cancel_call"
    call_id: ids.CallId


class CallSite(base.Value):
    """A tool call with what surrounds it."""

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    correlation_id: str
    requester: principals.Principal
    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId


class InspectCall(base.Value):
    """Find the facts about a tool call, and hold them until it runs or is dropped."""

    kind: Literal["inspect_call"] = "inspect_call"
    site: CallSite


class ReleaseCall(base.Value):
    """Let go of an inspection that will not be run."""

    kind: Literal["release_call"] = "release_call"
    call_id: ids.CallId


class CallTool(base.Value):
    """Run what was inspected, if the permit still fits it."""

    kind: Literal["call_tool"] = "call_tool"
    site: CallSite
    permit: Permit


class ReconcileCall(base.Value):
    """Look whether the effect of a call that was cut off is there."""

    kind: Literal["reconcile_call"] = "reconcile_call"
    site: CallSite
    intent: str


class TimerKind(StrEnum):
    """What a timer reminds of."""

    APPROVAL_EXPIRY = "approval_expiry"
    TASK_BUDGET = "task_budget"


class SetTimer(base.Value):
    """Remind at a wall-clock time; the same kind and subject replaces the earlier one."""

    kind: Literal["set_timer"] = "set_timer"
    timer: TimerKind
    subject: str
    due_ms: int


Action = (
    GatherContext
    | CallModel
    | CancelCall
    | InspectCall
    | ReleaseCall
    | CallTool
    | ReconcileCall
    | SetTimer
)


class Submitted(base.Value):
    kind: Literal["submitted"] = "submitted"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    seq: int


class ConversationKept(base.Value):
    kind: Literal["conversation"] = "conversation"
    conversation_id: ids.ConversationId


class TaskKept(base.Value):
    kind: Literal["task"] = "task"
    task_id: ids.TaskId


class ApprovalKept(base.Value):
    kind: Literal["approval"] = "approval"
    approval_id: ids.ApprovalId


Reply = Annotated[
    Submitted | ConversationKept | TaskKept | ApprovalKept, pydantic.Field(discriminator="kind")
]


class Rejected(base.Value):
    """The input was refused; nothing happened."""

    refusal: errors.RefusalKind
    message: str


class ContentRecord(base.Value):
    """A text to keep. `owner` is the conversation that it belongs to."""

    content_id: ids.ContentId
    owner: ids.ConversationId
    text: str


class ClientKeyRecord(base.Value):
    """The answer to a keyed write, so that a repetition gets the same."""

    credential: str
    client_key: str
    body_hash: str
    reply: Reply
    at_ms: int


Record = ContentRecord | ClientKeyRecord

_Log = tuple[events.Recorded, ...]


class Step(base.Value):
    """What one input led to. Empty when the input came too late to matter."""

    events: _Log = ()
    records: tuple[Record, ...] = ()
    actions: tuple[Action, ...] = ()
    reply: Reply | Rejected | None = None
