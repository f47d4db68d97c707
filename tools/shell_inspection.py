"""Inspects a shell command: settles what would run, and holds it so that the run meets the same.

Plain words are a program by themselves where root alone can change it (or it is the folder's own),
sudo's words are sudo, and anything else is bash with the text. Runs nothing, judges nothing.
"""

import contextlib
import os
import shlex
from collections.abc import Mapping

from tools import contract, shell_facts
from tools.sandbox import launching, view

BASH = "/bin/bash"
SUDO = "sudo"
_PASSWORD = "the password for sudo"


class Inspected:
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


def inspect(command: str, call: contract.Call, powers: launching.Powers, sudo: str) -> Inspected:
    """Find out what a command would run, and hold it.

    Raises:
        ToolFault: the folder or sudo cannot be used.
    """
    inspected = Inspected(command, call, powers)
    try:
        _check_folder(inspected)
        if inspected.elevated:
            inspected.hold(_found_sudo(inspected, sudo))
        else:
            inspected.hold(_direct(inspected) or _bash(inspected))
        inspected.scripts = shell_facts.scripts(
            command, inspected.argv, inspected.folder, inspected.held
        )
        inspected.facts = _facts(inspected, call)
    except BaseException:
        inspected.close()
        raise
    return inspected


def _check_folder(inspected: Inspected) -> None:
    folder, hidden = inspected.folder, inspected.confinement.hidden
    try:
        view.check_folder(folder, hidden)
    except view.NoFolder as error:
        raise contract.ToolFault(str(error)) from error
    inside = [path for path in hidden if view.within(os.path.realpath(path), folder)]
    if inside and not inspected.elevated and not inspected.powers.mounts:
        raise contract.ToolFault(f"{inside[0]} cannot be hidden on this machine.")


def _direct(inspected: Inspected) -> shell_facts.Program | None:
    """The program that plain words name, if it may stand for them."""
    argv = inspected.argv
    found = shell_facts.program(argv[0], inspected.folder) if argv else None
    if argv is None or found is None:
        return None
    return found if found.trusted or "/" in argv[0] else None


def _bash(inspected: Inspected) -> shell_facts.Program:
    """bash, which reads the text itself: also to say that a command was not found."""
    inspected.argv = None
    return shell_facts.Program(os.path.realpath(BASH), os.stat(BASH), trusted=True)


def _found_sudo(inspected: Inspected, sudo: str) -> shell_facts.Program:
    if not inspected.argv:
        raise contract.ToolFault("sudo runs plain words only: no pipes, lists or redirections.")
    if inspected.confinement.read_only:
        raise contract.ToolFault("Nothing may be written now, and sudo cannot be confined.")
    found = shell_facts.program(sudo, inspected.folder)
    if found is None:
        raise contract.ToolFault("sudo is not installed: a command cannot run as root here.")
    if sudo == SUDO and not found.trusted:
        raise contract.ToolFault(f"{found.path} can be changed by others than root: not run.")
    return found


def _facts(inspected: Inspected, call: contract.Call) -> contract.Facts:
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
    inspected: Inspected, programs: Mapping[str, shell_facts.Program | None]
) -> tuple[str, ...]:
    """What a mild verdict rests on and this machine does not give."""
    changeable = (
        f"no {name} that root alone can change"
        for name, found in sorted(programs.items())
        if found is not None and not found.trusted and "/" not in name
    )
    replaceable = (
        f"no watch over {script.written}: another program could replace it as it starts"
        for script in held_still(inspected)
        if inspected.powers.mounts and not inspected.powers.watches
    )
    return (*inspected.powers.missing, *changeable, *replaceable)


def _shown(inspected: Inspected) -> str:
    """What a person is shown: the command, and for sudo exactly the words that will run."""
    if inspected.elevated and inspected.argv is not None:
        return shlex.join(inspected.argv)
    return inspected.command


def _effect(inspected: Inspected) -> contract.Effect:
    """To repeat what cannot write anything, nor reach anybody, changes nothing."""
    confinement = inspected.confinement
    held = confinement.read_only and not confinement.network and not inspected.elevated
    whole = held and not inspected.powers.missing
    return contract.Effect.PURE if whole else contract.Effect.UNSAFE


def _how(inspected: Inspected) -> str:
    if inspected.elevated:
        return "none, as root"
    confinement, kind = inspected.confinement, inspected.powers.kind
    if confinement.network:
        network = "with this machine's network"
    else:
        network = "the network is open" if kind is launching.Kind.NONE else "no network"
    return f"{kind}, {network}{', nothing is written' if confinement.read_only else ''}"


def held_still(inspected: Inspected) -> list[shell_facts.Script]:
    """The scripts that the command is shown as they were inspected, whatever becomes of them; one
    that is hidden from it is not shown at all."""
    hidden = [os.path.realpath(path) for path in inspected.confinement.hidden]
    return [
        script
        for script in inspected.scripts
        if shell_facts.held_still(script, inspected.command, inspected.argv)
        and not any(view.within(script.path, path) for path in hidden)
    ]
