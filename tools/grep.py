"""Looks for a regular expression in the files of a folder, or in one file.

Reads only what lies below what the inspection holds open, follows no link, and leaves out what is
hidden from the call, ignored by git, or named as if it held a secret; what was left out is said.
Never changes anything, and no pattern can make it hang.
"""

import os
import stat
import threading

import pydantic

from tools import confine, contract, files
from tools.sandbox import view

NAME = "grep"
MOST_CONTEXT = 5
MOST_PATTERN_CHARS = 1000
_NO_FILES = (*view.OWN_SYSTEMS, "/sys")
"""What the kernel makes up when it is read."""

_PARAMETERS = """{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":
"string"},"glob":{"type":"string"},"ignore_case":{"type":"boolean"},"context_lines":{"type":
"integer","minimum":0,"maximum":5}},"required":["pattern"],"additionalProperties":false}"""


class Arguments(contract.Value):
    """What is looked for, and where; `glob` says in which files."""

    pattern: str = pydantic.Field(min_length=1, max_length=MOST_PATTERN_CHARS)
    path: str = "."
    glob: str = pydantic.Field(default="", max_length=MOST_PATTERN_CHARS)
    ignore_case: bool = False
    context_lines: int = pydantic.Field(default=0, ge=0, le=MOST_CONTEXT)


class _Inspected:
    """Holds the file or folder open, so that the run searches what was inspected."""

    def __init__(self, facts: contract.Facts, opened_fd: int, wanted: Arguments) -> None:
        self._facts = facts
        self._opened_fd = opened_fd
        self.wanted = wanted

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    @property
    def opened_fd(self) -> int:
        return self._opened_fd

    def close(self) -> None:
        if self._opened_fd >= 0:
            os.close(self._opened_fd)
            self._opened_fd = -1


class Grep:
    """The grep tool."""

    spec = contract.ToolSpec(
        name=NAME,
        version=1,
        description="Find a regular expression in files.",
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
            raise contract.ToolFault("grep searches only what it has inspected.")
        stopped = threading.Event()
        text = await files.done(lambda: _search(call, inspection, stopped), stopped.set)
        output(text)
        return contract.Result(text=text)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.NOT_DONE


def _inspect(call: contract.Call, wanted: Arguments) -> _Inspected:
    from tools import grep_search, grep_walk

    grep_search.compiled(wanted.pattern, wanted.ignore_case)
    grep_walk.matching(wanted.glob)
    spot = confine.locate(call, wanted.path)
    try:
        if any(view.within(spot.real, place) for place in _NO_FILES):
            raise contract.ToolFault(f"{spot.written} holds no files that can be searched.")
        status = spot.status()
        is_folder = status is not None and stat.S_ISDIR(status.st_mode)
        opened_fd = confine.open_folder(spot) if is_folder else confine.open_file(spot)
    finally:
        spot.close()
    status = os.fstat(opened_fd)
    facts = contract.Facts(
        effect=contract.Effect.PURE,
        bound=(("path", spot.real), ("inode", ":".join(map(str, confine.identity(status))))),
        shown=(("path", spot.real), ("pattern", wanted.pattern), ("glob", wanted.glob or "*")),
        touched=(
            contract.Touched(
                written=wanted.path,
                real=spot.real,
                links=not is_folder and status.st_nlink > 1,
            ),
        ),
    )
    return _Inspected(facts, opened_fd, wanted)


def _search(call: contract.Call, inspection: _Inspected, stopped: threading.Event) -> str:
    from tools import grep_search, grep_walk

    wanted = inspection.wanted
    hidden = (*call.confinement.hidden, *view.SYSTEM_SECRETS)
    found = grep_search.Found(
        grep_search.compiled(wanted.pattern, wanted.ignore_case), wanted.context_lines, stopped
    )
    walk = grep_walk.Walk(
        inspection.opened_fd,
        wanted.path,
        grep_walk.matching(wanted.glob),
        confine.Hidden(contract.Confinement(hidden=hidden)),
        grep_walk.ignored_above(call, inspection.facts.touched[0].real),
    )
    return grep_search.search(walk, found)
