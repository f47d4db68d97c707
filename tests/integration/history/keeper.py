"""Children that keep or take back changes of projects, each killed one step further on.

`python -m tests.integration.history.keeper WHAT ROOT FIRST EVERY` (WHAT is "keep", "call" or
"revert"): the child in ROOT/n kills itself, as a power cut would, just before its n-th change of
the file system; n is FIRST, and grows by EVERY. It ends with the first that comes through, and
prints each n. "once" keeps what is in ROOT/work and prints nothing.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from tests.integration.history import folders

LINES = "".join(f"line {number}\n" for number in range(20))
THREE, FIFTEEN = LINES.replace("line 3\n", "THREE\n"), LINES.replace("line 15\n", "FIFTEEN\n")
BOTH = THREE.replace("line 15\n", "FIFTEEN\n")
_CHANGES = frozenset(
    ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.symlink", "shutil.rmtree")
)


class _Steps:
    """Counts the changes of the file system, on every thread, and dies before one of them."""

    def __init__(self, last: int) -> None:
        self._count = 0
        self._last = last
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_made = event == "open" and isinstance(arguments[2], int) and arguments[2] & os.O_CREAT
        if event in _CHANGES or is_made:
            self._count += 1
            if self._count == self._last:
                os.kill(os.getpid(), signal.SIGKILL)


def fill(project: folders.Project) -> None:
    """What there is before the call."""
    project.write("changed", LINES)
    project.write("removed/deep/r", "r\n")
    project.write("file-then-folder", "f\n")
    project.write("folder-then-file/x", "x\n")
    (project.folder / "link").symlink_to("changed")


def change(project: folders.Project) -> None:
    """What the call does."""
    project.write("changed", THREE)
    (project.folder / "removed/deep/r").unlink()
    (project.folder / "removed/deep").rmdir()
    (project.folder / "removed").rmdir()
    (project.folder / "file-then-folder").unlink()
    project.write("file-then-folder/y", "y\n")
    (project.folder / "folder-then-file/x").unlink()
    (project.folder / "folder-then-file").rmdir()
    project.write("folder-then-file", "f\n")
    (project.folder / "link").unlink()
    (project.folder / "link").symlink_to("elsewhere")
    project.write("made/m", "m\n")


async def work(what: str, root: Path, step: int) -> None:
    project = folders.Project(root)
    fill(project)
    if what == "keep":
        _Steps(step)
        await project.before()
        return
    await project.before()
    change(project)
    if what == "call":
        _Steps(step)
        await project.changed()
        return
    commit = (await project.changed()).commit
    (root / "commit").write_text(commit)
    project.write("changed", BOTH)
    _Steps(step)
    await project.history.revert(project.path, [commit], folders.TASK)


def main(what: str, root: Path, step: int, every: int) -> None:
    if what == "once":
        asyncio.run(folders.Project(root).before())
        return
    ended = signal.SIGKILL.value
    while ended == signal.SIGKILL:
        (root / str(step)).mkdir()
        sys.stdout.write(f"{step}\n")
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            asyncio.run(work(what, root / str(step), step))
            os._exit(0)
        ended = os.waitpid(child, 0)[1]
        step += every
    if ended:
        sys.exit(f"the child for step {step - every} has failed")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
