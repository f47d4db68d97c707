"""A child that takes a commit back in a folder that cannot be written, or holds too little.

`python -m tests.integration.history.unwritable WHAT ROOT` prints why not, whether the folder is as
it was, and whether it can be done once there is room.
"""

import asyncio
import subprocess
import sys
from pathlib import Path

from daemon.domain import errors
from tests.integration.history import folders

_LARGE = "x" * 700_000


async def main(what: str, root: Path) -> None:
    (root / "work").mkdir(exist_ok=True)
    project = folders.Project(root)
    project.write("a", "old")
    project.write("b", _LARGE)
    await project.before()
    project.write("a", "new")
    project.write("made", "m")
    (project.folder / "b").unlink()
    commit = (await project.changed()).commit
    if what == "read-only":
        await asyncio.to_thread(close, project.path)
    else:
        project.write("filler", _LARGE)
    was = folders.snapshot(project.folder)
    try:
        await project.history.revert(project.path, [commit])
    except errors.HistoryFault as fault:
        say(str(fault))
    say("as it was" if folders.snapshot(project.folder) == was else "changed")
    if what == "full":
        (project.folder / "filler").unlink()
        await project.history.revert(project.path, [commit])
        say("taken back" if (project.folder / "b").read_text() == _LARGE else "not taken back")


def close(folder: str) -> None:
    """Have the folder be one that cannot be written."""
    subprocess.run(("mount", "--bind", "-o", "ro", folder, folder), check=True)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
