"""The small parts of the shell: inbox, contents, supervisor, failpoints."""

import asyncio
from collections.abc import Sequence

import pytest

from daemon.domain import decisions, errors, ids, inputs, messages, principals
from daemon.runtime import clock, contents, failpoints, inbox, supervisor
from daemon.storage import in_memory
from tests.unit.runtime import rig

CHAT = ids.ConversationId("conversation-1")
REPLY = decisions.ConversationKept(conversation_id=CHAT)


def titled(title: str) -> inputs.CreateConversation:
    return inputs.CreateConversation(
        credential="owner", principal=principals.LOCAL_OWNER, correlation_id="c", title=title
    )


def abort(name: str) -> inputs.AbortTask:
    return inputs.AbortTask(task_id=ids.TaskId(name))


@pytest.mark.spec("L-03")
class TestInbox:
    async def test_what_comes_is_taken_in_order(self) -> None:
        box = inbox.Inbox(8)
        for name in "abc":
            box.post(abort(name))
        taken = await box.take(2)
        assert [one.input for one in taken] == [abort("a"), abort("b")]
        assert [one.input for one in box.take_waiting(9)] == [abort("c")]
        assert box.take_waiting(9) == []

    async def test_callers_beyond_its_room_wait(self) -> None:
        box = inbox.Inbox(1)
        asked = [asyncio.create_task(box.ask(titled(name))) for name in "ab"]
        await rig.settle()
        (first,) = box.take_waiting(9)
        assert first.input == titled("a")
        assert first.reply is not None
        first.reply.set_result(REPLY)
        assert await asked[0] == REPLY
        (second,) = await box.take(9)
        assert second.input == titled("b")
        assert second.reply is not None
        second.reply.set_exception(errors.Refusal(errors.RefusalKind.INVALID, "no"))
        with pytest.raises(errors.Refusal, match="no"):
            await asked[1]

    async def test_what_the_runtime_adds_never_waits(self) -> None:
        box = inbox.Inbox(1)
        asked = asyncio.create_task(box.ask(titled("a")))
        await rig.settle()
        for _ in range(100):
            box.post(abort("a"))
        assert len(box.take_waiting(1000)) == 101
        asked.cancel()
        await asyncio.wait((asked,))

    async def test_a_caller_that_goes_makes_room(self) -> None:
        box = inbox.Inbox(1)
        gone = asyncio.create_task(box.ask(titled("a")))
        await rig.settle()
        gone.cancel()
        waits = asyncio.create_task(box.ask(titled("b")))
        await rig.settle()
        assert [one.input for one in box.take_waiting(9)] == [titled("a"), titled("b")]
        waits.cancel()
        await asyncio.wait((gone, waits))

    async def test_a_closed_one_refuses_who_comes_and_who_waits_before_it(self) -> None:
        box = inbox.Inbox(1)
        inside, before = (asyncio.create_task(box.ask(titled(name))) for name in "ab")
        await rig.settle()
        box.close()
        with pytest.raises(errors.Refusal, match="stopping") as refused:
            await box.ask(titled("c"))
        assert refused.value.kind is errors.RefusalKind.UNAVAILABLE
        (one,) = box.take_waiting(9)
        assert one.reply is not None
        one.reply.set_result(REPLY)
        assert await inside == REPLY
        with pytest.raises(errors.Refusal, match="stopping"):
            await before


def test_the_real_clock_and_chance() -> None:
    system, chance = clock.SystemClock(), clock.SystemChance()
    assert system.monotonic_ms() <= system.monotonic_ms()
    seeds = {chance.seed() for _ in range(200)}  # more than are drawn at once
    assert len(seeds) == 200
    assert {len(bytes.fromhex(one)) for one in seeds} == {16}


