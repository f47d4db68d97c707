"""The bot's settings: where they come from, and the one sentence that mends what is wrong."""

import pathlib
from collections.abc import Mapping

import pytest

from bots import config as clients
from bots.telegram import config

TOKEN = "77:AAfrom-the-bot-father-0123456789"


@pytest.fixture
def home(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / ".config" / "ducklm").mkdir(parents=True)
    (tmp_path / ".local" / "state" / "ducklm" / "bots").mkdir(parents=True)
    return tmp_path


def write(path: pathlib.Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text)
    path.chmod(mode)


def own(home: pathlib.Path, name: str) -> pathlib.Path:
    return home / ".config" / "ducklm" / name


def daemon_token(home: pathlib.Path) -> pathlib.Path:
    return home / ".local" / "state" / "ducklm" / "bots" / "telegram-77.token"


def test_files_are_enough(home: pathlib.Path) -> None:
    write(own(home, "telegram.token"), f"{TOKEN}\n")
    write(daemon_token(home), "secret\n")
    write(own(home, "bots.toml"), "[telegram]\npoll_seconds = 7\nshow_thinking = true\n")
    found = config.read({}, home)
    assert (found.token, found.daemon.token) == (TOKEN, "secret")
    assert (found.poll_seconds, found.show_thinking) == (7, True)
    assert found.api == "https://api.telegram.org"
    assert found.daemon.address == f"unix:{home}/.local/state/ducklm/ducklmd.sock"
    assert TOKEN not in repr(found)
    assert "secret" not in repr(found)


def test_the_environment_goes_before_the_files(home: pathlib.Path) -> None:
    write(own(home, "telegram.token"), TOKEN.replace("77", "78"))
    environ = {
        "DUCKLM_TELEGRAM_TOKEN": TOKEN,
        "DUCKLM_TELEGRAM_API": "http://127.0.0.1:9",
        "DUCKLM_BOT_TOKEN": "given",
        "DUCKLM_ADDRESS": "127.0.0.1:7411",
    }
    found = config.read(environ, home)
    assert (found.token, found.api, found.daemon.token) == (TOKEN, "http://127.0.0.1:9", "given")
    assert found.daemon.address == "127.0.0.1:7411"


GIVEN = {"DUCKLM_TELEGRAM_TOKEN": TOKEN, "DUCKLM_BOT_TOKEN": "x"}


@pytest.mark.parametrize(
    ("environ", "bots_toml", "says"),
    [
        ({}, "", "get one from @BotFather"),
        ({"DUCKLM_TELEGRAM_TOKEN": "nonsense"}, "", "it looks like 123456:ABC"),
        ({"DUCKLM_TELEGRAM_TOKEN": TOKEN}, "", "start it with ./scripts/run"),
        (GIVEN, "[telegram]\npol_seconds = 7\n", "telegram.pol_seconds is no setting"),
        (GIVEN, "[telegram]\npoll_seconds = '7'\n", "poll_seconds must be a int"),
        (GIVEN, "[telegram\n", "cannot be used"),
        (GIVEN, "[telegram]\nca = '/none'\n", "no file /none with the daemon's CA"),
        ({**GIVEN, "DUCKLM_ADDRESS": "example.org:1"}, "", "example.org"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(
    home: pathlib.Path, environ: Mapping[str, str], bots_toml: str, says: str
) -> None:
    if bots_toml:
        write(own(home, "bots.toml"), bots_toml)
    with pytest.raises(clients.ConfigError, match=says):
        config.read(environ, home)


def test_a_secret_that_others_can_read_is_refused(home: pathlib.Path) -> None:
    write(own(home, "telegram.token"), TOKEN, 0o644)
    with pytest.raises(clients.ConfigError, match="chmod 600"):
        config.read({}, home)
