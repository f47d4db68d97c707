"""The daemon's folders, and what they mean to a call: where it works, and what it never sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.config import layers
from daemon.permission import findings
from daemon.runtime import tool_calls


@dataclass(frozen=True)
class Folders:
    """Where the daemon keeps things: nothing is written elsewhere."""

    state: Path
    projects: Path
    config: tuple[Path, ...]
    """Those of the owner's settings, from the one that counts least; read only."""


def has_rules(folders: Folders) -> bool:
    """Whether the owner has rules of their own."""
    return bool(layers.own_files(layers.PERMISSIONS, folders.config))


def made(folders: Folders, named: str) -> tool_calls.Workplace:
    """Where calls work: the named folder, else the default project's, which is made if missing."""
    folder = Path(named).expanduser() if named else folders.projects / "default"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    hidden = (folders.state, *folders.config)
    return tool_calls.Workplace(str(folder.resolve()), tuple(str(one.resolve()) for one in hidden))


def place(folders: Folders, listen: Sequence[str]) -> findings.Place:
    """Where a call runs, for the judge, in whichever folder; `listen` are the daemon's addresses.
    Looked up once: the folders do not move while the daemon runs."""
    ports = (address.rpartition(":")[2] for address in listen)
    return findings.Place(
        cwd="/",
        home=str(Path.home().resolve()),
        state=str(folders.state.resolve()),
        config=str(folders.config[-1].resolve()) if folders.config else "/nonexistent",
        ports=frozenset(int(port) for port in ports if port.isdigit()),
    )
