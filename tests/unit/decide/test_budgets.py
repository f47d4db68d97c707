"""What a task may use, and that reaching a bound of it is a state."""

import pytest

from daemon.domain import decisions, events, limits, messages, state
from tests.unit.decide import moves, scenes

S = state.TaskState
Kind = messages.ModelFaultKind
pytestmark = pytest.mark.spec("L-03")

THINKING = [moves.submit("hi"), moves.gathered()]
DIED_ONCE = [*THINKING, moves.faults(Kind.DIED), moves.gathered()]
USED = [*THINKING, moves.wants("look"), moves.inspected()]


class TestBudgets:
    """Each bound ends the task in a state that says which one."""

    pytestmark = pytest.mark.spec("L-03")

    def round_trip(self) -> list[scenes.Move]:
        return [moves.gathered(), moves.wants("look"), moves.inspected(), moves.ran()]

    def ends(self, scene: scenes.Scene, reason: str) -> None:
        change = scene.recorded[-1].event
        assert isinstance(change, events.TaskStateChanged)
        assert change.state is S.BUDGET_EXHAUSTED
        assert reason in change.reason

    def test_rounds(self) -> None:
        scene = scenes.Scene(limits.Limits(task_rounds=2)).given(
            [moves.submit(), *self.round_trip()]
        )
        assert scene.state() is S.RUNNING
        scene.given(self.round_trip())
        self.ends(scene, "2 rounds")

    def test_a_repeated_call_is_no_further_round(self) -> None:
        scene = scenes.Scene(limits.Limits(task_rounds=1)).given(DIED_ONCE)
        assert scene.when(moves.says("done")).events[-1] == "now completed"

    def test_tool_calls(self) -> None:
        scene = scenes.Scene(limits.Limits(task_tool_calls=1)).given(
            [moves.submit(), *self.round_trip()]
        )
        scene.given([moves.gathered(), moves.wants("look")])
        self.ends(scene, "1 tool calls")

    def test_time(self) -> None:
        scene = scenes.Scene(limits.Limits(task_seconds=60)).given([*THINKING, moves.later(59)])
        assert scene.when(moves.budget_timer()).actions == ["timer task_budget"]
        scene.given([moves.later(1)])
        ended = scene.when(moves.budget_timer())
        assert ended.actions == ["cancel call"]
        self.ends(scene, "60 seconds")

    def test_the_time_of_a_person_does_not_count(self) -> None:
        scene = scenes.Scene(limits.Limits(task_seconds=60))
        scene.given([moves.submit("run `ls`"), moves.later(20), moves.inspected()])
        scene.given([moves.later(3600), moves.allow()])
        timer = scene.when(moves.restart(clean=True)).steps[0].actions[0]
        assert isinstance(timer, decisions.SetTimer)
        assert timer.due_ms == scene.now_ms + 40_000
        scene.given([moves.later(39), moves.budget_timer()])
        assert scene.state() is S.RUNNING

    def test_the_timer_of_a_task_that_waits_or_has_ended(self) -> None:
        scene = scenes.Scene(limits.Limits(task_seconds=60)).given(
            [moves.submit("run `ls`"), moves.inspected()]
        )
        scene.given([moves.later(3600)])
        assert scene.when(moves.budget_timer()).events == []
        scene.given([moves.cancel()])
        assert scene.when(moves.budget_timer()).events == []
