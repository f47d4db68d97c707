"""Reasoning models through the worker: thoughts apart, each side within its bounds.

There is no small reasoning model to test with, so others are made to look like one by their chat
template: what they think is nonsense, and how it is told apart is not.
"""

import dataclasses
import functools
import json
import pathlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from daemon.models.worker import engine, prompt, serve, template, thoughts, vocabulary
from tests.integration.models import tiny_gguf

pytestmark = pytest.mark.spec("H-11")

TALK = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] }}"
    "{{ '<|im_end|>\\n' }}{% endfor %}{{ '<|im_start|>assistant\\n' }}"
)
OPENS = TALK + "{{ '<think>\\n' }}"
SWITCHES = (
    TALK + "{% if enable_thinking is defined and not enable_thinking %}"
    "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"
)
SPEAKS = TALK + "{# <think> and </think> #}"
TOKENS = TALK + "{{ '[THINK]' }}"
CLOSE = "\n</think>\n\n"
MARK_TOKENS = {"<file_sep>": "[THINK]", "<gh_stars>": "[/THINK]", "<filename>": "<|channel|>"}
"""Control tokens of the vocabulary that are given the names of marks."""
Write = Callable[..., pathlib.Path]


@pytest.fixture(scope="module")
def write(model_path: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Write:
    """Write a tiny model, once, with this template; some have tokens that are marks."""
    folder = tmp_path_factory.mktemp("thinkers")
    written: dict[str, pathlib.Path] = {}

    def make(source: str) -> pathlib.Path:
        if source not in written:
            path = written[source] = folder / f"{len(written)}.gguf"
            renamed = MARK_TOKENS if source is TOKENS else {}
            tiny_gguf.write("llama", model_path, path, source, renamed)
        return written[source]

    return make


@dataclasses.dataclass
class Made:
    """A tiny model's vocabulary, and the prompts that are made of it."""

    native: engine.Engine
    words: vocabulary.Vocabulary
    prompter: prompt.Prompter

    def end(self, thinks: bool, opens: bool = False) -> tuple[str, bool]:
        """How a prompt ends after the last turn began, and whether a thought is open then."""
        made = self.prompter.prompt([("user", "x")], thinks, opens)
        text = "".join(map(self.text, made.tokens))
        return text.split("assistant\n")[-1], made.inside is not None

    def text(self, token: int) -> str:
        return self.words.piece(token).decode() or self.words.text(token)


@pytest.fixture(scope="module")
def make(write: Write) -> Callable[[str], Made]:
    """Load a tiny model with a template, once, without a worker around it."""

    @functools.cache
    def load(source: str) -> Made:
        native = engine.Engine(engine.Shape(str(write(source)), 64, 1, 0, 1), lambda _: None)
        words = vocabulary.Vocabulary(native.vocabulary)
        words.forbid(source, thoughts.marks())
        return Made(native, words, prompt.Prompter(words, template.Template(source)))

    return load


ENDS: dict[str, tuple[str, bool, bool, tuple[str, bool]]] = {
    "opened by the template": (OPENS, True, False, ("<think>\n", True)),
    "opened by the template, off": (OPENS, False, False, (f"<think>\n{CLOSE}", False)),
    "with a switch": (SWITCHES, True, False, ("", False)),
    "with a switch, off": (SWITCHES, False, False, ("<think>\n\n</think>\n\n", False)),
    "with a switch, for a grammar": (SWITCHES, True, True, ("<think>\n", True)),
    "left to the model": (SPEAKS, True, False, ("", False)),
    "left to the model, off": (SPEAKS, False, False, ("<think>\n\n</think>\n\n", False)),
    "left to the model, for a grammar": (SPEAKS, True, True, ("<think>\n", True)),
    "no thoughts": (TALK, True, True, ("", False)),
    "no thoughts, off": (TALK, False, False, ("", False)),
    "marks that are tokens": (TOKENS, True, False, ("[THINK]", True)),
    "marks that are tokens, off": (TOKENS, False, False, ("[THINK][/THINK]", False)),
}


@pytest.mark.parametrize(("source", "thinks", "opens", "expected"), ENDS.values(), ids=ENDS.keys())
def test_a_prompt_turns_thinking_on_and_off(
    make: Callable[[str], Made], source: str, thinks: bool, opens: bool, expected: tuple[str, bool]
) -> None:
    assert make(source).end(thinks, opens) == expected


def test_marks_that_are_tokens_are_known_and_kept_out_of_contents(
    make: Callable[[str], Made],
) -> None:
    made = make(TOKENS)
    marks, codes = serve.marks_of(made.words)
    assert {made.words.text(token) for token in codes} == set(MARK_TOKENS.values())
    assert len(marks.spellings("[THINK]")) == 2
    content = made.prompter.content("[THINK]a[/THINK]")
    assert codes.keys().isdisjoint(content)
    assert b"".join(map(made.words.piece, content)) == b"[THINK]a[/THINK]"


def test_of_user_defined_tokens_only_parts_of_marks_are_known(
    write: Write, tmp_path: pathlib.Path
) -> None:
    """One that is a mark by itself may be spoken of; contents get neither."""
    path = tmp_path / "user_defined.gguf"
    tiny_gguf.user_defined(write(TOKENS), path)
    native = engine.Engine(engine.Shape(str(path), 64, 1, 0, 1), lambda _: None)
    words = vocabulary.Vocabulary(native.vocabulary)
    _, codes = serve.marks_of(words)
    assert {words.text(token) for token in codes} == {"<|channel|>"}
    words.forbid("", thoughts.marks())
    contents = words.content("[THINK]<|channel|>")
    assert not {words.text(token) for token in contents} & set(MARK_TOKENS.values())


def test_the_tokens_of_an_answer_are_remembered_without_its_thoughts(
    make: Callable[[str], Made],
) -> None:
    made = make(OPENS)
    own, odd = made.words.own, [*made.words.own("Par"), *made.words.own("is.", first=False)]
    assert made.words.own("Paris.") != odd
    made.prompter.answered("Paris.", [*own(f"hm{CLOSE}"), *odd])
    assert made.prompter.content("Paris.") == odd


def test_an_answer_that_begins_within_a_token_is_not_remembered(
    make: Callable[[str], Made],
) -> None:
    made = make(OPENS)
    expected = made.words.own("aris.")
    made.prompter.answered("aris.", made.words.own(f"hm{CLOSE}Paris."))
    assert made.prompter.content("aris.") == expected


def test_a_template_that_cannot_turn_thinking_off_is_told(make: Callable[[str], Made]) -> None:
    notes = {source: make(source).prompter.notes for source in (TALK, SWITCHES, OPENS)}
    assert [len(found) for found in notes.values()] == [0, 0, 1]


async def test_a_thought_is_closed_at_its_bound_and_the_answer_has_its_own(
    start: Any, ask: Any, feed: Any, write: Write
) -> None:
    model = start(path=write(OPENS))
    result = await model.generate(ask("Hello", max_tokens=9, thinking_tokens=14), feed)
    assert result.reasoning
    assert result.text
    assert result.finish_reason == "length"
    assert "".join(feed.pieces) == result.text
    assert "".join(feed.thoughts) == result.reasoning
    close_tokens = result.usage.completion_tokens - 9 - 14
    assert 1 <= close_tokens <= 6


async def test_without_thinking_there_is_none(
    start: Any, ask: Any, feed: Any, write: Write
) -> None:
    model = start(path=write(OPENS))
    result = await model.generate(ask("Hello", max_tokens=9), feed)
    assert (result.reasoning, feed.thoughts) == ("", [])
    assert result.usage.completion_tokens == 9
    assert result.text


async def test_a_thought_is_closed_by_its_token_where_it_is_one(
    start: Any, ask: Any, feed: Any, write: Write
) -> None:
    model = start(path=write(TOKENS))
    result = await model.generate(ask("Hello", max_tokens=9, thinking_tokens=14), feed)
    assert result.usage.completion_tokens == 14 + 1 + 9
    assert result.reasoning
    assert result.text
    assert "THINK]" not in result.text + result.reasoning


@pytest.mark.parametrize("source", [OPENS, SWITCHES, SPEAKS, TOKENS])
async def test_a_schema_binds_only_the_answer(
    start: Any, ask: Any, feed: Any, write: Write, source: str
) -> None:
    model, schema = start(path=write(source)), json.dumps({"enum": ["yes", "no"]})
    request = ask("Hello", max_tokens=40, thinking_tokens=10, json_schema=schema)
    result = await model.generate(request, feed)
    assert json.loads(result.text) in ("yes", "no")
    assert result.finish_reason == "stop"
    assert result.reasoning
    assert "".join(feed.thoughts) == result.reasoning


async def test_where_the_context_leaves_no_room_there_is_no_thought(
    start: Any, ask: Any, feed: Any, write: Write
) -> None:
    model = start(path=write(OPENS), context_tokens=256)
    result = await model.generate(ask("word " * 140, max_tokens=30, thinking_tokens=500), feed)
    assert (result.reasoning, result.usage.completion_tokens) == ("", 30)


async def test_thoughts_leave_the_answer_its_room(
    start: Any, ask: Any, feed: Any, write: Write
) -> None:
    model = start(path=write(OPENS), context_tokens=256)
    result = await model.generate(ask("Hello", max_tokens=30, thinking_tokens=500), feed)
    assert result.reasoning
    assert result.usage.prompt_tokens + result.usage.completion_tokens <= 256
    assert result.usage.completion_tokens > 100
    assert result.text


@pytest.fixture(scope="module")
def reasoning_path(
    model_path: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[pathlib.Path]:
    """The real model with a template of the same length that opens a thought."""
    data = bytearray(model_path.read_bytes())
    at = data.index(b"tokenizer.chat_template") + len(b"tokenizer.chat_template") + 4
    (length,) = struct.unpack_from("<Q", data, at)
    source = OPENS.encode()
    data[at + 8 : at + 8 + length] = source + b"{#" + b" " * (length - len(source) - 4) + b"#}"
    path = tmp_path_factory.mktemp("reasoning") / "reasoning.gguf"
    path.write_bytes(data)
    yield path
    path.unlink()


async def test_what_a_real_model_only_thought_is_no_answer(
    start: Any, ask: Any, feed: Any, reasoning_path: pathlib.Path
) -> None:
    request = ask("What is the capital of France?", thinking_tokens=40, max_tokens=40)
    result = await start(path=reasoning_path).generate(request, feed)
    assert (result.text, feed.pieces, result.finish_reason) == ("", [], "stop")
    assert "Paris" in result.reasoning
    assert len(feed.thoughts) > 1


async def test_with_a_schema_a_real_model_does_not_end_within_its_thought(
    start: Any, ask: Any, feed: Any, reasoning_path: pathlib.Path
) -> None:
    schema = json.dumps({"enum": ["Paris", "Rome"]})
    request = ask("What is the capital of France?", thinking_tokens=40, json_schema=schema)
    result = await start(path=reasoning_path).generate(request, feed)
    assert json.loads(result.text) in ("Paris", "Rome")
    assert result.reasoning == "The capital of France is Paris."
    assert "".join(feed.pieces) == result.text


async def test_a_real_model_thinks_answers_and_goes_on(
    start: Any, ask: Any, feed: Any, feeds: Any, reasoning_path: pathlib.Path
) -> None:
    model, question = start(path=reasoning_path), "What is the capital of France?"
    first = await model.generate(ask(question, thinking_tokens=4), feed)
    assert first.reasoning
    assert first.text
    assert "think>" not in first.text + first.reasoning
    assert "".join(feed.thoughts) == first.reasoning
    request = ask(question, first.text, "And of Italy?", thinking_tokens=4)
    second = await model.generate(request, feeds())
    open_tokens = 4
    assert second.usage.reused_tokens >= first.usage.prompt_tokens - open_tokens
    again = await model.generate(request, feeds())
    assert (again.text, again.reasoning) == (second.text, second.reasoning)
    assert again.usage.reused_tokens >= second.usage.prompt_tokens - 8
