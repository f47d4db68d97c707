"""APScheduler as the alarm: it holds the next due time alone, and only wakes.

A job in it costs more than a decision of the loop, and by its own clock's steps it rings late: all
due times, their order and the looks in between are those of `runtime.alarm`. Never fires a timer
itself, because a job's fault would be logged and forgotten.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from daemon.runtime import alarm

if TYPE_CHECKING:
    from apscheduler.schedulers import asyncio as schedulers

_NEXT = "next"


class AlarmClock:
    """Rings by APScheduler, which is loaded on another thread when it is made ready."""

    @asynccontextmanager
    async def ready(self, ring: Callable[[], None]) -> AsyncIterator[alarm.Arm]:
        """See `alarm.Alarm`."""
        scheduler = await asyncio.to_thread(_load)
        scheduler.start()
        try:
            yield lambda after_ms: _arm(scheduler, ring, after_ms)
        finally:
            scheduler.shutdown(wait=False)


def _load() -> "schedulers.AsyncIOScheduler":
    from apscheduler.executors import asyncio as executors
    from apscheduler.jobstores import memory
    from apscheduler.schedulers import asyncio as schedulers
    from apscheduler.triggers import date  # noqa: F401  # `_arm` shall not wait for it

    return schedulers.AsyncIOScheduler(
        jobstores={"default": memory.MemoryJobStore()},
        executors={"default": executors.AsyncIOExecutor()},
        job_defaults={"misfire_grace_time": None, "coalesce": True},
        timezone=UTC,
    )


def _arm(scheduler: "schedulers.AsyncIOScheduler", ring: Callable[[], None], after_ms: int) -> None:
    """Replace the one job; its time is by the clock that APScheduler reads."""
    from apscheduler.triggers import date

    at = datetime.now(UTC) + timedelta(milliseconds=after_ms)
    scheduler.add_job(_wake, date.DateTrigger(at), (ring,), id=_NEXT, replace_existing=True)


async def _wake(ring: Callable[[], None]) -> None:
    """The job; a plain function would run on another thread."""
    ring()
