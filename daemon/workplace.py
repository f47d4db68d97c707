"""The daemon's places: where it listens and keeps things, where calls work, and what they never
see."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.config import layers
from daemon.domain import errors
from daemon.permission import findings
from daemon.rpc import server
from daemon.runtime import ports, tool_calls
from tools.sandbox import view

SOCKET_NAME = "ducklmd.sock"
HISTORIES = "projects"
"""Below the state: a store of each project's history."""
_DEFAULT = "default"
_NEVER_NAMED = frozenset((".git", ".ssh", ".gnupg"))


@dataclass(frozen=True)
class Folders:
    """Where the daemon keeps things: nothing is written elsewhere."""

    state: Path
    projects: Path
    config: tuple[Path, ...]
    """Those of the owner's settings, from the one that counts least; read only."""


def addresses(listen: Sequence[str], state: Path) -> list[str]:
    """Where to listen; "unix" is the socket in the state folder."""
    return [f"unix:{state / SOCKET_NAME}" if one == "unix" else one for one in listen]


def check_addresses(listen: Sequence[str], state: Path) -> None:
    """Refuse what the daemon may not listen on.

    Raises:
        errors.ConfigFault: an address is none, or may be reached from elsewhere.
    """
    found = [server.check_address(address) for address in addresses(listen, state)]
    faults = [f"daemon.listen: {fault}" for fault in found if fault is not None]
    if faults:
        raise errors.ConfigFault(faults)


def has_rules(folders: Folders) -> bool:
    """Whether the owner has rules of their own."""
    return bool(layers.own_files(layers.PERMISSIONS, folders.config))


def hidden(folders: Folders) -> tuple[str, ...]:
    """The real paths of what no call may see."""
    return tuple(str(one.resolve()) for one in (folders.state, *folders.config))


def histories(folders: Folders) -> Path:
    """Where the stores of the projects' histories are; made if missing."""
    stores = folders.state / HISTORIES
    stores.mkdir(mode=0o700, parents=True, exist_ok=True)
    return stores


def made(folders: Folders, own: "ProjectFolders", history: ports.History) -> tool_calls.Workplace:
    """Where calls work that have no project, and what keeps what they change."""
    return tool_calls.Workplace(own.default, hidden(folders), history, own.missing)


class ProjectFolders:
    """Implements `ports.ProjectFolders`: the daemon's own, and those of its owner."""

    def __init__(self, folders: Folders, named: str) -> None:
        """`named` is where calls work that have no project; empty: the default project, which is
        made if missing."""
        self._folders = folders
        self._hidden = hidden(folders)
        default = Path(named).expanduser() if named else folders.projects / _DEFAULT
        default.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._default = str(default.resolve())

    @property
    def default(self) -> str:
        return self._default

    def made(self, name: str) -> str:
        folder = self._folders.projects.resolve() / name
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except FileExistsError as error:
            raise _refused(f"{folder} is there and is no folder.") from error
        except OSError as error:
            raise errors.Refusal(
                errors.RefusalKind.UNAVAILABLE, f"{folder} cannot be made: {error.strerror}."
            ) from error
        if folder.resolve() != folder:
            raise _refused(f"{folder} leads elsewhere.")
        return str(folder)

    def checked(self, folder: str) -> str:
        real = os.path.realpath(folder)
        if not os.path.isdir(real):
            raise errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no folder {folder}.")
        try:
            real.encode()
            view.check_folder(real, self._hidden)
        except UnicodeEncodeError as error:
            raise _refused("A project's path is UTF-8 text.") from error
        except view.NoFolder as error:
            raise _refused(str(error)) from error
        private = (*self._hidden, *map(os.path.realpath, view.SYSTEM_SECRETS))
        if any(view.within(real, path) or view.within(path, real) for path in private):
            raise _refused(f"{real} is no project folder: it holds or lies in what is private.")
        if _NEVER_NAMED.intersection(Path(real).parts):
            raise _refused(f"{real} is no project folder: it lies in what other programs keep.")
        if real == str(self._folders.projects.resolve()):
            raise _refused(f"{real} is no project folder: it holds the daemon's projects.")
        return real

    def missing(self, folder: str) -> bool:
        path = folder or self._default
        return not os.path.isdir(path) or os.path.realpath(path) != path


def _refused(sentence: str) -> errors.Refusal:
    return errors.Refusal(errors.RefusalKind.INVALID, sentence)


def place(folders: Folders, listen: Sequence[str]) -> findings.Place:
    """Where a call runs, for the judge, in whichever folder; `listen` are the daemon's addresses.
    Looked up once: the folders do not move while the daemon runs."""
    open_ports = (address.rpartition(":")[2] for address in listen)
    return findings.Place(
        cwd="/",
        home=str(Path.home().resolve()),
        state=str(folders.state.resolve()),
        config=str(folders.config[-1].resolve()) if folders.config else "/nonexistent",
        ports=frozenset(int(port) for port in open_ports if port.isdigit()),
    )
