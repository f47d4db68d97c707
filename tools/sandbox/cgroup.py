"""A control group of its own for one command, where this user may make one: it counts tasks.

The kernel's count of a user's processes is not held for root; this one is, for everybody. Bounds
nothing else, and where no group can be made there is none.
"""

import contextlib
import itertools
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_CONTROLLER = "pids"
_numbers = itertools.count(1)


class Group:
    """One group; `remove` takes it away when no process is left in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self.folder.rmdir()


def made(pid: int, tasks: int, root: Path = ROOT) -> Group | None:
    """A group that holds a process and all that it will start to so many tasks at once."""
    for parent in _parents(root):
        folder = parent / f"ducklm-{os.getpid()}-{next(_numbers)}"
        try:
            folder.mkdir()
        except OSError:
            continue
        group = Group(folder)
        try:
            (folder / "pids.max").write_text(str(tasks))
            (folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            group.remove()
            continue
        return group
    return None


def _parents(root: Path) -> Iterator[Path]:
    """Where a group that counts tasks may be made: the own one of the older or the newer kind."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if _CONTROLLER in controllers.split(","):
            yield root / _CONTROLLER / path.lstrip("/")
        elif number == "0" and not controllers:
            yield root / path.lstrip("/")
