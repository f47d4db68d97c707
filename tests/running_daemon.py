"""A real daemon process for tests: it keeps everything in one folder, and it is ended for sure.

The folder is a short one of its own, because a socket's path may have 107 bytes. Settings are files
in it: scripted replies by default. Nothing here knows what a test wants to see.
"""

import collections
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import typing
from collections.abc import Iterable, Iterator, Sequence

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proto.ducklm.v1 import (
    admin_pb2_grpc,
    approvals_pb2_grpc,
    artifacts_pb2_grpc,
    channels_pb2_grpc,
    conversations_pb2_grpc,
    events_pb2_grpc,
    profiles_pb2_grpc,
    projects_pb2_grpc,
    schedules_pb2_grpc,
    skills_pb2_grpc,
    tasks_pb2_grpc,
)

ROOT = pathlib.Path(__file__).resolve().parents[1]
START_S = 60.0
STOP_S = 20.0
CALL_S = 40.0
_TICK_S = 0.02
_WITH_SUDO = "tests.simulation.elevating_daemon"
_OPTIONS = (("grpc.max_receive_message_length", 32 * 1024 * 1024),)

Metadata = tuple[tuple[str, str], ...]
ScriptLine = dict[str, object]
_Any: typing.TypeAlias = typing.Any  # the stubs are generic, the classes at run time are not


class _Details(typing.NamedTuple):
    method: str
    timeout: float | None
    metadata: Metadata
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _Calling(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
):
    """Adds the token to every call, and a deadline to those that have none."""

    def __init__(self, metadata: Metadata, timeout_s: float) -> None:
        self._metadata = metadata
        self._timeout_s = timeout_s

    def _details(self, given: _Any) -> _Any:
        timeout = self._timeout_s if given.timeout is None else given.timeout
        metadata = self._metadata + tuple(given.metadata or ())
        return _Details(given.method, timeout, metadata, given.credentials, None, None)

    def intercept_unary_unary(
        self, continuation: _Any, client_call_details: _Any, request: _Any
    ) -> _Any:
        return continuation(self._details(client_call_details), request)

    def intercept_unary_stream(
        self, continuation: _Any, client_call_details: _Any, request: _Any
    ) -> _Any:
        return continuation(self._details(client_call_details), request)

    def intercept_stream_unary(
        self, continuation: _Any, client_call_details: _Any, request_iterator: _Any
    ) -> _Any:
        return continuation(self._details(client_call_details), request_iterator)


class Api:
    """Every service over one channel, with one token (or none)."""

    def __init__(self, channel: grpc.Channel, token: str | None, timeout_s: float = CALL_S) -> None:
        metadata = () if token is None else (("authorization", f"Bearer {token}"),)
        calling = grpc.intercept_channel(channel, _Calling(metadata, timeout_s))
        self.tasks = tasks_pb2_grpc.TasksStub(calling)
        self.events = events_pb2_grpc.EventsStub(calling)
        self.approvals = approvals_pb2_grpc.ApprovalsStub(calling)
        self.conversations = conversations_pb2_grpc.ConversationsStub(calling)
        self.projects = projects_pb2_grpc.ProjectsStub(calling)
        self.profiles = profiles_pb2_grpc.ProfilesStub(calling)
        self.skills = skills_pb2_grpc.SkillsStub(calling)
        self.artifacts = artifacts_pb2_grpc.ArtifactsStub(calling)
        self.admin = admin_pb2_grpc.AdminStub(calling)
        self.channels = channels_pb2_grpc.ChannelsStub(calling)
        self.schedules = schedules_pb2_grpc.SchedulesStub(calling)


