"""Which names of a folder are not kept: the patterns of `.gitignore` files, and some of our own.

Means what git means by them. A pattern comes from a project, so matching one takes time bounded by
its length times the name's: no pattern can hold the daemon up. Reads nothing itself.
"""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_BYTES = 64 * 1024
"""Of a `.gitignore`; the rest of a longer one is not read."""
_MOST_PATTERNS = 1000
_MOST_PATTERN_BYTES = 500

_ANY_FOLDERS = b"**"
_MAGIC = re.compile(rb"[*?\[\\]")
_CLASSES = {
    b"alpha": rb"a-zA-Z",
    b"digit": rb"0-9",
    b"alnum": rb"a-zA-Z0-9",
    b"upper": rb"A-Z",
    b"lower": rb"a-z",
    b"space": rb"\s",
    b"xdigit": rb"0-9a-fA-F",
    b"punct": rb"!-/:-@\[-`{-~",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"print": rb" -~",
    b"graph": rb"!-~",
}


class _Never(Exception):
    """The pattern matches nothing."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a `.gitignore`. `parts` has one matcher a segment; a literal is its bytes."""

    parts: tuple["bytes | re.Pattern[bytes]", ...]
    negated: bool
    folders_only: bool
    anchored: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one file; `base` is its folder's path with a slash behind, or nothing."""

    base: bytes
    patterns: tuple[Pattern, ...]


def parse(text: bytes, base: bytes = b"") -> Patterns:
    """The patterns of a `.gitignore` in the folder `base`."""
    found: list[Pattern] = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if len(found) >= _MOST_PATTERNS:
            break
        pattern = _pattern(line.removesuffix(b"\r"))
        if pattern is not None:
            found.append(pattern)
    return Patterns(base, tuple(found))


def _pattern(line: bytes) -> Pattern | None:
    if line.startswith(b"#") or len(line) > _MOST_PATTERN_BYTES:
        return None
    line = _without_trailing_spaces(line)
    negated = line.startswith(b"!")
    line = line[negated:]
    folders_only = line.endswith(b"/")
    if folders_only:
        line = line[:-1]
    if not line:
        return None
    anchored = b"/" in line
    words = line.removeprefix(b"/").split(b"/")
    if anchored and words[-1] == _ANY_FOLDERS:
        words.append(b"*")  # what is within, at any depth, but not the folder itself
    try:
        parts = tuple(
            _ANY_FOLDERS if anchored and word == _ANY_FOLDERS else _part(word) for word in words
        )
    except _Never:
        return None
    return Pattern(parts, negated, folders_only, anchored)


def _without_trailing_spaces(line: bytes) -> bytes:
    bare = line.rstrip(b" ")
    escaped = (len(bare) - len(bare.rstrip(b"\\"))) % 2
    return line[: len(bare) + 1] if escaped and len(bare) < len(line) else bare


def _part(word: bytes) -> "bytes | re.Pattern[bytes]":
    """A matcher of one segment. A `*` takes as little as lets the next letters fit and is not
    tried again, which finds every match and needs no backtracking over several."""
    if not _MAGIC.search(word):
        return word
    pieces: list[bytes] = [b""]
    place = 0
    while place < len(word):
        one = word[place : place + 1]
        place += 1
        if one == b"*":
            pieces.append(b"")
        elif one == b"?":
            pieces[-1] += b"."
        elif one == b"[":
            chosen, place = _class(word, place)
            pieces[-1] += chosen
        elif one == b"\\":
            if place == len(word):
                raise _Never
            pieces[-1] += re.escape(word[place : place + 1])
            place += 1
        else:
            pieces[-1] += re.escape(one)
    first, *rest = pieces
    whole = first
    if rest:
        whole += b"".join(b"(?>.*?" + piece + b")" for piece in rest[:-1] if piece)
        whole += b".*" + rest[-1]
    return re.compile(whole + rb"\Z", re.DOTALL)


def _class(word: bytes, place: int) -> tuple[bytes, int]:
    """A set of bytes as an expression, and where it ends; `place` is behind its bracket."""
    negated = word[place : place + 1] in (b"!", b"^")
    place += negated
    chosen = b""
    first = True
    while True:
        one = word[place : place + 1]
        if not one:
            raise _Never
        if one == b"]" and not first:
            break
        first = False
        if word[place : place + 2] == b"[:" and (end := word.find(b":]", place)) > 0:
            named = _CLASSES.get(word[place + 2 : end])
            if named is None:
                raise _Never
            chosen += named
            place = end + 2
            continue
        low, place = _letter(word, place)
        high = low
        if word[place : place + 1] == b"-" and word[place + 1 : place + 2] not in (b"]", b""):
            high, place = _letter(word, place + 1)
        if low <= high:
            chosen += b"\\x%02x-\\x%02x" % (low[0], high[0])
    place += 1
    if not chosen:
        return (b"." if negated else b"(?!)"), place
    return b"[" + (b"^" if negated else b"") + chosen + b"]", place


def _letter(word: bytes, place: int) -> tuple[bytes, int]:
    if word[place : place + 1] == b"\\":
        place += 1
    one = word[place : place + 1]
    if not one:
        raise _Never
    return one, place + 1


def ignored(files: Iterable[Patterns], path: bytes, is_folder: bool) -> bool:
    """Whether a path is not to be kept; `files` from the one that counts most to the least."""
    for file in files:
        within = path[len(file.base) :]
        segments = within.split(b"/")
        for pattern in reversed(file.patterns):
            if pattern.folders_only and not is_folder:
                continue
            if _matches(pattern, segments):
                return not pattern.negated
    return False


def _matches(pattern: Pattern, segments: Sequence[bytes]) -> bool:
    if not pattern.anchored:
        return _fits(pattern.parts[0], segments[-1])
    parts = pattern.parts
    at = behind = 0
    retry: tuple[int, int] | None = None
    while at < len(segments):
        if behind < len(parts) and parts[behind] == _ANY_FOLDERS:
            retry = (at, behind + 1)
            behind += 1
        elif behind < len(parts) and _fits(parts[behind], segments[at]):
            at += 1
            behind += 1
        elif retry is not None:
            at, behind = retry[0] + 1, retry[1]
            retry = (at, behind)
        else:
            return False
    return behind == len(parts)


def _fits(part: "bytes | re.Pattern[bytes]", segment: bytes) -> bool:
    if isinstance(part, bytes):
        return part == segment
    return part.match(segment) is not None


_DEFAULTS = b"""
.DS_Store
.cache/
.gradle/
.hypothesis/
.ipynb_checkpoints/
.mypy_cache/
.nox/
.pytest_cache/
.ruff_cache/
.terraform/
.tox/
.venv/
__pycache__/
node_modules/
venv/
*.pyc
*.swp
"""


@functools.cache
def defaults() -> Patterns:
    """What no project wants to have kept; a project's own `!pattern` brings it back."""
    return parse(_DEFAULTS)
