"""The prompt keeps the system message and the turn; earlier exchanges go in whole blocks."""

import random
from collections.abc import Sequence

import pytest

from daemon.decide import context, retry
from daemon.domain import ids, inputs, messages
from tests.conftest import Rounds


def pieces(count: int, tokens: int) -> tuple[inputs.Piece, ...]:
    """Two an exchange, as a message and its answer are."""
    return tuple(
        inputs.Piece(speaker="user", text=str(n), tokens=tokens, seq=n // 2) for n in range(count)
    )


def compose(history: int, context_tokens: int, shrinks: int = 0) -> list[str]:
    """The contents, of pieces that cost 20 tokens each, beside 108 for the rest."""
    gathered = inputs.ContextGathered(
        task_id=ids.TaskId("task-1"),
        asked=0,
        heard=(),
        summary=None,
        history=pieces(history, 12),
        turn=(inputs.Piece(speaker="user", text="now", tokens=12),),
        system_tokens=22,
        context_tokens=context_tokens,
    )
    said = context.compose("be brief", gathered, 50, shrinks)
    assert not isinstance(said, context.TooLong)
    return [one.content for one in said]


@pytest.mark.parametrize(
    ("room", "shrinks", "kept"),
    [
        (640, 0, 32),
        (639, 0, 16),
        (320, 0, 16),
        (319, 0, 0),
        (0, 0, 0),
        (640, 1, 16),
        (1280, 1, 32),
    ],
)
def test_history_fits_or_goes_in_blocks(room: int, shrinks: int, kept: int) -> None:
    said = compose(32, 108 + room, shrinks)
    assert said == ["be brief", *(str(n) for n in range(32 - kept, 32)), "now"]


def test_the_speakers_stay() -> None:
    gathered = inputs.ContextGathered(
        task_id=ids.TaskId("task-1"),
        asked=0,
        heard=(),
        summary=None,
        history=(),
        turn=(inputs.Piece(speaker="tool", text="x", tokens=1),),
        system_tokens=1,
        context_tokens=512,
    )
    said = context.compose("s", gathered, 16, 0)
    assert not isinstance(said, context.TooLong)
    system, told = said
    assert (system.speaker, told.speaker) == ("system", "tool")


@pytest.mark.parametrize(
    ("context_tokens", "wanted", "given"), [(4096, 1024, 1024), (1000, 1024, 500), (1, 8, 1)]
)
def test_an_answer_has_at_most_half_of_the_context(
    context_tokens: int, wanted: int, given: int
) -> None:
    assert context.answer_budget(context_tokens, wanted) == given


@pytest.mark.parametrize(
    ("context_tokens", "wanted", "least"), [(4096, 1024, 512), (4096, 300, 300), (256, 128, 32)]
)
def test_an_answer_gives_way_to_what_must_be_told(
    context_tokens: int, wanted: int, least: int
) -> None:
    assert context.least_answer(context_tokens, wanted) == least


@pytest.mark.parametrize(("context_tokens", "chars"), [(32768, 8000), (4096, 2560), (256, 160)])
def test_a_small_context_is_told_less_of_a_result(context_tokens: int, chars: int) -> None:
    assert context.result_chars(8000, context_tokens) == chars


Kind, After = messages.ModelFaultKind, retry.AfterFault
RETRIES = [
    (Kind.DIED, 0, 0, After.REPEAT),
    (Kind.DIED, 1, 0, After.WAIT),
    (Kind.STALLED, 0, 0, After.REPEAT),
    (Kind.STALLED, 1, 0, After.WAIT),
    (Kind.UNAVAILABLE, 0, 0, After.WAIT),
    (Kind.OVERFLOW, 0, 0, After.SHRINK),
    (Kind.OVERFLOW, 0, 1, After.FAIL),
    (Kind.REJECTED, 0, 0, After.FAIL),
    (Kind.SCRIPT, 0, 0, After.FAIL),
]


@pytest.mark.parametrize(("kind", "faults", "shrinks", "after"), RETRIES)
def test_what_follows_a_fault(
    kind: messages.ModelFaultKind, faults: int, shrinks: int, after: retry.AfterFault
) -> None:
    assert retry.after_fault(kind, faults, shrinks, retries=1) is after


def test_a_call_is_repeated_as_often_as_the_settings_say() -> None:
    after = [retry.after_fault(Kind.DIED, faults, 0, retries=3) for faults in range(4)]
    assert after == [After.REPEAT, After.REPEAT, After.REPEAT, After.WAIT]
    assert retry.after_fault(Kind.DIED, 0, 0, retries=0) is After.WAIT


def test_every_fault_has_its_row() -> None:
    assert {row[0] for row in RETRIES} == set(Kind)


@pytest.mark.parametrize(
    ("texts", "fits"),
    [
        ([], True),
        (["a" * (50 - 8)], True),
        (["a" * (50 - 7)], False),
        (["a" * 17, "b" * 17], True),
        (["a" * 18, "b" * 17], False),
        (["ü" * 21], True),
        (["ü" * 22], False),
    ],
)
def test_what_surely_fits_needs_at_most_half_of_the_context(texts: list[str], fits: bool) -> None:
    """Each byte may be a token, and each message takes 8 more."""
    bounds = [context.bound_tokens(text) for text in texts]
    assert context.surely_fits(bounds, 100) is fits


AROUND_TOKENS = 8
SPEAKERS: tuple[messages.Speaker, ...] = ("user", "assistant", "tool")
ASKING = "Summarize, in few words, what was said before, and nothing besides. " * 5


def tokens(text: str) -> int:
    """One for three bytes: more than any real tokenizer makes of words."""
    return -(-len(text.encode()) // 3)


def total(said: Sequence[messages.Message]) -> int:
    """A prompt by an exact count, with what a template adds at the most."""
    return sum(tokens(one.content) + AROUND_TOKENS for one in said) + AROUND_TOKENS


def piece(dice: random.Random, seq: int) -> inputs.Piece:
    text = dice.choice("abü") * int(10 ** dice.uniform(0, 3.3))
    speaker = dice.choice(SPEAKERS)
    return inputs.Piece(speaker, text, tokens(text), dice.random() < 0.5, seq)


def random_gathered(dice: random.Random, system: str) -> inputs.ContextGathered:
    """Anything that may be told, in a context of any size."""
    summary = "s" * dice.randrange(1, 900)
    history = [piece(dice, seq) for seq in range(dice.randrange(40)) for _ in range(2)]
    return inputs.ContextGathered(
        task_id=ids.TaskId("task-1"),
        asked=0,
        heard=(),
        summary=inputs.Piece("system", summary, tokens(summary)) if dice.random() < 0.5 else None,
        history=tuple(history),
        turn=tuple(piece(dice, 0) for _ in range(dice.randint(1, 8))),
        system_tokens=tokens(system),
        context_tokens=dice.randint(256, 8192),
    )


@pytest.mark.spec("D-06")
def test_what_is_composed_fits_whatever_there_is_to_tell(rounds: Rounds, seed: int) -> None:
    dice, composed, summarized = random.Random(seed), 0, 0
    for _ in range(rounds(10_000)):
        system = "y" * dice.randrange(400)
        gathered = random_gathered(dice, system)
        limit = gathered.context_tokens
        answer = context.answer_budget(limit, dice.choice((16, 256, 1024)))
        said = context.compose(system, gathered, answer, dice.randrange(2))
        if isinstance(said, context.TooLong):
            assert said.limit == limit < said.needed
        else:
            composed += 1
            assert total(said) + answer <= limit
            check_told(said, system, gathered)
        asks = context.to_summarize(system, gathered, ASKING, forced=dice.random() < 0.5)
        if asks is not None:
            summarized += 1
            assert total(asks.messages) + asks.tokens <= limit
            assert asks.messages[-1].content == ASKING
    assert composed
    assert summarized


def check_told(
    said: Sequence[messages.Message], system: str, gathered: inputs.ContextGathered
) -> None:
    """One system message, first; the newest of the history; the turn, with its batch in full."""
    assert said[0].speaker == "system"
    assert said[0].content.startswith(system)
    assert all(one.speaker != "system" for one in said[1:])
    told = said[1:]
    pieces = (*gathered.history, *gathered.turn)[-len(told) :]
    assert len(told) >= len(gathered.turn)
    for one, given in zip(told, pieces, strict=True):
        assert one.speaker == given.speaker
        assert one.content == given.text or (given.shortens and len(one.content) < len(given.text))
