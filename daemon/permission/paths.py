"""What a path is to the owner: the daemon's own, a secret, a disk, a place that runs code, or work.

Pure over the text of a path: links are resolved by whoever inspects the call. A path may hold
globs and, as NUL, pieces that only the shell will know; what such a path may name, it names.
"""

import fnmatch
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from daemon.permission import findings

UNKNOWN = "\0"
"""Stands in a text for a piece that only the shell will know."""
_MARKS = re.compile(r"[*?\[\0]")
_SELF = re.compile(r"/proc/(self|thread-self)(/task/[^/]+)?/(root|cwd)(?=/|$)")
_OTHER_ROOT = re.compile(r"/proc/[^/]+/(task/[^/]+/)?root(?=/|$)")
_PROCESS = re.compile(r"/proc/([^/]+)/(task/[^/]+/)?([^/]+)")
_COMPONENTS = 64


class Kind(StrEnum):
    """What rules may say of a path."""

    STATE = "state"
    HOLDS_STATE = "holds-state"
    DISK = "disk"
    DEVICE = "device"
    NETWORK = "network"
    KERNEL = "kernel"
    PROCESS = "process"
    OWN_PROCESS = "own-process"
    SECRET = "secret"
    ACCOUNTS = "accounts"
    CRITICAL = "critical"
    LOGINS = "logins"
    AUTORUN = "autorun"
    SYSTEM = "system"
    OUTSIDE = "outside"
    WORKSPACE = "workspace"
    HARMLESS = "harmless"


class NameList:
    """One of the owner's lists, as patterns, made ready. One with a slash in it is a whole path and
    what is below it (`~` is the home), one without is the name of a file or a folder anywhere."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._all = tuple(patterns)
        names = [pattern for pattern in self._all if "/" not in pattern]
        self._names = frozenset(name for name in names if not _MARKS.search(name))
        marked = [fnmatch.translate(name) for name in names if _MARKS.search(name)]
        self._name = re.compile("|".join(marked) if marked else r"(?!)")
        wholes = [tuple(_split(p)) for p in self._all if "/" in p]
        self._plain = frozenset(w for w in wholes if not any(map(_MARKS.search, w)))
        self._marked = tuple(w for w in wholes if any(map(_MARKS.search, w)))
        self.has_root = "/" in self._all

    def holds(self, parts: tuple[str, ...], home: tuple[str, ...]) -> bool:
        """Whether a folded path, or a folder above it, is on the list."""
        if any(map(_MARKS.search, parts)):
            return any(self._alike(parts, home))
        if any(part in self._names or self._name.match(part) for part in parts):
            return True
        forms = [parts]
        if parts[: len(home)] == home:
            forms.append(("~", *parts[len(home) :]))
        return any(
            form[:length] in self._plain for form in forms for length in range(1, len(form) + 1)
        ) or any(
            len(form) >= len(whole) and all(map(_alike, form, whole))
            for form in forms
            for whole in self._marked
        )

    def _alike(self, parts: tuple[str, ...], home: tuple[str, ...]) -> Iterator[bool]:
        """The same for a path that is a pattern itself."""
        yield any(_alike(part, name) for part in parts for name in self._names)
        yield any(self._name.match(part) for part in parts)
        for whole in (*self._plain, *self._marked):
            full = (*home, *whole[1:]) if whole[:1] == ("~",) else whole
            yield len(parts) >= len(full) and all(map(_alike, parts, full))

    def may_hold_exactly(self, parts: tuple[str, ...]) -> bool:
        """Whether a path may be one of the list's whole paths, and nothing below."""
        if parts in self._plain or (not parts and self.has_root):
            return True
        is_marked = any(map(_MARKS.search, parts))
        candidates = (*self._plain, *self._marked) if is_marked else self._marked
        return any(
            len(parts) == len(whole) and all(map(_alike, parts, whole)) for whole in candidates
        )


@dataclass(frozen=True, eq=False)
class PathNames:
    """The owner's lists by what they say of a path."""

    own: NameList
    secret: NameList
    not_secret: NameList
    accounts: NameList
    logins: NameList
    autorun: NameList
    critical: NameList
    disks: NameList
    kernel: NameList
    system: NameList
    harmless: NameList


def absolute(path: str, cwd: str) -> str:
    """The path with `.`, `..` and doubled slashes folded; globs and unknown pieces stay."""
    joined = path if path.startswith("/") else f"{cwd}/{path}"
    folded = posixpath.normpath(joined)
    folded = "/" + folded.lstrip("/")
    for _ in range(4):
        shorter = _OTHER_ROOT.sub("", _SELF.sub(lambda m: cwd if m[3] == "cwd" else "", folded))
        if shorter == folded:
            break
        folded = "/" + posixpath.normpath(shorter or "/").lstrip("/")
    return folded


