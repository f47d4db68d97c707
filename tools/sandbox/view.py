"""What a confined command sees: its folder, and everything else read-only with holes.

Decides which paths are hidden (homes, run-time folders, keys, what the daemon names, sockets of
other programs) and which names in the folder stay as they are because a person's next step would
run them. Reads the file system; changes nothing, and opens no file's content.
"""

import contextlib
import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")
"""Its own and empty for each command."""
OWN_SYSTEMS = ("/proc", "/dev")
"""Made anew for each command."""
SYSTEM_SECRETS = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/var/backups",
    "/var/spool/cron",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/sudo",
)
_SSH = "/etc/ssh"
_HOMES = ("/home", "/root")
_RUNTIME = ("/run", "/var/run")
_NEVER_INSIDE = ("/usr", "/etc", "/var", "/home", "/root", "/proc", "/sys", "/dev", "/run", "/tmp")
"""A folder that is or holds one of these is no project folder."""
_SYSTEM_TREES = ("/usr", "/etc", "/proc", "/sys", "/dev", "/boot")
_MOST_SOCKETS = 64
_MOST_REPOSITORIES = 32

AUTORUN = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".envrc",
    ".direnv",
    ".pythonstartup",
    ".pythonrc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".gdbinit",
    ".lldbinit",
    ".gitconfig",
    ".mcp.json",
    ".husky",
    ".vscode",
    ".idea",
    ".devcontainer",
)
"""Names in the folder that shells, editors and other tools run or obey without being asked."""
_GIT_OBEYED = ("hooks", "info", "config", "config.worktree", "commondir", "gitdir")
"""What git runs or obeys in a repository's folder."""


class NoFolder(Exception):
    """The folder cannot be a project folder; the text says why."""


@dataclass(frozen=True)
class Copy:
    """Content that stands still at a path, whatever becomes of the file there. `name` is how else
    a command calls it, absolute; `by_shell` if a shell may read it without another program."""

    path: str
    content: bytes
    mode: int
    name: str = ""
    by_shell: bool = False


@dataclass(frozen=True)
class Guard:
    """A name in the folder, relative to it. `fixed` may not be written; else it only may not be
    renamed away, so that what is fixed within it stays where it is."""

    name: str
    fixed: bool


@dataclass(frozen=True)
class View:
    """What one command sees. `folder_fd` is the folder that was inspected; `folder` its path.
    `masks` are hidden paths in the order to mount them; `held` are programs by descriptor."""

    folder: str
    folder_fd: int
    read_only: bool
    network: bool
    masks: tuple[str, ...]
    copies: tuple[Copy, ...] = ()
    held: tuple[tuple[str, int], ...] = ()


def within(path: str, folder: str) -> bool:
    """Whether a path is a folder or below it; both absolute and normal."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def check_folder(folder: str, hidden: Iterable[str]) -> None:
    """Refuse a folder that would open what has to stay shut.

    Raises:
        NoFolder: it is a system's, a home or a hidden folder.
    """
    shut = (*_NEVER_INSIDE, *_own_homes())
    if any(within(path, folder) for path in shut):
        raise NoFolder(f"{folder} is no project folder: it holds a home or the system.")
    if any(within(folder, path) for path in _SYSTEM_TREES):
        raise NoFolder(f"{folder} is no project folder: it belongs to the system.")
    if any(os.path.realpath(path) == folder for path in hidden):
        raise NoFolder(f"{folder} is no project folder: it is private to the daemon.")


def _own_homes() -> list[str]:
    """The homes of the daemon's user, wherever they are; a system folder is not taken for one."""
    found = {os.environ.get("HOME", "")}
    with contextlib.suppress(KeyError):  # a user that the system does not know has no home there
        found.add(pwd.getpwuid(os.getuid()).pw_dir)
    real = {os.path.realpath(path) for path in found if path.startswith("/")}
    return sorted(path for path in real if not any(within(tree, path) for tree in ("/usr", "/var")))