class RunningDaemon:
    """One state folder and the daemon on it, which may be killed and started again."""

    def __init__(self, root: pathlib.Path, options: Sequence[str] = (), sudo: str = "") -> None:
        self.root = root
        self.state = root / "state"
        self.config = root / "config"
        self.models = self.config / "models.toml"
        self.log = root / "daemon.log"
        self.options = tuple(options)
        self.sudo = sudo
        self.process: subprocess.Popen[bytes] | None = None
        self.config.mkdir(exist_ok=True)

    def environment(self) -> dict[str, str]:
        """What a process may know: nothing of the machine's own homes and settings."""
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        return {
            "PATH": f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "DUCKLM_STATE": str(self.state),
            "GRPC_VERBOSITY": "NONE",
        }

    def script(self, lines: Iterable[ScriptLine]) -> None:
        """Answer every role from these lines."""
        path = self.config / "replies.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        self.models.write_text(f'version = 1\n[roles]\nthinker = ["scripted:{path}"]\n', "utf-8")

    def own_settings(self, text: str) -> None:
        """What the owner's own daemon.toml says, without its version."""
        path = pathlib.Path(self.environment()["XDG_CONFIG_HOME"]) / "ducklm" / "daemon.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"version = 1\n{text}", "utf-8")

    def settings(self, text: str) -> None:
        """What daemon.toml says, without its version."""
        (self.config / "daemon.toml").write_text(f"version = 1\n{text}", "utf-8")

    def command(self, *options: str) -> list[str]:
        listening = ("--listen", "unix", "--listen", "127.0.0.1:0")
        module, places = "daemon", ("--state", str(self.state), "--config", str(self.config))
        if self.sudo:
            module, places = _WITH_SUDO, ("--state", str(self.state), "--sudo", self.sudo)
        models = ("--models", str(self.models)) if self.models.exists() else ()
        named = options or self.options or listening
        return [sys.executable, "-m", module, *places, *models, *named]

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for it to serve."""
        (self.state / "listening").unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                cwd=ROOT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self.process

    def start(self) -> None:
        """Start, and return when health says SERVING."""
        process = self.spawn()
        for _ in range(int(START_S / _TICK_S)):
            if len(self.addresses()) >= 1:
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(_TICK_S)
                raise AssertionError(f"the daemon ended with {code}:\n{self.log_tail()}")
        with self.channel() as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(
                health_pb2.HealthCheckRequest(), timeout=START_S
            )
            for health in watch:
                if health.status == health_pb2.HealthCheckResponse.SERVING:
                    break
            watch.cancel()

    def addresses(self) -> list[str]:
        """What is listened on, once it is."""
        try:
            text = (self.state / "listening").read_text("utf-8")
        except FileNotFoundError:
            return []
        return text.split() if text.endswith("\n") else []

    @property
    def tcp(self) -> str:
        return next(one for one in self.addresses() if not one.startswith("unix:"))

    @property
    def socket(self) -> pathlib.Path:
        return self.state / "ducklmd.sock"

    @property
    def token(self) -> str:
        return (self.state / "token").read_text("utf-8").strip()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def channel(self, address: str = "") -> grpc.Channel:
        """A new channel, over the socket where there is one."""
        default = self.addresses()[0]
        return grpc.insecure_channel(address or default, options=_OPTIONS)

    @contextlib.contextmanager
    def api(self, timeout_s: float = CALL_S) -> Iterator[Api]:
        """The owner's way in; each call may last so long."""
        with self.channel() as channel:
            yield Api(channel, self.token, timeout_s)

    def wait(self, timeout_s: float = STOP_S) -> int:
        """The exit code, once the process has ended by itself."""
        assert self.process is not None
        return self.process.wait(timeout_s)

    def stop(self) -> int:
        """End it by SIGTERM: it drains; returns the exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.wait()

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(STOP_S)

    def log_text(self) -> str:
        return self.log.read_text("utf-8", "replace")

    def log_tail(self) -> str:
        return "\n".join(collections.deque(self.log_text().splitlines(), 40))


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    """A short folder of a test's own, removed at its end."""
    with tempfile.TemporaryDirectory(prefix="duck-", ignore_cleanup_errors=True) as name:
        yield pathlib.Path(name)


@contextlib.contextmanager
def running(
    lines: Iterable[ScriptLine] | None = None, daemon_toml: str = "", sudo: str = ""
) -> Iterator[RunningDaemon]:
    """A started daemon on a new state folder; it is gone when the block ends.

    Without lines the embedded model answers, as when nothing is configured. `sudo` is a program
    that stands in for it; such a daemon has no settings of its own.
    """
    with folder() as root:
        daemon = RunningDaemon(root, sudo=sudo)
        if lines is not None:
            daemon.script(lines)
        if daemon_toml:
            daemon.settings(daemon_toml)
        try:
            daemon.start()
            yield daemon
        finally:
            daemon.kill()
