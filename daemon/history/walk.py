"""What a folder holds now: its files with what tells a change, and what is left out of them.

Goes by descriptor and follows no link. Enters no repository's `.git`, no other file system, and
nothing that calls never see. Reads no file but `.gitignore`; never changes anything.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from daemon.domain import errors
from daemon.history import ignores, objects

MOST_FILES = 20_000
MOST_FILE_BYTES = 5 * 1024 * 1024
MOST_BYTES = 1024 * 1024 * 1024
"""Of all files of a folder together."""
_MOST_DEPTH = 64
_MOST_IGNORE_FILES = 200
_LOOK_EVERY = 256
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

TOO_LARGE = f"larger than {MOST_FILE_BYTES // 1024 // 1024} MB"


class Late(errors.HistoryFault):
    """There was not enough time."""


class TooMuch(errors.HistoryFault):
    """The folder holds more than a history keeps."""


class Deadline:
    """A point of the monotonic clock, in seconds, that work ends at."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left.

        Raises:
            Late: there are none.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise Late("its history took too long")
        return left


class Stamp(NamedTuple):
    """What tells that a file is another or holds something else."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    links: int


def stamp(status: os.stat_result) -> Stamp:
    return Stamp(
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_nlink,
    )


@dataclass
class Listing:
    """A folder's files by their path, and what is left out, with the reason."""

    files: dict[bytes, Stamp] = field(default_factory=dict)
    left: dict[bytes, str] = field(default_factory=dict)


def listing(
    folder_fd: int,
    folder: bytes,
    hidden: Sequence[bytes],
    kept: Mapping[bytes, objects.Kept],
    deadline: Deadline,
) -> Listing:
    """Look at a whole folder; `kept` are files that stay however they are ignored.

    Raises:
        Late, TooMuch: it was given up.
        OSError: the folder itself cannot be read.
    """
    look = _Look(_closed(folder, hidden), kept, deadline)
    look.into(folder_fd, b"", (ignores.defaults(),), 0)
    look.leave_out_links()
    if look.size_bytes > MOST_BYTES:
        raise TooMuch(f"it holds more than {MOST_BYTES // 1024**3} GiB")
    return look.found


def _closed(folder: bytes, hidden: Sequence[bytes]) -> frozenset[bytes]:
    """The paths below a folder that are not entered: hidden ones, and other file systems."""
    within = folder.rstrip(b"/") + b"/"
    paths = {*hidden, *_mounts()}
    return frozenset(path[len(within) :] for path in paths if path.startswith(within))


def is_closed(folder: bytes, hidden: Sequence[bytes], path: bytes) -> bool:
    """Whether a path below a folder is or lies in what is not entered."""
    closed = _closed(folder, hidden)
    return any(path == one or path.startswith(one + b"/") for one in closed)


def _mounts() -> Iterator[bytes]:
    try:
        with open("/proc/self/mountinfo", "rb") as lines:
            for line in lines:
                path = line.split(b" ", 5)[4]
                for escaped, plain in ((b"040", b" "), (b"011", b"\t"), (b"012", b"\n")):
                    path = path.replace(b"\\" + escaped, plain)
                yield path.replace(b"\\134", b"\\")
    except OSError:
        return


