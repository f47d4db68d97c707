"""Receiving: each update is taken once, in order, and confirmed only then, whatever fails."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

import pytest

from bots.telegram import calls, lanes, polling, texts, updates
from tests.simulation import quick_loop
from tests.unit.bots.telegram import receiving

BOT = updates.Bot("77", "duck_bot")
POLL_S = 30
SPEED = 20.0
LIMIT_S = 400.0  # of a clock that is that much quicker
ONCE = f"a:o:approval-{'a' * 32}"
LOOKS = ("channels.Look", "channels.GetCursor", "conversations.Get")


class Stage:
    """A bot's receiving end between a Telegram and a daemon that write down."""

    def __init__(self) -> None:
        self.daemon = receiving.Daemon()
        self.api = receiving.Api()
        self.ann, self.ben = receiving.Person(5), receiving.Person(6, 200)
        self.sending = lanes.Lanes()
        self.running: asyncio.Task[None] | None = None

    def begin(self) -> None:
        receiver = polling.Polling(self.daemon, self.api, self.sending, BOT, POLL_S)
        self.running = asyncio.create_task(receiver.run())

    async def die(self) -> None:
        assert self.running is not None
        self.running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.running

    async def until(self, wanted: Callable[[], object]) -> None:
        """Until something holds, which is looked at with each poll and each thing that is sent."""
        async with asyncio.timeout(LIMIT_S):
            while not wanted():
                assert self.running is not None
                assert not self.running.done(), self.running
                self.api.told.clear()
                self.daemon.reached.clear()
                waits = [
                    asyncio.create_task(one.wait()) for one in (self.api.told, self.daemon.reached)
                ]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for one in waits:
                    one.cancel()

    async def confirmed(self, number: int) -> None:
        await self.until(lambda: self.api.confirmed >= number)

    def told(self) -> list[str]:
        return self.daemon.lines(*LOOKS)


Play = Callable[[Stage], Coroutine[object, object, None]]


def quickly(play: Play) -> None:
    """Play on a quick clock."""

    async def whole() -> None:
        stage = Stage()
        stage.begin()
        try:
            await play(stage)
        finally:
            await stage.die()
            await stage.sending.close()

    with asyncio.Runner(loop_factory=lambda: quick_loop.QuickLoop(SPEED)) as runner:
        runner.run(whole())


def on_a_quick_clock(play: Play) -> Callable[[], None]:
    def test() -> None:
        quickly(play)

    test.__name__ = play.__name__
    return test


@on_a_quick_clock
async def test_updates_are_taken_in_order_and_confirmed(stage: Stage) -> None:
    stage.api.give(stage.ann.says("one"), stage.ann.says("two"), stage.ann.presses(ONCE))
    await stage.confirmed(103)
    assert stage.told() == [
        "tasks.Submit “one”",
        "tasks.Submit “two”",
        f"approvals.Resolve approval-{'a' * 32} ALLOW_ONCE",
    ]
    keys = [one.client_key for _, one in stage.daemon.asked if hasattr(one, "client_key")]
    assert keys == ["telegram:77:101 submit", "telegram:77:102 submit", "telegram:77:103 answer"]


@pytest.mark.spec("B-07")
@on_a_quick_clock
async def test_nothing_is_confirmed_while_the_daemon_is_away_and_each_is_told_once(
    stage: Stage,
) -> None:
    stage.daemon.faults["tasks.Submit"] = [receiving.AWAY] * 5
    press = stage.ann.presses(ONCE)
    stage.api.give(stage.ann.says("one"), stage.ann.says("two"), press, stage.ben.says("three"))
    await stage.until(lambda: len(stage.daemon.faults["tasks.Submit"]) == 1)
    assert stage.api.confirmed < 101
    await stage.confirmed(201)
    assert stage.told() == [
        "tasks.Submit “one”",
        "tasks.Submit “two”",
        f"approvals.Resolve approval-{'a' * 32} ALLOW_ONCE",
        "tasks.Submit “three”",
    ]
    assert sorted(stage.api.log) == [f"send {chat}: {texts.AWAY}" for chat in (5, 6)]
    assert stage.api.toasts[0][1] == texts.AWAY_TOAST


@on_a_quick_clock
async def test_an_update_that_breaks_the_program_is_told_and_passed(stage: Stage) -> None:
    stage.daemon.faults["tasks.Submit"] = [ZeroDivisionError("one")]
    stage.daemon.faults["approvals.Resolve"] = [ZeroDivisionError("one")]
    stage.api.give(stage.ann.says("one"), stage.ann.presses(ONCE), stage.ann.says("two"))
    await stage.confirmed(103)
    assert stage.told()[-1] == "tasks.Submit “two”"
    await stage.until(lambda: stage.api.log and stage.api.toasts)
    assert stage.api.log == [f"send 5: {texts.BROKE}"]
    assert stage.api.toasts == [("press-102", texts.BROKE)]


@pytest.mark.spec("K-15")
@on_a_quick_clock
async def test_a_file_is_waited_for_by_its_own_chat_alone(stage: Stage) -> None:
    stage.api.give(
        stage.ann.says(more=receiving.document("a.pdf", "look", file_id="held")),
        stage.ann.says("and then?"),
        stage.ann.presses(ONCE),
        stage.ben.says("hello"),
    )
    await stage.until(lambda: "tasks.Submit “hello”" in stage.told())
    stage.api.give(stage.ben.says("more"))
    await stage.until(lambda: "tasks.Submit “more”" in stage.told())
    assert stage.api.toasts
    assert stage.api.confirmed < 101
    stage.api.held.set()
    await stage.confirmed(202)
    assert [one for one in stage.told() if one.startswith("tasks")] == [
        "tasks.Submit “hello”",
        "tasks.Submit “more”",
        "tasks.Submit “look” incoming/a.pdf",
        "tasks.Submit “and then?”",
    ]
    submits = [one for method, one in stage.daemon.asked if method == "tasks.Submit"]
    assert len(submits) == 4


