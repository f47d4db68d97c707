"""Ids come from an input's time and chance alone: the same again for the same, never one twice."""

from daemon.domain import events
from tests.unit.decide import moves, scenes

RUN = [
    moves.submit("hi"),
    moves.submit("run `ls`"),
    moves.inspected(),
    moves.gathered(0),
    moves.wants("erase", 0),
    moves.inspected(0),
    moves.submit("hi"),
]


def drawn(scene: scenes.Scene) -> list[str]:
    """Every id of the run: tasks, conversations, calls, approvals and texts."""
    found: list[str] = [*scene.texts]
    for seen in scene.seen:
        found += [seen.task_id, seen.conversation_id]
        found += [*seen.model_calls, *seen.tool_calls, *seen.approvals]
    return found


def test_the_same_run_draws_the_same_ids() -> None:
    assert drawn(scenes.Scene().given(RUN)) == drawn(scenes.Scene().given(RUN))


def test_no_id_is_drawn_twice() -> None:
    found = drawn(scenes.Scene().given(RUN))
    assert len(set(found)) == len(found)


def test_an_id_says_its_kind_and_has_128_bits() -> None:
    found = drawn(scenes.Scene().given(RUN))
    kinds = {one.partition("-")[0] for one in found}
    assert kinds == {"task", "conversation", "call", "approval", "content"}
    assert {len(bytes.fromhex(one.partition("-")[2])) for one in found} == {16}


def test_another_chance_gives_another_approval() -> None:
    """Nobody can guess one from what was there before."""
    scene = scenes.Scene().given(RUN)
    requested = [
        one.event for one in scene.recorded if isinstance(one.event, events.ApprovalRequested)
    ]
    first, second = (one.approval_id.partition("-")[2] for one in requested)
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 16
