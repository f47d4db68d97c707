"""Reads a window of a text file: a header that says which lines these are, then the lines.

Reads bounded pieces of a regular file that the inspection holds open, and nothing else. Never
changes anything, and never shows what is not text.
"""

import dataclasses
import os
import threading

import pydantic

from tools import confine, contract, files

NAME = "file_read"
MOST_LINES = 2000
LINE_CHARS = 1000
SCANNED_BYTES = 64 * 1024 * 1024
"""How far into a file lines are looked for and counted."""
_PIECE_BYTES = 256 * 1024
_LINE_BYTES = 4 * LINE_CHARS + 4
_PROBED_BYTES = 8192
_HEADER_CHARS = 500

_PARAMETERS = """{"type":"object","properties":{"path":{"type":"string"},"start_line":{"type":
"integer","minimum":1},"lines":{"type":"integer","minimum":1,"maximum":2000}},"required":["path"],
"additionalProperties":false}"""

_FORMATS = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)


class Arguments(contract.Value):
    """Which lines of which file."""

    path: str
    start_line: int = pydantic.Field(default=1, ge=1)
    lines: int = pydantic.Field(default=200, ge=1, le=MOST_LINES)


class _Inspected:
    """Holds the file open, so that the run reads what was inspected."""

    def __init__(self, facts: contract.Facts, file_fd: int, wanted: Arguments) -> None:
        self._facts = facts
        self._file_fd = file_fd
        self.wanted = wanted

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    @property
    def file_fd(self) -> int:
        return self._file_fd

    def close(self) -> None:
        if self._file_fd >= 0:
            os.close(self._file_fd)
            self._file_fd = -1


class FileRead:
    """The file_read tool."""

    spec = contract.ToolSpec(
        name=NAME,
        version=1,
        description="Read a text file, or some of its lines.",
        parameters=_PARAMETERS,
        effect=contract.Effect.PURE,
        category=contract.Category.READ_ONLY,
    )

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        wanted = files.arguments(Arguments, NAME, call.arguments_json)
        return await files.inspected(lambda: _inspect(call, wanted))

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault("file_read reads only what it has inspected.")
        stopped = threading.Event()
        window = _Window(inspection.file_fd, inspection.wanted, stopped)
        result = await files.done(window.read, stopped.set)
        output(result.text)
        return result

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.NOT_DONE


def _inspect(call: contract.Call, wanted: Arguments) -> _Inspected:
    spot = confine.locate(call, wanted.path)
    try:
        file_fd = confine.open_file(spot)
    finally:
        spot.close()
    status = os.fstat(file_fd)
    facts = contract.Facts(
        effect=contract.Effect.PURE,
        bound=(("file", spot.real), ("inode", ":".join(map(str, confine.identity(status))))),
        shown=(("file", spot.real), ("lines", f"{wanted.lines} from line {wanted.start_line}")),
        touched=(contract.Touched(written=wanted.path, real=spot.real, links=status.st_nlink > 1),),
    )
    return _Inspected(facts, file_fd, wanted)


@dataclasses.dataclass(slots=True)
class _Notes:
    """What the header says beside the numbers."""

    crlf: bool = False
    replaced: bool = False
    cut: bool = False
    open_end: bool = False

    def words(self) -> list[str]:
        told = (
            (self.crlf, "CRLF line ends"),
            (self.replaced, "bytes that are not UTF-8 are shown as �"),
            (self.cut, f"lines longer than {LINE_CHARS} characters are cut"),
            (self.open_end, "no newline at the end"),
        )
        return [text for is_so, text in told if is_so]