class CountingStore(in_memory.InMemoryStore):
    """Notes what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        self.asked.extend(content_ids)
        return await super().texts(content_ids)


class TestContents:
    async def kept(self, *texts: str, kept_chars: int) -> tuple[CountingStore, contents.Contents]:
        store = CountingStore()
        cache = contents.Contents(store, kept_chars)
        records = [
            decisions.ContentRecord(content_id=ids.ContentId(text), owner=CHAT, text=text)
            for text in texts
        ]
        await store.commit((), records)
        cache.add(records)
        return store, cache

    async def test_what_came_of_late_is_in_memory(self) -> None:
        store, cache = await self.kept("aaaa", "bbbb", "cccc", kept_chars=8)
        wanted = [ids.ContentId(text) for text in ("aaaa", "bbbb", "cccc")]
        assert await cache.texts(wanted) == {text: text for text in wanted}
        assert store.asked == ["aaaa"]

    async def test_one_that_is_larger_than_all_is_kept_alone(self) -> None:
        store, cache = await self.kept("a", "b" * 100, kept_chars=8)
        assert await cache.text(ids.ContentId("b" * 100)) == "b" * 100
        assert store.asked == []

    async def test_an_empty_text_is_no_missing_one(self) -> None:
        store, cache = await self.kept("", kept_chars=8)
        assert await cache.text(ids.ContentId("")) == ""
        assert store.asked == []

    async def test_one_that_was_forgotten_or_never_was(self) -> None:
        store, cache = await self.kept("aaaa", "bbbb", kept_chars=4)
        await store.forget([ids.ContentId("aaaa")])
        assert await cache.text(ids.ContentId("aaaa")) is None
        assert await cache.text(ids.ContentId("never")) is None

    async def test_what_a_conversation_forgets_is_not_kept_here(self) -> None:
        store, cache = await self.kept("aaaa", "bbbb", kept_chars=100)
        other = decisions.ContentRecord(
            content_id=ids.ContentId("of another"), owner=ids.ConversationId("other"), text="cccc"
        )
        forgotten = decisions.ForgottenRecord(owner=CHAT)
        await store.commit((), [other, forgotten])
        cache.add([other, forgotten])
        wanted = [ids.ContentId("aaaa"), ids.ContentId("bbbb"), other.content_id]
        assert await cache.texts(wanted) == {"aaaa": None, "bbbb": None, "of another": "cccc"}


class TestSupervisor:
    async def test_a_side_task_that_ends_is_told_by_name(self) -> None:
        die = asyncio.Event()

        async def dies() -> None:
            await die.wait()
            raise ZeroDivisionError

        async def lives() -> None:
            await asyncio.Event().wait()

        async with supervisor.Supervisor() as watched:
            watched.start("lives", lives())
            watched.start("dies", dies())
            watching = asyncio.create_task(watched.watch())
            await rig.settle()
            assert not watching.done()
            die.set()
            assert await watching == "dies"

    @pytest.mark.parametrize("dies", [True, False])
    async def test_one_that_dies_before_the_order_to_stop_is_told(self, dies: bool) -> None:
        die, stop = asyncio.Event(), asyncio.Event()

        async def lives() -> None:
            await die.wait()

        async with supervisor.Supervisor() as watched:
            watched.start("dies", lives())
            waiting = asyncio.create_task(watched.died_before(stop))
            await rig.settle()
            assert not waiting.done()
            (die if dies else stop).set()
            assert await waiting is dies

    async def test_all_are_ended_with_the_block(self) -> None:
        ended: list[str] = []

        async def run(name: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(name)

        async with supervisor.Supervisor() as watched:
            for name in ("one", "two", "three"):
                watched.start(name, run(name))
            await rig.settle()
            await watched.end("two")
            assert ended == ["two"]
        assert ended == ["two", "one", "three"]


def test_every_action_has_its_failpoints() -> None:
    points = failpoints.every()
    assert len(points) == len(set(points))
    assert {"commit:before", "commit:after", "call_tool:before", "call_model:after"} <= set(points)


def test_stages_are_those_that_are_shown() -> None:
    assert {one.value for one in messages.Stage} == {"loading", "queued", "prefill", "decode"}