class _Look:
    """One look at a folder."""

    def __init__(
        self,
        closed: frozenset[bytes],
        kept: Mapping[bytes, objects.Kept],
        deadline: Deadline,
    ) -> None:
        self.found = Listing()
        self._closed = closed
        self._kept = kept
        self._deadline = deadline
        self._kept_folders: frozenset[bytes] | None = None
        self._ignore_files = 0
        self._names: dict[int, list[bytes]] = {}
        """Of the files that have several, by inode."""
        self.size_bytes = 0
        self._seen = 0

    def into(
        self, fd: int, base: bytes, patterns: tuple[ignores.Patterns, ...], depth: int
    ) -> None:
        """Look at the folder with this descriptor; `base` is its path with a slash behind."""
        self._deadline.left()
        with os.scandir(fd) as entries:
            found = {os.fsencode(entry.name): entry for entry in entries}
        if b".gitignore" in found and self._ignore_files < _MOST_IGNORE_FILES:
            self._ignore_files += 1
            own = ignores.parse(_ignore_text(fd), base)
            patterns = (own, *patterns) if own.patterns else patterns
        for name, entry in found.items():
            self._seen += 1
            if not self._seen % _LOOK_EVERY:
                self._deadline.left()
            path = base + name
            if name.lower() == b".git" or path in self._closed:
                continue
            if entry.is_dir(follow_symlinks=False):
                self._folder(fd, name, path, patterns, depth)
            elif path in self._kept or not ignores.ignored(patterns, path, False):
                self._file(path, entry)

    def _folder(
        self, fd: int, name: bytes, path: bytes, patterns: tuple[ignores.Patterns, ...], depth: int
    ) -> None:
        if ignores.ignored(patterns, path, True):
            if path not in self._folders_kept():
                return
            patterns = (ignores.parse(b"*"),)
        if depth == _MOST_DEPTH:
            self.found.left[path + b"/"] = "too deep"
            return
        try:
            inner = os.open(name, FOLDER_FLAGS, dir_fd=fd)
        except FileNotFoundError:
            return
        except OSError as error:
            self.found.left[path + b"/"] = _why(error)
            return
        try:
            self.into(inner, path + b"/", patterns, depth + 1)
        finally:
            os.close(inner)

    def _folders_kept(self) -> frozenset[bytes]:
        if self._kept_folders is None:
            folders: set[bytes] = set()
            for path in self._kept:
                while (path := path.rpartition(b"/")[0]) and path not in folders:
                    folders.add(path)
            self._kept_folders = frozenset(folders)
        return self._kept_folders

    def _file(self, path: bytes, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISREG(status.st_mode):
            if status.st_nlink > 1:
                self._names.setdefault(status.st_ino, []).append(path)
            if status.st_size > MOST_FILE_BYTES:
                self.found.left[path] = TOO_LARGE
                return
        elif not stat.S_ISLNK(status.st_mode):
            return
        self.size_bytes += status.st_size
        self.found.files[path] = stamp(status)
        if len(self.found.files) > MOST_FILES:
            raise TooMuch(f"it holds more than {MOST_FILES:,} files")

    def leave_out_links(self) -> None:
        """Leave out files that have a name elsewhere: they may be what calls never see."""
        for names in self._names.values():
            for path in names:
                seen = self.found.files.get(path)
                if seen is not None and len(names) < seen.links:
                    del self.found.files[path]
                    self.found.left[path] = "it has a name outside"


def _ignore_text(fd: int) -> bytes:
    try:
        inner = os.open(b".gitignore", FILE_FLAGS, dir_fd=fd)
    except OSError:
        return b""
    with open(inner, "rb") as file:
        if not stat.S_ISREG(os.fstat(inner).st_mode):
            return b""
        return file.read(ignores.MOST_BYTES)


def _why(error: OSError) -> str:
    return "it may not be read" if error.errno in (errno.EACCES, errno.EPERM) else "unreadable"


@contextmanager
def opened(folder: str) -> Iterator[int]:
    """A descriptor of a folder, by its real path.

    Raises:
        HistoryFault: it is not there, or the path leads elsewhere.
    """
    try:
        if os.path.realpath(folder) != folder:
            raise errors.HistoryFault("it is no real path")
        fd = os.open(folder, FOLDER_FLAGS)
    except FileNotFoundError as error:
        raise errors.HistoryFault("the folder is not there") from error
    except OSError as error:
        raise errors.HistoryFault(f"the folder cannot be read: {error.strerror}") from error
    try:
        yield fd
    finally:
        os.close(fd)
