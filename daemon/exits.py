"""The daemon's exit codes, and the arguments it is started with. Standard library alone."""

import enum
from dataclasses import dataclass
from pathlib import Path


class Exit(enum.IntEnum):
    """What a service manager can tell from how the daemon ended."""

    STOPPED = 0
    FAULT = 1
    USAGE = 2
    SETTINGS = 3
    """Settings that cannot be used: starting again does not help."""
    STATE = 4
    """A state folder that cannot be used: in use, damaged, or newer than this version."""


@dataclass(frozen=True)
class Arguments:
    """Where the daemon finds its settings and keeps its state."""

    state: Path
    projects: Path
    xdg_config: Path
    config: Path | None
    models: Path | None
    listen: tuple[str, ...]
