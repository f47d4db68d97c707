"""Writes a text file: a new one, another text in place of one that is there, or more at its end.

Says before on the card exactly what will be written; how it gets there whole is `atomic`'s. What is
wrong with its syntax is said afterwards, and hinders nothing. Never writes in plan mode, and never
changes a file that the call did not mean to.
"""

import enum
import os
import stat
import threading

from tools import atomic, confine, contract, file_diff, files
from tools.syntax import checking

NAME = "file_write"
MOST_TEXT_BYTES = 1024 * 1024

_PARAMETERS = """{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"},
"mode":{"type":"string","enum":["create","overwrite","append"],"description":
"create fails if the file is there"}},"required":["path","text"],"additionalProperties":false}"""


class Mode(enum.StrEnum):
    """What happens to a file that is there."""

    CREATE = "create"
    OVERWRITE = "overwrite"
    APPEND = "append"


class Arguments(contract.Value):
    """What is written where."""

    path: str
    text: str
    mode: Mode = Mode.CREATE


class _Inspected:
    """Holds the folder of the file open, so that the run writes there and nowhere else."""

    def __init__(self, facts: contract.Facts, wanted: Arguments, change: atomic.Change) -> None:
        self._facts = facts
        self.wanted = wanted
        self.change = change

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def close(self) -> None:
        self.change.spot.close()


class FileWrite:
    """The file_write tool."""

    def __init__(self, checker: checking.Checker | None = None) -> None:
        self._checker = checker or checking.Checker()

    spec = contract.ToolSpec(
        name=NAME,
        version=1,
        description="Write a text file.",
        parameters=_PARAMETERS,
        effect=contract.Effect.RECONCILABLE,
        category=contract.Category.NORMAL,
    )

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        wanted = files.arguments(Arguments, NAME, call.arguments_json)
        files.refuse_in_plan_mode(call)
        if "\0" in wanted.text or len(wanted.text.encode()) > MOST_TEXT_BYTES:
            raise contract.ToolFault(f"A text may hold no NUL and at most {MOST_TEXT_BYTES} bytes.")
        return await files.inspected(lambda: _inspect(call, wanted))

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault("file_write writes only what it has inspected.")
        files.refuse_in_plan_mode(call)
        stopped = threading.Event()
        text = await files.done(lambda: _write(inspection.change, stopped), stopped.set)
        written = (inspection.wanted.path, inspection.change.data)
        text = "\n".join((text, *await self._checker.written((written,))))
        output(text)
        return contract.Result(text=text)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return await files.done(lambda: atomic.reconcile(call, intent), lambda: None)


def _inspect(call: contract.Call, wanted: Arguments) -> _Inspected:
    spot = confine.locate(call, wanted.path)
    try:
        status = spot.status()
        if status is not None and wanted.mode is Mode.CREATE:
            raise _is_there(spot, status)
        files.refuse_far_folders(call, spot)
        old = None if status is None else atomic.content(spot, status)
    except contract.ToolFault:
        spot.close()
        raise
    new = wanted.text.encode()
    if wanted.mode is Mode.APPEND and old is not None:
        new = old + new
    change = atomic.change(spot, status, old, new)
    return _Inspected(_facts(wanted, change, old), wanted, change)


def _is_there(spot: confine.Spot, status: os.stat_result) -> contract.ToolFault:
    hint = "; mode overwrite or append changes it" if stat.S_ISREG(status.st_mode) else ""
    return contract.ToolFault(f"{spot.written} is there already, a {confine.kind(status)}{hint}.")


def _facts(wanted: Arguments, change: atomic.Change, old: bytes | None) -> contract.Facts:
    spot, intent, status = change.spot, change.intent, change.old
    has_other_name = status is not None and status.st_nlink > 1
    shown = [("file", spot.real), ("does", _does(wanted, old))]
    if intent.made:
        shown.append(("makes the folders", "\n".join(intent.made)))
    if has_other_name:
        shown.append(("note", "the file has another name, which keeps what it held"))
    return contract.Facts(
        effect=contract.Effect.RECONCILABLE,
        bound=atomic.bound(change),
        shown=(*shown, _written(wanted, old)),
        intent=intent.model_dump_json(),
        replaces=(spot.real,) if old and wanted.mode is Mode.OVERWRITE else (),
        touched=(
            contract.Touched(
                written=wanted.path, real=spot.real, writes=True, links=has_other_name
            ),
        ),
    )


def _does(wanted: Arguments, old: bytes | None) -> str:
    size = files.count(len(wanted.text.encode()), "byte", "bytes")
    if old is None:
        return f"creates a file of {size}"
    before = files.count(len(old), "byte", "bytes")
    if wanted.mode is Mode.OVERWRITE:
        return f"replaces a file of {before} by {size}"
    joined = ", whose last line has no newline" if old and not old.endswith(b"\n") else ""
    return f"adds {size} to the end of a file of {before}{joined}"


def _written(wanted: Arguments, old: bytes | None) -> tuple[str, str]:
    """What a person reads of it: the whole text, or of a replaced file the lines that change."""
    if old is not None and wanted.mode is Mode.OVERWRITE:
        diff = file_diff.between(old, wanted.text)
        if diff is not None and len(diff) < len(wanted.text):
            return "changes", diff
    return "text", wanted.text


def _write(change: atomic.Change, stopped: threading.Event) -> str:
    atomic.write(change, stopped)
    size = files.count(len(change.data), "byte", "bytes")
    return f"{files.named(change.spot.written)}: written, {size} now."
