"""Puts replacements into a text: finds what is searched, as written or nearly, and only once.

Pure. Nearly means: other line ends, other white space at the ends of lines, no newline at the end,
another indentation of all lines alike; what is put in its place is fitted to what was found. Never
guesses between several places, and never changes a character outside the place it found.
"""

import bisect
import dataclasses
import difflib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence

from tools import contract

MARK = "\ufeff"
"""What some programs put before a text in UTF-8: kept, and no part of its first line."""
NAMED_PLACES = 10
_NEAREST_LINES = 12
_NEAREST_COLUMNS = 160
_COMPARED = 2_000_000
"""Lines of the text times lines of the search: beyond, no nearest place is looked for."""
_LIKE_ENOUGH = 0.6
_LIKENED_CHARS = 200
_LIKENED_LINES = 2_000
_TAB_COLUMNS = (4, 2, 8)


class Edit(contract.Value):
    """What is searched and what comes in its place; `all` where it may stand more than once."""

    search: str
    replace: str
    all: bool = False


class NotEdited(Exception):
    """An edit that does not fit its text; one sentence that says why, then perhaps lines of it."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """Where the search was found, in the text with plain newlines, and what goes there."""

    start: int
    end: int
    replacement: str


def decoded(data: bytes) -> str:
    """A file's text, a mark before it included.

    Raises:
        NotEdited: it is no text in UTF-8.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise NotEdited("it is not text in UTF-8") from error
    if "\0" in text:
        raise NotEdited("it is a binary file")
    return text


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits, each made in what those before it left.

    Raises:
        NotEdited: one of them does not fit; nothing of any is kept.
    """
    for number, edit in enumerate(edits, 1):
        try:
            text = _applied(text, edit)
        except NotEdited as fault:
            if len(edits) == 1:
                raise
            raise NotEdited(f"edit {number} of {len(edits)}: {fault}") from fault
    return text


def _applied(text: str, edit: Edit) -> str:
    mark = MARK if text.startswith(MARK) else ""
    body = text.removeprefix(MARK)
    if edit.search == edit.replace:
        raise NotEdited("the search and the replacement are the same: nothing would change")
    if not edit.search:
        if body:
            raise NotEdited("the search is empty, which is only for a new or an empty file")
        return mark + edit.replace
    ends = _Ends(body)
    places = _found(ends.plain, _plain(edit.search), _plain(edit.replace))
    if not places:
        raise NotEdited(_missing(ends.plain, _plain(edit.search), _plain(edit.replace)))
    if len(places) > 1 and not edit.all:
        raise NotEdited(_ambiguous(ends.plain, places))
    changed = ends.replaced(places)
    if changed == body:
        raise NotEdited("nothing would change")
    return mark + changed


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


class _Ends:
    """A text with plain newlines, and how it gets its own line ends back."""

    def __init__(self, text: str) -> None:
        self._text = text
        lines = text.split("\n")
        is_crlf = [line.endswith("\r") for line in lines[:-1]]
        self.plain = _plain(text)
        self._newline = "\r\n" if 2 * sum(is_crlf) > len(is_crlf) else "\n"
        plain_ends = itertools.accumulate(
            len(line) - crlf + 1 for line, crlf in zip(lines, is_crlf, strict=False)
        )
        self._longer_ends = [end for end, crlf in zip(plain_ends, is_crlf, strict=True) if crlf]

    def replaced(self, places: Sequence[_Place]) -> str:
        """The text with its own line ends, and the replacements with those that most lines have."""
        parts: list[str] = []
        before = 0
        for place in places:
            parts.append(self._text[before : self._offset(place.start)])
            parts.append(place.replacement.replace("\n", self._newline))
            before = self._offset(place.end)
        return "".join((*parts, self._text[before:]))

    def _offset(self, plain: int) -> int:
        return plain + bisect.bisect_right(self._longer_ends, plain)


def _found(text: str, search: str, replace: str) -> list[_Place]:
    """Every place of the search, in the strictest way that finds one."""
    if exact := list(_exact(text, search, replace)):
        return exact
    lines = _Lines(text)
    wanted = _wanted(search, replace)
    if any(line.strip() for line in wanted.search):
        for way in _ways(wanted):
            if places := list(_windows(lines, *way)):
                return places
    return []


def _exact(text: str, search: str, replace: str) -> Iterator[_Place]:
    start = text.find(search)
    while start >= 0:
        yield _Place(start, start + len(search), replace)
        start = text.find(search, start + len(search))


class _Lines:
    """A text by its lines, without what is white at their ends."""

    def __init__(self, text: str) -> None:
        whole = text.split("\n")
        self.ends_open = bool(whole[-1])
        self.lines = [line.rstrip() for line in (whole if self.ends_open else whole[:-1])]
        self.lengths = [len(line) for line in whole]
        self.starts = [0, *itertools.accumulate(length + 1 for length in self.lengths)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Wanted:
    """A search and its replacement by their lines; `whole` when the last line's end is searched."""

    search: list[str]
    replace: list[str]
    whole: bool

    def written(self, indent: Callable[[str], str]) -> "_Wanted":
        """The same with every line's indentation written in another way."""
        search = [_with_indent(line, indent) for line in self.search]
        return _Wanted(search, [_with_indent(line, indent) for line in self.replace], self.whole)


