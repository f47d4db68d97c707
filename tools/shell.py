"""Runs a shell command, confined: exactly what was inspected, in exactly the inspected folder.

Plain words run as they are, anything else by bash without profile; with a clean environment, no
input, and output and errors as one text, live. However a command ends, no process of it is left.
What confines it is `sandbox`'s; `sudo` alone runs outside, and is shown so. Never decides whether
a command may run.
"""

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Mapping

import pydantic

from tools import contract, shell_facts, shell_output, shell_stream
from tools.sandbox import launching, limits, powers, process, view

BASH = "/bin/bash"
SUDO = "sudo"
_MAX_COMMAND_BYTES = 64 * 1024
_LEFT_OUTPUT_SECONDS = 1.0
"""How long output is awaited of a process that outlives the command: one of another user."""
_SIGNALLED = 128
"""A sandbox's exit code for a signal is this and the signal's number, as a shell's."""
_PASSWORD = "the password for sudo"

_PARAMETERS = """{"type":"object","properties":{"command":{"type":"string","description":
"the command line, as bash reads it"}},"required":["command"],"additionalProperties":false}"""


class _Arguments(contract.Value):
    command: str = pydantic.Field(min_length=1)


class _Inspected:
    """Holds the working folder and the program open, so that the run cannot meet others of the
    same name, and the scripts' content."""

    def __init__(self, command: str, call: contract.Call, powers: launching.Powers) -> None:
        self.powers = powers
        self.confinement = call.confinement
        self.elevated = call.names.elevated
        self.held = contextlib.ExitStack()
        try:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            self.folder_fd = os.open(call.folder, flags)
        except OSError as error:
            message = f"The folder {call.folder} cannot be opened: {error}."
            raise contract.ToolFault(message) from error
        self.held.callback(os.close, self.folder_fd)
        self.folder = os.path.realpath(f"/proc/self/fd/{self.folder_fd}")
        self.command = command
        self.argv: tuple[str, ...] | None = call.names.argv
        self.program = shell_facts.Program(BASH, os.stat(BASH), trusted=True)
        self.program_fd = -1
        self.scripts: list[shell_facts.Script] = []
        self._facts: contract.Facts | None = None

    @property
    def facts(self) -> contract.Facts:
        assert self._facts is not None
        return self._facts

    @facts.setter
    def facts(self, facts: contract.Facts) -> None:
        self._facts = facts

    def hold(self, program: shell_facts.Program) -> None:
        """Keep the program that was found, and no other, for the run."""
        self.program = program
        self.program_fd = os.open(program.path, os.O_PATH | os.O_CLOEXEC)
        self.held.callback(os.close, self.program_fd)
        found = os.fstat(self.program_fd)
        if shell_facts.identity(found) != shell_facts.identity(program.status):
            raise contract.ToolFault(f"{program.path} was replaced during its inspection.")

    def environment(self) -> dict[str, str]:
        home = "/" if self.elevated else self.folder
        return {"PATH": shell_facts.PATH, "LANG": "C.UTF-8", "TERM": "dumb", "HOME": home}

    def close(self) -> None:
        self.held.close()


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
        sudo: str = SUDO,
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
        return await asyncio.to_thread(self._inspect, command, call, found)

    def _inspect(
        self, command: str, call: contract.Call, found: launching.Powers
    ) -> contract.Inspection:
        inspected = _Inspected(command, call, found)
        try:
            self._find(inspected, call)
            inspected.facts = _facts(inspected, call)
        except BaseException:
            inspected.close()
            raise
        return inspected

    def _find(self, inspected: _Inspected, call: contract.Call) -> None:
        """Settle what runs: sudo, a trusted program by itself, or bash with the text."""
        folder, hidden = inspected.folder, call.confinement.hidden
        try:
            view.check_folder(folder, hidden)
        except view.NoFolder as error:
            raise contract.ToolFault(str(error)) from error
        inside = [path for path in hidden if view.within(os.path.realpath(path), folder)]
        if inside and not inspected.elevated and not inspected.powers.mounts:
            raise contract.ToolFault(f"{inside[0]} cannot be hidden on this machine.")
        if inspected.elevated:
            inspected.hold(self._found_sudo(inspected))
        else:
            argv = inspected.argv
            direct = shell_facts.program(argv[0], folder) if argv else None
            own = argv is not None and "/" in argv[0] and direct is not None
            if direct is not None and (direct.trusted or own):
                inspected.hold(direct)
            else:
                inspected.argv = None
                inspected.hold(shell_facts.Program(os.path.realpath(BASH), os.stat(BASH), True))
        inspected.scripts = shell_facts.scripts(inspected.command, inspected.argv, folder)

    def _found_sudo(self, inspected: _Inspected) -> shell_facts.Program:
        if not inspected.argv:
            raise contract.ToolFault("sudo runs plain words only: no pipes, lists or redirections.")
        if inspected.confinement.read_only:
            raise contract.ToolFault("Nothing may be written now, and sudo cannot be confined.")
        found = shell_facts.program(self._sudo, inspected.folder)
        if found is None:
            raise contract.ToolFault("sudo is not installed: a command cannot run as root here.")
        if self._sudo == SUDO and not found.trusted:
            raise contract.ToolFault(f"{found.path} can be changed by others than root: not run.")
        return found

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        if not isinstance(inspection, _Inspected):
            raise contract.ToolFault("shell_exec runs only what it has inspected.")
        password = (secret.take() if secret is not None else None) or b""
        if inspection.elevated and not password:
            raise contract.ToolFault("sudo needs the password, and none was given.")
        collected = shell_stream.Collected(output, self._limits.output_bytes, password)
        before = await asyncio.to_thread(view.fingerprints, inspection.folder_fd)
        with contextlib.ExitStack() as held:
            seen = await asyncio.to_thread(_view, inspection)
            launch = _launch(inspection, seen, self._limits, held)
            stdin = _input(password, held) if inspection.elevated else asyncio.subprocess.DEVNULL
            ending = await self._to_the_end(launch, inspection, collected, stdin)
        notes = _notes(inspection, view.changed(before, inspection.folder_fd))
        return _result(ending, collected, notes)

    async def _to_the_end(
        self,
        launch: process.Launch,
        inspection: _Inspected,
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
            return process.Ending(ending.code, reason)
        return ending

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.UNKNOWN


def _facts(inspected: _Inspected, call: contract.Call) -> contract.Facts:
    folder, confinement = inspected.folder, inspected.confinement
    environment = inspected.environment()
    touched = tuple(shell_facts.touched(call.names.paths, folder, environment["HOME"]))
    programs = {name: shell_facts.program(name, folder) for name in call.names.programs}
    how = _how(inspected)
    bound = [
        ("command", inspected.command),
        ("argv", repr(inspected.argv)),
        ("folder", folder),
        ("folder_inode", shell_facts.identity(os.fstat(inspected.folder_fd))),
        ("program", inspected.program.path),
        ("program_inode", inspected.program.identity()),
        ("environment", repr(sorted(environment.items()))),
        ("stdin", "the password" if inspected.elevated else "none"),
        ("sandbox", how),
        ("hidden", repr(sorted(confinement.hidden))),
        ("read_only", str(confinement.read_only)),
        *((f"script {one.written}", f"{one.path} {one.digest()}") for one in inspected.scripts),
        *((f"program {name}", one.identity() if one else "") for name, one in programs.items()),
        *((f"path {one.written}", f"{one.real} {one.links}") for one in touched),
    ]
    shown = (
        ("command", _shown(inspected)),
        ("folder", folder),
        ("outside the sandbox", "as root") if inspected.elevated else ("sandbox", how),
    )
    return contract.Facts(
        effect=_effect(inspected),
        bound=tuple(bound),
        shown=shown,
        touched=touched,
        missing=() if inspected.elevated else _missing(inspected, programs),
        secret=_PASSWORD if inspected.elevated else "",
    )


def _missing(
    inspected: _Inspected, programs: Mapping[str, shell_facts.Program | None]
) -> tuple[str, ...]:
    """What a mild verdict rests on and this machine does not give."""
    changeable = (
        f"no {name} that root alone can change"
        for name, found in sorted(programs.items())
        if found is not None and not found.trusted and "/" not in name
    )
    return (*inspected.powers.missing, *changeable)


def _shown(inspected: _Inspected) -> str:
    """What a person is shown: the command, and for sudo exactly the words that will run."""
    if inspected.elevated and inspected.argv is not None:
        return shlex.join(inspected.argv)
    return inspected.command


def _effect(inspected: _Inspected) -> contract.Effect:
    """To repeat what cannot write anything, nor reach anybody, changes nothing."""
    confinement = inspected.confinement
    held = confinement.read_only and not confinement.network and not inspected.elevated
    whole = held and not inspected.powers.missing
    return contract.Effect.PURE if whole else contract.Effect.UNSAFE


def _how(inspected: _Inspected) -> str:
    if inspected.elevated:
        return "none, as root"
    confinement, kind = inspected.confinement, inspected.powers.kind
    if confinement.network:
        network = "with this machine's network"
    else:
        network = "the network is open" if kind is launching.Kind.NONE else "no network"
    return f"{kind}, {network}{', nothing is written' if confinement.read_only else ''}"


def _view(inspected: _Inspected) -> view.View:
    """What the command will see, from the file system as it is now."""
    masked = view.masks(inspected.folder, inspected.confinement.hidden)
    copies = tuple(
        view.Copy(script.path, script.content, script.status.st_mode)
        for script in _held_still(inspected)
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


def _held_still(inspected: _Inspected) -> list[shell_facts.Script]:
    return [
        script
        for script in inspected.scripts
        if shell_facts.held_still(script, inspected.command, inspected.argv)
    ]


def _launch(
    inspected: _Inspected, seen: view.View, bounds: limits.Limits, held: contextlib.ExitStack
) -> process.Launch:
    argv = inspected.argv or (BASH, "--noprofile", "--norc", "-c", inspected.command)
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


def _notes(inspected: _Inspected, appeared: list[str]) -> list[str]:
    """What a reader must know about the folder after the command."""
    notes = [
        f"careful: {script.written} was replaced meanwhile, so what ran may not be what was asked"
        for script in _held_still(inspected)
        if script.replaced()
    ]
    if appeared:
        notes.append(f"careful: {', '.join(appeared)} changed, which other programs run or obey")
    return notes


def _result(
    ending: process.Ending, collected: shell_stream.Collected, notes: list[str]
) -> contract.Result:
    """The output with what a reader must know about it."""
    text, code = collected.text(), ending.code
    if code is None and not ending.reason:
        raise contract.ToolFault(f"Not run: the sandbox could not be made: {text.strip()}")
    how = _ended(ending)
    said = [*([how] if how else []), *notes]
    if said:
        text = "\n".join((text.rstrip(), *(f"({note})" for note in said))).lstrip()
    return contract.Result(text=text or "(no output)", exit_code=code, failed=bool(ending.reason))


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