def masks(folder: str, hidden: Iterable[str]) -> tuple[str, ...]:
    """Every path to hide, parents before children; none that is hidden by another already."""
    named = [*_HOMES, *_own_homes(), *_RUNTIME, *SYSTEM_SECRETS, *_host_keys(), *hidden]
    real = {os.path.realpath(path) for path in (*named, *_sockets(folder))}
    found: list[str] = []
    for path in sorted(real, key=lambda path: (path.count("/"), path)):
        if within(path, folder) and path == folder or not os.path.lexists(path):
            continue
        covers = [cover for cover in (*found, *TEMPORARY, *OWN_SYSTEMS) if within(path, cover)]
        opened = within(path, folder) and all(within(folder, cover) for cover in covers)
        if not covers or opened:
            found.append(path)
    return tuple(found)


def _host_keys() -> Iterator[str]:
    try:
        names = os.listdir(_SSH)
    except OSError:
        return
    for name in names:
        if name.startswith("ssh_host_") and not name.endswith(".pub"):
            yield f"{_SSH}/{name}"


def _sockets(folder: str) -> Iterator[str]:
    """The sockets that programs listen on by a path that is not hidden anyway."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as lines:
            paths = {line.rstrip("\n").partition(" /")[2] for line in lines}
    except OSError:
        return
    covered = (*_HOMES, *_RUNTIME, *TEMPORARY, *OWN_SYSTEMS)
    taken = 0
    for path in sorted(f"/{path}" for path in paths if path):
        seen = within(path, folder) or not any(within(path, cover) for cover in covered)
        if taken < _MOST_SOCKETS and seen:
            taken += 1
            yield path


def guards(folder_fd: int) -> list[Guard]:
    """The names in the folder that are there and have to stay as they are, parents first.

    Links are left out: mounting follows them, and the name could be replaced all the same.
    """
    found = [Guard(name, True) for name in AUTORUN if _mode(folder_fd, name)]
    if stat.S_ISDIR(_mode(folder_fd, ".git")):
        found += _repository(folder_fd, ".git")
    elif _mode(folder_fd, ".git"):
        found.append(Guard(".git", True))
    return found


def _repository(folder_fd: int, name: str) -> Iterator[Guard]:
    yield Guard(name, False)
    yield from (
        Guard(f"{name}/{part}", True) for part in _GIT_OBEYED if _mode(folder_fd, f"{name}/{part}")
    )
    for group in ("modules", "worktrees"):
        below = f"{name}/{group}"
        if stat.S_ISDIR(_mode(folder_fd, below)):
            yield Guard(below, False)
            for part in sorted(os.listdir(f"/proc/self/fd/{folder_fd}/{below}")):
                if stat.S_ISDIR(_mode(folder_fd, f"{below}/{part}")):
                    yield from _repository(folder_fd, f"{below}/{part}")


def _mode(folder_fd: int, name: str) -> int:
    """The mode of what is there; 0 for nothing, and for a link."""
    try:
        mode = os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(mode) else mode


def fingerprints(folder_fd: int) -> dict[str, tuple[int, ...]]:
    """The names that a person's next step would run or obey, with what tells a change."""
    found: dict[str, tuple[int, ...]] = {}
    for name in (*AUTORUN, *(f".git/{part}" for part in _GIT_OBEYED if part != "info")):
        try:
            status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
        except OSError:
            continue
        found[name] = (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def changed(before: dict[str, tuple[int, ...]], folder_fd: int) -> list[str]:
    """The names that appeared, changed or were replaced since."""
    after = fingerprints(folder_fd)
    return [name for name, seen in after.items() if before.get(name) != seen]


def visible(root: str, hidden: Iterable[str]) -> Iterator[str]:
    """The fewest paths that together hold all below `root` but what is hidden.

    For a confinement that only knows what is allowed. Links are left out: what they lead to counts.
    """
    inside = [path for path in hidden if within(path, root)]
    if root in inside:
        return
    if not inside:
        yield root
        return
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        path = str(PurePath(root, name))
        if not os.path.islink(path):
            yield from visible(path, inside)
