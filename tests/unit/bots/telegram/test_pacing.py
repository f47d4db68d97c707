"""When calls may be made, and in which order: with a clock that is moved by hand."""

import asyncio

import pytest

from bots.telegram import calls, lanes, pacing


@pytest.mark.parametrize(
    ("chat", "progress", "taken", "after_s", "delay_s"),
    [
        ("5", False, 0, 0.0, 0.0),
        ("5", False, 8, 0.0, 1.0),
        ("5", False, 8, 0.5, 0.5),
        ("5", True, 7, 0.0, 1.0),  # one call is left for what matters more
        ("5", True, 6, 0.0, 0.0),
        ("-100", False, 8, 0.0, 3.0),
        ("-100", False, 8, 3.0, 0.0),
        ("-100", False, 50, 60.0, 0.0),
    ],
)
def test_the_pace_of_a_chat(
    chat: str, progress: bool, taken: int, after_s: float, delay_s: float
) -> None:
    pace = pacing.Chat(chat)
    for _ in range(taken):
        pace.take(100.0)
    assert pace.delay_s(100.0 + after_s, progress) == pytest.approx(delay_s, abs=1e-6)


@pytest.mark.parametrize("retry_after_s", [5, 35, 149, 1000])
def test_a_ban_is_waited_for_to_its_end(retry_after_s: int) -> None:
    pace = pacing.Chat("5")
    pace.ban(10.0, retry_after_s)
    assert pace.delay_s(10.0 + retry_after_s, progress=False) > 0
    assert pace.delay_s(10.6 + retry_after_s, progress=False) == 0


class Sent:
    """Calls that note their names, and fail as they are told."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.faults: dict[str, list[calls.Fault]] = {}
        self.open = asyncio.Event()
        self.open.set()

    async def call(self, name: str) -> str:
        await self.open.wait()
        faults = self.faults.get(name)
        if faults:
            raise faults.pop(0)
        self.names.append(name)
        return name


U = lanes.Urgency


async def test_cards_go_first_and_of_progress_only_the_newest() -> None:
    sending, sent = lanes.Lanes(), Sent()
    sent.open.clear()

    def ask(name: str, urgency: lanes.Urgency, key: str = "") -> "asyncio.Task[str]":
        async def go() -> str:
            return await sending.send("5", "", urgency, lambda: sent.call(name), key)

        return asyncio.create_task(go())

    first = ask("first", U.PROGRESS)
    await asyncio.sleep(0)
    waits = [
        ask("edit 1", U.PROGRESS, "m"),
        ask("end", U.END),
        ask("edit 2", U.PROGRESS, "m"),
        ask("card", U.CARD),
    ]
    await asyncio.sleep(0)
    sent.open.set()
    found = await asyncio.gather(first, *waits, return_exceptions=True)
    assert sent.names == ["first", "card", "end", "edit 2"]
    assert isinstance(found[1], lanes.Superseded)
    await sending.close()


async def test_faults_are_handed_on_or_waited_out() -> None:
    sending, sent = lanes.Lanes(), Sent()
    sent.faults["lost"] = [calls.Unreachable("x")]
    sent.faults["refused"] = [calls.Refused("x")]
    with pytest.raises(calls.Refused):
        await sending.send("5", "", U.END, lambda: sent.call("refused"))
    assert await sending.send("5", "", U.END, lambda: sent.call("lost")) == "lost"
    await sending.close()
