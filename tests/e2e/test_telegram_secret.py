"""A password on Telegram: asked for in private, deleted at once, used once, kept nowhere."""

import contextlib
import pathlib
from collections.abc import Iterator

import pytest

from tests import running_bot, running_daemon, spelled
from tests.fakes.telegram import server
from tests.integration.rpc import work

pytestmark = [pytest.mark.timeout(90), pytest.mark.spec("D-15")]
PASSWORD = "correct horse 🔋 battery"


@contextlib.contextmanager
def elevating_bot(folder: pathlib.Path) -> Iterator[running_bot.RunningBot]:
    """A bot of a daemon whose sudo is a stand-in."""
    program = folder / "sudo"
    program.write_text(work.SUDO.format(password=PASSWORD), "utf-8")
    program.chmod(0o755)
    with running_daemon.folder() as root, server.running() as telegram:
        daemon = running_daemon.RunningDaemon(root, sudo=str(program))
        daemon.script(work.SCRIPT)
        daemon.own_settings(running_bot.OWNERS)
        try:
            daemon.start()
            bot = running_bot.RunningBot(daemon, telegram, running_bot.secret(daemon))
            bot.start()
            try:
                bot.wait_ready()
                yield bot
            finally:
                bot.kill()
        finally:
            daemon.kill()


@pytest.mark.parametrize("chat", ["5", "-100"])
def test_a_password_is_taken_once_and_stands_nowhere(
    tmp_path_factory: pytest.TempPathFactory, chat: str
) -> None:
    with elevating_bot(tmp_path_factory.mktemp("sudo")) as bot:
        held = bot.world
        address = "" if chat == "5" else "@duck_bot "
        held.say(f"{address}`sudo id -u`", user=42 if chat == "-100" else 5, chat=chat)
        person = 42 if chat == "-100" else 5
        card = held.card(chat, "as root")
        assert [one["text"] for one in card.rows[0]] == ["Once"]
        held.press(held.button(card, "Once"), card.message_id, user=person, chat=chat)
        told = held.message(chat, "needs a secret")
        assert ("private chat" in told.text) == (chat == "-100")
        said = held.say(PASSWORD, user=person)
        held.message(str(person), "Taken, used once")
        held.until(lambda: held.shown[str(person), said].deleted)
        held.message(chat, "as root: ")
        assert PASSWORD not in bot.said()
        files = [path for path in bot.daemon.root.rglob("*") if path.is_file()]
        forms = spelled.forms(PASSWORD.encode())
        leaks = [path for path in files if any(form in path.read_bytes() for form in forms)]
        assert leaks == []
