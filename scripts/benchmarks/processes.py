"""A daemon as a process of its own in a folder of its own, and the channel to it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_POLL_SECONDS = 0.002
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Not handed on: an installed daemon does not compile its modules at each start."""
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0


@dataclass(frozen=True)
class Running:
    """A daemon that serves; `started_seconds` is from its start to health SERVING."""

    pid: int
    channel: grpc.Channel
    metadata: tuple[tuple[str, str], ...]
    started_seconds: float


@contextmanager
def daemon(folder: Path, options: Sequence[str] = ()) -> Iterator[Running]:
    """Run a daemon on `folder/state`, and end it in the end."""
    state = folder / "state"
    environment = {
        **{name: value for name, value in os.environ.items() if name != _NO_BYTECODE},
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    command = [sys.executable, "-m", "daemon", "--state", str(state), "--listen", "unix"]
    began = time.perf_counter()
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen([*command, *options], env=environment, stderr=log)
    try:
        channel = _wait_serving(process, state)
        started_seconds = time.perf_counter() - began
        token = (state / "token").read_text().strip()
        metadata = (("authorization", f"Bearer {token}"),)
        with channel:
            yield Running(process.pid, channel, metadata, started_seconds)
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)


def _wait_serving(process: subprocess.Popen[bytes], state: Path) -> grpc.Channel:
    socket = state / "ducklmd.sock"
    deadline = time.perf_counter() + _START_SECONDS
    while time.perf_counter() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the daemon ended with {process.returncode}: see {state.parent}")
        if socket.exists():
            channel = grpc.insecure_channel(f"unix:{socket}")
            if _serving(channel):
                return channel
            channel.close()
        time.sleep(_POLL_SECONDS)
    raise RuntimeError(f"the daemon is not serving after {_START_SECONDS} s")


def _serving(channel: grpc.Channel) -> bool:
    stub = health_pb2_grpc.HealthStub(channel)
    try:
        answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=5)
    except grpc.RpcError:
        return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
