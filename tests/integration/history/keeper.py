"""A child that keeps or takes back changes of a project, and dies where it is told to.

`python -m tests.integration.history.keeper WHAT ROOT [STEP [COMMIT…]]`: WHAT is "keep", which keeps
what the folder holds now, "call", which keeps it as a call's, or "revert". With a STEP it kills
itself just before that change of the file system, and says nothing; else it prints how many there
were.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.integration.history import folders

_CHANGES = frozenset(
    ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.symlink", "shutil.rmtree")
)


class _Steps:
    """Counts the changes of the file system, and dies before one of them (0: of none)."""

    def __init__(self, last: int) -> None:
        self.count = 0
        self._last = last
        self._on = True
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._on:
            return
        is_made = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if event in _CHANGES or is_made:
            self.count += 1
            if self.count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)

    def stop(self) -> None:
        self._on = False


async def work(what: str, root: Path, step: int, commits: Sequence[str]) -> int:
    """Do it; returns how many changes of the file system it took."""
    project = folders.Project(root)
    if what == "call":
        await project.before()
        project.write("a", "of the call\n")
        project.write("deep/new", "n\n")
    steps = _Steps(step)
    if what == "revert":
        await project.history.revert(project.path, commits, folders.TASK)
    elif what == "call":
        await project.changed()
    else:
        await project.before()
    steps.stop()
    project.history.close()
    return steps.count


def main(what: str, root: str, step: str = "0", *commits: str) -> None:
    sys.stdout.write(str(asyncio.run(work(what, Path(root), int(step), commits))))


if __name__ == "__main__":
    main(*sys.argv[1:])
