"""Receiving: each update is taken once, in order, and confirmed only then, whatever fails."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine

import pytest
from aiogram import types

from bots.telegram import calls, lanes, polling, texts, updates
from tests.simulation import quick_loop
from tests.unit.bots.telegram import receiving

BOT = updates.Bot("77", "duck_bot")
POLL_S = 30
SPEED = 20.0
LIMIT_S = 400.0  # of a clock that is that much quicker
ONCE = f"a:o:approval-{'a' * 32}"
RESOLVED = f"approvals.Resolve approval-{'a' * 32} ALLOW_ONCE"
LOOKS = ("channels.Look", "channels.GetCursor", "conversations.Get")


class Stage:
    """A bot's receiving end between a Telegram and a daemon that write down."""

    def __init__(self) -> None:
        self.daemon = receiving.Daemon()
        self.api = receiving.Api()
        self.ann, self.ben = receiving.Person(5), receiving.Person(6, 200)
        self.cid = receiving.Person(7, 300)
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
    stage.api.give(stage.ann.says("one"), stage.ann.says("two"))
    await stage.confirmed(102)
    stage.api.give(stage.ann.presses(ONCE))
    await stage.confirmed(103)
    assert stage.told() == ["tasks.Submit “one”", "tasks.Submit “two”", RESOLVED]
    keys = [one.client_key for _, one in stage.daemon.asked if hasattr(one, "client_key")]
    assert keys == ["telegram:77:101 submit", "telegram:77:102 submit", "telegram:77:103 answer"]


@pytest.mark.spec("B-07")
@on_a_quick_clock
async def test_nothing_is_confirmed_while_the_daemon_is_away_and_each_is_told_once(
    stage: Stage,
) -> None:
    stage.daemon.away = True
    stage.api.give(stage.ann.says("one"), stage.ann.says("two"), stage.ann.presses(ONCE))
    stage.api.give(stage.ben.says("three"))
    await stage.until(lambda: len(stage.daemon.asked) >= 9)
    assert stage.api.confirmed < 101
    assert sorted(stage.api.log) == [f"send {chat}: {texts.AWAY}" for chat in (5, 6)]
    assert [one for one in stage.api.toasts if one[1] == texts.AWAY_TOAST] == stage.api.toasts
    stage.daemon.away = False
    stage.daemon.asked.clear()
    await stage.confirmed(201)
    ann = [one for one in stage.told() if "three" not in one and "Resolve" not in one]
    assert ann == ["tasks.Submit “one”", "tasks.Submit “two”"]
    assert set(stage.told()) == {*ann, RESOLVED, "tasks.Submit “three”"}
    assert len(stage.api.log) == 2


HELD: list[tuple[str, list[str], str, str]] = [
    # What hangs, what comes then, and what of it is heard meanwhile; "one" has to wait.
    ("another chat's command", ["ben /status"], "ann hello", "tasks.Submit “hello”"),
    ("another chat's commands", ["ben /status", "ben one"], "ann /stop", "tasks.Cancel t-1"),
    ("its own command", ["ann /status", "ann one"], "ann /stop", "tasks.Cancel t-1"),
    ("a press in its chat", ["ann PRESS", "ann one"], "ann /stop", "tasks.Cancel t-1"),
    ("a press beside a command", ["ann /status", "ann one"], "ann PRESS2", "tasks.Feedback"),
    ("a press on another message", ["ann PRESS"], "ann PRESS2", "tasks.Feedback"),
]
HANGS = ("admin.Status", "approvals.Resolve")


def acted(stage: Stage, line: str) -> types.Update:
    who, _, said = line.partition(" ")
    person = stage.ann if who == "ann" else stage.ben
    data = {"PRESS": ONCE, "PRESS2": f"f:y:task-{'b' * 32}"}.get(said)
    return person.presses(data) if data else person.says(said)


