"""Subscribers see every event once and in order, whatever they want and however they read."""

import asyncio
from contextlib import aclosing

import pytest

from daemon.domain import errors, ids
from daemon.runtime import bus
from tests.unit.runtime import rig, streams

pytestmark = [pytest.mark.spec("C-03"), pytest.mark.spec("D-18")]


@pytest.mark.parametrize("after", [0, 1, 150, 199, 200, 201, 450, 453])
async def test_the_log_then_what_comes_without_gap_or_repeat(after: int) -> None:
    stage = streams.Stage()
    await stage.begin()
    await stage.answers(450)
    async with aclosing(stage.bus.subscribe(after, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        if after < 453:
            await reader.read_until(453)
        await stage.answers(5)
        await reader.read_until(458)
        assert reader.seqs == list(range(after + 1, 459))


async def test_events_that_come_while_a_page_is_read() -> None:
    stage = streams.Stage()
    await stage.begin()
    await stage.answers(300)
    async with aclosing(stage.bus.subscribe(0, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        while not reader.seqs or reader.seqs[-1] < 350:
            await reader.read()
            await stage.answers(10)
        assert reader.seqs == list(range(1, reader.seqs[-1] + 1))


async def test_a_restarted_bus_reads_the_log() -> None:
    stage = streams.Stage()
    await stage.begin()
    await stage.answers(250)
    stage.bus = bus.Bus(stage.store, stage.clock, stage.head_seq, 8)
    async with aclosing(stage.bus.subscribe(0, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read_until(253)
        await stage.answers(1)
        await reader.read_until(254)
        assert reader.seqs == list(range(1, 255))


async def test_an_event_that_is_durable_and_not_yet_published_comes_once() -> None:
    stage = streams.Stage()
    await stage.begin()
    stage.bus = bus.Bus(stage.store, stage.clock, stage.head_seq, 8)
    recorded = await stage.commit(streams.answer(), streams.answer())
    async with aclosing(stage.bus.subscribe(0, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read()
        stage.bus.publish(recorded)
        await stage.answers(1)
        await reader.read_until(6)
        assert reader.seqs == [1, 2, 3, 4, 5, 6]


async def test_a_number_that_is_yet_to_come_is_waited_for() -> None:
    stage = streams.Stage()
    await stage.begin()
    async with aclosing(stage.bus.subscribe(5, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        reading = asyncio.create_task(reader.read())
        await rig.settle()
        await stage.answers(4)
        await reading
        await reader.read_until(7)
        assert reader.seqs == [6, 7]


async def handed(stage: streams.Stage, reader: streams.Reader) -> None:
    """Let a reader that has read everything be handed the next event."""
    reading = asyncio.create_task(reader.read())
    await rig.settle()
    await stage.answers(1)
    await reading


async def test_a_slow_reader_costs_no_queue_and_misses_nothing() -> None:
    stage = streams.Stage()
    await stage.begin()
    async with aclosing(stage.bus.subscribe(0, streams.EVERYTHING)) as pages:
        reader = streams.Reader(pages)
        await reader.read_until(3)
        await handed(stage, reader)
        last = bus.PENDING_EVENTS + bus.RECENT_EVENTS + 4
        recorded = await stage.commit(*[streams.answer()] * (last - 4))
        for one in recorded:
            stage.bus.publish([one])
        await reader.read_until(last)
        assert reader.seqs == list(range(1, last + 1))


class TestScopes:
    async def seen(self, scope: bus.Scope) -> streams.Reader:
        """What a scope sees of two chats, before and after it subscribed."""
        stage = streams.Stage()
        await stage.begin(0)
        await stage.begin(1)
        pages = stage.bus.subscribe(0, scope)
        reader = streams.Reader(pages)
        await reader.read()
        await stage.answers(1, 0)
        await stage.answers(1, 1)
        for chat in (0, 1):
            stage.feed(chat, ids.CallId(f"call-{chat}")).text(f"live {chat}")
        stage.bus.close()
        await reader.read_out()
        return reader

    async def test_everything(self) -> None:
        reader = await self.seen(streams.EVERYTHING)
        assert reader.seqs == list(range(1, 9))
        assert reader.live == ["0:live 0", "0:live 1"]

    async def test_a_conversation(self) -> None:
        reader = await self.seen(bus.Scope(conversation_id=streams.CHATS[1]))
        assert (reader.seqs, reader.live) == ([4, 5, 6, 8], ["0:live 1"])

    async def test_a_task(self) -> None:
        reader = await self.seen(bus.Scope(task_id=streams.task_of(streams.CHATS[0])))
        assert (reader.seqs, reader.live) == ([2, 3, 7], ["0:live 0"])

    async def test_a_task_of_another_conversation(self) -> None:
        stage = streams.Stage()
        await stage.begin(0)
        await stage.begin(1)
        scope = bus.Scope(
            task_id=streams.task_of(streams.CHATS[0]), conversation_id=streams.CHATS[1]
        )
        reader = streams.Reader(stage.bus.subscribe(0, scope))
        stage.bus.close()
        await reader.read_out()
        assert reader.seqs == []

    async def test_nothing_live(self) -> None:
        reader = await self.seen(bus.Scope(live=False))
        assert (reader.seqs, reader.live) == (list(range(1, 9)), [])


@pytest.mark.spec("L-03")
class TestCapacity:
    async def test_one_stream_too_many_is_refused_and_a_closed_one_makes_room(self) -> None:
        stage = streams.Stage(subscribers=2)
        await stage.begin()
        opened = [streams.Reader(stage.bus.subscribe(0, streams.EVERYTHING)) for _ in range(2)]
        for one in opened:
            await one.read()
        with pytest.raises(errors.Refusal, match="2 streams are open") as refused:
            await streams.Reader(stage.bus.subscribe(0, streams.EVERYTHING)).read()
        assert refused.value.kind is errors.RefusalKind.EXHAUSTED
        await opened[0].pages.aclose()
        third = streams.Reader(stage.bus.subscribe(0, streams.EVERYTHING))
        await third.read()
        assert third.seqs == [1, 2, 3]
        for one in (opened[1], third):
            await one.pages.aclose()


class TestClosing:
    async def test_a_stream_ends_when_it_has_read_everything(self) -> None:
        stage = streams.Stage()
        await stage.begin()
        reader = streams.Reader(stage.bus.subscribe(0, streams.EVERYTHING))
        await reader.read()
        await stage.answers(2)
        stage.bus.close()
        await reader.read_out()
        assert reader.seqs == [1, 2, 3, 4, 5]

    async def test_a_stream_that_waits_ends(self) -> None:
        stage = streams.Stage()
        await stage.begin()
        reader = streams.Reader(stage.bus.subscribe(3, streams.EVERYTHING))
        reading = asyncio.create_task(reader.read_out())
        await rig.settle()
        stage.bus.close()
        await reading
        assert reader.seqs == []
