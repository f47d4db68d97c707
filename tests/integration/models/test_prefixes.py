"""The fixed part of prompts outlives the worker that read it; `stop` waits until it is kept."""

import asyncio
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from llama_cpp import llama_cpp

from daemon.decide import context
from daemon.domain import messages
from daemon.models.worker import cache, engine, prefixes

SYSTEM = "You are a helpful assistant. You answer in plain words. " * 14
"""About 170 tokens."""
SHORT = "You are a helpful assistant."


class Quiet:
    def text(self, piece: str) -> None:
        """Not kept."""

    def thought(self, piece: str) -> None:
        """Not kept."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """Not kept."""


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "cache" / "prefix"


@pytest.fixture
def answer(start: Any, ask: Any, model_path: pathlib.Path) -> Any:
    """Ask a worker of its own, which ends after it."""

    async def once(
        *turns: str,
        system: str = SYSTEM,
        path: pathlib.Path = model_path,
        context_tokens: int = 1024,
        prefixes: pathlib.Path | None = None,
    ) -> messages.ModelResult:
        model = start(path=path, context_tokens=context_tokens, prefixes=prefixes)
        result = await model.generate(ask(*turns, system=system, max_tokens=16), Quiet())
        await model.stop()
        assert isinstance(result, messages.ModelResult)
        return result

    return once


def kept(folder: pathlib.Path) -> list[pathlib.Path]:
    return list(folder.iterdir()) if folder.exists() else []


async def test_a_new_worker_goes_on_from_what_the_last_one_read(
    answer: Any, folder: pathlib.Path
) -> None:
    first = await answer("What is water?", prefixes=folder)
    assert first.usage.reused_tokens == 0
    (path,) = kept(folder)
    when = path.stat().st_ino
    for question in ("What is water?", "Who wrote Faust?"):
        cold = await answer(question)
        warm = await answer(question, prefixes=folder)
        assert cold.usage.reused_tokens == 0
        assert warm.usage.reused_tokens >= 128
        assert warm.usage.prompt_tokens - warm.usage.reused_tokens < 24
        assert warm.text == cold.text
    assert [one.stat().st_ino for one in kept(folder)] == [when]


async def test_the_summary_and_what_was_said_are_in_no_file(
    answer: Any, folder: pathlib.Path
) -> None:
    """One file serves all; it holds as much whoever wrote it, so none of what comes after."""
    summed = f"{SYSTEM}{context.SUMMARY}The user likes ducks, and rivers with many ducks."
    long = await answer("Who am I? " * 40, "You.", "Why?", system=summed, prefixes=folder)
    (path,) = kept(folder)
    size = path.stat().st_size
    short = await answer("Hi", prefixes=folder)
    assert kept(folder) == [path]
    shared = short.usage.reused_tokens
    assert 128 <= shared < short.usage.prompt_tokens < long.usage.prompt_tokens
    path.unlink()
    await answer("Hi", prefixes=folder)
    (again,) = kept(folder)
    assert again.name == path.name
    a_token = size / shared
    assert abs(again.stat().st_size - size) <= 3 * a_token


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    at = len(data) * 3 // 4
    return data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :]


@pytest.mark.parametrize("damage", [truncated, flipped])
async def test_a_damaged_file_changes_no_answer(
    answer: Any, folder: pathlib.Path, damage: Callable[[bytes], bytes]
) -> None:
    cold = await answer("What is water?", prefixes=folder)
    (path,) = kept(folder)
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    after = await answer("What is water?", prefixes=folder)
    assert after.usage.reused_tokens == 0
    assert after.text == cold.text
    assert len(path.read_bytes()) == len(whole)
    warm = await answer("What is water?", prefixes=folder)
    assert warm.usage.reused_tokens >= 128
    assert warm.text == cold.text


async def test_two_workers_at_once_keep_one_file(
    answer: Any, folder: pathlib.Path, tiny_path: pathlib.Path
) -> None:
    asked = [answer(f"Question {n}?", path=tiny_path, prefixes=folder) for n in range(2)]
    await asyncio.gather(*asked)
    assert len(kept(folder)) == 1
    asked = [answer(f"Question {n}?", path=tiny_path, prefixes=folder) for n in range(2)]
    for result in await asyncio.gather(*asked):
        assert result.usage.reused_tokens >= 128


async def test_a_worker_brings_back_what_it_had_to_forget(
    answer: Any, start: Any, ask: Any, folder: pathlib.Path, tiny_path: pathlib.Path
) -> None:
    """Eight sequences are there; nine other prompts take them all."""
    await answer("Hi", system=SYSTEM, path=tiny_path, prefixes=folder)
    assert len(kept(folder)) == 1
    model = start(path=tiny_path, prefixes=folder)
    await model.generate(ask("Hi", system=SYSTEM, max_tokens=2), Quiet())
    for number in range(9):
        await model.generate(
            ask(f"{number} other", system=f"{number} {SHORT}", max_tokens=2), Quiet()
        )
    again = await model.generate(ask("Hi", system=SYSTEM, max_tokens=2), Quiet())
    assert again.usage.reused_tokens >= 128


@pytest.mark.parametrize("why", ["off", "short", "recurrent"])
async def test_where_nothing_is_kept(
    answer: Any,
    folder: pathlib.Path,
    tiny_path: pathlib.Path,
    recurrent_path: pathlib.Path,
    why: str,
) -> None:
    path = recurrent_path if why == "recurrent" else tiny_path
    system = SHORT if why == "short" else SYSTEM
    place = None if why == "off" else folder
    for _ in range(2):
        result = await answer("Hi", system=system, path=path, prefixes=place)
        assert result.usage.reused_tokens == 0
    assert kept(folder) == []


async def test_a_folder_that_cannot_be_written_fails_no_answer(
    answer: Any, tmp_path: pathlib.Path, tiny_path: pathlib.Path
) -> None:
    (tmp_path / "file").write_text("")
    for _ in range(2):
        result = await answer("Hi", path=tiny_path, prefixes=tmp_path / "file" / "prefix")
        assert result.usage.completion_tokens == 16


async def test_another_context_reads_no_file_of_this_one(
    answer: Any, folder: pathlib.Path, tiny_path: pathlib.Path
) -> None:
    for context_tokens in (512, 1024):
        result = await answer("Hi", path=tiny_path, context_tokens=context_tokens, prefixes=folder)
        assert result.usage.reused_tokens == 0
    assert len(kept(folder)) == 2


def test_what_is_brought_back_is_bit_for_bit_what_was_read(
    model_path: pathlib.Path, folder: pathlib.Path
) -> None:
    """Two answers may differ where two tokens are as good as each other and a prompt was read in
    other parts; that the state was in a file makes no difference at all."""
    native = engine.Engine(engine.Shape(str(model_path), 1024, 4, 0, 1), lambda fraction: None)
    holds = cache.Cache(native, 4)
    read, prompt = list(range(100, 300)), [*range(100, 250), 7, 8, 9]
    sequence, _ = holds.place(read)
    rows = [engine.Row(token, at, sequence, at == 199) for at, token in enumerate(read)]
    assert native.decode(rows) == engine.DECODED
    holds.extend(sequence, read)
    holds.release(sequence)
    state = holds.beginning(prompt[:150])
    assert state is not None
    files = prefixes.PrefixFiles(folder, native.kind())
    files.write(files.name(prompt[:150]), 150, state)
    kept_here = logits(native, holds, prompt)
    native.renew()
    found = files.read(files.name(prompt[:150]))
    assert found is not None
    holds = cache.Cache(native, 4)
    assert holds.adopt(prompt[:150], found[1])
    assert logits(native, holds, prompt) == kept_here


def logits(native: engine.Engine, holds: cache.Cache, prompt: list[int]) -> bytes:
    """What follows a prompt of which 150 tokens are there."""
    sequence, there = holds.place(prompt)
    assert there == 150
    rest = enumerate(prompt[there:], there)
    rows = [engine.Row(token, at, sequence, at == len(prompt) - 1) for at, token in rest]
    assert native.decode(rows) == engine.DECODED
    size = llama_cpp.llama_vocab_n_tokens(native.vocabulary)
    row = llama_cpp.llama_get_logits_ith(native.context, len(rows) - 1)
    return bytes(np.ctypeslib.as_array(row, (size,)).tobytes())
