"""A child process that speaks frames: spawn, send, receive, watch, reap.

Knows processes and frames and nothing of models. Its end is told by exit code or signal, never by
what it printed last. It must never block the event loop, leave a zombie or an open descriptor.
"""

import asyncio
import collections
import dataclasses
import os
import pathlib
import signal
import sys
from collections.abc import Callable, Mapping

import structlog

from daemon.models.worker import frames

_PASSED_ON = (
    "CUDA_",
    "GGML_",
    "HIP_",
    "ROCR_",
    "VK_",
    "OMP_",
    "GOMP_",
    "LD_LIBRARY_PATH",
    "TMPDIR",
)
_TAIL_LINES = 20
_LINE_BYTES = 400
_READ_BYTES = 1 << 16
_DRAIN_SECONDS = 0.5

_log = structlog.get_logger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """What is run, and its whole environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str]


def python_module(module: str, defaults: Mapping[str, str] | None = None) -> Command:
    """The command that runs a module of this program in a fresh interpreter.

    Of the environment only what concerns accelerators and the loader is passed on; `defaults` are
    variables for where it says nothing.
    """
    kept = {name: text for name, text in os.environ.items() if name.startswith(_PASSED_ON)}
    root = pathlib.Path(__file__).resolve().parents[2]
    environment = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(root),
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(defaults or {}),
        **kept,
    }
    return Command((sys.executable, "-s", "-m", module), environment)


class Worker:
    """One running child. Create it with `spawn`; `wait` returns when it is gone and reaped."""

    def __init__(
        self, process: asyncio.subprocess.Process, name: str, receive: Callable[[bytes], None]
    ) -> None:
        assert process.stdin is not None
        self._process = process
        self._stdin = process.stdin
        self._name = name
        self._receive = receive
        self._tail: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        self._readers = (
            asyncio.create_task(self._read_frames(), name=f"{name} frames"),
            asyncio.create_task(self._read_errors(), name=f"{name} stderr"),
        )

    @classmethod
    async def spawn(cls, command: Command, name: str, receive: Callable[[bytes], None]) -> "Worker":
        """Start the child; `receive` is called with each payload, on the event loop.

        Raises:
            OSError: the program cannot be started.
        """
        process = await asyncio.create_subprocess_exec(
            *command.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(command.environment),
            start_new_session=True,
        )
        return cls(process, name, receive)

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, payload: bytes) -> None:
        """Queue a payload; one to a child that is gone is dropped.

        Raises:
            frames.FrameError: the payload is too large.
        """
        data = frames.wrap(payload)
        if not self._stdin.is_closing():
            self._stdin.write(data)

    def kill(self) -> None:
        """End it now; `wait` tells when it is gone."""
        if self._process.returncode is None:
            self._process.kill()

    def hang_up(self) -> None:
        """Close its stdin, upon which it ends by itself."""
        self._stdin.close()

    async def wait(self) -> str:
        """Wait until it is gone and all that it sent was received; says how it ended."""
        code = await self._process.wait()
        _, late = await asyncio.wait(self._readers, timeout=_DRAIN_SECONDS)
        for reader in late:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        self._stdin.close()
        end = describe_exit(code)
        _log.debug("worker_ended", worker=self._name, end=end, stderr=list(self._tail))
        return end

    async def _read_frames(self) -> None:
        assert self._process.stdout is not None
        unwrapper = frames.Unwrapper()
        while data := await self._process.stdout.read(_READ_BYTES):
            try:
                for payload in unwrapper.feed(data):
                    self._receive(payload)
            except frames.FrameError as error:
                _log.warning("worker_sent_nonsense", worker=self._name, error=str(error))
                self.kill()
                return

    async def _read_errors(self) -> None:
        """Keep the last lines, each cut; read on whatever the child prints, or it would block."""
        assert self._process.stderr is not None
        rest = b""
        while data := await self._process.stderr.read(_READ_BYTES):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._tail.append(line[:_LINE_BYTES].decode("utf-8", "replace"))
            rest = rest[:_LINE_BYTES]


def describe_exit(code: int) -> str:
    """How a process ended, from its return code: the end of a sentence."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
