"""The search itself: what is found in the files that `grep_walk` gives, and what of it is shown.

Bounded in bytes, matches and time, and says what was left out. The expressions are of a kind that
takes time in proportion to the text, whatever they are; a large one is given less of it.
"""

import contextlib
import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import re2

from tools import contract, files, grep_walk

FILE_BYTES = 4 * 1024 * 1024
"""A larger file is left out."""
ALL_BYTES = 512 * 1024 * 1024
SECONDS = 20.0
COUNTED_MATCHES = 1000
SHOWN_MATCHES = 100
LINE_CHARS = 240
_BEFORE_MATCH = 80
_HEADER_CHARS = 600
_LOOK_BYTES = 256 * 1024
_SMALL_PROGRAM = 300
"""A larger one may take long over a whole file, and is given a line at a time."""
_LARGE_LINE_BYTES = 32 * 1024
"""How much of a line a program that is not small is given."""
_WHOLE_TEXT = re.compile(r"\\[Az]|\(\?[A-Za-z]*-")
"""What means the whole text in an expression, and so another thing in one line than in many."""


class _Match(Protocol):
    def start(self) -> int: ...


class _Engine(Protocol):
    @property
    def programsize(self) -> int: ...

    def search(self, text: bytes) -> _Match | None: ...


@dataclass(frozen=True, slots=True)
class Expression:
    """What is looked for: `line` in one line, of which it is given so many bytes; `text` finds out
    whether many lines hold it."""

    line: _Engine
    text: _Engine | None
    line_bytes: int


def compiled(pattern: str, ignore_case: bool) -> Expression:
    """The expression of a pattern.

    Raises:
        ToolFault: it is none.
    """
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    try:
        line = re2.compile(pattern.encode(), options)
        text = re2.compile(b"(?m)(?:" + pattern.encode() + b")", options)
    except re2.error as error:
        said = error.args[0].decode("utf-8", "replace") if error.args else ""
        raise contract.ToolFault(
            f"grep: pattern: {said}. (It knows no look-around and no back-references.)"
        ) from error
    except UnicodeEncodeError as error:
        raise contract.ToolFault("grep: pattern: it is not valid text.") from error
    if line.programsize > _SMALL_PROGRAM:
        return Expression(line, None, _LARGE_LINE_BYTES)
    return Expression(line, None if _WHOLE_TEXT.search(pattern) else text, FILE_BYTES)


class Found:
    """What was found so far."""

    def __init__(
        self, expression: Expression, context_lines: int, stopped: threading.Event
    ) -> None:
        self._expression = expression
        self._context = context_lines
        self._stopped = stopped
        self._until = time.monotonic() + SECONDS
        self._bytes = 0
        self._chars = 0
        self.searched = self.hit = self.matches = self.shown = self.cut = 0
        self.lines: list[str] = []
        self.why_ended = ""

    def look(self, name: str, opened_fd: int) -> str:
        """Look through a file; why it was left out, empty when it was not."""
        size = os.fstat(opened_fd).st_size
        if size > FILE_BYTES:
            return f"larger than {FILE_BYTES} bytes"
        data = os.pread(opened_fd, FILE_BYTES, 0)
        if b"\0" in data:
            return "that are no text"
        self.searched += 1
        self._bytes += len(data)
        data = data.replace(b"\r\n", b"\n")
        text = self._expression.text
        if text is None or text.search(data) is not None:
            self._take(name, data.removesuffix(b"\n").split(b"\n"))
        if self._bytes > ALL_BYTES:
            self.why_ended = f"after {ALL_BYTES} bytes"
        self._is_over()
        return ""

    def _is_over(self) -> bool:
        """Whether the search ends here, and why."""
        if self._stopped.is_set():
            self.why_ended = "as it was told to"
        elif time.monotonic() > self._until:
            self.why_ended = f"after {SECONDS:.0f} seconds"
        return bool(self.why_ended)

    def _take(self, name: str, lines: Sequence[bytes]) -> None:
        before = self.matches
        told = unlooked = 0
        for index, line in enumerate(lines):
            unlooked += len(line) + 1
            if unlooked > _LOOK_BYTES:
                unlooked = 0
                if self._is_over():
                    break
            self.cut += len(line) > self._expression.line_bytes
            match = self._match(line)
            if match is None:
                continue
            self.matches += 1
            if self._has_room():
                told = self._show(name, lines, index, match.start(), told)
            if self.matches >= COUNTED_MATCHES:
                self.why_ended = f"after {COUNTED_MATCHES} matches"
                break
        self.hit += self.matches > before

    def _match(self, line: bytes) -> _Match | None:
        return self._expression.line.search(line[: self._expression.line_bytes])

    def _has_room(self) -> bool:
        room = files.RESULT_CHARS - _HEADER_CHARS - LINE_CHARS
        return self.shown < SHOWN_MATCHES and self._chars < room

    def _show(self, name: str, lines: Sequence[bytes], index: int, start: int, told: int) -> int:
        """Show a match with the lines around it that are not shown yet; the first one not shown."""
        first = max(told, index - self._context)
        if self._context and self.lines and first > told:
            self._add("--")
        for at in range(first, index):
            self._add(f"{name}-{at + 1}- {_cut(lines[at], 0)}")
        self._add(f"{name}:{index + 1}: {_cut(lines[index], start)}")
        self.shown += 1
        end = min(len(lines), index + 1 + self._context)
        for at in range(index + 1, end):
            if self._match(lines[at]) is not None:
                return at
            self._add(f"{name}-{at + 1}- {_cut(lines[at], 0)}")
        return max(end, index + 1)

    def _add(self, line: str) -> None:
        self.lines.append(line)
        self._chars += len(line) + 1


def _cut(line: bytes, start: int) -> str:
    """A line, and of a long one what is round the match."""
    if len(line) <= LINE_CHARS:
        return line.decode("utf-8", "replace")
    first = max(0, min(start - _BEFORE_MATCH, len(line) - LINE_CHARS))
    text = line[first : first + LINE_CHARS].decode("utf-8", "replace").strip("�")
    return "…" * (first > 0) + text + "…" * (first + LINE_CHARS < len(line))


def search(walk: grep_walk.Walk, found: Found) -> str:
    """Look through all files; a header, then the matches.

    Raises:
        ToolFault: the folder or the file cannot be read.
    """
    with contextlib.closing(walk.files()) as several:
        for name, opened_fd in several:
            try:
                why = found.look(name, opened_fd)
            except OSError:
                why = "that cannot be read"
            if why:
                walk.left_out[why] += 1
            if found.why_ended:
                break
    return "\n".join((_header(walk, found), *found.lines))


def _header(walk: grep_walk.Walk, found: Found) -> str:
    searched = files.count(found.searched, "file", "files")
    if not found.matches:
        said = [f"no match in {searched}"]
    else:
        matches = files.count(found.matches, "match", "matches")
        said = [f"{matches} in {found.hit} of {searched}"]
    if found.shown < found.matches:
        said.append(f"{found.shown} of them shown")
    if found.why_ended:
        said.append(f"ended {found.why_ended}: there may be more")
    elif not walk.is_whole:
        said.append(f"ended after {walk.most_entries} entries: there may be more")
    if found.cut:
        lines = files.count(found.cut, "long line", "long lines")
        said.append(f"only the beginning of {lines} looked at")
    if walk.left_out:
        told = ", ".join(f"{count} {why}" for why, count in sorted(walk.left_out.items()))
        said.append(f"left out: {told}")
    return "; ".join(said)
