"""Paths, opened so that nobody can turn them elsewhere afterwards.

A path is looked up once, with every link followed; then each folder of the result is opened by the
descriptor of the one above, following no link. What is held open is what was inspected, whatever
the names lead to later. Refuses what a call's confinement hides, under every name it has. Never
decides whether a call may run, and never opens a pipe or a device.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools import contract

MAX_PATH_BYTES = 4096
SEARCHED_ENTRIES = 200_000
"""How many entries of hidden folders are compared with a file that has several names."""
_PATH_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = _PATH_ONLY | os.O_DIRECTORY
_OF_PROCESS = re.compile(r"/proc/(\d+|self|thread-self)(/|$)")
_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "named pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}

Identity = tuple[int, int]


def identity(status: os.stat_result) -> Identity:
    """What tells a file from every other: its device and its inode."""
    return status.st_dev, status.st_ino


def kind(status: os.stat_result) -> str:
    """What it is, in plain words."""
    return _KINDS.get(stat.S_IFMT(status.st_mode), "special file")


def faulty(path: str, error: OSError) -> contract.ToolFault:
    """What the system said of a path, as a sentence."""
    return contract.ToolFault(f"{path}: {os.strerror(error.errno or 0)}.")


class Spot:
    """A path and what it leads to: the folder above it held open, its last name, the real path.

    `missing` are folders that are not there, between the held one and the name. The name is "." for
    the root itself.
    """

    def __init__(
        self, written: str, real: str, folder_fd: int, missing: tuple[str, ...], name: str
    ) -> None:
        self.written = written
        self.real = real
        self.missing = missing
        self.name = name
        self._folder_fd = folder_fd

    @property
    def folder_fd(self) -> int:
        """The deepest folder above the name that is there."""
        return self._folder_fd

    @property
    def folder(self) -> str:
        """The real path of the held folder."""
        above = os.path.dirname(self.real)
        for _ in self.missing:
            above = os.path.dirname(above)
        return above

    def status(self) -> os.stat_result | None:
        """What is at the name now, no link followed; None when nothing is."""
        if self.missing:
            return None
        try:
            return os.stat(self.name, dir_fd=self._folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise faulty(self.written, error) from error

    def is_in_place(self) -> bool:
        """Whether the held folder still has the path that was looked up."""
        return path_of(self._folder_fd) == self.folder

    def close(self) -> None:
        """Let go of the folder; may be called twice."""
        if self._folder_fd >= 0:
            os.close(self._folder_fd)
            self._folder_fd = -1


def path_of(descriptor: int) -> str:
    """The path that an open folder has now."""
    return os.readlink(f"/proc/self/fd/{descriptor}")


def real_path(folder: str, path: str) -> str:
    """Where a path leads from a folder, every link followed; `~` is the home.

    Raises:
        ToolFault: it cannot be a path.
    """
    try:
        length = len(path.encode())
    except UnicodeEncodeError as error:
        raise contract.ToolFault("The path is not valid text.") from error
    if not path or "\0" in path or length > MAX_PATH_BYTES:
        raise contract.ToolFault(
            f"A path has at least one character, no NUL and at most {MAX_PATH_BYTES} bytes."
        )
    named = os.path.expanduser(path) if path == "~" or path.startswith("~/") else path
    try:
        real = os.path.realpath(os.path.join(folder, named))
        real.encode()
    except OSError as error:
        raise faulty(path, error) from error
    except UnicodeEncodeError as error:
        raise contract.ToolFault(f"{path} leads to a name that is not valid UTF-8.") from error
    return real


def locate(call: contract.Call, path: str) -> Spot:
    """Look a call's path up and hold the folder above it.

    Raises:
        ToolFault: it cannot be a path, is hidden, or changed meanwhile.
    """
    real = real_path(call.folder, path)
    if _OF_PROCESS.match(real):
        raise contract.ToolFault(f"{path} belongs to a running process; it is not opened.")
    hidden = Hidden(call.confinement)
    hidden.refuse_path(path, real)
    *above, name = [part for part in real.split("/") if part] or ["."]
    folder_fd = os.open("/", _FOLDER)
    missing: tuple[str, ...] = ()
    try:
        for index, part in enumerate(above):
            try:
                below = os.open(part, _FOLDER, dir_fd=folder_fd)
            except FileNotFoundError:
                missing = tuple(above[index:])
                break
            except NotADirectoryError as error:
                at = "/".join(["", *above[: index + 1]])
                raise contract.ToolFault(f"{path}: {at} is not a folder.") from error
            os.close(folder_fd)
            folder_fd = below
            hidden.refuse(path, os.fstat(folder_fd))
        spot = Spot(path, real, folder_fd, missing, name)
        if not spot.is_in_place():
            raise contract.ToolFault(f"{path} changed while it was looked up; try again.")
        status = spot.status()
        if status is not None:
            hidden.refuse(path, status)
    except OSError as error:
        os.close(folder_fd)
        raise faulty(path, error) from error
    except contract.ToolFault:
        os.close(folder_fd)
        raise
    return spot


def open_file(spot: Spot) -> int:
    """The regular file at a spot, for reading.

    Raises:
        ToolFault: it is not there, no regular file, or may not be read.
    """
    with _held(spot) as (path_fd, status):
        if stat.S_ISDIR(status.st_mode):
            raise contract.ToolFault(f"{spot.written} is a folder: list it with file_list.")
        if not stat.S_ISREG(status.st_mode):
            raise contract.ToolFault(
                f"{spot.written} is a {kind(status)}, not a file; it is not opened."
            )
        return _again(path_fd, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def open_folder(spot: Spot) -> int:
    """The folder at a spot, for listing.

    Raises:
        ToolFault: it is not there, no folder, or may not be read.
    """
    with _held(spot) as (path_fd, status):
        if not stat.S_ISDIR(status.st_mode):
            raise contract.ToolFault(f"{spot.written} is a {kind(status)}, not a folder.")
        return _again(path_fd, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def _held(spot: Spot) -> Iterator[tuple[int, os.stat_result]]:
    """What is at the spot, held without opening it, and what it is."""
    if spot.missing:
        raise contract.ToolFault(f"{spot.written} is not there.")
    try:
        path_fd = os.open(spot.name, _PATH_ONLY, dir_fd=spot.folder_fd)
        try:
            yield path_fd, os.fstat(path_fd)
        finally:
            os.close(path_fd)
    except FileNotFoundError as error:
        raise contract.ToolFault(f"{spot.written} is not there.") from error
    except OSError as error:
        raise faulty(spot.written, error) from error


def _again(path_fd: int, flags: int) -> int:
    """Open what is held, and nothing else."""
    return os.open(f"/proc/self/fd/{path_fd}", flags)


@contextlib.contextmanager
def descend(folder_fd: int, parts: Sequence[str]) -> Iterator[int]:
    """A folder below an open one, opened for listing, no link followed.

    Raises:
        OSError: one of the folders is not there or none any more.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.dup(folder_fd)
    try:
        for part in parts:
            below = os.open(part, flags, dir_fd=opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


@dataclass(frozen=True, slots=True)
class _HiddenOne:
    real: str
    status: os.stat_result | None


class Hidden:
    """What no call may see, known by its path and by what it is, so that no other name helps."""

    def __init__(self, confinement: contract.Confinement) -> None:
        self._ones = tuple(map(_hidden, confinement.hidden))
        self._identities = frozenset(
            identity(one.status) for one in self._ones if one.status is not None
        )

    def refuse_path(self, written: str, real: str) -> None:
        """Refuse what is hidden, or below it, by its real path."""
        for one in self._ones:
            if real == one.real or real.startswith(one.real.rstrip("/") + "/"):
                raise _kept(written)

    def refuse(self, written: str, status: os.stat_result) -> None:
        """Refuse what is hidden by what it is: another mount of it, or another name of a file."""
        if self.holds(status):
            raise _kept(written)

    def holds(self, status: os.stat_result) -> bool:
        """Whether it is one of the hidden, or a further name of a file in a hidden folder."""
        if identity(status) in self._identities:
            return True
        if not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        return any(
            _is_below(one.real, status)
            for one in self._ones
            if one.status is not None
            and stat.S_ISDIR(one.status.st_mode)
            and one.status.st_dev == status.st_dev
        )


def _kept(written: str) -> contract.ToolFault:
    return contract.ToolFault(f"{written} belongs to the daemon itself or is kept from this call.")


def _hidden(path: str) -> _HiddenOne:
    real = os.path.realpath(path)
    try:
        return _HiddenOne(real, os.stat(real))
    except OSError:
        return _HiddenOne(real, None)


def _is_below(folder: str, status: os.stat_result) -> bool:
    """Whether a folder holds a name of the file; also when there is too much to know."""
    waiting, seen = [folder], 0
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.inode() == status.st_ino or seen > SEARCHED_ENTRIES:
                        return True
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            continue
    return False
