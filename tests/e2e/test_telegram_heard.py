"""/stop is heard and a press is answered at once, whatever else hangs, waits or is banned."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator

import pytest

from bots.telegram import polling
from proto.ducklm.v1 import common_pb2
from tests import running_bot, running_daemon
from tests.conftest import Figures, Rounds
from tests.fakes import way
from tests.fakes.telegram import faults, server, world
from tests.integration.rpc import work

pytestmark = [pytest.mark.timeout(120), pytest.mark.spec("B-06")]

SOON_S = 1.0
BUSY_S = 10.0  # what a run beside others may take longer
OTHER = 90
PEOPLE = range(10, 40)  # a new one for each round: nothing hangs from the one before
OWNERS = f'[owner]\ntelegram = ["42"]\n[people]\ntelegram = {[str(n) for n in (*PEOPLE, OTHER)]}\n'
PREFILL: running_daemon.ScriptLine = {
    "role": "*",
    "match": "^prefill",
    "reply": "so it says at last",
    "reasoning": "long " * 5,
    "chunk_ms": 30_000,
    "repeat": True,
}


@dataclasses.dataclass(frozen=True)
class Scene:
    """A daemon, the bot's way to it, and the bot."""

    bot: running_bot.RunningBot
    way: way.Way

    @property
    def held(self) -> world.World:
        return self.bot.world

    def newest(self, user: int) -> int:
        """The newest message in somebody's chat so far."""
        return max((one.message_id for one in self.held.messages(str(user), own=None)), default=0)

    def begins(self, user: int, text: str = "endless") -> None:
        """Somebody has a task that goes on, and sees it."""
        before = self.newest(user)
        self.held.say(text, user=user)
        shown = self.held.messages
        self.held.until(
            lambda: any(one.message_id > before + 1 and one.own for one in shown(str(user)))
        )

    def hang(self, method: str, user: int, doing: Callable[[], object]) -> None:
        """Have what somebody does now hang in the daemon, once it has come there."""
        hung = self.way.hung
        self.way.hang(method, b":%d" % user if method == "Channels/Look" else b"")
        doing()
        self.held.until(lambda: self.way.hung > hung)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    sudo = tmp_path_factory.mktemp("sudo") / "sudo"
    sudo.write_text(work.SUDO.format(password="correct horse"), "utf-8")
    sudo.chmod(0o755)
    with contextlib.ExitStack() as ends:
        root = ends.enter_context(running_daemon.folder())
        daemon = running_daemon.RunningDaemon(root, sudo=str(sudo))
        daemon.script([PREFILL, *work.SCRIPT])
        daemon.own_settings(OWNERS)
        ends.callback(daemon.kill)
        daemon.start()
        telegram = ends.enter_context(server.running())
        between = ends.enter_context(way.running(f"unix:{daemon.socket}"))
        secret = running_bot.secret(daemon)
        bot = running_bot.RunningBot(daemon, telegram, secret, between.address)
        ends.callback(bot.kill)
        bot.start()
        bot.wait_ready()
        yield Scene(bot, between)


def nothing(scene: Scene, user: int) -> None:
    scene.begins(user)


def download(scene: Scene, user: int) -> None:
    scene.begins(user)
    rule = scene.bot.telegram.faults.add(faults.Rule("getFile", "hang", times=9))
    for who in (user, OTHER):
        scene.held.say("", user=who, **scene.held.file(b"x"))
    scene.held.until(lambda: rule.times <= 7)


def others_command(scene: Scene, user: int) -> None:
    scene.begins(user)
    scene.hang("Conversations/Export", OTHER, lambda: scene.held.say("/export", user=OTHER))


def every_call_of_another(scene: Scene, user: int) -> None:
    scene.begins(user)
    scene.hang("Channels/Look", OTHER, lambda: scene.held.say("hello", user=OTHER))


def own_command(scene: Scene, user: int) -> None:
    scene.begins(user)
    scene.hang("Conversations/Export", user, lambda: scene.held.say("/export", user=user))
    scene.held.say("and this waits for it", user=user)


def secret(scene: Scene, user: int) -> None:
    held = scene.held
    held.say("`sudo id -u`", user=user)
    card = held.card(str(user), "as root")
    held.press(held.button(card, "Once"), card.message_id, user=user)
    held.message(str(user), "needs a secret")


def prefill(scene: Scene, user: int) -> None:
    scene.begins(user, "prefill")


def banned(scene: Scene, user: int) -> None:
    scene.begins(user)
    ban = scene.bot.telegram.faults.add(
        faults.Rule("editMessageText", "retry", chat=str(user), retry_after_s=20)
    )
    scene.held.until(lambda: ban.times == 0)


def hundred(scene: Scene, user: int) -> None:
    """As many as Telegram shows, but for the two that are to be heard."""
    others_command(scene, user)
    for number in range(polling.UNCONFIRMED - 3):
        scene.held.say(f"number {number}", user=OTHER)


STATES: dict[str, Callable[[Scene, int], None]] = {
    "nothing hangs": nothing,
    "downloads hang": download,
    "another chat's command hangs": others_command,
    "every call of another chat hangs": every_call_of_another,
    "its own chat's command hangs": own_command,
    "a secret is awaited": secret,
    "a model has said nothing yet": prefill,
    "the chat is banned": banned,
    "a hundred updates of others wait": hundred,
}


def answered(scene: Scene, user: int) -> world.Shown:
    """An answer that can be said to be good."""
    held = scene.held
    asked = held.say("hello", user=user)

    def find() -> list[world.Shown]:
        shown = held.messages(str(user))
        return [one for one in shown if one.rows and one.message_id > asked]

    found: list[world.Shown] = held.until(find)
    return found[0]


def cancelled(scene: Scene, since: int) -> bool:
    with scene.bot.daemon.api() as api:
        found = work.events(api, after_seq=since)
    return any(one.task_state_changed.to == common_pb2.CANCELLED for one in found)


@pytest.mark.acceptance(21)
@pytest.mark.parametrize("state", STATES)
def test_stop_is_heard_and_a_press_is_answered_at_once(
    scene: Scene, state: str, rounds: Rounds, figures: Figures
) -> None:
    held, user = scene.held, PEOPLE[list(STATES).index(state)]
    good = answered(scene, user)
    answered(scene, OTHER)
    try:
        STATES[state](scene, user)
        press = held.press(held.button(good, "👍"), good.message_id, user=user)
        assert held.toast(press).text == "Noted."
        pressed_s = time.monotonic() - held.pressed_at[press]
        with scene.bot.daemon.api() as api:
            since = work.all_events(api)[-1].seq
        said_s = time.monotonic()
        held.say("/stop", user=user)
        held.until(lambda: cancelled(scene, since))
        heard_s = time.monotonic() - said_s
    finally:
        scene.way.release()
        scene.bot.telegram.faults.clear()
    figures(f"/stop while {state}, s", round(heard_s, 3))
    figures(f"a press while {state}, s", round(pressed_s, 3))
    alone = rounds(1000) == 1000
    assert max(heard_s, pressed_s) <= (SOON_S if alone else BUSY_S)
