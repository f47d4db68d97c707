"""Bot and daemon are killed at any moment: each message is answered once, each yes runs once."""

import functools
import itertools
import random
from collections.abc import Iterator

import pytest

from bots.telegram import texts
from proto.ducklm.v1 import common_pb2, tasks_pb2
from tests import running_bot, running_daemon
from tests.conftest import Figures, Rounds
from tests.fakes.telegram import world
from tests.integration.rpc import work

pytestmark = [pytest.mark.spec("B-07"), pytest.mark.timeout(120)]

KILLS = 100
PEOPLE = (5, 6, 7, 8)
ROUNDS = range(KILLS)
WHILES = ("both are away", "the daemon is away", "both are back")
SCRIPT: list[running_daemon.ScriptLine] = [
    {
        "role": "*",
        "match": f"^question {number}\\.$",
        "reply": f"answer number {number} is here",
        "chunk_ms": 20,
        "repeat": True,
    }
    for number in ROUNDS
]


def answers(held: world.World, number: int) -> list[world.Shown]:
    """The messages that hold an answer whole."""
    wanted = f"answer number {number} is here"
    return [one for user in PEOPLE for one in held.messages(str(user)) if one.text.endswith(wanted)]


@pytest.fixture(scope="module")
def bot() -> Iterator[running_bot.RunningBot]:
    with running_bot.running(SCRIPT) as started:
        yield started


@pytest.mark.acceptance(32)
def test_every_message_is_answered_once(
    bot: running_bot.RunningBot, rounds: Rounds, seed: int, figures: Figures
) -> None:
    chance, kills, held = random.Random(seed), rounds(KILLS), bot.world
    people = itertools.cycle(PEOPLE)
    for number in range(kills):
        held.say(f"question {number}.", user=next(people))
        calls = len(held.calls)
        at = chance.randrange(0, 8)
        _wait_for_calls(held, calls + at)
        if chance.random() < 0.5:
            bot.kill()
            bot.start()
        else:
            bot.daemon.kill()
            bot.daemon.start()
    for number in range(kills):
        held.until(functools.partial(answers, held, number), 60)
    running_bot.wait_until_shown(bot.daemon, held)
    counts = [len(answers(held, number)) for number in range(kills)]
    inert = [one.text for user in PEOPLE for one in held.messages(str(user)) if not one.rows]
    figures("kills", kills)
    figures("answered once", counts.count(1))
    figures("placeholders left", len(inert))
    assert counts == [1] * kills
    assert _asked(bot) == {f"question {number}.": 1 for number in range(kills)}
    assert len(inert) <= kills
    assert set(inert) <= {texts.STARTING, texts.AWAY}


def _wait_for_calls(held: world.World, count: int) -> None:
    """Until so many calls came, or no more come."""
    with held.changed:
        held.changed.wait_for(lambda: len(held.calls) >= count, 0.5)


def _asked(bot: running_bot.RunningBot) -> dict[str, int]:
    """How often each question became a task."""
    counts: dict[str, int] = {}
    with bot.daemon.api() as api:
        request = tasks_pb2.ListTasksRequest(page=common_pb2.Page(size=500))
        for task in api.tasks.List(request).tasks:
            if task.text.startswith("question"):
                counts[task.text] = counts.get(task.text, 0) + 1
    return counts


@pytest.mark.acceptance(32)
@pytest.mark.spec("L-06")
@pytest.mark.parametrize("press_while", WHILES)
def test_a_card_is_pressed_after_both_were_killed_and_the_command_runs_once(
    bot: running_bot.RunningBot, press_while: str
) -> None:
    held, ran = bot.world, bot.daemon.root / press_while.replace(" ", "-")
    with bot.daemon.api() as api:
        before = max((one.seq for one in work.all_events(api)), default=0)
    held.say(f"`tee -a {ran} < /etc/hostname`", user=5)
    card = held.card("5", ran.name)
    once = held.button(card, "Once")
    bot.kill()
    bot.daemon.kill()
    presses = []
    for now, start in zip(WHILES, (bot.start, bot.daemon.start, None), strict=True):
        if press_while == now:
            presses.append(held.press(once, card.message_id, 5))
        if start is not None:
            start()
    held.toast(presses[0])
    held.until(lambda: "allowed by" in card.text)
    held.toast(held.press(once, card.message_id, 5))
    running_bot.wait_until_shown(bot.daemon, held)
    found = [one.text for one in held.messages("5") if ran.name in one.text]
    assert len([text for text in found if "asks to run" in text]) == 1
    with bot.daemon.api() as api:
        found_events = work.events(api, after_seq=before)
    assert len([one for one in found_events if one.HasField("tool_call_started")]) == 1
