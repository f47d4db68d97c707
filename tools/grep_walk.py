"""Which files a search looks through: those below what is held open, in the order of their names.

Leaves out what is hidden from the call, ignored by git or named as if it held a secret, and counts
it by its reason. Bounded; follows no link, and opens nothing but regular files and folders.
"""

import collections
import os
import stat
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pathspec

from tools import confine, contract, files, secret_names

SEEN_ENTRIES = 50_000
_IGNORE_FILE = ".gitignore"
_IGNORE_BYTES = 64 * 1024
_REPOSITORIES = frozenset((".git", ".hg", ".svn"))
_OF_GIT = "of a repository"
_KEPT = "kept from this call"

_Parts = tuple[str, ...]

Globs = pathspec.GitIgnoreSpec


def matching(glob: str) -> Globs | None:
    """Which files are wanted; None for all.

    Raises:
        ToolFault: it is no pattern of names.
    """
    if not glob:
        return None
    try:
        return Globs.from_lines([glob.removeprefix("./")], backend="re2")
    except ValueError as error:
        raise contract.ToolFault(f"grep: glob: {error}.") from error


@dataclass(frozen=True, slots=True)
class Ignored:
    """What a folder's file says is ignored. `depth` is how many names lead to the folder."""

    depth: int
    globs: Globs

    def says(self, parts: _Parts, is_folder: bool) -> bool | None:
        """Whether it ignores what is below it; None when it says nothing."""
        path = "/".join(parts[self.depth :]) + "/" * is_folder
        return self.globs.check_file(path).include


def ignored_above(call: contract.Call, real: str) -> tuple[_Parts, tuple[Ignored, ...]]:
    """What the folders above say, from the working folder down; and the names that lead there."""
    base = os.path.realpath(call.folder)
    if not real.startswith(f"{base}/"):
        return (), ()
    parts = tuple(real.removeprefix(f"{base}/").split("/"))
    found: list[Ignored] = []
    try:
        spot = confine.locate(call, base)
        try:
            folder_fd = confine.open_folder(spot)
        finally:
            spot.close()
        try:
            for depth in range(len(parts)):
                with confine.descend(folder_fd, parts[:depth]) as opened:
                    found += _ignored(opened, depth)
        finally:
            os.close(folder_fd)
    except (contract.ToolFault, OSError):
        return (), ()
    if any(one.says(parts, True) for one in found):
        return (), ()  # it was named itself: what is in it is wanted
    return parts, tuple(found)


def _ignored(folder_fd: int, depth: int) -> list[Ignored]:
    """What a folder's own file says, if there is one that can be read."""
    opened = _open_regular(_IGNORE_FILE, folder_fd)
    if opened < 0:
        return []
    try:
        text = os.pread(opened, _IGNORE_BYTES, 0).decode("utf-8", "replace")
        return [Ignored(depth, Globs.from_lines(text.splitlines(), backend="re2"))]
    except (OSError, ValueError):
        return []
    finally:
        os.close(opened)


def _open_regular(name: str, folder_fd: int) -> int:
    """A regular file in a folder, for reading; -1 when there is none, or it may not be read."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode):
            return -1
        opened = os.open(name, flags, dir_fd=folder_fd)
    except OSError:
        return -1
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return opened
    os.close(opened)
    return -1


class Walk:
    """The files to look through, in the order of their names, and why others are left out."""

    def __init__(
        self,
        opened_fd: int,
        written: str,
        wanted: Globs | None,
        hidden: confine.Hidden,
        above: tuple[_Parts, tuple[Ignored, ...]],
        most_entries: int = SEEN_ENTRIES,
    ) -> None:
        self._opened_fd = opened_fd
        self._written = written
        self._wanted = wanted
        self._hidden = hidden
        self._lead, self._ignored = above
        self.most_entries = most_entries
        self._seen = 0
        self.left_out: collections.Counter[str] = collections.Counter()
        self.is_whole = True

    def files(self) -> Generator[tuple[str, int], None, None]:
        """How each file is named, and the file, open until the next one is asked for."""
        if stat.S_ISREG(os.fstat(self._opened_fd).st_mode):
            yield self._written, self._opened_fd
            return
        waiting: list[tuple[_Parts, tuple[Ignored, ...]]] = [((), self._ignored)]
        while waiting and self.is_whole:
            parts, ignored = waiting.pop()
            try:
                with confine.descend(self._opened_fd, parts) as folder_fd:
                    ignored += tuple(_ignored(folder_fd, len(self._lead) + len(parts)))
                    below: list[_Parts] = []
                    for name in sorted(self._names(folder_fd)):
                        opened = self._opened((*parts, name), folder_fd, ignored, below)
                        if opened >= 0:
                            try:
                                yield self._named((*parts, name)), opened
                            finally:
                                os.close(opened)
                    waiting += ((one, ignored) for one in reversed(below))
            except OSError as error:
                if not parts:
                    raise confine.faulty(self._written, error) from error
                self.left_out["folders that cannot be read"] += 1

    def _names(self, folder_fd: int) -> list[str]:
        names: list[str] = []
        with os.scandir(folder_fd) as entries:
            for entry in entries:
                if self._seen >= self.most_entries:
                    self.is_whole = False
                    break
                self._seen += 1
                names.append(entry.name)
        return names

    def _opened(
        self, parts: _Parts, folder_fd: int, ignored: Sequence[Ignored], below: list[_Parts]
    ) -> int:
        """The file of a name, if it is looked through; a folder is put to those `below`."""
        try:
            status = os.stat(parts[-1], dir_fd=folder_fd, follow_symlinks=False)
        except OSError:
            return -1
        is_folder = stat.S_ISDIR(status.st_mode)
        if not is_folder and not stat.S_ISREG(status.st_mode):
            if stat.S_ISLNK(status.st_mode):
                self.left_out["links"] += 1
            return -1
        if why := self._why_not(parts, status, is_folder, ignored):
            if not is_folder or why != _OF_GIT:
                self.left_out[why] += 1
            return -1
        if is_folder:
            below.append(parts)
            return -1
        if self._wanted is not None and not self._wanted.match_file("/".join(parts)):
            return -1
        opened = _open_regular(parts[-1], folder_fd)
        if opened < 0:
            self.left_out["that cannot be read"] += 1
            return -1
        if self._hidden.holds(os.fstat(opened)):
            os.close(opened)
            self.left_out[_KEPT] += 1
            return -1
        return opened

    def _why_not(
        self, parts: _Parts, status: os.stat_result, is_folder: bool, ignored: Sequence[Ignored]
    ) -> str:
        if parts[-1] in _REPOSITORIES:
            return _OF_GIT
        if secret_names.may_be(parts):
            return "that may hold secrets (name one as path to search it)"
        whole = (*self._lead, *parts)
        said = (one.says(whole, is_folder) for one in reversed(ignored))
        if next((one for one in said if one is not None), False):
            return "ignored by git"
        return _KEPT if is_folder and self._hidden.holds(status) else ""

    def _named(self, parts: _Parts) -> str:
        path = "/".join(map(files.printable, parts))
        return path if self._written in (".", "") else f"{self._written.rstrip('/')}/{path}"