def is_within(path: str, folder: str) -> bool:
    """Whether a path without marks is the folder or below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


@lru_cache(maxsize=4096)
def _pattern(component: str) -> re.Pattern[str] | None:
    if not _MARKS.search(component):
        return None
    return re.compile(fnmatch.translate(component.replace(UNKNOWN, "*")[:255]))


def _meets(component: str, other: str) -> bool:
    """Whether a component of a path, perhaps a pattern, may name the other component."""
    pattern = _pattern(component)
    if pattern is None:
        return component == other
    if pattern.match(other):
        return not other.startswith(".") or component[0] in ".["
    return False


def may_be(path: str, target: str) -> bool:
    """Whether the path, folded, may name exactly the target."""
    mine, theirs = _split(path), _split(target)
    return len(mine) == len(theirs) and all(map(_meets, mine, theirs))


def may_be_within(path: str, folder: str) -> bool:
    """Whether the path may name the folder or anything below it."""
    mine, theirs = _split(path), _split(folder)
    return len(mine) >= len(theirs) and all(map(_meets, mine, theirs))


def may_hold(path: str, target: str) -> bool:
    """Whether the path may name a folder above the target."""
    mine, theirs = _split(path), _split(target)
    return len(mine) < len(theirs) and all(map(_meets, mine, theirs))


def _split(path: str) -> list[str]:
    return [part for part in path.split("/")[: _COMPONENTS + 1] if part]


def _alike(part: str, pattern: str) -> bool:
    """Whether two components, each perhaps a pattern, may be the same name."""
    if part == pattern or (_pattern(pattern) or _NEVER).match(part):
        return True
    written = _pattern(part)
    if written is None or not _WORD.search(part):
        return False
    return bool(written.match(pattern.replace("*", "x")))


_NEVER = re.compile(r"(?!)")
_WORD = re.compile(r"[A-Za-z0-9]")


@lru_cache(maxsize=4096)
def classify(path: str, place: findings.Place, names: PathNames, cwd: str) -> frozenset[Kind]:
    """Everything that a path may be, written as a command would write it."""
    if re.match(r"/+dev/+(tcp|udp)/", path):
        return frozenset((Kind.NETWORK,))
    whole = absolute(path, cwd)
    kinds: set[Kind] = set()
    for own in (place.state, place.config):
        if may_be_within(whole, own):
            kinds.add(Kind.STATE)
        elif may_hold(whole, own):
            kinds.add(Kind.HOLDS_STATE)
    if _is_critical(whole, place, names):
        kinds.add(Kind.CRITICAL)
    _special(whole, place, names, kinds)
    _process(whole, kinds)
    if not _is_in_workspace(whole, place):
        kinds.add(Kind.OUTSIDE)
    elif not kinds & {Kind.SECRET, Kind.AUTORUN, Kind.STATE}:
        kinds.add(Kind.WORKSPACE)
    return frozenset(kinds)


def _special(whole: str, place: findings.Place, names: PathNames, kinds: set[Kind]) -> None:
    parts, home = tuple(_split(whole)), tuple(_split(place.home))
    lists = (
        (Kind.DISK, names.disks),
        (Kind.KERNEL, names.kernel),
        (Kind.ACCOUNTS, names.accounts),
        (Kind.LOGINS, names.logins),
        (Kind.AUTORUN, names.autorun),
        (Kind.SYSTEM, names.system),
    )
    if names.own.holds(parts, home):
        kinds.add(Kind.STATE)
    kinds.update(kind for kind, known in lists if known.holds(parts, home))
    is_excepted = not _MARKS.search(whole) and names.not_secret.holds(parts, home)
    if names.secret.holds(parts, home) and not is_excepted:
        kinds.add(Kind.SECRET)
    if names.harmless.holds(parts, home):
        kinds.add(Kind.HARMLESS)
    elif is_within(whole, "/dev") and Kind.DISK not in kinds:
        kinds.add(Kind.DEVICE)


def _process(whole: str, kinds: set[Kind]) -> None:
    if match := _PROCESS.match(whole):
        who, _, what = match.groups()
        if what in ("environ", "mem", "maps", "fd", "cwd", "exe", "auxv", "stack", "map_files"):
            mine = who in ("self", "thread-self")
            kinds.add(Kind.OWN_PROCESS if mine else Kind.PROCESS)
        elif _MARKS.search(what) and (_MARKS.search(who) or who.isdigit()):
            kinds.add(Kind.PROCESS)


def _is_in_workspace(whole: str, place: findings.Place) -> bool:
    if _MARKS.search(whole[: len(place.cwd) + 1]):
        return False
    return is_within(whole, place.cwd)


def _is_critical(whole: str, place: findings.Place, names: PathNames) -> bool:
    """Whether losing it loses the machine or a home: roots, homes, folders above the work."""
    outcomes = {whole}
    if UNKNOWN in whole:
        outcomes.add(absolute(whole.replace(UNKNOWN, ""), "/"))
    above = (place.home, place.cwd)
    for outcome in outcomes:
        if outcome == "/" or names.critical.may_hold_exactly(tuple(_split(outcome))):
            return True
        if may_be(outcome, place.home) or any(may_hold(outcome, target) for target in above):
            return True
        folder, _, last = outcome.rpartition("/")
        if last in ("*", ".*", "?*", "**", ".[!.]*", "{*,.*}", ".??*", UNKNOWN) and (
            folder in ("", place.home)
            or (last != UNKNOWN and names.critical.may_hold_exactly(tuple(_split(folder))))
        ):
            return True
    return False
