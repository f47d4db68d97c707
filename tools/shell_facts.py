"""Finds what a command would run and touch, without running any of it.

Looks up the folder, the programs, the scripts and the paths that a call names, as they are now.
Judges nothing: what the facts mean is policy's.
"""

import contextlib
import fnmatch
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from tools import contract
from tools.sandbox import view

PATH = "/usr/bin:/bin"
_SCRIPT_BYTES = 4 * 1024 * 1024
_SCRIPTS = 16
_MOST_MATCHES = 256
_MOST_ENTRIES = 20_000
"""How many names are looked at to expand one pattern."""
_MARKS = frozenset("*?[")
_UNKNOWN = "\0"
_TOKENS = re.compile(r"[;&|()\n]+|[<>]+|[^\s;&|()<>]+")
_INTERPRETER = re.compile(
    r"(?:ba|da|z|k|fi)?sh|python[\d.]*|perl|ruby|node|php|lua[\d.]*|Rscript|source|\."
)
_WRAPPERS = frozenset(
    ("env", "time", "nohup", "timeout", "nice", "exec", "command", "xargs", "stdbuf", "setsid")
)
_SOURCING = re.compile(r"(?:^|[^\w./-])(?:source|\.)\s")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


@dataclass(frozen=True)
class Program:
    """A program as it was found. `trusted`: it and every folder above belong to root alone."""

    path: str
    status: os.stat_result
    trusted: bool

    def identity(self) -> str:
        """What tells this program from any other under the same name."""
        found = self.status
        return f"{self.path} {identity(found)} {found.st_size} {found.st_mtime_ns} {found.st_uid}"

    def replaced(self) -> bool:
        """Whether another file, or none, is there by now."""
        return _replaced(self.path, self.status)


@dataclass(frozen=True)
class Script:
    """A file of the folder that the command would run: where it is, and its content."""

    written: str
    path: str
    content: bytes
    status: os.stat_result

    def replaced(self) -> bool:
        """Whether another file, or none, is there by now."""
        return _replaced(self.path, self.status)

    def digest(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def _replaced(path: str, status: os.stat_result) -> bool:
    try:
        return identity(os.stat(path, follow_symlinks=False)) != identity(status)
    except OSError:
        return True


def identity(status: os.stat_result) -> str:
    """Which file it is, whatever its name."""
    return f"{status.st_dev}:{status.st_ino}"


def program(name: str, folder: str) -> Program | None:
    """The program that a name stands for: on the fixed path, or relative to the folder."""
    places = [folder] if "/" in name else PATH.split(":")
    for place in places:
        path = os.path.realpath(os.path.join(place, name))
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode) and status.st_mode & 0o111:
            return Program(path, status, _of_root(path))
    return None


