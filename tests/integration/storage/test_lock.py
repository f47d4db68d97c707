"""Acceptance 8, the lock's part: one process a state folder, and no lock outlives its holder."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from daemon.storage import lock
from tests.conftest import Figures, Rounds

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys
from pathlib import Path
from daemon.storage import lock
try:
    held = lock.take(Path(sys.argv[1]))
except lock.LockFault as fault:
    sys.exit(str(fault))
print("held", flush=True)
sys.stdin.read()
"""
LOADED = """
import sys
import daemon.storage.lock
heavy = {"pydantic", "sqlalchemy", "sqlmodel", "grpc", "asyncio"} & set(sys.modules)
print(", ".join(sorted(heavy)))
"""


@contextmanager
def process(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A real process in a session of its own, dead in the end."""
    command = (sys.executable, "-c", code, *arguments)
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )
    with child:
        try:
            yield child
        finally:
            child.kill()


def heard(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.mark.acceptance(8)
def test_a_second_process_is_refused_and_kill_leaves_no_lock(
    tmp_path: Path, rounds: Rounds, figures: Figures
) -> None:
    slowest_ms = 0.0
    for _ in range(rounds(50)):
        with process(HOLD, str(tmp_path)) as first:
            assert heard(first) == "held"
            before = time.monotonic()
            with process(HOLD, str(tmp_path)) as second:
                _, said = second.communicate()
            slowest_ms = max(slowest_ms, (time.monotonic() - before) * 1000)
            assert second.returncode == 1
            assert f"in use by another daemon (process {first.pid})" in said
            os.kill(first.pid, signal.SIGKILL)
            first.wait()
            lock.take(tmp_path).release()
    figures("slowest refusal, process start included, ms", round(slowest_ms))
    assert slowest_ms <= 1000


def test_the_lock_loads_nothing_heavy() -> None:
    with process(LOADED) as child:
        said, _ = child.communicate()
    assert (child.returncode, said) == (0, "\n")


def test_a_child_program_does_not_keep_the_lock(tmp_path: Path) -> None:
    held = lock.take(tmp_path)
    with process("import sys; print('there', flush=True); sys.stdin.read()") as child:
        assert heard(child) == "there"
        held.release()
        lock.take(tmp_path).release()


def test_a_lock_names_no_holder_that_it_does_not_know(tmp_path: Path) -> None:
    held = lock.take(tmp_path)
    (tmp_path / lock.LOCK_NAME).write_bytes(b"\xff\xfe rubbish")
    with pytest.raises(lock.LockFault, match="in use by another daemon: stop"):
        lock.take(tmp_path)
    held.release()
    held.release()
