"""Runs a shell command, confined: exactly what was inspected, in exactly the inspected folder.

Plain words run as they are, anything else by bash without profile; with a clean environment, no
input, and output and errors as one text, live. However a command ends, no process of it is left.
What confines it is `sandbox`'s; `sudo` alone runs outside, and is shown so. Never decides whether
a command may run.
"""

import asyncio
import contextlib
import dataclasses
import os
import signal

import pydantic

from tools import contract, shell_facts, shell_inspection, shell_output, shell_stream
from tools.sandbox import launching, limits, powers, process, view

_MAX_COMMAND_BYTES = 64 * 1024
_LEFT_OUTPUT_SECONDS = 1.0
"""How long output is awaited of a process that outlives the command: one of another user."""
_MOST_STARTS = 10
"""How often a command is started whose script is replaced each time before anything of it ran."""
_SIGNALLED = 128
"""A sandbox's exit code for a signal is this and the signal's number, as a shell's."""

_PARAMETERS = """{"type":"object","properties":{"command":{"type":"string","description":
"the command line, as bash reads it"}},"required":["command"],"additionalProperties":false}"""


class _Arguments(contract.Value):
    command: str = pydantic.Field(min_length=1)


class Shell:
    """The shell_exec tool.

    `found_powers` stands for what this machine gives instead of finding it out; `sudo` is the
    program that runs a command as root, by name or path.
    """

    def __init__(
        self,
        deadline_seconds: int,
        found_powers: launching.Powers | None = None,
        bounds: limits.Limits | None = None,
        sudo: str = shell_inspection.SUDO,
    ) -> None:
        self._spec = contract.ToolSpec(
            name="shell_exec",
            version=2,
            description="Run a shell command in the working folder and return its output.",
            parameters=_PARAMETERS,
            effect=contract.Effect.UNSAFE,
            category=contract.Category.NORMAL,
            deadline_seconds=deadline_seconds,
        )
        self._powers = found_powers
        self._limits = bounds or limits.Limits()
        self._sudo = sudo
        self._probing = asyncio.Lock()

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    async def powers(self) -> launching.Powers:
        """What confines commands on this machine, found out once."""
        async with self._probing:
            if self._powers is None:
                self._powers = await powers.probe(self._limits)
        return self._powers

    def command(self, arguments_json: str) -> str | None:
        try:
            return _Arguments.model_validate_json(arguments_json).command
        except pydantic.ValidationError as error:
            fault = error.errors(include_url=False)[0]
            raise contract.ToolFault(f"shell_exec: {fault['loc']}: {fault['msg']}") from error

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return shell_output.shorten(text, limit_chars, failed)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        command = self.command(call.arguments_json) or ""
        if "\0" in command or len(command.encode()) > _MAX_COMMAND_BYTES:
            raise contract.ToolFault(
                f"A command may hold no NUL and at most {_MAX_COMMAND_BYTES} bytes."
            )
        found = await self.powers()
        return await asyncio.to_thread(shell_inspection.inspect, command, call, found, self._sudo)

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, shell_inspection.Inspected):
            raise contract.ToolFault("shell_exec runs only what it has inspected.")
        password = (secret.take() if secret is not None else None) or b""
        if inspection.elevated and not password:
            raise contract.ToolFault("sudo needs the password, and none was given.")
        before = await asyncio.to_thread(view.fingerprints, inspection.folder_fd)
        ending, collected = await self._started(inspection, output, password)
        again = _MOST_STARTS - 1
        while again and _may_start_again(inspection, ending):
            ending, collected = await self._started(inspection, output, password)
            again -= 1
        notes = _notes(inspection, ending, view.changed(before, inspection.folder_fd))
        return _result(ending, collected, notes)

    async def _started(
        self,
        inspection: shell_inspection.Inspected,
        output: contract.Output,
        password: bytes,
    ) -> tuple[process.Ending, shell_stream.Collected]:
        """One start of the command: its end, and what it put out."""
        collected = shell_stream.Collected(output, self._limits.output_bytes, password)
        with contextlib.ExitStack() as held:
            seen = await asyncio.to_thread(_view, inspection)
            launch = _launch(inspection, seen, self._limits, held)
            stdin = _input(password, held) if inspection.elevated else asyncio.subprocess.DEVNULL
            ending = await self._to_the_end(launch, inspection, collected, stdin)
        return ending, collected

    async def _to_the_end(
        self,
        launch: process.Launch,
        inspection: shell_inspection.Inspected,
        collected: shell_stream.Collected,
        stdin: int,
    ) -> process.Ending:
        """Run, reading what comes, until the command ends or has put out too much."""
        read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
        with os.fdopen(read_fd, "rb", buffering=0) as pipe:
            try:
                started = await process.start(
                    launch, self._limits, write_fd, stdin, inspection.folder_fd
                )
            except process.NotConfined as error:
                raise contract.ToolFault(f"Not run: {error}") from error
            reading = asyncio.create_task(collected.read(pipe))
            waiting = asyncio.create_task(started.wait())
            try:
                await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
                if not collected.overflowed:
                    await asyncio.wait((waiting,))
                await asyncio.shield(started.end())
                await asyncio.wait((reading,), timeout=_LEFT_OUTPUT_SECONDS)
                ending = await waiting
            finally:
                await asyncio.shield(started.end())
                for task in (reading, waiting):
                    task.cancel()
                await asyncio.wait((reading, waiting))
        if not reading.cancelled():
            reading.result()
        if collected.overflowed:
            reason = f"it put out more than {self._limits.output_bytes} bytes"
            return dataclasses.replace(ending, reason=reason)
        return ending

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.UNKNOWN


