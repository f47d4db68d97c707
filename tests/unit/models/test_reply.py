"""A growing reply: budgets of thoughts and of the answer, and what a grammar binds."""

import dataclasses

import pytest

from daemon.models.worker import reply, thoughts

THINK = thoughts.FORMS[0]
CHANNELS = thoughts.used_by("<|channel|>analysis<|message|>")
assert CHANNELS is not None
PARTS = ("<|channel|>", "<|message|>", "<|end|>", "<|start|>")
MARKS = thoughts.Marks(PARTS)


@dataclasses.dataclass
class Written:
    """What became of some tokens: `tokens` is how many it took, `forced` what was put between."""

    thought: str = ""
    answer: str = ""
    tokens: int = 0
    forced: list[str] = dataclasses.field(default_factory=list)
    bound: str = ""
    """For each token, whether a grammar bound it: b or -."""
    full: bool = False


def write(
    tokens: list[str],
    answer_tokens: int = 100,
    thinking_tokens: int = 100,
    grammar: bool = False,
    inside: thoughts.Form | None = None,
) -> Written:
    """Let a model say the tokens, as long as it may; it says nothing else after a forced text."""
    made = reply.Reply(MARKS, reply.Bounds(answer_tokens, thinking_tokens, grammar), inside)
    written = Written()
    said: list[thoughts.Segment] = []
    for token in tokens:
        written.bound += "b" if made.bound else "-"
        forced = made.take(token.encode(), MARKS.code(token) if token in PARTS else "")
        written.tokens += 1
        written.forced += [forced] if forced else []
        said += made.due(now=float(written.tokens), next_in=1.0)
        if made.full:
            written.full = True
            break
    said += made.finish()
    written.thought = "".join(one.text for one in said if one.thinking)
    written.answer = "".join(one.text for one in said if not one.thinking)
    assert made.answer == written.answer
    return written


def test_an_answer_without_thoughts_has_its_own_tokens() -> None:
    assert write(["a"] * 9, answer_tokens=4) == Written("", "aaaa", 4, [], "----", full=True)


def test_thoughts_take_nothing_from_the_answer() -> None:
    tokens = ["<think>", *["t"] * 5, "</think>", "\n\n", *["a"] * 9]
    written = write(tokens, answer_tokens=4)
    assert (written.thought, written.answer, written.full) == ("ttttt", "aaaa", True)


def test_thoughts_that_used_up_their_tokens_are_closed_and_the_answer_goes_on() -> None:
    written = write(["<think>", *["t"] * 3, "a", "b"], thinking_tokens=4)
    assert (written.thought, written.answer) == ("ttt", "ab")
    assert written.forced == ["\n</think>\n\n"]


def test_a_thought_that_the_prompt_opened_has_the_same_budget() -> None:
    written = write([*["t"] * 3, "a", "b"], thinking_tokens=3, inside=THINK)
    assert (written.thought, written.answer) == ("ttt", "ab")
    assert written.forced == ["\n</think>\n\n"]


def test_without_thinking_a_thought_is_closed_at_once() -> None:
    written = write(["<thi", "nk>", "a"], thinking_tokens=0)
    assert (written.thought, written.answer, written.forced) == ("", "a", ["\n</think>\n\n"])


def test_a_model_that_cannot_stop_thinking_comes_to_an_end() -> None:
    written = write(["<think>"] * 3 + ["t"] * 50, answer_tokens=6, thinking_tokens=0)
    assert written.forced == ["\n</think>\n\n"] * 2
    assert (written.tokens, written.answer, written.full) == (8, "", True)


def test_the_two_halves_of_a_mark_cost_no_answer() -> None:
    tokens = ["<", "think", ">", "t", "</", "think", ">", "a"]
    written = write(tokens, answer_tokens=1)
    assert (written.thought, written.answer, written.tokens) == ("t", "a", 8)


def test_what_is_half_a_mark_and_no_more_is_answer() -> None:
    assert write(["<", "b", "c"], answer_tokens=2).answer == "<b"


GRAMMAR: dict[str, tuple[list[str], thoughts.Form | None, int, Written]] = {
    "it binds from the first token": (
        ["<think>", "</think>"],
        None,
        9,
        Written("", "<think></think>", 2, [], "bb"),
    ),
    "it binds after the thought": (
        ["t", "</think>", "{", "}"],
        THINK,
        9,
        Written("t", "{}", 4, [], "--bb"),
    ),
    "what the end of the thought drags along is dropped": (
        ["t", "</", "think", ">{", "{", "}"],
        THINK,
        9,
        Written("t", "{}", 6, [], "----bb"),
    ),
    "it binds after a thought that was closed": (
        ["t", "t", "{", "}"],
        THINK,
        2,
        Written("tt", "{}", 4, ["\n</think>\n\n"], "--bb"),
    ),
    "the way to the answer is put there": (
        ["t", "<|end|>", "{", "}"],
        CHANNELS,
        9,
        Written("t", "{}", 4, ["<|start|>assistant<|channel|>final<|message|>"], "--bb"),
    ),
    "what looks like a mark in the answer is answer": (
        ["t", "</think>", "<think>"],
        THINK,
        9,
        Written("t", "<think>", 3, [], "--b"),
    ),
}


@pytest.mark.parametrize(
    ("tokens", "inside", "thinking_tokens", "expected"), GRAMMAR.values(), ids=GRAMMAR.keys()
)
def test_a_grammar_binds_the_answer_alone(
    tokens: list[str], inside: thoughts.Form | None, thinking_tokens: int, expected: Written
) -> None:
    written = write(tokens, thinking_tokens=thinking_tokens, grammar=True, inside=inside)
    assert written == expected


@pytest.mark.parametrize("thinking_tokens", [1, 9])
def test_an_answer_after_a_thought_is_bounded_with_a_grammar_too(thinking_tokens: int) -> None:
    tokens = ["t", *["</think>"] * (thinking_tokens > 1), *["["] * 9]
    written = write(tokens, 3, thinking_tokens, grammar=True, inside=THINK)
    assert (written.thought, written.answer, written.full) == ("t", "[[[", True)


def test_with_a_grammar_a_reply_does_not_end_within_a_thought() -> None:
    made = reply.Reply(MARKS, reply.Bounds(9, 9, grammar=True), THINK)
    made.take(b"t")
    assert made.must_answer
    assert made.close() == "\n</think>\n\n"
    assert (made.must_answer, made.bound) == (False, True)


def test_a_character_is_never_split() -> None:
    made = reply.Reply(MARKS, reply.Bounds(9, 9, grammar=False))
    for byte in "🦆".encode()[:-1]:
        made.take(bytes([byte]))
        assert not list(made.due(now=1.0, next_in=1.0))
    made.take("🦆".encode()[-1:])
    assert [one.text for one in made.due(now=1.0, next_in=1.0)] == ["🦆"]


def test_what_was_never_completed_is_marked() -> None:
    made = reply.Reply(MARKS, reply.Bounds(9, 9, grammar=False))
    made.take(b"a" + "🦆".encode()[:2])
    assert [one.text for one in made.finish()] == ["a\ufffd"]


def test_half_a_character_of_a_closed_thought_does_not_reach_the_answer() -> None:
    made = reply.Reply(MARKS, reply.Bounds(9, 2, grammar=False), THINK)
    made.take(b"t")
    assert made.take("🦆".encode()[:2])
    made.take(b"a")
    assert [(one.text, one.thinking) for one in made.finish()] == [("t", True), ("a", False)]
