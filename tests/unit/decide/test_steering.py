"""A message that comes while a task runs waits its turn, or joins the task: it is never dropped."""

import pytest

from daemon.domain import decisions, state
from tests.unit.decide import moves, scenes

pytestmark = pytest.mark.spec("B-09")

S = state.TaskState
STEERS = [moves.submit("do it"), moves.steer()]
"""The first message's task runs, and further ones join it."""


def told(scene: scenes.Scene, action: decisions.Action) -> list[str]:
    """What a model call is told beside the fixed part and the time."""
    assert isinstance(action, decisions.GatherContext)
    said = [
        part.before + (scene.texts[part.content] if part.content else "") for part in action.turn
    ]
    return [text for text in said if not text.startswith("[It is")]


def test_it_queues_unless_the_conversation_says_steer() -> None:
    scene = scenes.Scene().given([moves.submit("one")])
    assert "now running" not in scene.when(moves.submit("two", chat=0)).events
    assert scene.state() is S.QUEUED


def test_it_joins_the_task_that_runs() -> None:
    scene = scenes.Scene().given(STEERS)
    then = scene.when(moves.submit("and this", chat=0))
    assert then.events == ["steered"]
    assert then.reply == "submitted"
    assert len(scene.world.tasks) == 1


def test_it_is_told_with_the_files_that_came_with_it() -> None:
    scene = scenes.Scene().given([*STEERS, moves.gathered()])
    scene.given([moves.submit("see", chat=0, files=("incoming/a.pdf", "incoming/b c"))])
    (gather,) = scene.when(moves.says("Done.")).steps[0].actions
    files = '[these files came with the message: "incoming/a.pdf", "incoming/b c"]'
    assert told(scene, gather)[-1] == f"[The user adds:]\nsee\n{files}"


def test_a_context_that_lacks_it_is_gathered_again() -> None:
    scene = scenes.Scene().given(STEERS)
    stale = moves.gathered()(scene)
    scene.given([moves.submit("and this", chat=0)])
    then = scene.when(lambda _: stale)
    assert then.events == []
    (gather,) = then.steps[0].actions
    assert told(scene, gather) == ["do it", "[The user adds:]\nand this"]
    assert scene.when(moves.gathered()).events == ["model started 1"]


def test_an_answer_without_it_is_not_the_last() -> None:
    scene = scenes.Scene().given([*STEERS, moves.gathered(), moves.submit("and this", chat=0)])
    then = scene.when(moves.says("Done."))
    assert then.events == ["model finished", "directive respond"]
    (gather,) = then.steps[0].actions
    assert told(scene, gather) == ["do it", "Done.", "[The user adds:]\nand this"]
    last = scene.given([moves.gathered()]).when(moves.says("That too."))
    assert last.events[-2:] == ["answered", "now completed"]
    assert scene.answer() == "That too."


def test_it_is_heard_after_the_tool_that_runs() -> None:
    scene = scenes.Scene().given([*STEERS, moves.gathered(), moves.wants("look")])
    scene.given([moves.inspected(), moves.submit("and this", chat=0)])
    (gather,) = scene.when(moves.ran()).steps[0].actions
    assert told(scene, gather)[-1] == "[The user adds:]\nand this"


def test_a_restart_keeps_it() -> None:
    scene = scenes.Scene().given([*STEERS, moves.gathered(), moves.submit("and this", chat=0)])
    then = scene.when(moves.restart())
    gather = then.steps[-1].actions[-1]
    assert told(scene, gather) == ["do it", "[The user adds:]\nand this"]
