"""Lanes on a clock that is much quicker than ours: bans of minutes, and what goes on meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from bots.telegram import calls, lanes
from tests.simulation import quick_loop

SPEED = 500.0
U = lanes.Urgency


class Sent:
    """Calls that note when they were made; each fails first with the faults that it is given."""

    def __init__(self, faults: dict[str, list[calls.Fault]]) -> None:
        self.faults = faults
        self.tries: list[tuple[str, float]] = []
        self.began = asyncio.Event()

    def named(self, name: str) -> Callable[[], Coroutine[object, object, str]]:
        async def call() -> str:
            self.tries.append((name, asyncio.get_running_loop().time()))
            self.began.set()
            faults = self.faults.get(name)
            if faults:
                raise faults.pop(0)
            return name

        return call

    def at_s(self, name: str) -> list[float]:
        return [at_s for one, at_s in self.tries if one == name]


def quickly(play: Callable[[], Coroutine[object, object, None]]) -> None:
    with asyncio.Runner(loop_factory=lambda: quick_loop.QuickLoop(SPEED)) as runner:
        runner.run(play())


def unreachable(alone: bool) -> calls.Unreachable:
    fault = calls.Unreachable("Bad Gateway")
    fault.alone = alone
    return fault


@pytest.mark.acceptance(31)
@pytest.mark.parametrize("alone", [True, False])
def test_a_call_that_alone_gets_no_answer_is_given_up_and_the_lane_goes_on(alone: bool) -> None:
    many = 3 * lanes.FAILING_TRIES
    sent = Sent({"bad": [unreachable(alone) for _ in range(many)]})
    ends: list[object] = []

    async def play() -> None:
        sending = lanes.Lanes()
        bad = asyncio.create_task(sending.send("5", "", U.CARD, sent.named("bad")))
        await sent.began.wait()
        assert await sending.send("5", "", U.END, sent.named("next")) == "next"
        ends.extend(await asyncio.gather(bad, return_exceptions=True))
        await sending.close()

    quickly(play)
    tries, last_s = sent.at_s("bad"), sent.at_s("next")[0]
    if alone:
        assert isinstance(ends[0], calls.Unreachable)
        assert lanes.FAILING_TRIES <= len(tries) <= many
        assert tries[-1] - tries[0] >= lanes.FAILING_S
        assert tries[-1] - tries[0] <= 2 * lanes.FAILING_S
    else:  # all of Telegram is away: that passes
        assert ends == ["bad"]
        assert len(tries) == many + 1
    assert last_s >= tries[-1]


@pytest.mark.acceptance(31)
@pytest.mark.parametrize("retry_after_s", [5, 35, 149, 1000])
@pytest.mark.parametrize("topic", ["", "7"])
def test_a_ban_parks_the_whole_chat_and_no_other(retry_after_s: int, topic: str) -> None:
    sent = Sent({"banned": [calls.TooMany(retry_after_s)]})

    async def play() -> None:
        sending = lanes.Lanes()
        banned = asyncio.create_task(sending.send("-5", "", U.PROGRESS, sent.named("banned")))
        await sent.began.wait()
        card = asyncio.create_task(sending.send("-5", topic, U.CARD, sent.named("card")))
        assert await sending.send("6", "", U.END, sent.named("other")) == "other"
        assert not sent.at_s("card")
        await asyncio.gather(banned, card)
        await sending.close()

    quickly(play)
    first, again = sent.at_s("banned")
    (card_s,) = sent.at_s("card")
    assert min(again, card_s) - first > retry_after_s
    assert sent.at_s("other")[0] - first < 5


def test_a_call_without_an_answer_is_made_until_there_is_one() -> None:
    sent = Sent({"lost": [calls.Unreachable("x") for _ in range(12)]})

    async def play() -> None:
        sending = lanes.Lanes()
        assert await sending.send("5", "", U.END, sent.named("lost")) == "lost"
        await sending.close()

    quickly(play)
    tries = sent.at_s("lost")
    pauses = [after - before for before, after in zip(tries, tries[1:], strict=False)]
    assert len(tries) == 13
    assert min(pauses) > 0.9
    assert max(pauses) < 2 * lanes.PAUSE_LIMIT_S


def test_an_edit_in_a_ban_gives_way_to_newer_ones_and_to_the_end() -> None:
    sent = Sent({"edit 1": [calls.TooMany(60)]})

    async def play() -> None:
        sending = lanes.Lanes()
        old = asyncio.create_task(sending.send("5", "", U.PROGRESS, sent.named("edit 1"), "m"))
        await sent.began.wait()
        edits = [
            asyncio.create_task(
                sending.send("5", "", U.PROGRESS, sent.named(f"edit {number}"), "m")
            )
            for number in range(2, 30)
        ]
        end = asyncio.create_task(sending.send("5", "", U.END, sent.named("end")))
        found = await asyncio.gather(old, *edits, end, return_exceptions=True)
        assert [one for one in found if isinstance(one, str)] == ["edit 29", "end"]
        await sending.close()

    quickly(play)
    assert [name for name, _ in sent.tries] == ["edit 1", "end", "edit 29"]


def test_who_does_not_wait_any_more_has_nothing_sent() -> None:
    sent = Sent({"first": [calls.TooMany(30)]})

    async def play() -> None:
        sending = lanes.Lanes()
        first = asyncio.create_task(sending.send("5", "", U.PROGRESS, sent.named("first")))
        await sent.began.wait()
        first.cancel()
        await sending.send("5", "", U.END, sent.named("end"))
        await sending.close()

    quickly(play)
    assert [name for name, _ in sent.tries] == ["first", "end"]


def test_a_quiet_lane_ends_and_leaves_nothing() -> None:
    async def play() -> None:
        sending, sent = lanes.Lanes(), Sent({})
        for chat in range(40):
            await sending.send(str(chat), "", U.END, sent.named(str(chat)))
        assert sending.count() > 1
        running = [one for one in asyncio.all_tasks() if one.get_name().startswith("lane")]
        _, pending = await asyncio.wait(running, timeout=20 * lanes.IDLE_S)
        assert not pending
        assert sending.count() == 0
        await sending.close()

    quickly(play)
