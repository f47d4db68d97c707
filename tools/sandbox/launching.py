"""From a view and a command to how its keeper is started, for each kind of confinement.

Starts nothing, and never picks a weaker kind than the one it is given.
"""

import json
import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tools.sandbox import bubblewrap, launcher, limits, process, seccomp, view

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))


class Kind(StrEnum):
    """What confines a command."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "Landlock"
    NONE = "no sandbox"


@dataclass(frozen=True)
class Powers:
    """What this machine gives. `program` is the bubblewrap to use, `landlock` the version to use;
    `missing` says in plain words what is not given."""

    kind: Kind
    program: str = ""
    landlock: int = 0
    missing: tuple[str, ...] = ()

    @property
    def mounts(self) -> bool:
        """Whether files can be hidden and held still in the midst of what is seen."""
        return self.kind is Kind.BUBBLEWRAP


@dataclass(frozen=True)
class Command:
    """What runs: the argv, the program's path, and its descriptor (-1: only the path is known)."""

    argv: tuple[str, ...]
    program: str
    program_fd: int
    environment: dict[str, str]


def confined(
    powers: Powers, command: Command, seen: view.View, bounds: limits.Limits, held: ExitStack
) -> process.Launch:
    """How to start a command in its confinement; `held` keeps what the start needs."""
    if not powers.mounts:
        return _launched(powers, command, seen, bounds)
    options = bubblewrap.Options(seen, bounds, held)
    text = "".join(f"{option}\0" for option in options.make(command.environment))
    return process.Launch(
        program=(powers.program,),
        options=text.encode(errors="surrogateescape"),
        command=("--argv0", command.argv[0], "--", command.program, *command.argv[1:]),
        descriptors=tuple(options.descriptors),
    )


def elevated(command: Command, seen: view.View, bounds: limits.Limits) -> process.Launch:
    """How to start a command that runs as root, outside every confinement."""
    return _launched(Powers(Kind.NONE), command, seen, bounds, elevated=True)


def _launched(
    powers: Powers,
    command: Command,
    seen: view.View,
    bounds: limits.Limits,
    elevated: bool = False,
) -> process.Launch:
    hidden = (*seen.masks, *view.TEMPORARY, "/dev")
    with_filter = powers.kind is Kind.LANDLOCK
    orders: launcher.Orders = {
        "parent": os.getpid(),
        "command": list(command.argv),
        "environment": command.environment,
        "folder_fd": seen.folder_fd,
        "program": command.program,
        "program_fd": command.program_fd,
        "filter": seccomp.program(os.uname().machine, seen.network).hex() if with_filter else "",
        "landlock": powers.landlock,
        "readable": list(view.visible("/", hidden)) if powers.landlock else [],
        "writable": not seen.read_only,
        "network": seen.network,
        "tasks": bounds.tasks,
        "elevated": elevated,
    }
    descriptors = (seen.folder_fd, command.program_fd)
    return process.Launch(
        program=(sys.executable, "-I", "-S", _LAUNCHER),
        options=json.dumps(orders).encode(),
        command=(),
        descriptors=tuple(one for one in descriptors if one >= 0),
        status="--report",
        group_is_child=False,
        unconfined=elevated,
    )
