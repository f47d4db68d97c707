"""A plan has several things in flight at once: none may be lost, made twice, or told another's."""

import pytest

from daemon.domain import decisions, events, inputs, messages, state, world
from tests.unit.decide import moves, scenes
from tests.unit.decide.test_plans import THINKING, inspected, plans, ran, step

pytestmark = [pytest.mark.spec("D-09"), pytest.mark.spec("L-03")]

S = state.TaskState


def landed(action: decisions.GatherContext) -> scenes.Move:
    """What a gathering found, however late."""
    return lambda scene: [
        inputs.ContextGathered(
            task_id=action.task_id,
            asked=action.asked,
            heard=action.heard,
            history=(),
            turn=tuple(
                inputs.Piece(part.speaker, part.before + "words", 1) for part in action.turn
            ),
            summary=None,
            system_tokens=4,
            context_tokens=moves.LONG_CONTEXT_TOKENS,
        )
    ]


def gather_of(then: scenes.Then) -> decisions.GatherContext:
    (found,) = [one for one in then.steps[-1].actions if isinstance(one, decisions.GatherContext)]
    return found


def test_what_was_gathered_for_one_model_call_is_never_told_to_another() -> None:
    """While a coder's context is read a tool's step ends, which the critic is to judge first."""
    scene = scenes.Scene(criticizes=True)
    then = scene.given(THINKING).when(plans(step("a"), step("w", "coder")))
    scene.given([inspected("a")])
    late = gather_of(then)
    fresh = gather_of(scene.when(ran("a")))
    assert scene.when(landed(late)).events == []
    called = scene.when(landed(fresh))
    assert called.events == ["model started 1 to criticize"]
    (call,) = [one for one in called.steps[0].actions if isinstance(one, decisions.CallModel)]
    assert call.request.role is messages.Role.CRITIC
    assert call.request.messages[-1].content.startswith("[criticize]")


def test_a_model_that_is_gone_is_waited_for_only_when_nothing_else_is_in_flight() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a", tool="fire"), step("w", "respond"))])
    scene.given([inspected("a"), moves.gathered()])
    then = scene.when(moves.faults(messages.ModelFaultKind.UNAVAILABLE))
    assert then.events == ["model failed unavailable"]
    assert scene.state() is S.RUNNING
    then = scene.when(ran("a"))
    assert then.actions == ["gather context"]
    scene.given([moves.gathered()])
    then = scene.when(moves.faults(messages.ModelFaultKind.UNAVAILABLE))
    assert then.events[-1] == "now model_unavailable"
    assert then.actions == []
    assert scene.when(moves.decide(events.Decision.RETRY)).events[-1] == "now running"


def parks(name: str) -> scenes.Move:
    """The folder that a step's call works in is gone."""
    return lambda scene: [
        inputs.InspectionFailed(
            task_id=scene.task().task_id,
            call_id=next(c.call_id for c in scene.task().calls if c.step_id == name),
            message="The folder is not there.",
            parks=True,
        )
    ]


def test_a_folder_that_went_missing_parks_the_task_when_its_other_calls_have_ended() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a"), step("b"), step("c", after="b"))])
    scene.given([inspected("a")])
    then = scene.when(parks("b"))
    assert then.events[0] == "tool ended refused"
    assert then.events[-2:] == ["step b failed", "step c skipped"]
    assert scene.state() is S.RUNNING
    assert scene.when(ran("a")).actions == ["gather context"]


def test_a_call_that_a_stop_cut_off_is_parked_with_its_folder() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a")), inspected("a"), moves.restart()])
    assert scene.task().calls[0].status is world.CallStatus.STARTED
    assert scene.when(parks("a")).events == ["now parked"]
    then = scene.when(moves.decide(events.Decision.RETRY))
    assert then.actions[-1] == "inspect call"
    assert scene.when(inspected("a")).events == ["tool started 2"]