@pytest.mark.spec("B-06")
@pytest.mark.parametrize(("before", "then", "told"), [one[1:] for one in HELD])
def test_what_hangs_holds_its_own_chat_alone(before: list[str], then: str, told: str) -> None:
    async def play(stage: Stage) -> None:
        gate = asyncio.Event()
        stage.daemon.holds = dict.fromkeys(HANGS, gate)
        stage.daemon.look.live_tasks.add(task_id="t-1")
        stage.api.give(*(acted(stage, line) for line in before), acted(stage, then))
        await stage.until(lambda: told in stage.told())
        assert "tasks.Submit “one”" not in stage.told()
        assert stage.api.confirmed < (201 if before[0].startswith("ben") else 101)
        gate.set()
        await stage.confirmed(stage.ben.number if stage.ben.number > 200 else stage.ann.number)
        assert ("tasks.Submit “one”" in stage.told()) == before[-1].endswith(" one")

    quickly(play)


@pytest.mark.spec("B-07")
@on_a_quick_clock
async def test_behind_a_hundred_that_are_not_confirmed_the_rest_waits_and_comes(
    stage: Stage,
) -> None:
    gate = stage.daemon.holds["admin.Status"] = asyncio.Event()
    many = polling.UNCONFIRMED + 50
    stage.api.give(stage.ann.says("/status"), *(stage.ben.says(f"n{n}") for n in range(many)))
    seen = polling.UNCONFIRMED - 1
    await stage.until(lambda: f"tasks.Submit “n{seen - 1}”" in stage.told())
    polls = len(stage.api.polls)
    with pytest.raises(TimeoutError):  # nothing new can come: nothing is asked for
        async with asyncio.timeout(polling.HELD_S / 2):
            await stage.until(lambda: len(stage.api.polls) > polls + 1)
    assert stage.api.confirmed < 101
    assert f"tasks.Submit “n{seen}”" not in stage.told()
    gate.set()
    await stage.confirmed(200 + many)
    submits = [one for one in stage.told() if one.startswith("tasks.Submit")]
    assert submits == [f"tasks.Submit “n{n}”" for n in range(many)]
    assert stage.api.log == []


@pytest.mark.spec("B-07")
@pytest.mark.parametrize("away", [False, True])
def test_what_holds_up_all_others_is_given_up_unless_the_daemon_is_away(away: bool) -> None:
    async def play(stage: Stage) -> None:
        stage.daemon.holds["admin.Status"] = asyncio.Event()
        last = polling.UNCONFIRMED + 10
        stage.api.give(stage.ann.says("/status"), stage.ann.says("next"))
        stage.api.give(*(stage.ben.says(f"n{n}") for n in range(last)))
        await stage.until(lambda: "tasks.Submit “n97”" in stage.told())
        stage.daemon.away = away
        if away:
            cursors = stage.daemon.lines
            await stage.until(lambda: "channels.GetCursor" in cursors("channels.Look"))
            assert stage.api.confirmed < 101
            stage.daemon.away = False
        await stage.confirmed(200 + last)
        assert stage.api.log == [f"send 5: {texts.GIVEN_UP}"]
        assert "tasks.Submit “next”" in stage.told()

    quickly(play)


@pytest.mark.spec("B-03")
@on_a_quick_clock
async def test_who_was_let_in_before_they_spoke_is_heard(stage: Stage) -> None:
    """A stranger's words wait for a press that may be about them; nobody else's do."""
    gate = stage.daemon.holds["channels.DecidePairing"] = asyncio.Event()
    stage.daemon.look.replied_to.person.principal = "telegram:77:6"
    stage.daemon.strangers = {"telegram:77:6"}
    stage.api.give(stage.ann.presses("p:y:"), stage.ann.says("mine", chat="-1"))
    stage.api.give(stage.ben.says("hello"), stage.cid.says("other"))
    await stage.until(lambda: "tasks.Submit “other”" in stage.told())
    assert "channels.Pair" not in stage.told()
    stage.daemon.strangers.clear()
    gate.set()
    await stage.confirmed(201)
    assert "tasks.Submit “hello”" in stage.told()
    assert "channels.Pair" not in stage.told()


@on_a_quick_clock
async def test_a_setting_that_was_pressed_counts_for_what_was_said_after_it(stage: Stage) -> None:
    gate = stage.daemon.holds["conversations.Update"] = asyncio.Event()
    stage.api.give(stage.ann.presses("s:mode:plan"), stage.ann.says("one"), stage.ben.says("two"))
    await stage.until(lambda: "tasks.Submit “two”" in stage.told())
    assert "tasks.Submit “one”" not in stage.told()
    gate.set()
    await stage.confirmed(201)
    assert "tasks.Submit “one”" in stage.told()


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
