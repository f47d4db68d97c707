"""The whole walk with the embedded model: a question, edits as it streams, a card, a result."""

import pytest

from tests import running_bot, running_daemon
from tests.fakes.telegram import server, world

pytestmark = [pytest.mark.timeout(180), pytest.mark.spec("C-07")]


def test_a_question_and_a_command_with_the_embedded_model() -> None:
    with running_bot.running(None) as bot:
        held = bot.world
        asked = held.say("What is the capital of France? Say why it is known.", user=5)

        def answered() -> list[world.Shown]:
            found = held.messages("5")
            return [one for one in found if one.rows and one.message_id > asked]

        (answer,) = held.until(answered, 120)
        assert answer.text.strip()
        # After half a minute the end is a message of its own, and the preview is gone.
        previews = [one for one in held.shown.values() if one.own and one.said[:1] == ["…"]]
        assert any(len(one.said) > 2 for one in previews), "it has grown while it was written"
        held.say("`env echo walked`", user=5)
        card = held.card("5", "env echo walked")
        press = held.press(held.button(card, "Once"), card.message_id, user=5)
        assert held.toast(press).text == "Allowed."
        held.message("5", "\nwalked")


@pytest.mark.spec("B-03")
def test_without_an_owner_the_bot_does_not_start() -> None:
    with running_daemon.running([], "") as daemon, server.running() as telegram:
        bot = running_bot.RunningBot(daemon, telegram, running_bot.secret(daemon))
        bot.start()
        assert bot.process is not None
        assert bot.process.wait(60) == 2
        assert "Nobody owns this bot" in bot.said()
