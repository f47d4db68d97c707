"""`scripts/run` around stand-ins for the set-up, the daemon and the client."""

import os
import pty
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

SETUP = "#!/bin/bash\necho 'setup was here' >&2\n"
DAEMON = """#!/usr/bin/env python3
import os, pathlib, signal, socket, sys
state = pathlib.Path(sys.argv[sys.argv.index("--state") + 1])
here = pathlib.Path(__file__).parent
(here / "daemon.arguments").write_text(" ".join(sys.argv[1:]))
(here / "daemon.environment").write_text("\\n".join(os.environ))
(here / "daemon.pid").write_text(str(os.getpid()))
if "--no-start" in sys.argv:
    sys.exit("[models] slot thinker: no such file")
path = state / "ducklmd.sock"
path.unlink(missing_ok=True)
server = socket.socket(socket.AF_UNIX)
server.bind(str(path))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("ready", flush=True)
try:
    signal.pause()
finally:
    path.unlink()
    (here / "daemon.stopped").touch()
"""
CLIENT = """#!/bin/bash
case $1 in
  status) [[ -f ${0%/*}/answers ]] ;;
  ask) echo "[$DUCKLM_ADDRESS] noise" >&2; echo "answer to: $3"; exit "${CODE:-0}" ;;
  chat)
    while [[ -f ${0%/*}/chat.waits && ! -f ${0%/*}/bot.again ]]; do sleep 0.05; done
    echo "chat on $DUCKLM_STATE"
    ;;
  token)
    echo "$*" >>"${0%/*}/token.asked"
    taken=${0%/*}/token.taken
    if [[ $2 == revoke ]]; then rm -f "$taken"; exit; fi
    [[ ! -f $taken ]] || { echo "the name is taken" >&2; exit 1; }
    echo secret-of-the-bot
    ;;
esac
"""
BOT = """#!/usr/bin/env python3
import os, pathlib, signal, sys
here = pathlib.Path(__file__).parent
if os.environ["DUCKLM_TELEGRAM_TOKEN"].startswith("8:"):
    print("ducklm-telegram: Nobody owns this bot", file=sys.stderr)
    sys.exit(2)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print('{"event": "serving"}', flush=True)
if os.environ["DUCKLM_TELEGRAM_TOKEN"].startswith("9:"):
    died = here / "bot.died"
    died.write_text("x" * (len(died.read_text()) + 1 if died.exists() else 1))
    if len(died.read_text()) < 3:
        sys.exit(7)
    (here / "bot.again").touch()
(here / "bot.started").touch()
try:
    signal.pause()
finally:
    (here / "bot.stopped").touch()
"""


