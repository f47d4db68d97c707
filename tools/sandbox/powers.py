"""Finds out what confinement this machine gives, by confining a command for real.

Trusts no version and no setting: only what worked. Never settles for less in silence: what is
missing is said in plain words.
"""

import asyncio
import dataclasses
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from tools.sandbox import (
    bubblewrap,
    launcher,
    launching,
    limits,
    process,
    seccomp,
    tracing,
    view,
)

_PROBE_SECONDS = 10.0
_PROBED = "/bin/true"
_NO_FILTER = "no system call filter"
_NO_PROCESS_NAMESPACE = "no process namespace: other processes are seen"
_NO_MOUNTS = "sockets of other programs, hooks and rc files in the folder stay reachable"
_NO_COPIES = "a script is not held still between its inspection and its run"
_NO_SCOPES = "processes outside can be signalled"
_NO_TCP = "no network namespace and no refusal of connections"
_NOTHING = (
    "no sandbox: files outside the folder are neither hidden nor read-only",
    "no network namespace: the network is open",
    _NO_PROCESS_NAMESPACE,
    _NO_COPIES,
)


async def probe(bounds: limits.Limits) -> launching.Powers:
    """The best confinement that works here."""
    for powers in _candidates():
        if await _works(powers, bounds):
            watching = dataclasses.replace(powers, watches=tracing.supported(os.uname().machine))
            watches = powers.mounts and watching.watches and await _works(watching, bounds)
            return watching if watches else powers
    return launching.Powers(launching.Kind.NONE, missing=_NOTHING)


def _candidates() -> Iterator[launching.Powers]:
    filtered = bool(seccomp.program(os.uname().machine, internet=False))
    no_filter = () if filtered else (_NO_FILTER, "kernel keyrings are shared")
    for program in bubblewrap.candidates():
        yield launching.Powers(launching.Kind.BUBBLEWRAP, program=program, missing=no_filter)
    if version := launcher.version():
        yield landlock(version, filtered)


def landlock(version: int, filtered: bool) -> launching.Powers:
    """What one version of Landlock gives and leaves open."""
    missing = [_NO_PROCESS_NAMESPACE, _NO_MOUNTS, _NO_COPIES]
    if not filtered:
        missing += [_NO_FILTER, _NO_TCP]
    if version < launcher.SCOPE_VERSION:
        missing.append(_NO_SCOPES)
    kind = launching.Kind.LANDLOCK
    return launching.Powers(kind, landlock=version, missing=tuple(missing))


async def _works(powers: launching.Powers, bounds: limits.Limits) -> bool:
    with ExitStack() as held:
        folder_fd = os.open("/usr", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        held.callback(os.close, folder_fd)
        seen = await asyncio.to_thread(_probed, folder_fd, powers.watches)
        command = launching.Command((_PROBED,), _PROBED, -1, {"PATH": "/usr/bin:/bin"})
        launch = launching.confined(powers, command, seen, bounds, held)
        nowhere = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
        try:
            started = await process.start(
                launch, bounds, nowhere, asyncio.subprocess.DEVNULL, folder_fd
            )
        except process.NotConfined:
            return False
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                return (await started.wait()).code == 0
        except TimeoutError:
            return False
        finally:
            await started.end()


def _probed(folder_fd: int, with_copy: bool) -> view.View:
    """What the probe sees; its program may be a copy, to find out whether that can be watched."""
    masks = view.masks("/usr", ())
    program = Path(_PROBED).resolve()
    copy = view.Copy(str(program), program.read_bytes(), 0o755, name=_PROBED)
    return view.View(
        folder="/usr",
        folder_fd=folder_fd,
        read_only=True,
        network=False,
        masks=masks,
        copies=(copy,) if with_copy else (),
    )
