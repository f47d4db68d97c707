"""What each event of a task adds to what models are told of it beside its message.

The fold of live tasks and the stores' projections of ended ones both use these, and so agree.
"""

from typing import Protocol

from daemon.domain import directives, events, ids, messages, world


class Call(Protocol):
    """A call that was proposed."""

    @property
    def tool(self) -> str: ...

    @property
    def arguments(self) -> ids.ContentId: ...

    @property
    def words(self) -> ids.ContentId | None: ...


def of_submission(event: events.TaskSubmitted) -> tuple[world.Said, ...]:
    """What a task's models are told from the start."""
    note = world.Said(kind="note", name=event.note)
    skill = world.Said(kind="skill", name=event.skill)
    return tuple(said for said in (note, skill) if said.name)


def of_call(call: Call, event: events.ToolCallEnded) -> world.Said | None:
    """A call with its result, if it has one."""
    if event.result is None:
        return None
    return world.Said(
        kind="call",
        words=call.words,
        content=call.arguments,
        result=event.result,
        name=call.tool,
    )


def of_hearing(event: events.ModelCallStarted) -> tuple[world.Said, ...]:
    """The further messages that the thinker hears of; no other role is told of them."""
    if event.purpose is not messages.Purpose.THINK:
        return ()
    return tuple(world.Said(kind="steered", content=text) for text in event.heard)


def of_directive(event: events.DirectiveTaken) -> world.Said | None:
    """An answer that a further message kept from being the last."""
    return None if event.words is None else world.Said(kind="words", content=event.words)


def of_refusal(event: events.ReplyRefused) -> world.Said | None:
    """A reply that was refused; of one that the token limit cut nothing is told."""
    if event.cut:
        return None
    return world.Said(kind="refused", content=event.text, name=event.reason)


def of_judgement(event: events.StepJudged) -> world.Said | None:
    """A review by which the answer is to be written once more."""
    retries = event.follows is directives.Recovery.RETRY
    if event.step_id != events.ANSWER or not retries:
        return None
    return world.Said(kind="review", content=event.note)


def of_plan(event: events.PlanMade) -> world.Said:
    return world.Said(kind="plan", content=event.text)


def of_step(planned: events.PlannedStep, event: events.StepEnded) -> world.Said | None:
    """The end of a step; a tool step that is done has its call's result said already."""
    if event.outcome is events.StepOutcome.DONE and planned.kind == "tool":
        return None
    name = f"{event.step_id} ({event.outcome})"
    return world.Said(kind="step", content=planned.goal, result=event.result, name=name)
