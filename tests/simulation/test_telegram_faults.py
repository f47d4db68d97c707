"""Telegram's own faults: bans, errors before and after the effect, dropped and hung calls.

The bot runs in a thread, on a loop whose clock is quicker than ours, as bans last for minutes.
"""

import asyncio
import contextlib
import dataclasses
import threading
import time
from collections.abc import Iterator

import pytest

from bots import client
from bots.telegram import __main__ as program, calls, config, lanes
from proto.ducklm.v1 import approvals_pb2, channels_pb2
from tests import running_bot, running_daemon
from tests.conftest import Figures
from tests.fakes.telegram import faults, server, world
from tests.simulation import quick_loop

pytestmark = [pytest.mark.spec("B-01"), pytest.mark.timeout(240)]

SPEED = 20.0
BAN_S = 160
LONG = "\n\n".join(f"paragraph {number} " + "🦆" * 900 for number in range(4))
BROKEN = "**bold _it* `code [x](y\n```py\nprint(1)\n| a |\n|--"
SCRIPT: list[running_daemon.ScriptLine] = [
    {"match": "^words", "reply": " ".join(f"w{n}" for n in range(40)), "chunk_ms": 40, "role": "*"},
    {"match": "^long", "reply": LONG, "role": "*"},
    {"match": "^broken", "reply": BROKEN, "role": "*"},
    {"match": "^emoji", "reply": "🦆" * 2100, "role": "*"},
    {"match": "^(?!unscripted)", "reply": "Paris.", "role": "*"},
]
for _line in SCRIPT:
    _line["repeat"] = True
WORDS = "w39"


@contextlib.contextmanager
def quick_bot(daemon: running_daemon.RunningDaemon, telegram: server.Server) -> Iterator[None]:
    """The bot, on a quick clock."""
    place = client.Place(f"unix:{daemon.socket}", running_bot.secret(daemon))
    chosen = config.Settings(server.TOKEN, telegram.url, place, 30, show_thinking=False)
    started: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []
    ready = threading.Event()

    async def live() -> None:
        daemon_client, api = client.Client(place), calls.Calls(chosen.token, chosen.api)
        sending = lanes.Lanes()
        try:
            running = asyncio.create_task(program.run(chosen, daemon_client, api, sending))
            started.append((asyncio.get_running_loop(), running))
            ready.set()
            with contextlib.suppress(asyncio.CancelledError):
                await running
        finally:
            await sending.close()
            await api.close()
            await daemon_client.close()

    def work() -> None:
        with asyncio.Runner(loop_factory=lambda: quick_loop.QuickLoop(SPEED)) as runner:
            runner.run(live())

    thread = threading.Thread(target=work, name="quick bot")
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        loop, running = started[0]
        loop.call_soon_threadsafe(running.cancel)
        thread.join(20)
        assert not thread.is_alive()


@dataclasses.dataclass(frozen=True)
class Scene:
    """A daemon, and Telegram with a quick bot."""

    daemon: running_daemon.RunningDaemon
    telegram: server.Server

    @property
    def held(self) -> world.World:
        return self.telegram.world

    def newest(self, chat: str) -> int:
        """The newest message in a chat so far."""
        found = self.held.messages(chat, own=None)
        return max((one.message_id for one in found), default=0)

    def answer(self, chat: str, part: str, before: int, limit_s: float = 60.0) -> None:
        """Wait for an answer after a message, and until nothing more comes: there is one."""
        self.held.until(lambda: ends(self.held, chat, part, before), limit_s)
        running_bot.wait_until_shown(self.daemon, self.held)
        assert len(ends(self.held, chat, part, before)) == 1


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with (
        running_daemon.running(SCRIPT, running_bot.OWNERS) as daemon,
        server.running() as telegram,
    ):
        telegram.speed = SPEED
        with quick_bot(daemon, telegram):
            yield Scene(daemon, telegram)


def ends(held: world.World, chat: str, part: str, before: int) -> list[world.Shown]:
    """The complete answers in a chat that came after so many messages."""
    found = [one for one in held.messages(chat) if one.message_id > before and part in one.text]
    return [one for one in found if one.rows]


Rule = faults.Rule
RETRIES = (5, 35, 149, 1000)
FAULTS: dict[str, list[Rule]] = {
    "a send fails before": [Rule("sendMessage", "server", times=3)],
    "a send fails after": [Rule("sendMessage", "server", when="after")],
    "an edit fails before": [Rule("editMessageText", "server", times=3)],
    "an edit fails after": [Rule("editMessageText", "server", when="after", times=3)],
    "a send is dropped": [Rule("sendMessage", "drop")],
    "an edit is dropped after": [Rule("editMessageText", "drop", when="after", times=2)],
    "a send hangs": [Rule("sendMessage", "hang")],
    "a send hangs after": [Rule("sendMessage", "hang", when="after")],
    "an edit hangs": [Rule("editMessageText", "hang")],
    "an edit hangs after": [Rule("editMessageText", "hang", when="after")],
    "all fails for a while": [Rule("", "server", times=8)],
    "marks are refused": [Rule("editMessageText", "bad", times=2)],
    "polls are refused": [Rule("getUpdates", "conflict"), Rule("getUpdates", "server", times=2)],
}


