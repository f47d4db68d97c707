"""Real daemons on state folders of their own: started, killed, stopped, and none left behind.

Answers for a private environment, for knowing when a daemon serves or has ended, and for ending
every process that was started. Waits only on pipes and processes, never for a time to pass.
"""

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.simulation import client, script

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 90.0
"""How long anything that must come is waited for, on a machine that is busy with other things."""
SOCKET_NAME = "ducklmd.sock"

_SERVING = '"event": "serving"'
_ENDED = ""


@dataclass(frozen=True)
class Place:
    """Where one daemon lives. Everything lies below a folder of the test's own."""

    root: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        return self.root / "s"

    @property
    def outside(self) -> Path:
        """Where effects can be seen: the folder that tools work in, outside the daemon's own."""
        return self.root / "data" / "ducklm" / "projects" / "default"

    @property
    def journal(self) -> Path:
        """Where the testing tools note their calls."""
        return self.outside / "journal"

    def prepare(self, lines: Sequence[script.Line]) -> None:
        """Make the folders, and a models.toml whose thinker answers from these lines."""
        self.outside.mkdir(parents=True, exist_ok=True)
        self.rewrite(lines)
        (self.root / "models.toml").write_text(
            f'version = 1\n[roles]\nthinker = ["scripted:{self.root / "script.jsonl"}"]\n'
        )

    def rewrite(self, lines: Sequence[script.Line]) -> None:
        """Change what the thinker says from the next start on."""
        (self.root / "script.jsonl").write_text(script.text(lines))

    def arguments(self) -> list[str]:
        models = str(self.root / "models.toml")
        return ["--state", str(self.state), "--models", models, "--listen", "unix"]

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "XDG_DATA_HOME": str(self.root / "data"),
            "XDG_STATE_HOME": str(self.root / "xdg-state"),
            "DUCKLM_TOOLS__TESTING": "true",
            **self.variables,
        }

    def noted(self) -> list[str]:
        """The ids of the calls that the testing tools have noted, in order."""
        return lines_of(self.journal)


def lines_of(path: Path) -> list[str]:
    """The lines of a file; none when there is no such file."""
    try:
        return path.read_text().splitlines()
    except FileNotFoundError:
        return []


class Daemon:
    """One daemon process. `api` speaks to it once `serves` has said so."""

    def __init__(self, process: subprocess.Popen[str], state: Path) -> None:
        self.process = process
        self.log: list[str] = []
        self.started_seconds = time.monotonic()
        self._state = state
        self._client: client.Client | None = None
        self._orphans: list[psutil.Process] = []
        self._news: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="daemon log", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        if self.process.stderr is None:
            raise RuntimeError("the daemon was started without a pipe")
        for line in self.process.stderr:
            self.log.append(line)
            if _SERVING in line:
                self._news.put(line)
        self._news.put(_ENDED)

    def serves(self) -> bool:
        """Wait until it serves; False when it ended first."""
        return self._news.get(timeout=PATIENCE_SECONDS) != _ENDED

    @property
    def api(self) -> client.Client:
        """The channel to it; made at the first use."""
        if self._client is None:
            self._client = self.connect()
        return self._client

    def connect(self) -> client.Client:
        """A channel of the caller's own, which the caller closes."""
        return client.Client(self._state / SOCKET_NAME, self._state / "token")

    def lives_in(self, state: Path) -> None:
        """Its state folder is seen from here by another name."""
        self._state = state

    def alive(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """kill -9, at once."""
        self._note_children()
        self.process.kill()
        self._clean_up()

    def terminate(self) -> None:
        """Ask it to drain; does not wait."""
        self._note_children()
        self.process.send_signal(signal.SIGTERM)

    def ended(self, patience_seconds: float = PATIENCE_SECONDS) -> int:
        """Wait until it has ended by itself; returns the exit code."""
        self.process.wait(patience_seconds)
        self._clean_up()
        return self.process.returncode

    def _note_children(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            self._orphans.extend(psutil.Process(self.process.pid).children(recursive=True))

    def _clean_up(self) -> None:
        self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        if self.process.stderr is not None:
            self.process.stderr.close()
        if self._client is not None:
            self._client.close()
            self._client = None

    def close(self) -> None:
        """Leave no process."""
        if self.alive():
            self.kill()
        else:
            self._clean_up()
        for orphan in self._orphans:
            with contextlib.suppress(psutil.NoSuchProcess):
                orphan.kill()


class Daemons:
    """Starts the daemons of one test on one place, and ends them all with it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._started: list[Daemon] = []

    def launch(self, *options: str, module: str = "daemon", within: Sequence[str] = ()) -> Daemon:
        """Start a daemon and wait for nothing. `within`: the command that it runs under."""
        command = [*within, sys.executable, "-m", module, *self.place.arguments(), *options]
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        daemon = Daemon(process, self.place.state)
        self._started.append(daemon)
        return daemon

    def start(self, *options: str, module: str = "daemon") -> Daemon:
        """Start a daemon and wait until it serves."""
        daemon = self.launch(*options, module=module)
        if not daemon.serves():
            raise AssertionError("".join(["the daemon did not start:\n", *daemon.log]))
        return daemon

    def close(self) -> None:
        for daemon in self._started:
            daemon.close()
