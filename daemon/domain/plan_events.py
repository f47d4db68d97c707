"""What can have happened in a task's thinking: directives, and the steps of a plan.

Used by their names in `events`, which holds all that can stand in the log.
"""

from enum import StrEnum
from typing import Literal

from daemon.domain import base, directives, ids


class DirectiveSource(StrEnum):
    """Who said what a task does next."""

    USER = "user"
    THINKER = "thinker"
    COMPILER = "compiler"


class DirectiveTaken(base.Value):
    """It is settled what a task does next.

    `words` of an answer that does not end the task, because a further message came meanwhile.
    """

    type: Literal["directive_taken"] = "directive_taken"
    task_id: ids.TaskId
    kind: directives.Kind
    source: DirectiveSource
    words: ids.ContentId | None = None


class ReplyRefused(base.Value):
    """A model's reply is no valid directive; `reason` is what the model is told of it.

    `cut` when only the limit of its tokens made it so: it is asked for again with more of them.
    """

    type: Literal["reply_refused"] = "reply_refused"
    task_id: ids.TaskId
    call_id: ids.CallId
    text: ids.ContentId
    reason: str
    cut: bool = False


class PlannedStep(base.Value):
    """A step as it was planned; `after` are the steps that it needs. Texts are contents."""

    step_id: str
    goal: ids.ContentId
    kind: directives.StepKind
    tool: str = ""
    arguments: ids.ContentId | None = None
    fingerprint: str = ""
    after: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """What a coder step reads first."""


class PlanMade(base.Value):
    """The task follows a plan. `text` is the directive; a coder directive is a plan of one step."""

    type: Literal["plan_made"] = "plan_made"
    task_id: ids.TaskId
    text: ids.ContentId
    steps: tuple[PlannedStep, ...]


class StepStarted(base.Value):
    type: Literal["step_started"] = "step_started"
    task_id: ids.TaskId
    step_id: str
    attempt: int


ANSWER = ""
"""Stands for the answer where a step is named."""


class StepJudged(base.Value):
    """What the critic says of a step's result; scores are 0 to 10, None where it could not say.

    `step_id` is ANSWER where it reviewed the answer before it was given.
    """

    type: Literal["step_judged"] = "step_judged"
    task_id: ids.TaskId
    step_id: str
    correctness: int | None
    usefulness: int | None
    safety: int | None
    follows: directives.Recovery
    note: ids.ContentId | None = None


class StepOutcome(StrEnum):
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not run, because a step that it needs failed."""


class StepEnded(base.Value):
    type: Literal["step_ended"] = "step_ended"
    task_id: ids.TaskId
    step_id: str
    outcome: StepOutcome
    result: ids.ContentId | None = None
