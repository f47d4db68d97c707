"""A password on Telegram: asked for in private, deleted at once, used once, kept nowhere."""

import contextlib
import pathlib
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import channels_pb2, tasks_pb2
from tests import running_bot, running_daemon, spelled
from tests.fakes.telegram import faults, server
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


def test_what_was_written_before_it_was_asked_for_is_no_password(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with elevating_bot(tmp_path_factory.mktemp("sudo")) as bot:
        held = bot.world
        held.say("`sudo id -u`", user=5)
        card = held.card("5", "as root")
        ban = bot.telegram.faults.add(
            faults.Rule("sendMessage", "retry", chat="5", retry_after_s=3)
        )
        held.press(held.button(card, "Once"), card.message_id, user=5)
        held.until(lambda: ban.times == 0)  # it is asked for, and cannot be shown yet
        before = held.say("what else?", user=5)
        asked = held.message("5", "needs a secret")
        assert asked.message_id > before
        said = held.say(PASSWORD, user=5)
        held.message("5", "Taken, used once")
        held.until(lambda: held.shown["5", said].deleted)
        assert not held.shown["5", before].deleted
        with bot.daemon.api() as api:
            tasks = api.tasks.List(tasks_pb2.ListTasksRequest()).tasks
        assert {task.text for task in tasks} == {"`sudo id -u`", "what else?"}


def shown_notices(bot: running_bot.RunningBot) -> list[channels_pb2.Delivery]:
    request = channels_pb2.ListDeliveriesRequest(states=[channels_pb2.Delivery.SHOWN])
    with bot.daemon.api() as api:
        found = api.channels.ListDeliveries(request).deliveries
    return [one for one in found if one.kind == channels_pb2.Delivery.NOTICE]


def test_what_a_group_is_asked_for_goes_on_where_the_group_does(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with elevating_bot(tmp_path_factory.mktemp("sudo")) as bot:
        held = bot.world
        held.say("@duck_bot `sudo id -u`", user=42, chat="-55")
        card = held.card("-55", "as root")
        held.press(held.button(card, "Once"), card.message_id, user=42, chat="-55")
        held.message("-55", "needs a secret")
        held.until(lambda: shown_notices(bot))
        held.migrate("-55", "-10055")
        held.message("-10055", "needs a secret")
        held.say(PASSWORD, user=42)
        held.message("-10055", "as root: ")
