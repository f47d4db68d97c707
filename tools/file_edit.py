"""Changes text files by search and replacement: one place of one file, or blocks of many, all or
none.

What is searched is `edits`' business, how files change together `atomic_set`'s. The card shows the
difference that was found at the inspection, and only that is written. Says with the result what is
wrong with the syntax of what was written. Never writes in plan mode, and never guesses.
"""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Sequence

import pydantic

from tools import atomic, atomic_set, confine, contract, edit_blocks, edits, file_diff, files
from tools.syntax import checking

MOST_TEXT_BYTES = 1024 * 1024
MOST_FILE_BYTES = 4 * 1024 * 1024
_DIFF_CHARS = 3000
"""What a result holds of all differences."""

_PLACE = """{"type":"object","properties":{"path":{"type":"string"},"search":{"type":"string"},
"replace":{"type":"string"},"all":{"type":"boolean"}},"required":["path","search","replace"],
"additionalProperties":false}"""
_BLOCKS = """{"type":"object","properties":{"blocks":{"type":"string"}},"required":["blocks"],
"additionalProperties":false}"""


class PlaceArguments(contract.Value):
    """One search in one file; `all` for every place of it."""

    path: str
    search: str
    replace: str
    all: bool = False


class BlocksArguments(contract.Value):
    """A text with search/replace blocks."""

    blocks: str = pydantic.Field(min_length=1)


@dataclasses.dataclass(frozen=True, slots=True)
class _Edited:
    """One file: how it is written, and what becomes of it. `old` is None for a new one."""

    written: str
    change: atomic.Change
    old: bytes | None

    def diff(self) -> str | None:
        return file_diff.between(self.old or b"", self.change.data.decode())


class _Inspected:
    """Holds the folders of the files open, so that the run writes there and nowhere else."""

    def __init__(
        self, facts: contract.Facts, edited: Sequence[_Edited], intended: atomic_set.Intent
    ) -> None:
        self._facts = facts
        self.edited = edited
        self.intended = intended

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def close(self) -> None:
        for one in self.edited:
            one.change.spot.close()


class _Editing:
    """What both tools are: they differ in how a call says its edits."""

    def __init__(
        self,
        spec: contract.ToolSpec,
        read: Callable[[str], tuple[edit_blocks.FileEdits, ...]],
        checker: checking.Checker | None,
    ) -> None:
        self._spec = spec
        self._read = read
        self._checker = checker or checking.Checker()

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        files.refuse_in_plan_mode(call)
        wanted = self._read(call.arguments_json)
        size = sum(len(e.search) + len(e.replace) for one in wanted for e in one.edits)
        if size > MOST_TEXT_BYTES:
            raise contract.ToolFault(f"Edits may hold at most {MOST_TEXT_BYTES} characters.")
        return await files.inspected(lambda: _inspect(call, wanted))

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault(f"{self._spec.name} writes only what it has inspected.")
        files.refuse_in_plan_mode(call)
        edited, stopped = inspection.edited, threading.Event()
        changes = [one.change for one in edited]
        await files.done(
            lambda: atomic_set.write(changes, inspection.intended, stopped), stopped.set
        )
        faults = await self._checker.written([(one.written, one.change.data) for one in edited])
        text = "\n".join((*_said(edited), *faults))
        output(text)
        return contract.Result(text=text)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return await files.done(lambda: atomic_set.reconcile(call, intent), lambda: None)


class FileEdit(_Editing):
    """The file_edit tool."""

    def __init__(self, checker: checking.Checker | None = None) -> None:
        super().__init__(
            contract.ToolSpec(
                name="file_edit",
                version=1,
                description="Replace text that a file holds once.",
                parameters=_PLACE,
                effect=contract.Effect.RECONCILABLE,
                category=contract.Category.NORMAL,
            ),
            _one_place,
            checker,
        )


class ApplyEdits(_Editing):
    """The apply_edits tool."""

    def __init__(self, checker: checking.Checker | None = None) -> None:
        super().__init__(
            contract.ToolSpec(
                name="apply_edits",
                version=1,
                description="Edit files by SEARCH/REPLACE blocks, each below its path.",
                parameters=_BLOCKS,
                effect=contract.Effect.RECONCILABLE,
                category=contract.Category.NORMAL,
            ),
            _many_places,
            checker,
        )


def _one_place(arguments_json: str) -> tuple[edit_blocks.FileEdits, ...]:
    wanted = files.arguments(PlaceArguments, "file_edit", arguments_json)
    edit = edits.Edit(search=wanted.search, replace=wanted.replace, all=wanted.all)
    return (edit_blocks.FileEdits(path=wanted.path, edits=(edit,)),)