def _wanted(search: str, replace: str) -> _Wanted:
    return _Wanted(
        [line.rstrip() for line in search.removesuffix("\n").split("\n")],
        replace.removesuffix("\n").split("\n") if replace else [],
        search.endswith("\n"),
    )


def _with_indent(line: str, indent: Callable[[str], str]) -> str:
    rest = line.lstrip(" \t")
    return indent(line[: len(line) - len(rest)]) + rest


def _with_tabs(columns: int, indent: str) -> str:
    return indent.replace(" " * columns, "\t")


def _with_spaces(columns: int, indent: str) -> str:
    return indent.replace("\t", " " * columns)


_Refit = Callable[[str], str]
"""What makes a line of the replacement fit the place."""
_Fit = Callable[[Sequence[str], Sequence[str]], _Refit | None]
"""Whether lines of the text fit those of the search."""


def _ways(wanted: _Wanted) -> Iterator[tuple[_Wanted, _Fit]]:
    """From strict to loose."""
    yield wanted, _as_they_are
    yield wanted, _indented_alike
    for written in (_with_tabs, _with_spaces):
        for columns in _TAB_COLUMNS:
            other = wanted.written(functools.partial(written, columns))
            if other.search != wanted.search:
                yield other, _indented_alike


def _as_they_are(lines: Sequence[str], search: Sequence[str]) -> _Refit | None:
    return (lambda line: line) if lines == search else None


def _indented_alike(lines: Sequence[str], search: Sequence[str]) -> _Refit | None:
    """The text's lines have so much more, or so much less, before each line of the search."""
    pairs = list(zip(lines, search, strict=True))
    line, wanted = next(pair for pair in pairs if pair[1])
    added, taken = line.removesuffix(wanted), wanted.removesuffix(line)
    if line.endswith(wanted) and all(have == (want and added + want) for have, want in pairs):
        return lambda one: added + one if one.strip() else one
    if wanted.endswith(line) and all((have and taken + have) == want for have, want in pairs):
        return lambda one: one.removeprefix(taken)
    return None


def _windows(lines: _Lines, wanted: _Wanted, fit: _Fit) -> Iterator[_Place]:
    """Places of whole lines, none over another."""
    size = len(wanted.search)
    anchor = max(range(size), key=lambda index: len(wanted.search[index].lstrip()))
    kernel = wanted.search[anchor].lstrip()
    at = compared = 0
    while at + size <= len(lines.lines):
        if lines.lines[at + anchor].lstrip() == kernel:
            compared += size
            if compared > _COMPARED:
                raise NotEdited("too many places are like the search: take more telling lines")
            fitted = fit(lines.lines[at : at + size], wanted.search)
            if fitted is not None:
                yield _place(lines, wanted, at, fitted)
                at += size
                continue
        at += 1


def _place(lines: _Lines, wanted: _Wanted, at: int, fitted: Callable[[str], str]) -> _Place:
    last = at + len(wanted.search) - 1
    is_open = lines.ends_open and last == len(lines.lines) - 1
    takes_end = (wanted.whole or not wanted.replace) and not is_open
    end = lines.starts[last] + lines.lengths[last] + takes_end
    text = "\n".join(map(fitted, wanted.replace))
    return _Place(lines.starts[at], end, f"{text}\n" if takes_end and wanted.replace else text)


def _ambiguous(text: str, places: Sequence[_Place]) -> str:
    numbers = [str(text.count("\n", 0, place.start) + 1) for place in places[:NAMED_PLACES]]
    more = f" and {len(places) - NAMED_PLACES} more" if len(places) > NAMED_PLACES else ""
    return (
        f"the search is found {len(places)} times, at lines {', '.join(numbers)}{more}: "
        "add lines around it, so that it is found once"
    )


def _missing(text: str, search: str, replace: str) -> str:
    said = "the search is not found"
    if replace.strip() and replace in text:
        line = text.count("\n", 0, text.find(replace)) + 1
        said += f", and what should come in its place is there already, at line {line}"
    lines = text.split("\n")
    wanted = [line.strip() for line in search.strip("\n").split("\n")]
    at = _nearest(lines, wanted)
    if at is None:
        return f"{said}: read the file, and copy from it what is to be replaced"
    shown = lines[at : at + min(len(wanted) + 2, _NEAREST_LINES)]
    told = "\n".join(line[:_NEAREST_COLUMNS] for line in shown)
    return f"{said}; the nearest is, from line {at + 1}:\n{told}"


def _nearest(lines: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Where most lines of the search stand, else where one like its longest does."""
    if len(lines) * len(wanted) > _COMPARED:
        return None
    stripped = [line.strip() for line in lines]
    found: dict[int, int] = {}
    for offset, line in enumerate(wanted):
        for index in (i for i, one in enumerate(stripped) if line and one == line):
            found[max(0, index - offset)] = found.get(max(0, index - offset), 0) + 1
    if found:
        return max(found, key=lambda at: (found[at], -at))
    offset, longest = max(enumerate(wanted), key=lambda one: len(one[1]))
    near = [line[:_LIKENED_CHARS] for line in stripped[:_LIKENED_LINES]]
    like = difflib.get_close_matches(longest[:_LIKENED_CHARS], near, 1, _LIKE_ENOUGH)
    return max(0, near.index(like[0]) - offset) if like else None
