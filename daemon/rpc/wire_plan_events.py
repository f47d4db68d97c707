"""Wire events of a task's thinking: its directives, and the steps of its plan."""

from collections.abc import Iterator
from typing import assert_never

from daemon.domain import events, ids
from daemon.rpc import convert
from proto.ducklm.v1 import events_pb2

Event = (
    events.DirectiveTaken
    | events.ReplyRefused
    | events.PlanMade
    | events.StepStarted
    | events.StepJudged
    | events.StepEnded
)


def contents(given: Event) -> Iterator[ids.ContentId | None]:
    """The texts that one of these events needs."""
    match given:
        case events.ReplyRefused():
            yield given.text
        case events.PlanMade():
            for step in given.steps:
                yield step.goal
                yield step.arguments
        case events.StepJudged():
            yield given.note
        case events.StepEnded():
            yield given.result
        case events.DirectiveTaken() | events.StepStarted():
            pass
        case _:
            assert_never(given)


def fill(sent: events_pb2.Event, given: Event, texts: convert.Texts) -> None:
    """Say one of these events in an event that is to be sent."""
    match given:
        case events.DirectiveTaken():
            sent.directive_taken.CopyFrom(
                events_pb2.DirectiveTaken(kind=given.kind, source=given.source.value)
            )
        case events.ReplyRefused():
            sent.reply_refused.CopyFrom(
                events_pb2.ReplyRefused(
                    call_id=given.call_id,
                    text=convert.said(texts, given.text),
                    reason=given.reason,
                )
            )
        case events.PlanMade():
            steps = [_step(one, texts) for one in given.steps]
            sent.plan_made.CopyFrom(events_pb2.PlanMade(steps=steps))
        case events.StepStarted():
            sent.step_started.CopyFrom(
                events_pb2.StepStarted(step_id=given.step_id, attempt=given.attempt)
            )
        case events.StepJudged():
            sent.step_judged.CopyFrom(
                events_pb2.StepJudged(
                    step_id=given.step_id,
                    correctness=given.correctness,
                    usefulness=given.usefulness,
                    safety=given.safety,
                    follows=given.follows.value,
                    note=convert.said(texts, given.note),
                )
            )
        case events.StepEnded():
            sent.step_ended.CopyFrom(
                events_pb2.StepEnded(
                    step_id=given.step_id,
                    outcome=given.outcome.value,
                    text=convert.said(texts, given.result),
                )
            )
        case _:
            assert_never(given)


def _step(planned: events.PlannedStep, texts: convert.Texts) -> events_pb2.PlannedStep:
    return events_pb2.PlannedStep(
        step_id=planned.step_id,
        goal=convert.said(texts, planned.goal),
        kind=planned.kind,
        tool=planned.tool,
        arguments_json=convert.said(texts, planned.arguments),
        after=planned.after,
        files=planned.files,
    )
