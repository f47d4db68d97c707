"""How much a model call may think and say: the room is shared, and both get some of it."""

import pytest

from daemon.decide import turn
from daemon.domain import decisions, inputs, messages, state
from tests.unit.decide import moves, scenes

ROLE = messages.Role.THINKER


def scene_that_generates(answer_tokens: int, thinking_tokens: int) -> scenes.Scene:
    scene = scenes.Scene()
    generation = turn.Generation(answer_tokens=answer_tokens, thinking_tokens=thinking_tokens)
    kit = scene.rules.kits[""].but({"generation": {ROLE: generation}})
    scene.rules = scene.rules.but({"kits": {"": kit}})
    return scene


def request_of(then: scenes.Then) -> messages.ModelRequest:
    (call,) = [one for one in then.steps[0].actions if isinstance(one, decisions.CallModel)]
    return call.request


@pytest.mark.spec("H-11")
@pytest.mark.parametrize(
    ("context_tokens", "answer", "thinking", "may_say", "may_think"),
    [
        (4096, 1024, 0, 1024, 0),
        (4096, 1024, 512, 1024, 512),
        (4096, 1024, 4000, 1024, 1024),
        (1024, 1024, 1024, 256, 256),
        (1024, 128, 1024, 128, 384),
    ],
)
def test_thoughts_never_take_the_room_of_the_answer(
    context_tokens: int, answer: int, thinking: int, may_say: int, may_think: int
) -> None:
    scene = scene_that_generates(answer, thinking).given([moves.submit()])
    request = request_of(scene.when(moves.gathered(context_tokens=context_tokens)))
    assert (request.max_tokens, request.thinking_tokens) == (may_say, may_think)


def gathered_with(tokens: int, context_tokens: int) -> scenes.Move:
    return lambda scene: [
        inputs.ContextGathered(
            task_id=scene.seen[-1].task_id,
            asked=scene.asked(),
            heard=(),
            history=(),
            turn=(inputs.Piece("user", "long", tokens),),
            summary=None,
            system_tokens=10,
            context_tokens=context_tokens,
        )
    ]


@pytest.mark.spec("D-06")
def test_a_long_turn_leaves_less_room_for_its_answer_before_it_is_too_long() -> None:
    """10 tokens of the fixed part, and 24 for what a template adds."""
    told = 4096 - 10 - 24
    scene = scene_that_generates(1024, 0).given([moves.submit()])
    assert request_of(scene.when(gathered_with(told - 1024, 4096))).max_tokens == 1024
    scene = scene_that_generates(1024, 0).given([moves.submit()])
    assert request_of(scene.when(gathered_with(told - 1023, 4096))).max_tokens == 512
    scene = scene_that_generates(1024, 0).given([moves.submit()])
    then = scene.when(gathered_with(told - 511, 4096))
    assert then.events == ["now failed"]
    assert scene.state() is state.TaskState.FAILED
