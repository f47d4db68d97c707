"""Sends what is to be sent, one lane a chat and topic, at the pace that Telegram wants.

Answers for: that cards and ends go before progress, that of progress only the newest is sent, that
no call is made to a chat that Telegram has banned for a while, and that other chats go on
meanwhile. A call that got no answer is made again: whoever asks for one must be able to bear that.
One that alone gets none, while others do, is given up in the end, and the lane goes on.
"""

import asyncio
import contextlib
import enum
import itertools
import typing
from collections.abc import Callable, Coroutine

from bots.telegram import calls, pacing

IDLE_S: typing.Final = 60.0
FIRST_PAUSE_S: typing.Final = 0.5
PAUSE_LIMIT_S: typing.Final = 10.0
FAILING_TRIES: typing.Final = 20  # of a call that alone gets no answer, and for how long
FAILING_S: typing.Final = 300.0

_R = typing.TypeVar("_R")


class Urgency(enum.IntEnum):
    """What goes first."""

    CARD = 0
    END = 1
    PROGRESS = 2


class Superseded(Exception):
    """Something newer is sent instead."""


class _Job:
    def __init__(
        self,
        urgency: Urgency,
        number: int,
        key: str,
        call: Callable[[], Coroutine[object, object, object]],
    ) -> None:
        self.urgency = urgency
        self.number = number
        self.key = key
        self.call = call
        self.result: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self.failures = 0
        self.failing_since_s = 0.0


class _Lane:
    """What waits for one chat and topic."""

    def __init__(self, chat: str) -> None:
        self.chat = chat
        self.waiting: list[_Job] = []
        self.changed = asyncio.Event()

    def add(self, job: _Job) -> None:
        if job.key:
            for old in [one for one in self.waiting if one.key == job.key]:
                self.waiting.remove(old)
                _fail(old, Superseded())
        self.waiting.append(job)
        self.changed.set()

    def first(self) -> _Job | None:
        self.waiting = [one for one in self.waiting if not one.result.done()]
        return min(self.waiting, key=lambda one: (one.urgency, one.number), default=None)


def _fail(job: _Job, error: BaseException) -> None:
    if not job.result.done():
        job.result.set_exception(error)


class Lanes:
    """All lanes of one bot. Made within the event loop; `close` ends what still waits."""

    def __init__(self) -> None:
        self._overall = pacing.overall()
        self._chats: dict[str, pacing.Chat] = {}
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._numbers = itertools.count()

    async def send(
        self,
        chat: str,
        topic: str,
        urgency: Urgency,
        call: Callable[[], Coroutine[object, object, _R]],
        key: str = "",
    ) -> _R:
        """Have a call made when it may be; of those with the same key only the newest.

        Raises:
            Superseded: something newer with the same key is sent instead.
            calls.Fault: Telegram refused it; never TooMany, and Unreachable only where this call
                alone got no answer, in FAILING_TRIES tries over FAILING_S.
        """
        at = (chat, topic)
        lane = self._lanes.setdefault(at, _Lane(chat))
        job = _Job(urgency, next(self._numbers), key, call)
        lane.add(job)
        if at not in self._running:
            name = f"lane {len(self._running)}"
            self._running[at] = asyncio.create_task(self._run(at, lane), name=name)
        result = await job.result
        return typing.cast(_R, result)

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def _run(self, at: tuple[str, str], lane: _Lane) -> None:
        try:
            while True:
                lane.changed.clear()
                job = lane.first()
                if job is None:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(IDLE_S):
                            await lane.changed.wait()
                    if lane.first() is None:
                        return
                    continue
                chat = self._chats.setdefault(lane.chat, pacing.Chat(lane.chat))
                delay_s = self._delay_s(chat, job)
                if delay_s > 0:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(delay_s):
                            await lane.changed.wait()
                    continue
                await self._perform(lane, chat, job)
        finally:
            self._running.pop(at, None)
            if not lane.waiting:
                self._lanes.pop(at, None)
                self._forget(lane.chat)

    def _forget(self, name: str) -> None:
        """Keep nothing of a chat with no lane, unless Telegram still bans it."""
        chat = self._chats.get(name)
        if chat is None or any(other == name for other, _ in self._lanes):
            return
        if chat.delay_s(self._now_s(), progress=True) <= 0:
            del self._chats[name]

    def _delay_s(self, chat: pacing.Chat, job: _Job) -> float:
        now_s = self._now_s()
        progress = job.urgency is Urgency.PROGRESS
        spare = pacing.KEPT_FOR_ENDS if progress else 0.0
        return max(chat.delay_s(now_s, progress), self._overall.delay_s(now_s, spare))

    async def _perform(self, lane: _Lane, chat: pacing.Chat, job: _Job) -> None:
        lane.waiting.remove(job)
        now_s = self._now_s()
        chat.take(now_s)
        self._overall.take(now_s)
        running = asyncio.ensure_future(job.call())
        try:
            await asyncio.wait({running})
        except asyncio.CancelledError:
            running.cancel()
            raise
        error = running.exception()
        match error:
            case None:
                if not job.result.done():
                    job.result.set_result(running.result())
            case calls.TooMany():
                chat.ban(self._now_s(), error.retry_after_s)
                self._again(lane, job)
            case calls.Unreachable():
                if self._is_hopeless(job, error):
                    _fail(job, error)
                    return
                await asyncio.sleep(min(FIRST_PAUSE_S * 2**job.failures, PAUSE_LIMIT_S))
                self._again(lane, job)
            case _:
                _fail(job, error)

    def _is_hopeless(self, job: _Job, error: calls.Unreachable) -> bool:
        """Whether a call that failed once more is not to be made again."""
        now_s = self._now_s()
        if not job.failures:
            job.failing_since_s = now_s
        job.failures += 1
        is_long = now_s - job.failing_since_s >= FAILING_S
        return error.alone and is_long and job.failures >= FAILING_TRIES

    def _again(self, lane: _Lane, job: _Job) -> None:
        """Put a job back, unless something newer has come meanwhile."""
        if job.key and any(one.key == job.key for one in lane.waiting):
            _fail(job, Superseded())
        else:
            lane.waiting.append(job)

    def count(self) -> int:
        """How much is kept: lanes, and chats with their pace."""
        return len(self._lanes) + len(self._chats)

    async def close(self) -> None:
        """End every lane; what waits is cancelled."""
        for task in tuple(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        for lane in self._lanes.values():
            for job in lane.waiting:
                job.result.cancel()
