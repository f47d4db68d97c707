"""A control group counts a command's tasks where it can be made, and is no fault where not."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.sandbox import cgroup


@pytest.fixture
def waiting() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing until its input ends."""
    process = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    yield process
    process.communicate()


def own_path() -> str:
    """Where this process stands among the groups that count tasks, or the newer kind's."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    of_old = [path for _, names, path in lines if "pids" in names.split(",")]
    return of_old[0] if of_old else next(path for number, _, path in lines if number == "0")


def test_a_group_bounds_the_process_that_it_holds(
    waiting: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    for kind in ("pids", "."):
        (tmp_path / kind / own_path().lstrip("/")).mkdir(parents=True, exist_ok=True)
    group = cgroup.made(waiting.pid, 12, tmp_path)
    assert group is not None
    assert (group.folder / "pids.max").read_text() == "12"
    assert (group.folder / "cgroup.procs").read_text() == str(waiting.pid)


def test_no_groups_are_no_fault(waiting: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert cgroup.made(waiting.pid, 12, tmp_path / "none") is None


def test_a_real_one_is_gone_in_the_end(waiting: subprocess.Popen[bytes]) -> None:
    """Where this machine lets its user make one; elsewhere there is none to take away."""
    group = cgroup.made(waiting.pid, 12)
    if group is None:
        assert not any(cgroup.ROOT.glob("*/ducklm-*"))
        return
    assert f"/{group.folder.name}" in Path(f"/proc/{waiting.pid}/cgroup").read_text()
    waiting.communicate()
    group.remove()
    assert not group.folder.exists()