class Checkout:
    """A folder that looks like the project after its set-up, with stand-ins that record."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / ".venv" / "bin"
        self.state = root / "state"
        self.bin.mkdir(parents=True)
        (root / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "run", root / "scripts" / "run")
        for path, text in (
            (root / "scripts" / "setup", SETUP),
            (self.bin / "ducklmd", DAEMON),
            (self.bin / "ducklm", CLIENT),
            (self.bin / "ducklm-telegram", BOT),
        ):
            path.write_text(text)
            path.chmod(0o755)

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [str(self.root / "scripts" / "run"), "--state", str(self.state), *arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root), "CODE": str(code)}
        return subprocess.run(
            command,
            env=environment,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @property
    def stopped(self) -> bool:
        return (self.bin / "daemon.stopped").exists()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def dead_socket(checkout: Checkout) -> Iterator[None]:
    checkout.state.mkdir()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(checkout.state / "ducklmd.sock"))
        yield


def test_once_gives_the_answer_alone_and_stops_what_it_started(checkout: Checkout) -> None:
    done = checkout.run("--once", "2 < 3 & more?")
    assert (done.stdout, done.returncode) == ("answer to: 2 < 3 & more?\n", 0)
    assert "setup was here" in done.stderr
    assert f"[unix:{checkout.state}/ducklmd.sock] noise" in done.stderr
    assert checkout.stopped
    assert (checkout.state / "ducklmd.log").read_text() == "ready\n"


def test_the_exit_code_is_the_clients(checkout: Checkout) -> None:
    assert checkout.run("--once", "no", code=3).returncode == 3
    assert checkout.stopped


def test_daemon_options_are_handed_on(checkout: Checkout) -> None:
    checkout.run("--once", "x", "--config=/c d", "--models", "/m", "--listen", ":1", "--no-color")
    handed = (checkout.bin / "daemon.arguments").read_text()
    assert handed == (
        f"--state {checkout.state} --config /c d --models /m --listen :1 --no-color --listen unix"
    )


def test_a_daemon_for_one_question_listens_on_its_socket_alone(checkout: Checkout) -> None:
    checkout.run("--once", "x")
    handed = (checkout.bin / "daemon.arguments").read_text()
    assert handed == f"--state {checkout.state} --listen unix"


def test_a_failed_start_shows_its_reason(checkout: Checkout) -> None:
    done = checkout.run("--once", "x", "--no-start")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "slot thinker: no such file" in done.stderr
    assert "did not start" in done.stderr


@pytest.mark.usefixtures("dead_socket")
def test_the_socket_of_a_dead_daemon_is_no_daemon(checkout: Checkout) -> None:
    assert checkout.run("--once", "x").stdout == "answer to: x\n"
    assert checkout.stopped


@pytest.mark.usefixtures("dead_socket")
def test_a_running_daemon_is_used_and_left_running(checkout: Checkout) -> None:
    (checkout.bin / "answers").touch()
    done = checkout.run("--once", "x", "--models", "/m")
    assert done.stdout == "answer to: x\n"
    assert "already; it keeps its own settings" in done.stderr
    assert not (checkout.bin / "daemon.arguments").exists()


def test_without_a_terminal_the_daemon_stays_in_the_foreground(checkout: Checkout) -> None:
    done = checkout.run("--no-start")
    assert done.returncode == 1
    assert done.stderr.endswith("slot thinker: no such file\n")


def test_with_a_terminal_the_chat_opens_and_the_daemon_ends_with_it(checkout: Checkout) -> None:
    master, slave = pty.openpty()
    command = [str(checkout.root / "scripts" / "run"), "--state", str(checkout.state)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout.root)}
    done = subprocess.run(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, timeout=60, check=False
    )
    os.close(slave)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert done.returncode == 0
    assert f"chat on {checkout.state}" in shown
    assert checkout.stopped


def chat(checkout: Checkout, token: str) -> str:
    """What the terminal shows when the chat is opened with a bot configured."""
    master, slave = pty.openpty()
    command = [str(checkout.root / "scripts" / "run"), "--state", str(checkout.state)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout.root)}
    environment["DUCKLM_TELEGRAM_TOKEN"] = token
    done = subprocess.run(
        command, env=environment, stdin=slave, stdout=slave, stderr=slave, timeout=60, check=False
    )
    os.close(slave)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert done.returncode == 0
    return shown


def test_a_configured_bot_runs_beside_the_daemon_with_a_token_of_its_own(
    checkout: Checkout,
) -> None:
    for _ in range(2):
        assert "the Telegram bot runs too" in chat(checkout, "7:of-the-bot-father")
    own = checkout.state / "bots" / "telegram-7.token"
    assert (own.read_text(), own.stat().st_mode & 0o777) == ("secret-of-the-bot\n", 0o600)
    asked = (checkout.bin / "token.asked").read_text()
    assert asked == (
        "token create telegram-7 --scope run,read,approve,channel --platform telegram --account 7\n"
    )
    assert (checkout.bin / "bot.stopped").exists()
    assert checkout.stopped


def test_a_token_that_an_earlier_run_was_given_and_did_not_put_in_place_is_used(
    checkout: Checkout,
) -> None:
    bots = checkout.state / "bots"
    bots.mkdir(parents=True)
    (bots / "telegram-7.token.tmp").write_text("given-before\n")
    assert "the Telegram bot runs too" in chat(checkout, "7:of-the-bot-father")
    assert (bots / "telegram-7.token").read_text() == "given-before\n"
    assert not (checkout.bin / "token.asked").exists()


def test_a_bot_that_cannot_start_says_why_and_the_chat_opens(checkout: Checkout) -> None:
    shown = chat(checkout, "8:nobody-owns-it")
    assert "Nobody owns this bot" in shown
    assert f"chat on {checkout.state}" in shown


def test_a_bot_that_dies_is_told_of_once_and_started_again(checkout: Checkout) -> None:
    (checkout.bin / "chat.waits").touch()
    shown = chat(checkout, "9:dies-twice")
    assert shown.count("the Telegram bot ended with code 7") == 1
    assert (checkout.bin / "bot.died").read_text() == "xxx"
    assert (checkout.bin / "bot.stopped").exists()
    assert checkout.stopped


def test_a_token_that_an_earlier_run_made_and_lost_is_made_anew(checkout: Checkout) -> None:
    (checkout.bin / "token.taken").touch()
    assert "the Telegram bot runs too" in chat(checkout, "7:of-the-bot-father")
    own = checkout.state / "bots" / "telegram-7.token"
    assert own.read_text() == "secret-of-the-bot\n"
    asked = [line.split()[1] for line in (checkout.bin / "token.asked").read_text().splitlines()]
    assert asked == ["create", "revoke", "create"]


def test_the_daemon_does_not_know_the_bot_s_token(checkout: Checkout) -> None:
    chat(checkout, "7:of-the-bot-father")
    known = (checkout.bin / "daemon.environment").read_text().splitlines()
    assert "DUCKLM_STATE" in known
    assert "DUCKLM_TELEGRAM_TOKEN" not in known


def test_the_bot_ends_with_the_daemon_though_the_script_was_killed(checkout: Checkout) -> None:
    command = [str(checkout.root / "scripts" / "run"), "--state", str(checkout.state)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout.root)}
    environment["DUCKLM_TELEGRAM_TOKEN"] = "7:of-the-bot-father"
    running = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert running.stdout is not None
    with running.stdout as said:
        assert any("serving" in line for line in said)
        running.kill()
        running.wait(20)
        os.kill(int((checkout.bin / "daemon.pid").read_text()), signal.SIGTERM)
        said.read()  # until all that it started has ended
    assert checkout.stopped
    assert (checkout.bin / "bot.stopped").exists()


def test_no_bot_runs_for_one_question(checkout: Checkout) -> None:
    folder = checkout.root / ".config" / "ducklm"
    folder.mkdir(parents=True)
    (folder / "telegram.token").write_text("7:x")
    assert checkout.run("--once", "x").stdout == "answer to: x\n"
    assert not (checkout.bin / "bot.started").exists()


@pytest.mark.parametrize("arguments", [("--once",), ("--what",), ("text",)])
def test_wrong_arguments_are_refused_before_anything_is_done(
    checkout: Checkout, arguments: tuple[str, ...]
) -> None:
    done = checkout.run(*arguments)
    assert done.returncode == 2
    assert "--help" in done.stderr
    assert "setup was here" not in done.stderr
