"""Bridges the time in which the daemon is away: repeats calls and resumes streams.

Answers for: capped back-off, saying once that the connection is lost, and resuming after the last
event seen. Only calls that are harmless when repeated (reads, or with a client key) may be handed
in. It must never swallow a fault other than a lost connection.
"""

import dataclasses
import typing
from collections.abc import Callable, Generator

import grpc

from bots import render, texts
from bots.terminal import client, faults, interrupts
from proto.ducklm.v1 import events_pb2

FIRST_PAUSE_S: typing.Final = 0.1
PAUSE_LIMIT_S: typing.Final = 2.0
ANSWERED_PATIENCE_S: typing.Final = 15.0  # longer than a stop or a start takes

_R = typing.TypeVar("_R")

# A server that stops ends its streams with one or the other.
_STREAM_LOST: typing.Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


@dataclasses.dataclass(frozen=True)
class Link:
    """The way to the daemon, with the means to wait for it."""

    say: Callable[[str], None]
    sleep: Callable[[float], None]
    clock: Callable[[], float]
    interrupts: interrupts.Interrupts
    patience_s: float | None = None  # None: as long as the person waits

    def patiently(self, call: Callable[[], _R]) -> _R:
        """Repeat the call until the daemon answers it."""
        outage = _Outage(self)
        while True:
            try:
                result = call()
            except faults.CallFault as fault:
                if not fault.lost:
                    raise
                outage.wait(fault)
            else:
                outage.over()
                return result

    def updates(
        self, subscribe: Callable[[int], client.Stream], after_seq: int
    ) -> Generator[events_pb2.Update]:
        """Updates without gap, over as many streams as it takes; it has no end of its own."""
        outage = _Outage(self)
        while True:
            stream = subscribe(after_seq)
            try:
                while update := self._next(stream):
                    outage.over()
                    after_seq = max(after_seq, update.event.seq)
                    yield update
            except faults.CallFault as fault:
                if fault.code not in _STREAM_LOST:
                    raise
            finally:
                stream.cancel()
            # Whether a stopping daemon still says so or not, its next start is waited for.
            outage.wait(faults.CallFault(grpc.StatusCode.UNAVAILABLE))

    def _next(self, stream: client.Stream) -> events_pb2.Update | None:
        with self.interrupts.accepted():
            return stream.next()


class _Outage:
    """The daemon is away, or is there and cannot serve: stops, starts, has no disk."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._pause_s = FIRST_PAUSE_S
        self._since: float | None = None
        self._answered = False

    def wait(self, fault: faults.CallFault) -> None:
        """Pause before the next try, or raise the fault when patience is at its end."""
        now = self._link.clock()
        if self._since is None or fault.answered != self._answered:
            self._since, self._answered = now, fault.answered
            self._link.say(_notice(fault))
        patience_s = ANSWERED_PATIENCE_S if fault.answered else self._link.patience_s
        if patience_s is not None and now - self._since >= patience_s:
            raise fault
        with self._link.interrupts.accepted():
            self._link.sleep(self._pause_s)
        self._pause_s = min(self._pause_s * 2, PAUSE_LIMIT_S)

    def over(self) -> None:
        if self._since is not None:
            self._link.say(texts.CONNECTION_BACK)
        self._since, self._pause_s = None, FIRST_PAUSE_S


def _notice(fault: faults.CallFault) -> str:
    if not fault.answered:
        return texts.CONNECTION_LOST
    return texts.UNAVAILABLE_NOW.format(details=render.one_line(fault.details))
