"""A review looks at each answer once before it is given, where the settings want one."""

import json

import pytest

from daemon.domain import decisions
from tests.unit.decide import moves, scenes

pytestmark = [pytest.mark.spec("K-08"), pytest.mark.spec("D-10")]

ASKED = [moves.submit("why?"), moves.gathered()]


def review(follows: str, note: str = "say how") -> scenes.Move:
    scores = {"correctness": 3, "usefulness": 2, "safety": 10}
    return moves.says(json.dumps({**scores, "follows": follows, "note": note}))


def drafted(*more: scenes.Move) -> scenes.Scene:
    return scenes.Scene(reviews=True).given([*ASKED, moves.says("Because."), *more])


def test_an_answer_is_reviewed_before_it_is_given() -> None:
    scene = scenes.Scene(reviews=True).given(ASKED)
    then = scene.when(moves.says("Because."))
    assert then.events == ["model finished", "directive respond"]
    assert scene.when(moves.gathered()).events == ["model started 1 to criticize"]


@pytest.mark.parametrize("said", [review("continue"), review("retry", ""), moves.says("fine")])
def test_one_that_will_do_is_given_as_it_stands(said: scenes.Move) -> None:
    scene = drafted(moves.gathered())
    then = scene.when(said)
    assert then.events == ["model finished", "step  judged continue", "answered", "now completed"]
    assert scene.answer() == "Because."


def test_one_that_will_not_do_is_written_once_more_and_then_given() -> None:
    scene = drafted(moves.gathered())
    then = scene.when(review("retry"))
    assert then.events == ["model finished", "step  judged retry"]
    (gather,) = then.steps[0].actions
    assert isinstance(gather, decisions.GatherContext)
    last = gather.turn[-1]
    told = last.before + scene.text(last.content) + last.after
    assert told == "[Write a better answer; a review of this one says: say how]"
    better = scene.given([moves.gathered()]).when(moves.says("Because of this."))
    assert better.events[-2:] == ["answered", "now completed"]
    assert scene.answer() == "Because of this."


def test_a_restart_goes_on_with_the_review() -> None:
    scene = drafted(moves.gathered())
    scene.given([moves.restart()])
    assert scene.when(moves.gathered()).events == ["model started 2 to criticize"]


def test_nothing_is_reviewed_unless_it_is_wanted() -> None:
    scene = scenes.Scene().given(ASKED)
    assert scene.when(moves.says("Because.")).events[-1] == "now completed"
