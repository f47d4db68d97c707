"""What a path is to the owner: the daemon's own, a secret, a disk, a place that runs code, or work.

Pure over the text of a path: links are resolved by whoever inspects the call. A path may hold
globs and, as NUL, pieces that only the shell will know; what such a path may name, it names.
"""

import fnmatch
import posixpath
import re
from collections.abc import Iterable
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


@dataclass(frozen=True)
class PathNames:
    """The owner's lists, as patterns. One with a slash in it is a whole path (`~` is the home), one
    without is the name of a file or a folder anywhere."""

    secret: tuple[str, ...] = ()
    not_secret: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    autorun: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()
    kernel: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    harmless: tuple[str, ...] = ()


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


def _named(path: str, patterns: Iterable[str], home: str) -> bool:
    """Whether the path, or a folder above it, is what one of the patterns says."""
    parts = _split(path)
    for pattern in patterns:
        if "/" not in pattern:
            if any(_alike(part, pattern) for part in parts):
                return True
            continue
        whole = _split(pattern.replace("~", home, 1) if pattern.startswith("~") else pattern)
        if len(parts) >= len(whole) and all(map(_alike, parts, whole)):
            return True
    return False


def _alike(part: str, pattern: str) -> bool:
    """Whether two components, each perhaps a pattern, may be the same name."""
    if part == pattern or (_pattern(pattern) or _NEVER).match(part):
        return True
    written = _pattern(part)
    if written is None or not any(c.isalnum() for c in part):
        return False
    return bool(written.match(pattern.replace("*", "x")))


_NEVER = re.compile(r"(?!)")


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
    lists = (
        (Kind.DISK, names.disks),
        (Kind.KERNEL, names.kernel),
        (Kind.ACCOUNTS, names.accounts),
        (Kind.LOGINS, names.logins),
        (Kind.AUTORUN, names.autorun),
        (Kind.SYSTEM, names.system),
    )
    kinds.update(kind for kind, patterns in lists if _named(whole, patterns, place.home))
    if _named(whole, names.secret, place.home) and not _named(whole, names.not_secret, place.home):
        kinds.add(Kind.SECRET)
    if whole in names.harmless:
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
        if outcome == "/" or any(may_be(outcome, name) for name in names.critical):
            return True
        if may_be(outcome, place.home) or any(may_hold(outcome, target) for target in above):
            return True
        folder, _, last = outcome.rpartition("/")
        if last in ("*", ".*", "?*", "**", ".[!.]*", "{*,.*}", ".??*", UNKNOWN) and (
            folder in ("", place.home)
            or (last != UNKNOWN and any(may_be(folder, name) for name in names.critical))
        ):
            return True
    return False
