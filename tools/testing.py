"""One tool of each effect class, for tests and dry runs; offered only by `[tools] testing = true`.

Each writes the call's id to the journal that it is given, as a line of its own, when it runs, so
that a test can count what ran. They run unasked: what they do is named by their arguments and
nothing else.
"""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Protocol

import pydantic

from tools import contract

_PARAMETERS = """{"type":"object","properties":{"journal":{"type":"string"},"file":{"type":
"string"},"text":{"type":"string"}},"required":[],"additionalProperties":false}"""


class Arguments(contract.Value):
    """Where to note the run, and for the reconcilable tool, what to write where."""

    journal: str = ""
    file: str = ""
    text: str = ""


class _Act(Protocol):
    def __call__(self, call: contract.Call, arguments: Arguments) -> str: ...


def _append_line(journal: str, line: str) -> None:
    if not journal:
        return
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a crash leaves the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _pure(call: contract.Call, arguments: Arguments) -> str:
    _append_line(arguments.journal, call.call_id)
    return arguments.text or "looked"


def _keyed(call: contract.Call, arguments: Arguments) -> str:
    marker = Path(f"{arguments.journal}.{call.key}")
    if arguments.journal and not marker.exists():
        write_atomically(marker, call.key.encode())
    return "kept under its key"


def _reconcilable(call: contract.Call, arguments: Arguments) -> str:
    write_atomically(Path(arguments.file), arguments.text.encode())
    _append_line(arguments.journal, call.call_id)
    return f"wrote {len(arguments.text.encode())} bytes"


def _unsafe(call: contract.Call, arguments: Arguments) -> str:
    _append_line(arguments.journal, call.call_id)
    return "done once"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class TestingTool:
    """A tool of one effect class."""

    __test__ = False

    def __init__(self, effect: contract.Effect, act: _Act) -> None:
        self._act = act
        self._spec = contract.ToolSpec(
            name=f"testing_{effect.value}",
            version=1,
            description=f"For tests: an effect that is {effect.value}.",
            parameters=_PARAMETERS,
            effect=effect,
            category=contract.Category.READ_ONLY,
        )

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        arguments = self._arguments(call)
        intent = ""
        if self._spec.effect is contract.Effect.RECONCILABLE:
            if not arguments.file:
                raise contract.ToolFault("testing_reconcilable needs the argument file.")
            intent = await asyncio.to_thread(_intent, arguments)
        return contract.Held(
            contract.Facts(
                effect=self._spec.effect,
                bound=(("journal", arguments.journal), ("file", arguments.file)),
                shown=(("journal", arguments.journal), ("file", arguments.file)),
                intent=intent,
            )
        )

    def _arguments(self, call: contract.Call) -> Arguments:
        try:
            return Arguments.model_validate_json(call.arguments_json)
        except pydantic.ValidationError as error:
            fault = error.errors(include_url=False)[0]
            message = f"{self._spec.name}: {fault['loc']}: {fault['msg']}"
            raise contract.ToolFault(message) from error

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        arguments = self._arguments(call)
        if arguments.journal or arguments.file:
            text = await asyncio.to_thread(self._act, call, arguments)
        else:
            text = self._act(call, arguments)
        output(text)
        return contract.Result(text=text)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        path = Path(self._arguments(call).file)
        return await asyncio.to_thread(_reconcile, path, intent)


def _file_digest(path: Path) -> str:
    try:
        return _digest(path.read_bytes())
    except FileNotFoundError:
        return "absent"


def _intent(arguments: Arguments) -> str:
    before = _file_digest(Path(arguments.file))
    return f"{before} {_digest(arguments.text.encode())}"


def _reconcile(path: Path, intent: str) -> contract.Reconciled:
    before, after = intent.split(" ")
    found = _file_digest(path)
    if found == after:
        return contract.Reconciled.DONE
    return contract.Reconciled.NOT_DONE if found == before else contract.Reconciled.UNKNOWN


def every_class() -> tuple[contract.Tool, ...]:
    """One tool of each effect class."""
    return (
        TestingTool(contract.Effect.PURE, _pure),
        TestingTool(contract.Effect.KEYED, _keyed),
        TestingTool(contract.Effect.RECONCILABLE, _reconcilable),
        TestingTool(contract.Effect.UNSAFE, _unsafe),
    )
