"""The prefix cache: how much of a prompt is not computed again."""

import pathlib
from typing import Any

import pytest

from daemon.domain import messages


class Quiet:
    def text(self, piece: str) -> None:
        """Not kept."""

    def thought(self, piece: str) -> None:
        """Not kept."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """Not kept."""


async def turn(model: Any, request: messages.ModelRequest) -> messages.ModelResult:
    result = await model.generate(request, Quiet())
    assert isinstance(result, messages.ModelResult)
    return result


def reused(before: messages.ModelResult, after: messages.ModelResult) -> float:
    """The share of a turn's prompt and answer that the next turn found."""
    whole = before.usage.prompt_tokens + before.usage.completion_tokens
    return after.usage.reused_tokens / whole


@pytest.mark.parametrize(("temperature", "max_tokens"), [(0.0, 40), (1.3, 40)])
async def test_the_next_turn_reuses_the_prompt_and_the_answer(
    start: Any, ask: Any, temperature: float, max_tokens: int
) -> None:
    model, turns = start(), ["Tell me about Paris and its long history."]
    before = None
    for seed, question in enumerate(["And of Italy?", "Why?", "Thanks, ünï 🦆!", "More."]):
        request = ask(*turns, temperature=temperature, seed=seed, max_tokens=max_tokens)
        result = await turn(model, request)
        if before is not None:
            assert reused(before, result) >= 0.95
        before = result
        turns += [result.text, question]


async def test_conversations_and_roles_that_alternate_keep_their_caches(
    start: Any, ask: Any
) -> None:
    model = start(places=1)
    systems = ["You are a helpful assistant.", "You turn answers into JSON."]
    talks: dict[tuple[str, int], list[str]] = {
        (system, talk): [f"Conversation {talk}: tell me about the number {talk}."]
        for talk in range(2)
        for system in systems
    }
    before: dict[tuple[str, int], messages.ModelResult] = {}
    for question in ["Go on.", "And then?", "Why?"]:
        for key, turns in talks.items():
            result = await turn(model, ask(*turns, system=key[0], max_tokens=16))
            if key in before:
                assert reused(before[key], result) >= 0.95
            before[key] = result
            turns += [result.text, question]


async def test_a_new_conversation_copies_the_shared_beginning(start: Any, ask: Any) -> None:
    model, system = start(), "You are a helpful assistant. " * 12
    first = await turn(model, ask("What is water?", system=system))
    second = await turn(model, ask("Who are you?", system=system))
    third = await turn(model, ask("What is water?", first.text, "And ice?", system=system))
    assert first.usage.reused_tokens == 0
    assert second.usage.reused_tokens >= 60
    assert reused(first, third) >= 0.95


async def test_a_warm_answer_is_the_cold_answer(start: Any, ask: Any) -> None:
    model = start()
    request = ask("What is water?", "Water is wet.", "And the capital of France?")
    cold = await turn(model, request)
    await turn(model, ask("What is water?", "Water is a liquid.", "Name a river."))
    warm = await turn(model, request)
    assert warm.usage.reused_tokens > 0
    assert warm.text == cold.text


async def test_when_cells_run_out_the_oldest_is_dropped(
    start: Any, ask: Any, tiny_path: pathlib.Path
) -> None:
    """Each takes a sequence of its own, and eight want far more than the 512 cells there are."""
    model = start(path=tiny_path, context_tokens=256, places=1)
    for index in range(8):
        result = await turn(model, ask(f"{index} " + "many words " * 80, max_tokens=2))
        assert result.usage.completion_tokens == 2


async def test_a_recurrent_memory_goes_on_from_its_end_and_else_starts_anew(
    start: Any, ask: Any, recurrent_path: pathlib.Path
) -> None:
    model = start(path=recurrent_path)
    first = await turn(model, ask("What is water?", max_tokens=10))
    second = await turn(model, ask("What is water?", first.text, "And ice?", max_tokens=10))
    again = await turn(model, ask("What is water?", max_tokens=10))
    other = await turn(model, ask("What is wood?", max_tokens=10))
    assert reused(first, second) >= 0.95
    assert again.usage.reused_tokens == other.usage.reused_tokens == 0
    assert again.text == first.text
