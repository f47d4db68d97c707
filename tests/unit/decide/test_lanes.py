"""Which task runs: one a conversation, in order, so many at once, answered ones first."""

import pytest

from daemon.domain import events, limits, state
from tests.unit.decide import moves, scenes

S = state.TaskState
pytestmark = pytest.mark.spec("L-02")


def states(scene: scenes.Scene) -> list[S]:
    return [scene.state(index) for index in range(len(scene.seen))]


def ask(chat: int | None = None) -> list[scenes.Move]:
    """A command that waits for its approval."""
    return [moves.submit("run `ls`", chat), moves.inspected()]


def test_a_conversation_runs_its_tasks_one_by_one_in_order() -> None:
    scene = scenes.Scene().given([moves.submit(), moves.submit(chat=0), moves.submit(chat=0)])
    assert states(scene) == [S.RUNNING, S.QUEUED, S.QUEUED]
    scene.given([moves.gathered(0), moves.says("one", 0)])
    assert states(scene) == [S.COMPLETED, S.RUNNING, S.QUEUED]
    scene.given([moves.cancel(1)])
    assert states(scene) == [S.COMPLETED, S.CANCELLED, S.RUNNING]


def test_conversations_run_side_by_side_up_to_the_limit() -> None:
    scene = scenes.Scene().given([moves.submit() for _ in range(10)])
    assert states(scene) == [S.RUNNING] * 8 + [S.QUEUED] * 2
    scene.given([moves.cancel(3)])
    assert states(scene)[8:] == [S.RUNNING, S.QUEUED]


def test_the_first_queued_task_whose_lane_is_free_goes_first() -> None:
    scene = scenes.Scene(limits.Limits(running_tasks=2)).given(
        [moves.submit(), moves.submit(), moves.submit(chat=0), moves.submit(chat=1)]
    )
    scene.given([moves.cancel(1)])
    assert states(scene) == [S.RUNNING, S.CANCELLED, S.QUEUED, S.RUNNING]


def test_a_waiting_task_frees_its_lane() -> None:
    scene = scenes.Scene().given([*ask(), moves.submit(chat=0)])
    assert states(scene) == [S.AWAITING_APPROVAL, S.RUNNING]


def test_an_answered_task_waits_for_its_lane_and_goes_before_queued_ones() -> None:
    scene = scenes.Scene().given([*ask(), moves.submit(chat=0), moves.submit(chat=0)])
    allowed = scene.when(moves.allow(0))
    assert allowed.events == ["approval allowed"]
    assert states(scene) == [S.AWAITING_APPROVAL, S.RUNNING, S.QUEUED]
    freed = scene.when(moves.cancel(1))
    assert freed.actions == ["timer task_budget", "inspect call"]
    assert states(scene) == [S.RUNNING, S.CANCELLED, S.QUEUED]


def test_answered_tasks_go_in_the_order_of_their_answers() -> None:
    scene = scenes.Scene(limits.Limits(running_tasks=1))
    scene.given([moves.submit("run `a`"), moves.inspected(), moves.submit("run `b`")])
    scene.given([moves.inspected(), moves.submit()])
    scene.given([moves.allow(1), moves.allow(0)])
    assert states(scene) == [S.AWAITING_APPROVAL, S.AWAITING_APPROVAL, S.RUNNING]
    scene.given([moves.cancel(2)])
    assert states(scene) == [S.AWAITING_APPROVAL, S.RUNNING, S.CANCELLED]


def test_a_ready_task_can_be_cancelled_and_decided_no_more() -> None:
    scene = scenes.Scene().given([*ask(), moves.submit(chat=0), moves.allow(0)])
    assert scene.when(moves.decide(events.Decision.ABANDON, 0)).reply == "refused state"
    cancelled = scene.when(moves.cancel(0))
    assert cancelled.events == ["approval withdrawn", "tool ended cancelled", "now cancelled"]
    assert scene.world.ready == {}
