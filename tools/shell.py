"""Runs a shell command by bash: exactly the inspected text, in exactly the inspected folder.

Starts bash without profile, with a clean environment and no input. Output and errors come as one
text, live. A command ends when bash ends, and however it ends, no process of its group is left.
Confinement is `sandbox`'s work.
"""

import asyncio
import codecs
import contextlib
import os
import signal
from pathlib import Path
from typing import BinaryIO

import pydantic

from tools import contract

BASH = "/bin/bash"
KEPT_CHARS = 8 * 1024 * 1024
"""Output beyond this is counted, not kept."""
_READ_BYTES = 64 * 1024
_MAX_COMMAND_BYTES = 64 * 1024
_LEFT_OUTPUT_SECONDS = 1.0
"""How long output is awaited of a process that left the group and outlives the command."""
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"}

_PARAMETERS = """{"type":"object","properties":{"command":{"type":"string","description":
"the command line, as bash reads it"}},"required":["command"],"additionalProperties":false}"""


class _Arguments(contract.Value):
    command: str = pydantic.Field(min_length=1)


class _Inspected:
    """Holds the working folder open, so that the run cannot meet another of the same name."""

    def __init__(self, facts: contract.Facts, folder_fd: int, command: str) -> None:
        self._facts = facts
        self._folder_fd = folder_fd
        self.command = command

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    @property
    def folder(self) -> str:
        """A path that leads to the held folder, whatever its name leads to now."""
        return f"/proc/self/fd/{self._folder_fd}"

    def close(self) -> None:
        if self._folder_fd >= 0:
            os.close(self._folder_fd)
            self._folder_fd = -1


def _identity(status: os.stat_result) -> str:
    return f"{status.st_dev}:{status.st_ino}"


class Shell:
    """The shell_exec tool."""

    def __init__(self, deadline_seconds: int) -> None:
        self._spec = contract.ToolSpec(
            name="shell_exec",
            version=1,
            description="Run a shell command in the working folder and return its output.",
            parameters=_PARAMETERS,
            effect=contract.Effect.UNSAFE,
            category=contract.Category.NORMAL,
            deadline_seconds=deadline_seconds,
        )

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    def command(self, arguments_json: str) -> str | None:
        try:
            return _Arguments.model_validate_json(arguments_json).command
        except pydantic.ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise contract.ToolFault(f"shell_exec: {fault['loc']}: {fault['msg']}") from error

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        command = self.command(call.arguments_json) or ""
        if "\0" in command or len(command.encode()) > _MAX_COMMAND_BYTES:
            raise contract.ToolFault(
                f"A command may hold no NUL and at most {_MAX_COMMAND_BYTES} bytes."
            )
        return await asyncio.to_thread(self._inspect, command, Path(call.folder))

    def _inspect(self, command: str, folder: Path) -> contract.Inspection:
        try:
            folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise contract.ToolFault(f"The folder {folder} cannot be opened: {error}.") from error
        real = os.path.realpath(folder)
        program = os.stat(BASH)
        facts = contract.Facts(
            effect=contract.Effect.UNSAFE,
            bound=(
                ("command", command),
                ("folder", real),
                ("folder_inode", _identity(os.fstat(folder_fd))),
                ("program", BASH),
                ("program_inode", _identity(program)),
                ("environment", repr(sorted(_ENVIRONMENT.items()))),
                ("stdin", "none"),
            ),
            shown=(("command", command), ("folder", real)),
        )
        return _Inspected(facts, folder_fd, command)

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault("shell_exec runs only what it has inspected.")
        collected = _Collected(output)
        read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
        with os.fdopen(read_fd, "rb", buffering=0) as pipe:
            process = await _start(inspection, write_fd)
            reading = asyncio.create_task(collected.read(pipe))
            try:
                try:
                    code = await process.wait()
                finally:
                    await _end_group(process)
                await asyncio.wait((reading,), timeout=_LEFT_OUTPUT_SECONDS)
            finally:
                reading.cancel()
                await asyncio.wait((reading,))
        if not reading.cancelled():
            reading.result()
        return contract.Result(text=collected.text(code), exit_code=code)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.UNKNOWN


async def _start(inspection: _Inspected, write_fd: int) -> asyncio.subprocess.Process:
    """Start bash in a session of its own; only it and its children hold the pipe afterwards.

    The pipe is ours, not asyncio's, which takes a process for running while anybody holds its end:
    a child that left the group would keep a killed command from ending.
    """
    try:
        return await asyncio.create_subprocess_exec(
            BASH,
            "--noprofile",
            "--norc",
            "-c",
            inspection.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=write_fd,
            stderr=asyncio.subprocess.STDOUT,
            cwd=inspection.folder,
            env=_ENVIRONMENT,
            start_new_session=True,
        )
    finally:
        os.close(write_fd)


class _Collected:
    """The output so far, bounded, passed on as it comes."""

    def __init__(self, output: contract.Output) -> None:
        self._output = output
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []
        self._kept_chars = 0
        self._dropped_chars = 0

    async def read(self, pipe: BinaryIO) -> None:
        """Take what comes until every process that holds the other end is gone."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while data := await reader.read(_READ_BYTES):
                self._add(self._decoder.decode(data))
        finally:
            transport.close()
            self._add(self._decoder.decode(b"", final=True))

    def _add(self, piece: str) -> None:
        room = KEPT_CHARS - self._kept_chars
        kept = piece[:room]
        self._dropped_chars += len(piece) - len(kept)
        if kept:
            self._kept_chars += len(kept)
            self._pieces.append(kept)
            self._output(kept)

    def text(self, code: int) -> str:
        """The output with what a reader must know about it."""
        text = "".join(self._pieces)
        if self._dropped_chars:
            text += f"\n… {self._dropped_chars} more characters were not kept"
        if code == 0:
            return text or "(no output)"
        ending = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{text.rstrip()}\n({ending})".lstrip()


async def _end_group(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        await asyncio.shield(process.wait())
