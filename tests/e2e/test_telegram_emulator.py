"""The bot against an emulator of the Bot API that others wrote: question, card, result."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests import running_bot, running_daemon
from tests.fakes import emulator
from tests.integration.rpc import work

pytestmark = [pytest.mark.timeout(180), pytest.mark.spec("C-02")]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def bot_on(telegram: emulator.Emulator, daemon: running_daemon.RunningDaemon) -> Iterator[None]:
    environment = daemon.environment() | {
        "DUCKLM_TELEGRAM_TOKEN": emulator.TOKEN,
        "DUCKLM_TELEGRAM_API": telegram.url,
        "DUCKLM_BOT_TOKEN": running_bot.secret(daemon, "666"),
        "DUCKLM_ADDRESS": f"unix:{daemon.socket}",
    }
    with (daemon.root / "bot.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bots.telegram"],
            cwd=running_daemon.ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield
    finally:
        process.kill()
        process.wait(running_bot.STOP_S)


def test_question_card_and_result() -> None:
    with (
        running_daemon.running(work.SCRIPT, running_bot.OWNERS) as daemon,
        emulator.running(free_port(), 42) as telegram,
        bot_on(telegram, daemon),
    ):
        telegram.say("What is the capital of France?")
        telegram.until(lambda text, rows: text == "Paris." and bool(rows))
        telegram.say("`env echo through-the-emulator`")
        message_id, _, rows = telegram.until(
            lambda text, rows: "env echo through-the-emulator" in text and bool(rows)
        )
        telegram.press(rows[0][0]["callback_data"], message_id)
        telegram.until(lambda text, rows: text.endswith("through-the-emulator") and bool(rows))
        telegram.until(lambda text, _: "allowed by 42" in text)
