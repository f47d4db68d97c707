"""The scripted slot: which line answers, what is refused, how it is spoken."""

import asyncio
import json
import pathlib

import pytest

from daemon.domain import errors, ids, messages
from daemon.models import scripted


class Recorder:
    """Keeps what a feed is told."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.thoughts: list[str] = []
        self.spoken = asyncio.Event()

    def text(self, piece: str) -> None:
        self.pieces.append(piece)
        self.spoken.set()

    def thought(self, piece: str) -> None:
        self.thoughts.append(piece)

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        raise AssertionError("a script has no progress")


def ask(
    text: str,
    role: messages.Role = messages.Role.THINKER,
    used: tuple[int, ...] = (),
    speaker: messages.Speaker = "user",
    thinking_tokens: int = 0,
) -> messages.ModelRequest:
    return messages.ModelRequest(
        call_id=ids.CallId("call"),
        task_id=ids.TaskId("task"),
        conversation_id=ids.ConversationId("conversation"),
        role=role,
        messages=(
            messages.Message(speaker="system", content="weather"),
            messages.Message(speaker=speaker, content=text),
            messages.Message(speaker="assistant", content="weather"),
        ),
        used_script_lines=used,
        thinking_tokens=thinking_tokens,
    )


def script(folder: pathlib.Path, *lines: object) -> scripted.ScriptedModel:
    path = folder / "script.jsonl"
    path.write_text("\n".join(json.dumps(line) if line else "" for line in lines))
    return scripted.ScriptedModel.load("dry", path)


async def answer(
    model: scripted.ScriptedModel, request: messages.ModelRequest
) -> tuple[str, int | None]:
    result = await model.generate(request, Recorder())
    return result.text, result.script_line


SCRIPT: list[object] = [
    {"role": "critic", "reply": "critic"},
    None,
    {"role": "thinker", "match": "(?i)WEATHER$", "reply": "rain"},
    {"role": "thinker", "reply": "first"},
    {"role": "*", "reply": "any"},
    {"role": "thinker", "reply": "again", "repeat": True},
]
CHOICES: list[tuple[messages.ModelRequest, tuple[str, int | None]]] = [
    (ask("hello"), ("first", 3)),
    (ask("the weather"), ("rain", 2)),
    (ask("the weather", speaker="tool"), ("rain", 2)),
    (ask("the weather", used=(2,)), ("first", 3)),
    (ask("hello", used=(3,)), ("any", 4)),
    (ask("hello", used=(3, 4)), ("again", None)),
    (ask("hello", used=(2, 3, 4, 5)), ("again", None)),
    (ask("hello", role=messages.Role.CRITIC), ("critic", 0)),
    (ask("hello", role=messages.Role.CRITIC, used=(0,)), ("any", 4)),
    (ask("hello", role=messages.Role.RECALL), ("any", 4)),
]


@pytest.mark.parametrize(("request_", "expected"), CHOICES)
async def test_the_first_line_that_fits_answers(
    tmp_path: pathlib.Path,
    request_: messages.ModelRequest,
    expected: tuple[str, int | None],
) -> None:
    assert await answer(script(tmp_path, *SCRIPT), request_) == expected


async def test_with_no_line_left_the_fault_names_file_and_role(tmp_path: pathlib.Path) -> None:
    model = script(tmp_path, {"role": "critic", "reply": "a"})
    with pytest.raises(errors.ModelFault) as caught:
        await answer(model, ask("hello", role=messages.Role.CRITIC, used=(0,)))
    assert caught.value.kind is messages.ModelFaultKind.SCRIPT
    assert "critic" in str(caught.value)
    assert "script.jsonl" in str(caught.value)


async def test_words_come_one_by_one_where_the_line_says_so(tmp_path: pathlib.Path) -> None:
    model = script(tmp_path, {"role": "*", "reply": " two  words\n", "chunk_ms": 1})
    feed = Recorder()
    result = await model.generate(ask("hello"), feed)
    assert feed.pieces == [" two", "  words\n"]
    assert result.text == " two  words\n"


async def test_without_pause_the_whole_reply_is_one_piece(tmp_path: pathlib.Path) -> None:
    feed = Recorder()
    await script(tmp_path, {"role": "*", "reply": "two words"}).generate(ask("hello"), feed)
    assert feed.pieces == ["two words"]


@pytest.mark.spec("H-11")
@pytest.mark.parametrize(
    ("chunk_ms", "thinking_tokens", "thoughts"),
    [(0, 9, ["let me see"]), (1, 9, ["let", " me", " see"]), (0, 0, []), (1, 0, [])],
)
async def test_reasoning_comes_apart_and_only_where_there_is_thinking(
    tmp_path: pathlib.Path, chunk_ms: int, thinking_tokens: int, thoughts: list[str]
) -> None:
    line = {"role": "*", "reply": "rain", "reasoning": "let me see", "chunk_ms": chunk_ms}
    feed = Recorder()
    request = ask("hello", thinking_tokens=thinking_tokens)
    result = await script(tmp_path, line).generate(request, feed)
    assert (feed.thoughts, feed.pieces) == (thoughts, ["rain"])
    assert (result.reasoning, result.text) == ("".join(thoughts), "rain")


async def test_a_reply_can_be_cancelled_between_words(tmp_path: pathlib.Path) -> None:
    model = script(tmp_path, {"role": "*", "reply": "two words", "chunk_ms": 60_000})
    feed = Recorder()
    task = asyncio.create_task(model.generate(ask("hello"), feed))
    await feed.spoken.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert feed.pieces == ["two"]


async def test_counts_depend_on_nothing_but_the_text(tmp_path: pathlib.Path) -> None:
    model = script(tmp_path, {"role": "*", "reply": "a"})
    assert await model.count(["", "abcdefgh", "x" * 400]) == (1, 2, 100)


def test_every_fault_of_a_file_is_listed_with_its_line(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(
        '{"role":"thinker","reply":"good"}\n'
        "nonsense\n"
        "[]\n"
        "\n"
        '{"role":"poet","reply":3,"reasoning":1,"chunk_ms":-1,"repeat":1,"match":"(","more":1}\n'
        '{"role":"thinker","reply":"a","match":3}\n'
    )
    with pytest.raises(errors.ConfigFault) as caught:
        scripted.ScriptedModel.load("dry", path)
    places = [fault.removeprefix(str(path)).split(":")[1] for fault in caught.value.faults]
    assert places == ["2", "3", "5", "5", "5", "5", "5", "5", "5", "6"]


def test_a_missing_file_is_a_fault_of_the_settings(tmp_path: pathlib.Path) -> None:
    with pytest.raises(errors.ConfigFault, match="nothing.jsonl"):
        scripted.ScriptedModel.load("dry", tmp_path / "nothing.jsonl")