@pytest.mark.acceptance(31)
@pytest.mark.parametrize("name", FAULTS)
def test_an_answer_is_there_once_and_whole(scene: Scene, name: str, figures: Figures) -> None:
    held, before = scene.held, scene.newest("5")
    for rule in FAULTS[name]:
        scene.telegram.faults.add(Rule(**vars(rule)))
    try:
        held.say("words", user=5)
        scene.answer("5", WORDS, before)
    finally:
        scene.telegram.faults.clear()
    inert = [one for one in held.messages("5") if one.message_id > before and not one.rows]
    assert [one.text for one in inert] in ([], ["…"])
    figures(name, "one answer")


@pytest.mark.acceptance(31)
@pytest.mark.parametrize("retry_after_s", RETRIES)
def test_a_ban_of_one_chat_is_kept_and_no_other_waits_for_it(
    scene: Scene, retry_after_s: int, figures: Figures, request: pytest.FixtureRequest
) -> None:
    if retry_after_s > 100 and request.config.getoption("--acceptance") is None:
        retry_after_s //= 10  # the long ones at full length where all is run in full
    held, before, others = scene.held, scene.newest("6"), scene.newest("7")
    rule = Rule("editMessageText", "retry", chat="6", retry_after_s=retry_after_s)
    scene.telegram.faults.add(rule)
    held.say("words", user=6)
    held.until(lambda: rule.times == 0)
    held.say("quick", user=7)
    held.until(lambda: ends(held, "7", "Paris.", others), 30)
    scene.answer("6", WORDS, before, retry_after_s / SPEED + 60)
    assert held.banned_calls == []
    figures(f"calls inside a ban of {retry_after_s} s", 0)


@pytest.mark.acceptance(31)
def test_a_message_that_never_gets_an_answer_is_told_as_failed_and_the_chat_goes_on(
    scene: Scene,
) -> None:
    held, before = scene.held, scene.newest("7")
    rule = scene.telegram.faults.add(Rule("sendMessage", "server", chat="7", times=10**6))
    states = [channels_pb2.Delivery.FAILED]
    request = channels_pb2.ListDeliveriesRequest(states=states)
    with scene.daemon.api() as api:
        held.say("quick", user=7)
        found = held.until(lambda: api.channels.ListDeliveries(request).deliveries, 60)
    assert [one.fault for one in found] == ["Bad Gateway"]
    assert 10**6 - rule.times >= lanes.FAILING_TRIES
    scene.telegram.faults.clear()
    held.say("quick", user=7)
    scene.answer("7", "Paris.", before)


@pytest.mark.acceptance(31)
@pytest.mark.parametrize(("text", "part"), [("broken", "print(1)"), ("emoji", "🦆" * 50)])
def test_odd_text_comes_whole(scene: Scene, text: str, part: str) -> None:
    held, before = scene.held, scene.newest("8")
    held.say(text, user=8)
    (end,) = held.until(lambda: ends(held, "8", part, before), 60)
    shown = [one for one in held.messages("8") if one.message_id > before]
    whole = "".join(one.text for one in shown)
    if text == "emoji":
        assert whole.count("🦆") == 2100
    assert end.text.strip()


@pytest.mark.acceptance(31)
@pytest.mark.spec("B-02")
def test_a_long_answer_is_complete_in_parts_or_in_a_file(scene: Scene) -> None:
    held, before = scene.held, scene.newest("8")
    held.say("long", user=8)
    held.until(lambda: ends(held, "8", "paragraph 3", before), 60)
    shown = [one for one in held.messages("8") if one.message_id > before]
    whole = "\n\n".join(one.text for one in shown)
    assert [whole.count(f"paragraph {number} ") for number in range(4)] == [1, 1, 1, 1]
    assert whole.count("🦆") == 3600


@pytest.mark.acceptance(31)
@pytest.mark.spec("B-04")
def test_after_a_ban_the_card_comes_first(scene: Scene) -> None:
    held, before = scene.held, scene.newest("7")
    rule = Rule("sendMessage", "retry", chat="7", retry_after_s=BAN_S)
    scene.telegram.faults.add(rule)
    held.say("`env echo overtaken`", user=7)
    held.until(lambda: rule.times == 0)
    with scene.daemon.api() as api:
        request = approvals_pb2.ListApprovalsRequest()
        (waiting,) = held.until(lambda: api.approvals.List(request).approvals)
        assert held.bans["7"] > time.monotonic(), "it was asked during the ban"
        card = held.card("7", "env echo overtaken")
        assert [one.message_id for one in held.messages("7") if one.message_id > before][0] == (
            card.message_id
        )
        api.approvals.Resolve(
            approvals_pb2.ResolveRequest(
                approval_id=waiting.approval_id, answer=approvals_pb2.DENY, client_key="overtaken"
            )
        )
    running_bot.wait_until_shown(scene.daemon, held)
    assert held.banned_calls == []


@pytest.mark.acceptance(31)
def test_a_chat_that_is_gone_is_told_and_stops_nothing(scene: Scene) -> None:
    held = scene.held
    held.gone["6"] = "Forbidden: bot was blocked by the user"
    try:
        held.say("lost", user=6)
        before = scene.newest("7")
        held.say("quick", user=7)
        held.until(lambda: ends(held, "7", "Paris.", before), 30)
    finally:
        del held.gone["6"]
