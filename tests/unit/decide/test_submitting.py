"""Messages that come in: what they begin, what is refused, and repeated client keys."""

import pytest

from daemon.decide import orchestrator
from daemon.domain import decisions, ids, inputs, limits
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case

RUNS = ["now running"]
BEGINS = ["conversation created", "submitted"]
THINKS = ["timer task_budget", "gather context"]

CASES = {
    "a message asks the model": Case(
        given=[],
        when=moves.submit("hi"),
        events=[*BEGINS, *RUNS],
        actions=THINKS,
        reply="submitted",
    ),
    "a command in backticks asks no model": Case(
        given=[],
        when=moves.submit("run `ls`"),
        events=[*BEGINS, "directive tool", "proposed shell_exec", *RUNS],
        actions=["timer task_budget", "inspect call"],
        reply="submitted",
    ),
    "a second message of a conversation waits": Case(
        given=[moves.submit("hi")],
        when=moves.submit("and", chat=0),
        events=["submitted"],
        reply="submitted",
    ),
    "empty text": Case(given=[], when=moves.submit(""), reply="refused invalid"),
    "blank text": Case(given=[], when=moves.submit(" \n\t"), reply="refused invalid"),
    "a text at the limit of bytes": Case(
        given=[],
        when=moves.submit("ä" * 32),
        events=[*BEGINS, *RUNS],
        actions=THINKS,
        reply="submitted",
    ),
    "a text over the limit of bytes": Case(
        given=[], when=moves.submit("ä" * 32 + "a"), reply="refused exhausted"
    ),
    "the queue is full": Case(
        given=[moves.submit(), moves.submit(chat=0), moves.submit(chat=0)],
        when=moves.submit(chat=0),
        reply="refused exhausted",
    ),
    "an unknown conversation": Case(
        given=[],
        when=lambda scene: [moves.submission("hi", ids.ConversationId("conversation-x"))],
        reply="refused not_found",
    ),
    "the same key and body": Case(
        given=[moves.submit(key="k")], when=moves.submit(key="k"), reply="submitted"
    ),
    "the same key, another body": Case(
        given=[moves.submit(key="k")],
        when=moves.submit(key="k", body="b"),
        reply="refused conflict",
    ),
}


@pytest.mark.spec("D-01")
@pytest.mark.spec("L-03")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_message_comes(case: Case) -> None:
    case.check(scenes.Scene(limits.Limits(message_bytes=64, queued_tasks=2)))


@pytest.mark.spec("L-05")
def test_a_repeated_key_gets_the_very_same_reply() -> None:
    scene = scenes.Scene()
    first = scene.when(moves.submit("one", key="k"))
    again = scene.when(moves.submit("one", key="k"))
    assert again.steps[0] == decisions.Step(reply=first.steps[0].reply)


@pytest.mark.spec("L-05")
def test_a_refused_write_does_not_use_up_its_key() -> None:
    scene = scenes.Scene().given([moves.submit("", key="k")])
    assert scene.when(moves.submit("hi", key="k", body="b")).reply == "submitted"


def test_a_missing_artifact_is_refused_by_name() -> None:
    scene = scenes.Scene()
    stamped = scene.stamp(moves.submission("hi", None))
    known = inputs.Known(missing_artifact=ids.ArtifactId("feed"))
    step = orchestrator.decide(scene.rules, scene.world, stamped._replace(known=known))
    assert isinstance(step.reply, decisions.Rejected)
    assert "feed" in step.reply.message
    assert step.events == ()


def test_conversations_are_made_and_named() -> None:
    scene = scenes.Scene()
    keyed = moves.submission("x", None).model_dump(include=set(inputs.Keyed.model_fields))
    made = scene.when(lambda _: [inputs.CreateConversation(**keyed, title="Ducks")])
    assert (made.events, made.reply) == (["conversation created"], "conversation")
    assert made.texts == ["Ducks"]
    chat = scene.recorded[-1].conversation_id
    named = inputs.UpdateConversation(**keyed, conversation_id=chat, title="Geese")
    assert scene.when(lambda _: [named]).events == ["conversation updated"]
    unknown = named.model_copy(update={"conversation_id": "conversation-x"})
    assert scene.when(lambda _: [unknown]).reply == "refused not_found"
