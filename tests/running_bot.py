"""A real Telegram bot process for tests, between a real daemon and a stand-in for Telegram."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import typing
from collections.abc import Iterator

from proto.ducklm.v1 import admin_pb2, channels_pb2
from tests import running_daemon
from tests.fakes.telegram import server, world

STOP_S = 10.0
START_S = 60.0
SHOWN_S = 60.0
OWNERS = '[owner]\ntelegram = ["42"]\n[people]\ntelegram = ["5", "6", "7", "8"]\n'


class RunningBot:
    """One bot, which may be killed and started again."""

    def __init__(
        self,
        daemon: running_daemon.RunningDaemon,
        telegram: server.Server,
        secret: str,
        address: str = "",
    ) -> None:
        self.daemon = daemon
        self.telegram = telegram
        self.world = telegram.world
        self.log = daemon.root / "bot.log"
        self._secret = secret
        self._address = address or f"unix:{daemon.socket}"
        self.process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    def environment(self) -> dict[str, str]:
        return self.daemon.environment() | {
            "DUCKLM_TELEGRAM_TOKEN": server.TOKEN,
            "DUCKLM_TELEGRAM_API": self.telegram.url,
            "DUCKLM_BOT_TOKEN": self._secret,
            "DUCKLM_ADDRESS": self._address,
        }

    def start(self) -> None:
        settings = pathlib.Path(self.environment()["XDG_CONFIG_HOME"]) / "ducklm" / "bots.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("version = 1\n[telegram]\npoll_seconds = 2\n", "utf-8")
        self._log_start = len(self.said())
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bots.telegram"],
                cwd=running_daemon.ROOT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait_ready(self) -> None:
        """Until it receives; a machine that does much else takes its time."""
        self.world.until(self.serving, START_S)

    def serving(self) -> bool:
        """Whether it has said so since it was started last."""
        return self.said()[self._log_start :].count('"serving"') > 0

    def kill(self) -> None:
        """End it at once, with no time for a last word."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(STOP_S)
            self.process = None

    def stop(self) -> int:
        """Ask it to end; returns its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the bot did not end") from None
        self.process = None
        return code

    def said(self) -> str:
        """What it has logged."""
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""


def secret(daemon: running_daemon.RunningDaemon, account: str = "77") -> str:
    """A bot's own token for the daemon."""
    token = admin_pb2.Token
    scopes = [token.RUN, token.READ, token.APPROVE, token.CHANNEL]
    request = admin_pb2.CreateTokenRequest(
        name=f"bot-{account}", scopes=scopes, platform="telegram", account=account
    )
    with daemon.api() as api:
        return api.admin.CreateToken(request).secret


@contextlib.contextmanager
def running(
    lines: typing.Iterable[running_daemon.ScriptLine] | None = None, settings: str = OWNERS
) -> Iterator[RunningBot]:
    """A daemon, a stand-in for Telegram, and a bot between them; all end for sure."""
    with (
        running_daemon.running(lines, settings) as daemon,
        server.running() as telegram,
    ):
        bot = RunningBot(daemon, telegram, secret(daemon))
        bot.start()
        try:
            bot.wait_ready()
            yield bot
        finally:
            bot.kill()


def wait_until_shown(daemon: running_daemon.RunningDaemon, held: world.World) -> None:
    """Until nothing is left to be shown: only then can it be said that nothing came twice."""
    delivery = channels_pb2.Delivery
    request = channels_pb2.ListDeliveriesRequest(states=[delivery.PENDING, delivery.SENT])
    with daemon.api() as api:
        held.until(lambda: not api.channels.ListDeliveries(request).deliveries, SHOWN_S)


def folder_of(bot: RunningBot) -> pathlib.Path:
    """The daemon's own project folder."""
    home = pathlib.Path(bot.daemon.environment()["XDG_DATA_HOME"])
    return home / "ducklm" / "projects" / "default"


def threads(process: subprocess.Popen[bytes]) -> int:
    """How many threads a process has."""
    return len(os.listdir(f"/proc/{process.pid}/task"))
