"""The text and progress of running calls: seen while they run, whole for who comes late."""

import asyncio
from contextlib import aclosing

import pytest

from daemon.domain import ids, messages
from daemon.runtime import bus
from tests.unit.runtime import rig, streams

pytestmark = [pytest.mark.spec("C-03"), pytest.mark.spec("D-18")]


async def test_pieces_come_as_they_are_said() -> None:
    stage = streams.Stage()
    await stage.begin()
    async with aclosing(stage.bus.subscribe(3, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        feed = stage.feed()
        for piece in ("Pa", "ris", "."):
            reading = asyncio.create_task(reader.read())
            await rig.settle()
            feed.text(piece)
            await reading
        assert reader.live == ["0:Pa", "2:ris", "5:."]


async def test_a_late_subscriber_gets_the_text_so_far_in_one_piece() -> None:
    stage = streams.Stage()
    await stage.begin()
    feed = stage.feed()
    feed.text("Pa")
    feed.text("ris")
    async with aclosing(stage.bus.subscribe(3, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        feed.text(".")
        await reader.read()
        assert reader.live == ["0:Paris", "5:."]


async def test_events_come_before_the_text_of_their_call() -> None:
    stage = streams.Stage()
    await stage.begin()
    stage.feed().text("Pa")
    async with aclosing(stage.bus.subscribe(0, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        assert (reader.seqs, reader.live) == ([1, 2, 3], [])
        await reader.read()
        assert reader.live == ["0:Pa"]


async def test_nothing_live_is_left_after_the_outcome() -> None:
    stage = streams.Stage()
    await stage.begin()
    stage.feed().text("Paris")
    await stage.happen(streams.finished())
    reader = streams.Reader(stage.bus.subscribe(0, streams.EVERYTHING))
    stage.bus.close()
    await reader.read_out()
    assert (reader.seqs, reader.live) == ([1, 2, 3, 4], [])


async def test_a_feed_whose_call_has_ended_speaks_to_nobody() -> None:
    stage = streams.Stage()
    await stage.begin()
    feed = stage.feed()
    await stage.happen(streams.finished())
    feed.text("late")
    reader = streams.Reader(stage.bus.subscribe(4, streams.EVERYTHING))
    stage.bus.close()
    await reader.read_out()
    assert reader.live == []


async def test_a_repeated_call_begins_anew() -> None:
    stage = streams.Stage()
    await stage.begin()
    async with aclosing(stage.bus.subscribe(3, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        stage.feed().text("half")
        await reader.read()
        await stage.happen(streams.finished())
        await reader.read()
        stage.feed(call_id=ids.CallId("call-2")).text("whole")
        await reader.read()
        assert reader.live == ["0:half", "0:whole"]


async def test_a_very_long_text_is_kept_from_its_end() -> None:
    stage = streams.Stage()
    await stage.begin()
    feed = stage.feed()
    feed.text("a" * bus.LIVE_CHARS)
    feed.text("b")
    reader = streams.Reader(stage.bus.subscribe(3, streams.EVERYTHING))
    stage.bus.close()
    await reader.read_out()
    (piece,) = reader.live
    offset, _, text = piece.partition(":")
    assert int(offset) + len(text) == bus.LIVE_CHARS + 1
    assert text.endswith("ab")
    assert len(text) <= bus.LIVE_CHARS
    assert feed.so_far() == text


async def test_progress_shows_the_elapsed_time_once_a_change() -> None:
    stage = streams.Stage()
    await stage.begin()
    feed = stage.feed()
    stage.clock.ms += 1200
    feed.progress(messages.Stage.PREFILL, 10, 20)
    async with aclosing(stage.bus.subscribe(3, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        feed.progress(messages.Stage.PREFILL, 20, 20)
        await reader.read()
        feed.text("Pa")
        await reader.read()
    assert [(one.done, one.total, one.elapsed_ms) for one in reader.notes] == [
        (10, 20, 1200),
        (20, 20, 1200),
    ]


@pytest.mark.spec("H-11")
async def test_thoughts_come_apart_with_offsets_of_their_own() -> None:
    stage = streams.Stage()
    await stage.begin()
    feed = stage.feed()
    feed.thought("hm")
    async with aclosing(stage.bus.subscribe(3, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        feed.thought(", so")
        feed.text("Pa")
        await reader.read()
        feed.text("ris")
        await reader.read()
        assert reader.thoughts == ["0:hm", "2:, so"]
        assert reader.live == ["0:Pa", "2:ris"]
    assert feed.so_far() == "Paris"


async def test_a_piece_says_what_its_call_is_for() -> None:
    stage = streams.Stage()
    await stage.begin()
    await stage.happen(streams.started(messages.Purpose.CRITICIZE))
    stage.feed().text("Good.")
    async with aclosing(stage.bus.subscribe(4, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        assert reader.purposes == [messages.Purpose.CRITICIZE]
