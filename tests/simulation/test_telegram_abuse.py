"""Presses that nobody should have made: each is answered, soon, and none is accepted."""

import functools
import random
from collections.abc import Iterator

import pytest

from bots.telegram import texts
from proto.ducklm.v1 import approvals_pb2, common_pb2
from tests import running_bot
from tests.conftest import Figures, Rounds
from tests.fakes.telegram import world
from tests.integration.rpc import work

pytestmark = [pytest.mark.spec("B-04"), pytest.mark.timeout(240)]

PRESSES = 500
GROUP = "-1001"
ANONYMOUS = int(world.GROUP_ANONYMOUS_BOT["id"])
AT_ONCE = 20
SOON_S = 1.0
BUSY_S = 10.0  # in a run beside others


@pytest.fixture(scope="module")
def bot() -> Iterator[running_bot.RunningBot]:
    with running_bot.running(work.SCRIPT) as started:
        yield started


def asked(bot: running_bot.RunningBot, user: int, chat: str, number: int) -> world.Shown:
    """A card that waits in a chat."""
    address = "" if chat == str(user) else "@duck_bot "
    bot.world.say(f"{address}`env echo guarded-{number}`", user=user, chat=chat)
    return bot.world.card(chat, f"guarded-{number}")


def forgeries(
    chance: random.Random, mine: world.Shown, theirs: world.Shown, ended: world.Shown, once: str
) -> Iterator[tuple[str, int, int, str]]:
    """Data, message, presser and chat of presses that must not count: of all kinds, in turn."""
    own, other = mine.rows[0][0]["callback_data"], theirs.rows[0][0]["callback_data"]
    old = f"a:o:{once}"

    while True:
        kinds: list[tuple[str, int, int, str]] = [
            (other, mine.message_id, 5, "5"),  # another's card, from an own message
            (own, theirs.message_id, 6, GROUP),  # the card of a private chat, in a group
            (other, theirs.message_id, 6, GROUP),  # a member who is no owner
            (other, theirs.message_id, 99, GROUP),  # a stranger
            (other, theirs.message_id, ANONYMOUS, GROUP),  # an admin who hides
            (own, mine.message_id, 7, "7"),  # forwarded to somebody's own chat
            (own, mine.message_id + 5000, 5, "5"),  # a message that is not the card
            (old, ended.message_id, 5, "5"),  # decided before
            (f"a:a:approval-{chance.getrandbits(128):032x}", mine.message_id, 5, "5"),
            (own.replace("a:o", "a:z"), mine.message_id, 5, "5"),
            (own + "x", mine.message_id, 5, "5"),
            ("a:o:", mine.message_id, 5, "5"),
            ("".join(map(chr, chance.choices(range(32, 1000), k=20))), mine.message_id, 5, "5"),
            ("p:y:", mine.message_id, 6, "6"),
            ("d:m:", mine.message_id, 5, "5"),
            ("s:mode:yolo", mine.message_id, 5, "5"),
        ]
        chance.shuffle(kinds)
        yield from kinds


@pytest.mark.acceptance(30)
def test_no_forged_press_is_accepted(
    bot: running_bot.RunningBot, rounds: Rounds, seed: int, figures: Figures
) -> None:
    held, chance = bot.world, random.Random(seed)
    ended = asked(bot, 5, "5", 0)
    once = ended.rows[0][0]["callback_data"].removeprefix("a:o:")
    held.toast(held.press(f"a:d:{once}", ended.message_id, 5, "5"))
    mine, theirs = asked(bot, 5, "5", 1), asked(bot, 6, GROUP, 2)
    forged = forgeries(chance, mine, theirs, ended, once)
    toasts: list[world.Toast] = []
    for start in range(0, rounds(PRESSES), AT_ONCE):
        count = min(AT_ONCE, rounds(PRESSES) - start)
        presses = [held.press(*next(forged)) for _ in range(count)]
        toasts += [held.toast(one) for one in presses]
    with bot.daemon.api() as api:
        waiting = api.approvals.List(approvals_pb2.ListApprovalsRequest()).approvals
        assert len(waiting) == 2, "both still wait"
        started = [one for one in work.all_events(api) if one.HasField("tool_call_started")]
        assert started == []
        people = {one.WhichOneof("kind") for one in work.all_events(api)}
        assert "pairing_decided" not in people
        modes = [one for one in work.all_events(api) if one.HasField("conversation_updated")]
        assert not any(one.conversation_updated.mode == common_pb2.YOLO for one in modes)
    figures("presses", len(toasts))
    figures("accepted", 0)
    slowest_s = max(one.after_s for one in toasts)
    figures("slowest answer, s", round(slowest_s, 3))
    assert slowest_s <= (SOON_S if len(toasts) == PRESSES else BUSY_S)
    for card, user, chat in ((mine, 5, "5"), (theirs, 42, GROUP)):
        press = held.press(held.button(card, "Once"), card.message_id, user, chat)
        assert held.toast(press).text == "Allowed."
        held.until(functools.partial(says, card, f"allowed by {user}"))


def says(shown: world.Shown, part: str) -> bool:
    return part in shown.text


@pytest.mark.acceptance(30)
def test_a_press_that_comes_too_late_is_told_so() -> None:
    settings = f"{running_bot.OWNERS}[limits]\napproval_seconds = 1\n"
    with running_bot.running(work.SCRIPT, settings) as bot:
        bot.world.say("`env echo late`", user=5)
        card = bot.world.message("5", "nobody answered in time")
        once = f"a:o:{approval_id(bot)}"
        told = bot.world.toast(bot.world.press(once, card.message_id))
        assert told.text not in ("", texts.PRESSED["ALLOWED"])
        with bot.daemon.api() as api:
            assert not [one for one in work.all_events(api) if one.HasField("tool_call_started")]


def approval_id(bot: running_bot.RunningBot) -> str:
    with bot.daemon.api() as api:
        (found,) = [one for one in work.all_events(api) if one.HasField("approval_requested")]
    return found.approval_requested.approval_id
