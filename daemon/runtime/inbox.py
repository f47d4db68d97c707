"""The one way in: everything that happens enters here and is taken by the loop in order.

Bounded: callers wait while it is full, and what the runtime itself adds is bounded by what it runs,
so no producer can run ahead of the log.
"""

import asyncio
from collections import deque
from typing import NamedTuple

from daemon.domain import decisions, errors, inputs

ReplyFuture = asyncio.Future[decisions.Reply]


class Envelope(NamedTuple):
    """An input, and the future of the caller who waits for its answer."""

    input: inputs.Input
    reply: ReplyFuture | None = None


class Inbox:
    """A queue of inputs; at most so many callers stand in it."""

    def __init__(self, capacity_inputs: int) -> None:
        self._queue: deque[Envelope] = deque()
        self._filled = asyncio.Event()
        self._room = asyncio.Semaphore(capacity_inputs)
        self._closed = False

    def post(self, given: inputs.Input) -> None:
        """Add one of the runtime's own inputs. Running actions and timers bound their number."""
        self._put(Envelope(given))

    def _put(self, envelope: Envelope) -> None:
        self._queue.append(envelope)
        self._filled.set()

    async def ask(self, given: inputs.RpcInput) -> decisions.Reply:
        """Add a write and wait until it is durable.

        Raises:
            errors.Refusal: it was refused, or could not be kept; nothing happened.
        """
        self._refuse_if_closed()
        reply: ReplyFuture = asyncio.get_running_loop().create_future()
        async with self._room:
            self._refuse_if_closed()
            self._put(Envelope(given, reply))
            return await reply

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise errors.Refusal(
                errors.RefusalKind.UNAVAILABLE, "The daemon is stopping. Try again in a moment."
            )

    def close(self) -> None:
        """Take no more writes; what stands in the inbox is still served."""
        self._closed = True

    async def take(self, most: int) -> list[Envelope]:
        """At least one input and at most so many, in order of their coming."""
        while not self._queue:
            self._filled.clear()
            await self._filled.wait()
        return self.take_waiting(most)

    def take_waiting(self, most: int) -> list[Envelope]:
        """What is there already, without waiting."""
        return [self._queue.popleft() for _ in range(min(most, len(self._queue)))]
