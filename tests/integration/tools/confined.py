"""Commands by the real shell tool, and what this machine shows of their processes."""

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from tools import contract, shell

GONE_SECONDS = 2.0


class Run:
    """One command, inspected and run by a shell; its pieces as they came.

    `token` is a word that no other process has in its arguments: `sleep $TOKEN` is found by it.
    """

    def __init__(
        self,
        using: shell.Shell,
        folder: Path,
        command: str,
        confinement: contract.Confinement | None = None,
        names: contract.Names | None = None,
    ) -> None:
        self.token = f"{600 + secrets.randbelow(300)}.{secrets.randbits(48)}"
        self._shell = using
        self.call = contract.Call(
            call_id="call-1",
            tool="shell_exec",
            arguments_json=json.dumps({"command": command.replace("$TOKEN", self.token)}),
            key="call-1",
            folder=str(folder),
            confinement=confinement or contract.Confinement(),
            names=names or contract.Names(),
        )
        self.pieces: list[str] = []
        self.came = asyncio.Event()

    @property
    def text(self) -> str:
        """What has come so far."""
        return "".join(self.pieces)

    def output(self, piece: str) -> None:
        self.pieces.append(piece)
        self.came.set()

    async def go(self, secret: contract.Secret | None = None) -> contract.Result:
        inspection = await self._shell.inspect(self.call)
        try:
            return await self._shell.run(self.call, inspection, self.output, secret)
        finally:
            inspection.close()

    def processes(self) -> list[psutil.Process]:
        """Those that carry the token, in whatever namespace."""
        return carrying(self.token)


def carrying(token: str) -> list[psutil.Process]:
    """The processes with a word among their arguments."""
    return list(_carrying(token))


def _carrying(token: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and token in process.cmdline():
                yield process


async def until(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    """Wait for a condition without a pause of its own; whether it came in time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if condition():
            return True
        await asyncio.to_thread(_breathe)
    return bool(condition())


def _breathe() -> None:
    """Let the others have the processor for as long as a look at them takes."""
    psutil.cpu_percent(interval=0.02)


def children() -> list[list[str]]:
    """The arguments of every process that this one has started and that still runs."""
    found: list[list[str]] = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.cmdline())
    return found
