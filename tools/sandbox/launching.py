"""From a view and a command to how its keeper is started, for each kind of confinement.

Starts nothing, and never picks a weaker kind than the one it is given.
"""

import json
import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tools.sandbox import bubblewrap, launcher, limits, process, seccomp, view

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_OPENING = """
import sys
sys.path.append(sys.argv.pop(1))
from tools.sandbox import opening
sys.exit(opening.main())
"""
_ROOT = str(Path(__file__).parents[2])


class Kind(StrEnum):
    """What confines a command."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "Landlock"
    NONE = "no sandbox"


@dataclass(frozen=True)
class Powers:
    """What this machine gives. `program` is the bubblewrap to use, `landlock` the version to use;
    `watches` whether it can be seen to that a command opens its copies and nothing in their place;
    `missing` says in plain words what is not given."""

    kind: Kind
    program: str = ""
    landlock: int = 0
    watches: bool = False
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
    options = bubblewrap.Options(seen, bounds, held, twice=powers.watches)
    text = "".join(f"{option}\0" for option in options.make(command.environment))
    watching: tuple[str, ...] = ()
    if options.copies:
        orders = options.memory(_orders(options.copies))
        watching = (
            sys.executable,
            "-I",
            "-S",
            "-c",
            _OPENING,
            _ROOT,
            str(orders),
            str(os.getpid()),
        )
    return process.Launch(
        program=(*watching, powers.program),
        options=text.encode(errors="surrogateescape"),
        command=("--argv0", command.argv[0], "--", command.program, *command.argv[1:]),
        descriptors=tuple(options.descriptors),
    )


def _orders(copies: Iterable[tuple[view.Copy, str, int]]) -> bytes:
    """What the opening program is told of each copy, as it reads it."""
    fields = (
        (one.path, one.name or one.path, beside, str(content), "1" if one.by_shell else "")
        for one, beside, content in copies
    )
    return "".join(f"{field}\0" for copy in fields for field in copy).encode(
        errors="surrogateescape"
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