def _may_start_again(inspected: shell_inspection.Inspected, ending: process.Ending) -> bool:
    """Whether nothing has run because a script was replaced, also while its copy was mounted."""
    held = shell_inspection.held_still(inspected)
    replaced = ending.replaced is not None or any(script.replaced() for script in held)
    return ending.unstarted and replaced and not ending.reason


def _view(inspected: shell_inspection.Inspected) -> view.View:
    """What the command will see, from the file system as it is now."""
    masked = view.masks(inspected.folder, inspected.confinement.hidden)
    copies = tuple(
        view.Copy(
            path=script.path,
            content=script.content,
            mode=script.status.st_mode,
            name=os.path.normpath(os.path.join(inspected.folder, script.written)),
            by_shell=inspected.argv is None
            and shell_facts.read_by_shell(script, inspected.command),
        )
        for script in shell_inspection.held_still(inspected)
    )
    copied = {copy.path for copy in copies}
    held = (inspected.program.path, inspected.program_fd)
    return view.View(
        folder=inspected.folder,
        folder_fd=inspected.folder_fd,
        read_only=inspected.confinement.read_only,
        network=inspected.confinement.network,
        masks=masked,
        copies=copies,
        held=() if held[0] in copied else (held,),
    )


def _launch(
    inspected: shell_inspection.Inspected,
    seen: view.View,
    bounds: limits.Limits,
    held: contextlib.ExitStack,
) -> process.Launch:
    argv = inspected.argv or (
        shell_inspection.BASH,
        "--noprofile",
        "--norc",
        "-c",
        inspected.command,
    )
    by_path = shell_facts.interpreted(inspected.program_fd)
    command = launching.Command(
        argv,
        inspected.program.path,
        -1 if by_path else inspected.program_fd,
        inspected.environment(),
    )
    if inspected.elevated:
        return launching.elevated(command, seen, bounds)
    return launching.confined(inspected.powers, command, seen, bounds, held)


def _input(password: bytes, held: contextlib.ExitStack) -> int:
    """A pipe that holds the password as one line, and then ends."""
    read_fd, write_fd = os.pipe2(os.O_CLOEXEC)
    held.callback(os.close, read_fd)
    with os.fdopen(write_fd, "wb", buffering=0) as pipe:
        pipe.write(password + b"\n")
    return read_fd


def _notes(
    inspected: shell_inspection.Inspected, ending: process.Ending, appeared: list[str]
) -> list[str]:
    """What a reader must know about the folder after the command."""
    held = shell_inspection.held_still(inspected)
    ended = [] if ending.replaced is None else [held[ending.replaced]]
    notes = [
        f"ended: {one.written} was replaced when it was to be run, and nothing ran in its place"
        for one in ended
    ]
    doubtful, sure = "so what ran may not be what was asked", "but what ran is what was asked"
    replaced = [one.written for one in held if one not in ended and one.replaced()]
    what = sure if inspected.powers.watches else doubtful
    notes += [f"careful: {name} was replaced meanwhile, {what}" for name in replaced]
    program = inspected.program
    if program.replaced() and program.path not in [one.path for one in held]:
        notes.append(f"careful: {program.path} was replaced meanwhile, {doubtful}")
    if appeared:
        notes.append(f"careful: {', '.join(appeared)} changed, which other programs run or obey")
    return notes


def _result(
    ending: process.Ending, collected: shell_stream.Collected, notes: list[str]
) -> contract.Result:
    """The output with what a reader must know about it."""
    text, code = collected.text(), ending.code
    if ending.unstarted and ending.replaced is not None:
        raise contract.ToolFault(
            "Not run: at each start the file to run was replaced by another program. "
            "Stop what replaces it, and run the command again."
        )
    if code is None and not ending.reason and ending.replaced is None:
        raise contract.ToolFault(f"Not run: the sandbox could not be made: {text.strip()}")
    how = _ended(ending)
    failed = bool(ending.reason) or ending.replaced is not None
    said = [*([how] if how else []), *notes]
    if said:
        text = "\n".join((text.rstrip(), *(f"({note})" for note in said))).lstrip()
    return contract.Result(text=text or "(no output)", exit_code=code, failed=failed)


def _ended(ending: process.Ending) -> str:
    """How a command ended, if it did not end well."""
    code = ending.code or 0
    if ending.reason:
        return f"ended: {ending.reason}"
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    with contextlib.suppress(ValueError):  # no signal has such a number: a plain exit code
        if code > _SIGNALLED:
            return f"exit code {code}: {signal.Signals(code - _SIGNALLED).name}"
    return f"exit code {code}" if code else ""
