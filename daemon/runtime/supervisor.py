"""Runs the daemon's side tasks by name, and tells when one dies: none may die unseen."""

import asyncio
from collections.abc import Coroutine
from types import TracebackType

import structlog

_log = structlog.get_logger(__name__)


class Supervisor:
    """Side tasks that run until they are ended; the first one that ends by itself is a fault."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], str] = {}

    def start(self, name: str, running: Coroutine[None, None, None]) -> None:
        """Run a side task."""
        task = asyncio.create_task(running, name=name)
        self._tasks[task] = name

    async def watch(self) -> str:
        """Wait until a side task ends, which none should; returns its name."""
        ended, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        name = self._tasks[next(iter(ended))]
        _log.critical("side_task_ended", task=name, exc_info=next(iter(ended)).exception())
        return name

    async def died_before(self, stop: asyncio.Event) -> bool:
        """Wait for the order to stop, or for a side task's death; True when it was that."""
        ordered = asyncio.create_task(stop.wait())
        died = asyncio.create_task(self.watch())
        await asyncio.wait((ordered, died), return_when=asyncio.FIRST_COMPLETED)
        failed = died.done()
        for task in (ordered, died):
            task.cancel()
            await asyncio.wait((task,))
        return failed

    async def end(self, name: str) -> None:
        """End one side task and wait for it."""
        for task in [task for task, known in self._tasks.items() if known == name]:
            task.cancel()
            await asyncio.wait((task,))
            del self._tasks[task]

    async def __aenter__(self) -> "Supervisor":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in list(dict.fromkeys(self._tasks.values())):
            await self.end(name)
