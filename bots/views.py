"""The views: what a person should see of a task, as values that every platform renders its own way.

Answers for: the closed list of views. Texts in them are as the model, tool or person gave them:
a platform must make them inert before it shows them. They must never hold anything of a platform.
"""

import dataclasses
import datetime
import enum

from proto.ducklm.v1 import common_pb2, events_pb2


class StepStatus(enum.Enum):
    """How far a step of a plan has come."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Stage(enum.Enum):
    """What a model call is at, until it has text to show."""

    LOADING = "loading"
    QUEUED = "queued"
    READING = "reading"
    WRITING = "writing"


@dataclasses.dataclass(frozen=True)
class TaskBegan:
    task_id: str
    conversation_id: str
    text: str


@dataclasses.dataclass(frozen=True)
class TextPiece:
    """More of a model's text, to be added to what was shown of this call."""

    task_id: str
    call_id: str
    text: str


@dataclasses.dataclass(frozen=True)
class ThoughtPiece:
    """More of what a reasoning model thinks before it speaks; hidden unless it is asked for."""

    task_id: str
    call_id: str
    text: str


@dataclasses.dataclass(frozen=True)
class TextDropped:
    """What was shown of this call does not count any more."""

    task_id: str
    call_id: str
    again: bool = True  # it is said again; else it was no answer, and something else comes of it


@dataclasses.dataclass(frozen=True)
class TextEnded:
    task_id: str
    call_id: str
    cut: bool  # the token limit ended it


@dataclasses.dataclass(frozen=True)
class AnswerText:
    """The answer. `rest` is the part that no TextPiece has shown."""

    task_id: str
    text: str
    rest: str
    continues: bool  # rest goes on where the text shown last ended


@dataclasses.dataclass(frozen=True)
class ToolStarted:
    task_id: str
    call_id: str
    tool: str
    command: str
    attempt: int
    basis: str = ""  # what let it run: read_only, approval, grant, yolo, named


@dataclasses.dataclass(frozen=True)
class ToolOutput:
    """More of a tool's output while it runs."""

    task_id: str
    call_id: str
    text: str


@dataclasses.dataclass(frozen=True)
class ToolEnded:
    task_id: str
    call_id: str
    tool: str
    command: str
    outcome: events_pb2.ToolCallEnded.Outcome.ValueType
    exit_code: int | None
    text: str  # empty where the answer will say it
    artifact_id: str
    duration_ms: int


@dataclasses.dataclass(frozen=True)
class FilesChanged:
    """What a call changed in its project."""

    task_id: str
    call_id: str
    files: tuple[str, ...]
    diff: str  # unified


@dataclasses.dataclass(frozen=True)
class PlanStep:
    """A step as it stands now."""

    step_id: str
    goal: str
    kind: str  # tool, coder, respond
    after: tuple[str, ...]  # the steps that it needs
    status: StepStatus = StepStatus.WAITING
    attempt: int = 1


@dataclasses.dataclass(frozen=True)
class PlanShown:
    """The task's plan as it stands now, whole; `changed` is the step that moved, none at first."""

    task_id: str
    steps: tuple[PlanStep, ...]
    changed: PlanStep | None = None


@dataclasses.dataclass(frozen=True)
class ApprovalCard:
    """A call that waits for a human."""

    task_id: str
    approval_id: str
    tool: str
    card: str
    reasons: tuple[str, ...]
    always_allowed: bool
    expires_at: datetime.datetime | None
    folder: str = ""  # where it would run


@dataclasses.dataclass(frozen=True)
class ApprovalClosed:
    task_id: str
    approval_id: str
    outcome: str  # allowed, denied, expired, withdrawn
    decided_by: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Notice:
    task_id: str
    text: str


@dataclasses.dataclass(frozen=True)
class Progress:
    task_id: str
    stage: Stage
    done: int
    total: int
    elapsed_ms: int
    purpose: str = ""  # of the call: think, compile, code, write, criticize, summarize


@dataclasses.dataclass(frozen=True)
class Waiting:
    """The task waits for someone or something."""

    task_id: str
    state: common_pb2.TaskState.ValueType
    reason: str


@dataclasses.dataclass(frozen=True)
class Ended:
    """The task is final."""

    task_id: str
    state: common_pb2.TaskState.ValueType
    reason: str


View = (
    TaskBegan
    | TextPiece
    | ThoughtPiece
    | TextDropped
    | TextEnded
    | AnswerText
    | ToolStarted
    | ToolOutput
    | ToolEnded
    | FilesChanged
    | PlanShown
    | ApprovalCard
    | ApprovalClosed
    | Notice
    | Progress
    | Waiting
    | Ended
)