def interpreted(program_fd: int) -> bool:
    """Whether a program is a script: the kernel hands its interpreter a path, so that it cannot be
    run by a descriptor that closes."""
    try:
        with open(f"/proc/self/fd/{program_fd}", "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False  # one that may be run and not read


def _of_root(path: str) -> bool:
    """Whether nobody but root can change a file or put another in its place."""
    for place in (path, *map(str, PurePath(path).parents)):
        status = os.stat(place)
        if status.st_uid != 0 or status.st_mode & 0o022:
            return False
    return True


def tokens(command: str) -> list[str]:
    """The words and operators of a command, by their look alone."""
    return _TOKENS.findall(command)


def executed(words: Iterable[str], with_operators: bool) -> Iterator[str]:
    """The words of a command that stand where a script's path would stand."""
    first, skipped, interpreted = True, False, False
    for one in words:
        word = one.strip("'\"") if with_operators else one
        if skipped:
            skipped = False
        elif with_operators and one[0] in "<>":
            skipped = True
        elif with_operators and one[0] in ";&|()\n":
            first, interpreted = True, False
        elif interpreted:
            interpreted = word.startswith("-") and not word.startswith(("-c", "-m", "-e"))
            if not word.startswith("-"):
                yield word
        elif first and not (word.startswith("-") or word.isdigit() or _ASSIGNMENT.match(word)):
            name = word.rpartition("/")[2]
            interpreted = _INTERPRETER.fullmatch(name) is not None
            first = name in _WRAPPERS
            if "/" in word:
                yield word


def scripts(
    command: str, argv: tuple[str, ...] | None, folder: str, held: contextlib.ExitStack
) -> list[Script]:
    """The scripts of the folder that the command would run, as far as its form tells. Each stays
    open in `held`, so that no other file can get its number."""
    words = executed(argv or tokens(command), with_operators=argv is None)
    found: dict[str, Script] = {}
    for word in words:
        path = os.path.realpath(os.path.join(folder, word))
        if view.within(path, folder) and path not in found and len(found) < _SCRIPTS:
            script = _script(word, path, held)
            if script is not None:
                found[path] = script
    return list(found.values())


def _script(word: str, path: str, held: contextlib.ExitStack) -> Script | None:
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    file = held.enter_context(os.fdopen(opened, "rb"))
    status = os.fstat(opened)
    if not stat.S_ISREG(status.st_mode):
        return None
    if status.st_size > _SCRIPT_BYTES:
        raise contract.ToolFault(
            f"{word} is larger than {_SCRIPT_BYTES} bytes: too large a script to inspect."
        )
    return Script(word, path, file.read(_SCRIPT_BYTES), status)


def held_still(script: Script, command: str, argv: tuple[str, ...] | None) -> bool:
    """Whether the script may be shown unchangeable while the command runs: not when the command
    names it twice, for then it may be writing it first.

    What is shown is a copy mounted over the file: writing into the file changes nothing. But the
    kernel takes a mount away whose file another process renames or deletes. So that no other file
    is run then, `sandbox.opening` watches that the copy is what is opened. Where a machine does not
    let it, one outside this sandbox that replaces the file in the milliseconds between the mount
    and the interpreter's look gets its own file run: that is said before, and afterwards where it
    is found (`Script.replaced`), not prevented.
    """
    names = {os.path.basename(script.path), os.path.basename(script.written)}
    return argv is not None or sum(map(command.count, names)) == 1


def read_by_shell(script: Script, command: str) -> bool:
    """Whether the shell of a command may read the script itself, instead of another program: told
    to, or because the kernel knows no program for it."""
    known = script.content.startswith((b"#!", b"\x7fELF"))
    return _SOURCING.search(command) is not None or (not known and "/" in script.written)


def touched(paths: Iterable[str], folder: str, home: str) -> Iterator[contract.Touched]:
    """Each path that a call names, patterns expanded, with where it leads."""
    for written in paths:
        full = os.path.join(folder, _from_home(written, home))
        if _UNKNOWN in full:
            known = full.partition(_UNKNOWN)[0].rpartition("/")[0] or "/"
            yield contract.Touched(written=written, real=os.path.realpath(known))
        elif _MARKS.isdisjoint(written):
            yield _touched(written, full)
        else:
            matches = _matches(full)
            if matches is None:
                yield contract.Touched(written=written, real=os.path.realpath(_literal(full)))
            else:
                # bash leaves a pattern that matches nothing as it is
                yield from (_touched(written, match) for match in matches or [full])


def _from_home(written: str, home: str) -> str:
    if written == "~" or written.startswith("~/"):
        return home + written[1:]
    return written


def _touched(written: str, path: str) -> contract.Touched:
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except OSError:
        return contract.Touched(written=written, real=real)
    links = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    return contract.Touched(written=written, real=real, links=links)


def _literal(pattern: str) -> str:
    """The folder that a pattern surely stays in."""
    parts = PurePath(pattern).parts
    first = next(i for i, part in enumerate(parts) if not _MARKS.isdisjoint(part))
    return str(PurePath(*parts[:first]))


def _matches(pattern: str) -> list[str] | None:
    """What a pattern stands for; None when that is more than would be looked at."""
    found = ["/"]
    looked_at = 0
    for part in PurePath(pattern).parts[1:]:
        if _MARKS.isdisjoint(part):
            found = [os.path.join(place, part) for place in found]
            found = [place for place in found if os.path.lexists(place)]
            continue
        below: list[str] = []
        for place in found:
            names = _names(place, part.startswith("."))
            looked_at += len(names)
            below += [os.path.join(place, name) for name in fnmatch.filter(names, part)]
            if looked_at > _MOST_ENTRIES or len(below) > _MOST_MATCHES:
                return None
        found = below
    return sorted(found)


def _names(place: str, dotted: bool) -> list[str]:
    """The names in a folder that a pattern may stand for; those with a dot only if it has one."""
    try:
        names = [*os.listdir(place), ".", ".."]
    except OSError:
        return []
    return [name for name in names if dotted or not name.startswith(".")]
