"""What a real model answers through the worker: form, bounds and faults."""

import asyncio
import json
from typing import Annotated, Any, Literal

import pydantic
import pytest

from daemon.domain import errors, messages


class Respond(pydantic.BaseModel):
    kind: Literal["respond"]
    text: Annotated[str, pydantic.Field(max_length=60)]


class Tool(pydantic.BaseModel):
    kind: Literal["tool"]
    tool: Literal["shell", "files"]
    arguments: dict[str, str | int | None]
    tags: list[Annotated[int, pydantic.Field(ge=0)]] = []


Reply = pydantic.TypeAdapter[Respond | Tool](
    Annotated[Respond | Tool, pydantic.Field(discriminator="kind")]
)


async def test_a_greedy_answer_is_streamed_and_right(start: Any, ask: Any, feed: Any) -> None:
    result = await start().generate(ask("What is the capital of France?"), feed)
    assert "Paris" in result.text
    assert result.finish_reason == "stop"
    assert result.slot == "embedded"
    assert "".join(feed.pieces) == result.text
    assert len(feed.pieces) > 1
    assert feed.stages[0][0] is messages.Stage.LOADING
    assert result.usage.prompt_tokens > 20
    assert result.usage.completion_tokens >= 5


async def test_two_runs_of_one_seed_agree_and_another_seed_differs(start: Any, ask: Any) -> None:
    model = start()

    async def run(seed: int, feed: Any) -> str:
        request = ask("Tell me a story.", temperature=1.0, seed=seed)
        return str((await model.generate(request, feed)).text)

    quiet = Quiet()
    first = await run(1, quiet)
    assert await run(1, quiet) == first
    assert await run(2, quiet) != first


class Quiet:
    def text(self, piece: str) -> None:
        """Not kept."""

    def thought(self, piece: str) -> None:
        """Not kept."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """Not kept."""


@pytest.mark.parametrize("temperature", [0.0, 1.5])
async def test_under_a_schema_every_answer_parses(start: Any, ask: Any, temperature: float) -> None:
    model, schema = start(places=3), json.dumps(Reply.json_schema())
    requests = [
        ask(text, max_tokens=300, temperature=temperature, seed=seed, json_schema=schema)
        for seed, text in enumerate(["List my files.", "Hello!", "Ünïcode 🦆?"])
    ]
    for result in await asyncio.gather(*(model.generate(r, Quiet()) for r in requests)):
        if result.finish_reason == "stop":
            Reply.validate_json(result.text)
        else:
            assert result.usage.completion_tokens == 300


async def test_pieces_hold_whole_characters(start: Any, ask: Any, feed: Any) -> None:
    text = "naïve 日本語 🦆🏳️\u200d🌈 done"
    schema = json.dumps({"const": text}, ensure_ascii=True)
    request = ask("Say it.", max_tokens=100, json_schema=schema)
    result = await start().generate(request, feed)
    assert json.loads(result.text) == text
    assert "\ufffd" not in "".join(feed.pieces)


@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"string","pattern":"a"}',
        "nonsense",
        '{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}',
        '{"$ref":"#/$defs/A","$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}}}',
    ],
)
async def test_a_bad_schema_is_rejected_and_the_worker_lives(
    start: Any, ask: Any, schema: str
) -> None:
    model = start()
    await model.start()
    pid = model.pid
    with pytest.raises(errors.ModelFault) as caught:
        await model.generate(ask("Hello", json_schema=schema), Quiet())
    assert caught.value.kind is messages.ModelFaultKind.REJECTED
    assert (await model.generate(ask("Hello", max_tokens=1), Quiet())).text
    assert model.pid == pid


async def test_an_answer_is_cut_at_its_bound(start: Any, ask: Any) -> None:
    request = ask("Tell me a long story.", max_tokens=5)
    result = await start().generate(request, Quiet())
    assert (result.finish_reason, result.usage.completion_tokens) == ("length", 5)


async def test_an_answer_is_cut_where_the_context_ends(start: Any, ask: Any) -> None:
    model = start(context_tokens=256)
    request = ask("word " * 190, max_tokens=1000, json_schema='{"type":"string"}')
    result = await model.generate(request, Quiet())
    total = result.usage.prompt_tokens + result.usage.completion_tokens
    assert result.finish_reason == "stop" or total == 256


async def test_a_prompt_too_long_says_what_it_needs_and_what_there_is(start: Any, ask: Any) -> None:
    model = start(context_tokens=256)
    with pytest.raises(errors.ModelFault) as caught:
        await model.generate(ask("word " * 400), Quiet())
    assert caught.value.kind is messages.ModelFaultKind.OVERFLOW
    needed, limit = [int(word) for word in str(caught.value).rstrip(".").split() if word.isdigit()][
        -2:
    ]
    assert needed > 400
    assert limit == 256


async def test_texts_are_counted_as_contents(start: Any) -> None:
    counts = await start().count(["", "hello", "<|im_start|>", "word " * 50])
    assert counts[:2] == (0, 1)
    assert counts[2] > 1
    assert 50 <= counts[3] <= 52


async def test_answers_that_run_together_are_each_whole(start: Any, ask: Any) -> None:
    model = start(places=3)
    questions = ["What is the capital of France?", "What is 2+2?", "Who wrote Hamlet?"]
    alone = [(await model.generate(ask(q), Quiet())).text for q in questions]
    await model.stop()
    together = await asyncio.gather(*(model.generate(ask(q), Quiet()) for q in questions))
    assert len({result.text for result in together}) == len(set(alone))
    assert "Paris" in together[0].text
