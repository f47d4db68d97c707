"""Lists a folder: names with their kind and size, sorted, bounded, no link followed.

Reads only what lies below the folder that the inspection holds open. Never changes anything.
"""

import os
import stat
import threading
from collections import deque
from collections.abc import Iterable

import pydantic

from tools import confine, contract, files

NAME = "file_list"
SHOWN_ENTRIES = 200
SEEN_ENTRIES = 20_000
"""How many entries are looked at before the rest is no longer counted."""
_HEADER_CHARS = 500

_PARAMETERS = """{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer",
"minimum":1,"maximum":5}},"required":[],"additionalProperties":false}"""


class Arguments(contract.Value):
    """Which folder, and how many levels of it."""

    path: str = "."
    depth: int = pydantic.Field(default=1, ge=1, le=5)


class _Inspected:
    """Holds the folder open, so that the run lists what was inspected."""

    def __init__(self, facts: contract.Facts, folder_fd: int, wanted: Arguments) -> None:
        self._facts = facts
        self._folder_fd = folder_fd
        self.wanted = wanted

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    @property
    def folder_fd(self) -> int:
        return self._folder_fd

    def close(self) -> None:
        if self._folder_fd >= 0:
            os.close(self._folder_fd)
            self._folder_fd = -1


class FileList:
    """The file_list tool."""

    spec = contract.ToolSpec(
        name=NAME,
        version=1,
        description="List a folder.",
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
            raise contract.ToolFault("file_list lists only what it has inspected.")
        stopped = threading.Event()
        hidden = confine.Hidden(call.confinement)
        listing = _Listing(inspection.folder_fd, inspection.wanted, hidden, stopped)
        text = await files.done(listing.text, stopped.set)
        output(text)
        return contract.Result(text=text)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.NOT_DONE


def _inspect(call: contract.Call, wanted: Arguments) -> _Inspected:
    spot = confine.locate(call, wanted.path)
    try:
        folder_fd = confine.open_folder(spot)
    finally:
        spot.close()
    inode = ":".join(map(str, confine.identity(os.fstat(folder_fd))))
    facts = contract.Facts(
        effect=contract.Effect.PURE,
        bound=(("folder", spot.real), ("inode", inode)),
        shown=(("folder", spot.real), ("depth", str(wanted.depth))),
        touched=(contract.Touched(written=wanted.path, real=spot.real),),
    )
    return _Inspected(facts, folder_fd, wanted)


_Parts = tuple[str, ...]


class _Listing:
    """One listing: the upper levels first, so that what is left out lies deepest."""

    def __init__(
        self,
        folder_fd: int,
        wanted: Arguments,
        hidden: confine.Hidden,
        stopped: threading.Event,
    ) -> None:
        self._folder_fd = folder_fd
        self._wanted = wanted
        self._hidden = hidden
        self._stopped = stopped
        self._shown: list[tuple[_Parts, str]] = []
        self._chars = 0
        self._seen = 0
        self._is_counted = True

    def text(self) -> str:
        """The listing.

        Raises:
            ToolFault: the folder cannot be read.
        """
        path = files.named(self._wanted.path)
        waiting: deque[_Parts] = deque([()])
        while waiting and self._is_counted:
            parts = waiting.popleft()
            try:
                waiting.extend(self._level(parts))
            except OSError as error:
                if not parts:
                    raise confine.faulty(path, error) from error
                self._add(parts, "/  (cannot be read)")
        if not self._seen:
            return f"{path}: an empty folder."
        lines = [line for _, line in sorted(self._shown)]
        number = files.count(self._seen, "entry", "entries")
        header = f"{path}: {number}" if self._is_counted else f"{path}: more than {number}"
        if left_out := self._seen - len({parts for parts, _ in self._shown}):
            header += f", {left_out} not shown"
        return "\n".join((header, *lines))

    def _level(self, parts: _Parts) -> list[_Parts]:
        """Take the entries of one folder; the folders in it that are wanted too."""
        below: list[_Parts] = []
        with (
            confine.descend(self._folder_fd, parts) as opened,
            os.scandir(opened) as entries,
        ):
            for name in sorted(self._names(entries)):
                try:
                    status = os.stat(name, dir_fd=opened, follow_symlinks=False)
                except FileNotFoundError:
                    continue
                self._seen += 1
                whole = (*parts, name)
                if self._hidden.holds(status):
                    self._add(whole, "  (kept from this call)")
                    continue
                self._add(whole, _told(name, status, opened))
                if stat.S_ISDIR(status.st_mode) and len(whole) < self._wanted.depth:
                    below.append(whole)
        return below

    def _names(self, entries: Iterable[os.DirEntry[str]]) -> list[str]:
        names: list[str] = []
        for entry in entries:
            if self._seen + len(names) >= SEEN_ENTRIES or self._stopped.is_set():
                self._is_counted = False
                break
            names.append(entry.name)
        return names

    def _add(self, parts: _Parts, told: str) -> None:
        line = f"{'/'.join(map(files.printable, parts))}{told}"
        room = files.RESULT_CHARS - _HEADER_CHARS - self._chars
        if len(self._shown) < SHOWN_ENTRIES and len(line) < room:
            self._shown.append((parts, line))
            self._chars += len(line) + 1


def _told(name: str, status: os.stat_result, folder_fd: int) -> str:
    """What stands behind a name."""
    if stat.S_ISDIR(status.st_mode):
        return "/"
    if stat.S_ISREG(status.st_mode):
        return f"  {files.count(status.st_size, 'byte', 'bytes')}"
    if stat.S_ISLNK(status.st_mode):
        return f" -> {files.named(os.readlink(name, dir_fd=folder_fd))}"
    return f"  ({confine.kind(status)})"