class _Window:
    """The wanted lines of an open file."""

    def __init__(self, file_fd: int, wanted: Arguments, stopped: threading.Event) -> None:
        self._file_fd = file_fd
        self._wanted = wanted
        self._stopped = stopped
        self._notes = _Notes()
        self._lines: list[str] = []
        self._chars = 0
        self._is_full = False
        self._total = 0
        self._is_counted = True

    def read(self) -> contract.Result:
        """The header and the lines.

        Raises:
            ToolFault: the system did not let it be read.
        """
        path = files.named(self._wanted.path)
        try:
            status = os.fstat(self._file_fd)
            start = os.pread(self._file_fd, _PROBED_BYTES, 0)
            if b"\0" in start or start.startswith(tuple(mark for mark, _ in _FORMATS)):
                return contract.Result(text=f"{path}: {status.st_size} bytes, {_format(start)}.")
            self._look()
        except OSError as error:
            raise confine.faulty(path, error) from error
        return self._result(path, status.st_size)

    def _look(self) -> None:
        """Go through the file: take the lines of the window, and only count the others."""
        line, whole, offset, ends = b"", True, 0, True
        while data := os.pread(self._file_fd, _PIECE_BYTES, offset):
            if offset >= SCANNED_BYTES or self._stopped.is_set():
                self._is_counted = False
                break
            offset += len(data)
            ends = data.endswith(b"\n")
            newlines = data.count(b"\n")
            if self._is_past() or self._total + newlines + 1 < self._wanted.start_line:
                self._total += newlines
                line, whole = b"", True
                continue
            first, *others = data.split(b"\n")
            for part in others:
                self._take(*_joined(line, whole, first + b"\n"))
                line, whole, first = b"", True, part
            line, whole = _joined(line, whole, first)
        if not ends:
            self._take(line, whole)
        self._notes.open_end = not ends

    def _is_past(self) -> bool:
        return self._is_full or self._total >= self._wanted.start_line + self._wanted.lines - 1

    def _take(self, line: bytes, is_whole: bool) -> None:
        self._total += 1
        first = self._wanted.start_line
        if self._total < first or self._total >= first + self._wanted.lines or self._is_full:
            return
        text = self._shown(line, is_whole)
        room = files.RESULT_CHARS - _HEADER_CHARS - self._chars
        if self._lines and len(text) + 1 > room:
            self._is_full = True
            return
        self._chars += len(text) + 1
        self._lines.append(text)

    def _shown(self, line: bytes, is_whole: bool) -> str:
        if self._total == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        line = line.removesuffix(b"\n")
        if line.endswith(b"\r"):
            self._notes.crlf = True
            line = line[:-1]
        text = line.decode("utf-8", "replace").replace("\0", "�")
        if is_whole and len(text) <= LINE_CHARS:
            self._notes.replaced |= "�" in text
            return text
        self._notes.cut = True
        return f"{text[:LINE_CHARS]} … (cut)"

    def _result(self, path: str, size: int) -> contract.Result:
        if not self._total:
            return contract.Result(text=f"{path}: an empty file.")
        total = str(self._total) if self._is_counted else f"more than {self._total}"
        first = self._wanted.start_line
        if not self._lines:
            return contract.Result(text=f"{path} has {total} lines, no line {first}.", failed=True)
        last = first + len(self._lines) - 1
        if not self._is_counted or last < self._total:
            self._notes.open_end = False
        said = [f"{path}: lines {first}-{last} of {total}", f"{size} bytes", *self._notes.words()]
        if last < self._total or not self._is_counted:
            said.append(f"the next is start_line={last + 1}")
        return contract.Result(text="\n".join((", ".join(said), *self._lines)))


def _joined(line: bytes, whole: bool, more: bytes) -> tuple[bytes, bool]:
    """A line so far with more of it; of a long one the beginning and the end are kept."""
    if len(line) + len(more) <= _LINE_BYTES:
        return line + more, whole
    end = more[-2:] if more.endswith(b"\n") else b""
    return (line + more)[: _LINE_BYTES - 2] + end, False


def _format(start: bytes) -> str:
    named = (text for mark, text in _FORMATS if start.startswith(mark))
    return f"{next(named, 'a binary file')}: it is not shown"