def _many_places(arguments_json: str) -> tuple[edit_blocks.FileEdits, ...]:
    wanted = files.arguments(BlocksArguments, "apply_edits", arguments_json)
    try:
        return edit_blocks.parse(wanted.blocks)
    except edit_blocks.NoBlocks as fault:
        raise contract.ToolFault(f"apply_edits: {fault}.") from fault


def _inspect(call: contract.Call, wanted: Sequence[edit_blocks.FileEdits]) -> _Inspected:
    with contextlib.ExitStack() as held:
        edited: list[_Edited] = []
        for one in wanted:
            spot = confine.locate(call, one.path)
            held.callback(spot.close)
            same = [other.written for other in edited if other.change.spot.real == spot.real]
            if same:
                raise contract.ToolFault(f"{one.path} and {same[0]} are the same file.")
            edited.append(_edited(call, spot, one))
        intended = atomic_set.intent([one.change for one in edited])
        facts = _facts(edited, intended)
        held.pop_all()
    return _Inspected(facts, edited, intended)


def _edited(call: contract.Call, spot: confine.Spot, wanted: edit_blocks.FileEdits) -> _Edited:
    """What one file would hold.

    Raises:
        ToolFault: its edits do not fit it.
    """
    status = spot.status()
    name = files.named(wanted.path)
    if status is None and wanted.edits[0].search:
        raise contract.ToolFault(f"{name} is not there; an empty search makes a new file.")
    files.refuse_far_folders(call, spot)
    old = None if status is None else atomic.content(spot, status)
    if len(old or b"") > MOST_FILE_BYTES:
        raise contract.ToolFault(f"{name} has more than {MOST_FILE_BYTES} bytes.")
    try:
        text = edits.apply(edits.decoded(old or b""), wanted.edits)
        new = text.encode()
    except edits.NotEdited as fault:
        raise contract.ToolFault(f"{name}: {fault}") from fault
    except UnicodeEncodeError as error:
        raise contract.ToolFault(f"{name}: the replacement is not valid text.") from error
    if b"\0" in new:
        raise contract.ToolFault("A text may hold no NUL.")
    if len(new) > MOST_FILE_BYTES:
        raise contract.ToolFault(f"{name} would have more than {MOST_FILE_BYTES} bytes.")
    return _Edited(wanted.path, atomic.change(spot, status, old, new), old)


def _facts(edited: Sequence[_Edited], intended: atomic_set.Intent) -> contract.Facts:
    return contract.Facts(
        effect=contract.Effect.RECONCILABLE,
        bound=tuple(fact for one in edited for fact in atomic.bound(one.change)),
        shown=tuple(line for one in edited for line in _shown(one)),
        intent=intended.model_dump_json(),
        touched=tuple(
            contract.Touched(
                written=one.written,
                real=one.change.spot.real,
                writes=True,
                links=_has_other_name(one.change),
            )
            for one in edited
        ),
    )


def _has_other_name(change: atomic.Change) -> bool:
    return change.old is not None and change.old.st_nlink > 1


def _shown(one: _Edited) -> list[tuple[str, str]]:
    """What a person reads of a file: what changes; the whole where that cannot be said."""
    change, text = one.change, one.change.data.decode()
    shown = [("file", change.spot.real), ("does", _does(one))]
    if change.intent.made:
        shown.append(("makes the folders", "\n".join(change.intent.made)))
    if _has_other_name(change):
        shown.append(("note", "the file has another name, which keeps what it held"))
    diff = one.diff() if one.old is not None else None
    return [*shown, ("text", text) if diff is None else ("changes", diff)]


def _does(one: _Edited) -> str:
    size = files.count(len(one.change.data), "byte", "bytes")
    if one.old is None:
        return f"creates a file of {size}"
    return f"changes a file of {files.count(len(one.old), 'byte', 'bytes')} to {size}"


def _said(edited: Sequence[_Edited]) -> list[str]:
    """A line a file, each with what changed in it as far as there is room."""
    said: list[str] = []
    room = _DIFF_CHARS
    for one in edited:
        size = files.count(len(one.change.data), "byte", "bytes")
        done = "created" if one.old is None else "edited"
        said.append(f"{files.named(one.written)}: {done}, {size} now.")
        diff = one.diff() if one.old is not None else None
        if diff is None:
            continue
        diff = diff.partition("+++ after\n")[2].rstrip("\n")
        if len(diff) > room:
            diff = f"{diff[:room]}\n… the rest of the changes is left out"
        room = max(0, room - len(diff))
        said.append(diff)
    return said
