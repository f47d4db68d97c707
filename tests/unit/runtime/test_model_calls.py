"""What a model is told, how often texts are counted, and faults that become outcomes."""

import asyncio
import json

import pytest

from daemon.domain import errors, events, ids, limits, messages, state
from daemon.runtime import bus
from daemon.storage import in_memory
from tests.unit.runtime import fake_tools, rig

S = state.TaskState
Kind = messages.ModelFaultKind


def said(request: messages.ModelRequest) -> list[tuple[str, str]]:
    return [(one.speaker, one.content) for one in request.messages]


NOTE = ("user", "[It is Sunday, 2025-06-15 15:06 +0000]")
"""What every task is told of the time, by the clock of these tests."""


def words(request: messages.ModelRequest) -> list[str]:
    """What is told beside the fixed part and the notes of the time."""
    return [text for _, text in said(request)[1:] if text != NOTE[1]]


LONG = "word " * 410
"""Half of the context, were each byte a token: it must be counted."""


async def test_earlier_exchanges_are_told_oldest_first() -> None:
    async with rig.started(replies=["one!", "two!"]) as runtime:
        first = await runtime.submit("one?")
        await runtime.reach(first.task_id, S.COMPLETED)
        second = await runtime.submit("two?", first.conversation_id)
        await runtime.reach(second.task_id, S.COMPLETED)
        assert said(runtime.model.requests[-1]) == [
            ("system", "Be brief."),
            NOTE,
            ("user", "one?"),
            ("assistant", "one!"),
            NOTE,
            ("user", "two?"),
        ]


async def test_history_is_bounded_and_its_own() -> None:
    async with rig.started(bounds=limits.Limits(history_exchanges=1)) as runtime:
        chat: ids.ConversationId | None = None
        for text in ("a", "b", "c"):
            task = await runtime.submit(text, chat)
            chat = task.conversation_id
            await runtime.reach(task.task_id, S.COMPLETED)
        assert words(runtime.model.requests[-1]) == ["b", "done", "c"]
        other = await runtime.submit("d")
        await runtime.reach(other.task_id, S.COMPLETED)
        assert words(runtime.model.requests[-1]) == ["d"]


async def test_a_forgotten_exchange_is_told_no_more() -> None:
    store = in_memory.InMemoryStore()
    async with rig.started(store=store) as runtime:
        first = await runtime.submit("secret?")
        await runtime.reach(first.task_id, S.COMPLETED)
        view = await store.task(first.task_id)
        assert view is not None
        await store.forget([view.text])
    async with rig.started(store=store) as runtime:
        second = await runtime.submit("next?", first.conversation_id)
        await runtime.reach(second.task_id, S.COMPLETED)
        assert words(runtime.model.requests[-1]) == ["next?"]


async def test_a_text_is_counted_once() -> None:
    async with rig.started() as runtime:
        first = await runtime.submit(LONG)
        await runtime.reach(first.task_id, S.COMPLETED)
        second = await runtime.submit(LONG, first.conversation_id)
        await runtime.reach(second.task_id, S.COMPLETED)
        assert runtime.model.counted == [("Be brief.", "", NOTE[1], LONG), ("done",)]


async def test_nothing_is_counted_where_all_fits_whatever_its_tokens() -> None:
    async with rig.started() as runtime:
        task = await runtime.submit("short")
        await runtime.reach(task.task_id, S.COMPLETED)
        assert runtime.model.counted == []


@pytest.mark.spec("D-18")
async def test_a_model_that_dies_is_asked_once_more() -> None:
    fault = errors.ModelFault(Kind.DIED, "The model's process ended.")
    async with rig.started(replies=[fault, "whole"]) as runtime:
        task = await runtime.submit()
        await runtime.reach(task.task_id, S.COMPLETED)
        assert await runtime.answer(task.task_id) == "whole"
        found = [one.event for one in await runtime.log()]
        (failed,) = [one for one in found if isinstance(one, events.ModelCallFailed)]
        assert (failed.fault, failed.message) == ("died", "The model's process ended.")
        assert failed.text is not None
        assert await runtime.kept.text(failed.text) == "half"
        calls = [one.call_id for one in runtime.model.requests]
        assert len(set(calls)) == 2


async def test_a_model_that_dies_twice_is_waited_for() -> None:
    fault = errors.ModelFault(Kind.DIED, "The model's process ended.")
    async with rig.started(replies=[fault, fault]) as runtime:
        task = await runtime.submit()
        await runtime.reach(task.task_id, S.MODEL_UNAVAILABLE)
        view = await runtime.store.task(task.task_id)
        assert view is not None
        assert view.reason == "The model's process ended."


async def test_a_slot_that_cannot_count_ends_somewhere() -> None:
    async with rig.started() as runtime:
        fault = errors.ModelFault(Kind.DIED, "It died while it loaded.")
        runtime.model.uncountable.extend([fault] * 50)
        task = await runtime.submit(LONG)
        await runtime.reach(task.task_id, S.MODEL_UNAVAILABLE)
        assert len(runtime.model.counted) == 2


@pytest.mark.spec("D-18")
async def test_text_and_progress_reach_a_subscriber_while_they_come() -> None:
    async with rig.started(replies=[None]) as runtime:
        await runtime.submit()
        await rig.until(lambda: len(runtime.model.requests) == 1)
        pages = runtime.bus.subscribe(runtime.bus.head_seq, bus.Scope())
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            note, piece = await anext(pages)
        assert isinstance(note, bus.ProgressNote)
        assert (note.stage, note.done, note.total) == (messages.Stage.PREFILL, 1, 2)
        assert isinstance(piece, bus.LivePiece)
        assert (piece.offset, piece.text, piece.tool) == (0, "half", False)
        await pages.aclose()


@pytest.mark.spec("D-18")
async def test_a_tools_output_reaches_a_subscriber_while_it_comes() -> None:
    look = fake_tools.FakeTool()
    look.outcome, look.pieces = None, ("line 1\n", "line 2\n")
    use = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})
    async with rig.started(look, replies=[use]) as runtime:
        await runtime.submit()
        await rig.until(lambda: look.ran == 1)
        pages = runtime.bus.subscribe(runtime.bus.head_seq, bus.Scope())
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            (piece,) = await anext(pages)
        assert isinstance(piece, bus.LivePiece)
        assert (piece.text, piece.tool) == ("line 1\nline 2\n", True)
        await pages.aclose()
