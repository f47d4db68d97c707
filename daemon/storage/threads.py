"""Threads that do the blocking work of a store, so that the event loop never waits for a disk.

A fault of the work is its caller's alone. A thread that does not answer in time is an error for all
who wait and for all who come later, and for the daemon, which cannot know what became of the work;
nobody hangs. The threads are daemonic: one that is stuck in the kernel cannot keep the process from
ending.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from daemon.domain import errors

Result = TypeVar("Result")

STUCK_SECONDS = 30.0
_JOIN_SECONDS = 5.0


class _Job(Generic[Result]):
    """One piece of work and who waits for it."""

    def __init__(self, work: Callable[[], Result], loop: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._loop = loop
        self.answer: asyncio.Future[Result] = loop.create_future()

    def do(self) -> None:
        if self.answer.cancelled():
            return
        try:
            result = self._work()
        except Exception as error:  # it is raised again where the caller waits
            fault = error
            self._tell(lambda: self.answer.set_exception(fault))
        else:
            self._tell(lambda: self.answer.set_result(result))

    def _tell(self, settle: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(lambda: None if self.answer.done() else settle())


class Threads:
    """Some threads over one queue of work. Start and stop them on the event loop's thread."""

    def __init__(self, name: str, count: int, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._name = name
        self._stuck_seconds = stuck_seconds
        self._jobs: queue.SimpleQueue[_Job[Any] | None] = queue.SimpleQueue()
        self._fault: str | None = None
        self._stuck = False
        self._threads = [
            threading.Thread(target=self._serve, name=f"{name}-{number}", daemon=True)
            for number in range(count)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let the threads finish what is queued and end; give up on one that is stuck."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            if thread.ident is not None and not self._stuck:
                thread.join(_JOIN_SECONDS)

    async def run(self, work: Callable[[], Result], limit_seconds: float | None = None) -> Result:
        """Have `work` done on one of the threads, within a limit (that of the threads).

        Cancelling the caller keeps work that has not begun from being done; work that has begun is
        finished.

        Raises:
            errors.StorageLost: a thread does not answer; what `work` did is unknown.
            Exception: what `work` raised.
        """
        if self._fault is not None:
            raise errors.StorageLost(self._fault)
        job = _Job(work, asyncio.get_running_loop())
        self._jobs.put(job)
        try:
            async with asyncio.timeout(limit_seconds or self._stuck_seconds):
                return await job.answer
        except TimeoutError as error:
            self._stuck = True
            self._fault = f"The {self._name} thread is stuck: restart the daemon."
            raise errors.StorageLost(self._fault) from error

    def _serve(self) -> None:
        while (job := self._jobs.get()) is not None:
            job.do()
