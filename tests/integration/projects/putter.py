"""A child that puts a file into a project, and dies where it is told to.

`python -m tests.integration.projects.putter FOLDER BYTES FREE_BYTES [nameless|named] STEP` puts so
many bytes as `a.txt` and prints their path, or what was refused; with a STEP, it kills itself just
before its STEP-th change of the file system.
"""

import asyncio
import itertools
import os
import signal
import sys
from typing import Any

from daemon import project_files
from daemon.domain import errors

_CHANGES = frozenset(("os.mkdir", "os.link", "os.rename", "os.remove"))
_MAKES = os.O_CREAT | (os.O_TMPFILE & ~os.O_DIRECTORY)


def die_before(step: int) -> None:
    """End at once, as a power cut would, before a change; making the file is one too."""
    steps = itertools.count(1)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        by_path = event == "open" and isinstance(arguments[0], str)
        is_made = by_path and bool(arguments[2] & _MAKES)
        if (event in _CHANGES or is_made) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def main() -> None:
    folder, size, free_bytes, nameless, step = sys.argv[1:]
    files = project_files.ProjectFiles(int(free_bytes), nameless == "nameless")
    put = files.put(folder, "a.txt", b"x" * int(size))
    if int(step):
        die_before(int(step))
    try:
        told = asyncio.run(put).path
    except (errors.Refusal, errors.StorageFault) as fault:
        told = f"{type(fault).__name__}: {fault}"
    os.write(sys.stdout.fileno(), told.encode())


if __name__ == "__main__":
    main()