@pytest.mark.spec("B-06")
@on_a_quick_clock
async def test_stop_is_heard_while_a_file_comes_and_again_for_what_it_began(stage: Stage) -> None:
    stage.daemon.look.live_tasks.add(task_id="t-1")
    stage.api.give(stage.ann.says(more=receiving.document("a.pdf", "look", file_id="held")))
    stage.api.give(stage.ann.says("/stop"))
    await stage.until(lambda: "tasks.Cancel t-1" in stage.told())
    stage.daemon.look.live_tasks.add(task_id="t-2")
    stage.api.held.set()
    await stage.confirmed(102)
    told = [one for one in stage.told() if "tasks" in one]
    assert told == ["tasks.Cancel t-1", "tasks.Submit “look” incoming/a.pdf", "tasks.Cancel t-2"]


@on_a_quick_clock
async def test_a_file_that_does_not_come_at_once_keeps_its_turn(stage: Stage) -> None:
    stage.api.files["x"] = [calls.Unreachable("x"), calls.Unreachable("x"), calls.TooMany(9)]
    stage.api.give(
        stage.ann.says(more=receiving.document("a.pdf", "look", file_id="x")),
        stage.ann.says("and then?"),
    )
    await stage.confirmed(102)
    refusal = texts.FILE_NOT_GIVEN.format(name="a.pdf")
    assert stage.told() == [f"channels.Post {refusal}", "tasks.Submit “and then?”"]


@on_a_quick_clock
async def test_an_album_is_waited_for_until_no_more_of_it_comes(stage: Stage) -> None:
    before = stage.ann.says("before")
    first, *others = [
        stage.ann.says(more=receiving.document(f"{number}.txt", text) | {"media_group_id": "g"})
        for number, text in enumerate(("all", "", ""))
    ]
    stage.api.later = others
    stage.api.give(before, first)
    await stage.confirmed(104)
    assert [one for one in stage.told() if one.startswith("tasks.Submit")] == [
        "tasks.Submit “before”",
        "tasks.Submit “all” incoming/0.txt,incoming/1.txt,incoming/2.txt",
    ]


@on_a_quick_clock
async def test_an_album_of_which_more_came_after_a_crash_is_submitted_once(stage: Stage) -> None:
    parts = [
        stage.ann.says(more=receiving.document(f"{number}.txt", text) | {"media_group_id": "g"})
        for number, text in enumerate(("all", ""))
    ]
    stage.api.give(parts[0])
    await stage.until(lambda: any(one.startswith("tasks.Submit") for one in stage.told()))
    await stage.die()
    stage.api.waiting = []
    stage.api.confirmed = 0
    stage.api.give(*parts)
    stage.begin()
    await stage.confirmed(102)
    assert [one for one in stage.told() if one.startswith("channels.Post")] == []
    keys = {one.client_key for method, one in stage.daemon.asked if method == "tasks.Submit"}
    assert keys == {"telegram:77:101 submit"}


@pytest.mark.spec("B-07")
@on_a_quick_clock
async def test_receiving_goes_on_soon_after_the_network_is_back(stage: Stage) -> None:
    stage.api.faults = [calls.Unreachable("x")] * 8
    stage.api.give(stage.ann.says("one"))
    await stage.confirmed(101)
    times = [at_s for _, at_s in stage.api.polls[:9]]
    assert max(after - before for before, after in zip(times, times[1:], strict=False)) < 15
    assert {poll_s for poll_s, _ in stage.api.polls[1:9]} == {polling.LOST_POLL_S}
    assert stage.api.log.count("reconnect") == 8


@on_a_quick_clock
async def test_beside_a_second_poller_the_bot_waits_long(stage: Stage) -> None:
    stage.api.faults = [calls.Conflict("x"), calls.Conflict("x")]
    stage.api.give(stage.ann.says("one"))
    await stage.confirmed(101)
    times = [at_s for _, at_s in stage.api.polls[:3]]
    pauses = [after - before for before, after in zip(times, times[1:], strict=False)]
    assert min(pauses) >= polling.CONFLICT_PAUSE_S


@on_a_quick_clock
async def test_a_token_that_is_none_ends_it(stage: Stage) -> None:
    stage.api.faults = [calls.Unauthorized("x")]
    stage.api.give(stage.ann.says("one"))
    assert stage.running is not None
    with pytest.raises(calls.Unauthorized):
        await stage.running
    stage.api.faults = []
    stage.begin()


@on_a_quick_clock
async def test_a_quiet_bot_polls_as_seldom_as_it_is_told(stage: Stage) -> None:
    stage.api.give(stage.ann.says(more=receiving.document("a.pdf")), stage.ann.presses(ONCE))
    await stage.confirmed(102)
    before = len(stage.api.polls)
    await stage.until(lambda: len(stage.api.polls) >= before + 3)
    times = [at_s for _, at_s in stage.api.polls[before:]]
    assert times[-1] - times[-2] >= POLL_S - 1
