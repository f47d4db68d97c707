"""Which model call a task wants next, and what that call is told beside the fixed part.

All roles read the same fixed part and the same words after it; what a role has to do stands at the
end. So one resident prefix serves every role of a task, and a second call costs only its own words.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from daemon.decide import transcript, turn
from daemon.domain import decisions, events, ids, messages, world

_Purpose = messages.Purpose
_Status = world.StepStatus

ROLES: Mapping[messages.Purpose, messages.Role] = {
    _Purpose.THINK: messages.Role.THINKER,
    _Purpose.COMPILE: messages.Role.JSON_COMPILER,
    _Purpose.CODE: messages.Role.CODER,
    _Purpose.WRITE: messages.Role.THINKER,
    _Purpose.CRITICIZE: messages.Role.CRITIC,
    _Purpose.SUMMARIZE: messages.Role.SYS_UTIL,
}
UTILITY = frozenset({_Purpose.COMPILE, _Purpose.CRITICIZE, _Purpose.SUMMARIZE})
"""Calls for the daemon's own use: without thinking, and never shown as an answer."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A model call that is to be made; `step` is the plan's step that it serves."""

    purpose: messages.Purpose
    step: world.Step | None = None

    @property
    def role(self) -> messages.Role:
        return ROLES[self.purpose]

    @property
    def step_id(self) -> str | None:
        return self.step.step_id if self.step is not None else None


def wanted(task: world.Task) -> Wanted | None:
    """The next model call of a task whose tool calls wait for nothing; None while they do."""
    failed = task.failed_call
    if failed is not None and (failed.purpose is not _Purpose.SUMMARIZE or _compacts(task)):
        return Wanted(failed.purpose, task.step(failed.step_id))
    if _compacts(task):
        return Wanted(_Purpose.SUMMARIZE)
    if task.draft is not None:
        return Wanted(_Purpose.COMPILE)
    if task.follows_plan:
        return _for_plan(task)
    if reviews(task):
        return Wanted(_Purpose.CRITICIZE)
    return None if task.open_calls() else Wanted(_Purpose.THINK)


def _compacts(task: world.Task) -> bool:
    return task.kind is events.TaskKind.COMPACT


def reviews(task: world.Task) -> bool:
    """Whether the answer stands and a critic is to look at it before it is given."""
    last = task.said[-1] if task.said else None
    return last is not None and last.kind == "words" and not task.steered and not task.reviewed


def _for_plan(task: world.Task) -> Wanted | None:
    tried = next((step for step in task.plan if step.status is _Status.TRIED), None)
    if tried is not None:
        return Wanted(_Purpose.CRITICIZE, tried)
    busy = {call.step_id for call in task.open_calls()}
    for step in task.plan:
        if step.status is _Status.RUNNING and step.result is None and step.step_id not in busy:
            match step.planned.kind:
                case "coder":
                    return Wanted(_Purpose.CODE, step)
                case "respond":
                    return Wanted(_Purpose.WRITE, step)
                case "tool":
                    continue
    return None


def gather(current: turn.Turn, task: world.Task, call: Wanted) -> None:
    """Have the context of a model call read and counted."""
    current.act(
        decisions.GatherContext(
            task_id=task.task_id,
            conversation_id=task.conversation_id,
            submitted_seq=task.submitted_seq,
            role=call.role,
            asked=moment(task),
            heard=heard(task, call),
            summarized=task.summarized,
            system=current.kit(task).system_prompt,
            turn=(*_said(current, task, call), *_instruction(current, task, call)),
            correlation_id=task.correlation_id,
        )
    )


def moment(task: world.Task) -> int:
    """What tells a gathering from earlier ones of a task.

    It grows with each model call and with each result of a tool call: after either another model
    call may be wanted, and what was gathered before is for none.
    """
    return task.asked + len(task.calls) - len(task.open_calls())


def heard(task: world.Task, call: Wanted) -> tuple[ids.ContentId, ...]:
    """The further messages of the user that a call is the first to be told."""
    return task.steered if call.purpose is _Purpose.THINK else ()


def _said(current: turn.Turn, task: world.Task, call: Wanted) -> tuple[decisions.TurnPart, ...]:
    if call.purpose is _Purpose.SUMMARIZE:
        return ()
    further = (world.Said(kind="steered", content=text) for text in heard(task, call))
    said = (*task.said, *further)
    return transcript.parts(task.text, said, current.rules.skills, task.heard)


def _instruction(
    current: turn.Turn, task: world.Task, call: Wanted
) -> tuple[decisions.TurnPart, ...]:
    """What a role has to do, after everything else."""
    if call.purpose is _Purpose.THINK:
        return ()
    text = current.rules.prompts[call.purpose]
    if call.purpose is _Purpose.COMPILE:
        draft = decisions.TurnPart(speaker="assistant", content=task.draft)
        return (draft, decisions.TurnPart(speaker="user", before=text))
    if call.purpose is _Purpose.CRITICIZE and call.step is None:
        return (decisions.TurnPart(speaker="user", content=task.text, before=f"{text}\n"),)
    if call.step is None:
        return (decisions.TurnPart(speaker="user", before=text),)
    goal = decisions.TurnPart(speaker="user", content=call.step.planned.goal, before=f"{text}\n")
    if call.purpose is _Purpose.CRITICIZE and call.step.planned.kind == "respond":
        return (decisions.TurnPart(speaker="assistant", content=call.step.result), goal)
    return (goal,)
