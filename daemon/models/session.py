"""One life of a model worker: from its spawn to its end, with the calls in flight.

Every call begun here ends in exactly one outcome, whatever becomes of the process. It never starts
a second process: that is for the slot.
"""

import asyncio
import dataclasses

import structlog

from daemon.domain import errors, messages
from daemon.models import worker_host
from daemon.models.worker import frames, protocol
from daemon.runtime import ports

_TICK_SECONDS = 1.0

_log = structlog.get_logger(__name__)
_Kind = messages.ModelFaultKind
_Outcome = protocol.Done | protocol.Counted | errors.ModelFault


@dataclasses.dataclass(frozen=True, slots=True)
class Patience:
    """How long a session waits, in seconds, before it kills its worker."""

    progress_seconds: float = 60.0
    load_seconds: float = 600.0
    cancel_seconds: float = 10.0
    stop_seconds: float = 2.0


class Call:
    """One request in flight; `outcome` is set exactly once."""

    def __init__(self, feed: ports.Feed | None) -> None:
        self.feed = feed
        self.pieces: list[str] = []
        self.thoughts: list[str] = []
        self.outcome: asyncio.Future[_Outcome] = asyncio.get_running_loop().create_future()
        self.cancel_deadline: float | None = None

    def end(self, outcome: _Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


class Session:
    """Runs one worker in a task of its own. `ended` is set when nothing of it is left."""

    def __init__(
        self, name: str, command: worker_host.Command, load: protocol.Load, patience: Patience
    ) -> None:
        self._name = name
        self._command = command
        self._load = load
        self._patience = patience
        self._worker: worker_host.Worker | None = None
        self._calls: dict[int, Call] = {}
        self._loading: list[ports.Feed] = []
        self._numbered = 0
        self._steps = -1
        self._progressed = asyncio.get_running_loop().time()
        self._killed_for: errors.ModelFault | None = None
        self._stopping = False
        self._settled = asyncio.Event()
        self.ready: protocol.Ready | None = None
        self.fault: errors.ModelFault | None = None
        """Why it ended, once it did; a load that failed has it too."""
        self.ended = asyncio.Event()
        self.rss_bytes = 0
        self._task = asyncio.create_task(self._run(), name=f"model {name}")

    @property
    def pid(self) -> int | None:
        return self._worker.pid if self._worker else None

    @property
    def idle(self) -> bool:
        return not self._calls

    @property
    def served(self) -> int:
        """How many calls were begun."""
        return self._numbered

    async def loaded(self, feed: ports.Feed | None) -> None:
        """Wait until it serves.

        Raises:
            errors.ModelFault: it ended, or the model cannot be loaded.
        """
        if feed is not None and not self._settled.is_set():
            self._loading.append(feed)
            try:
                await self._settled.wait()
            finally:
                self._loading.remove(feed)
        await self._settled.wait()
        if self.fault is not None:
            raise _copy(self.fault)

    def begin(self, feed: ports.Feed | None) -> tuple[int, Call]:
        """A new call and its number on the wire."""
        self._numbered += 1
        call = self._calls[self._numbered] = Call(feed)
        if len(self._calls) == 1:
            self._progressed = asyncio.get_running_loop().time()
        return self._numbered, call

    def send(self, frame: protocol.ToWorker) -> None:
        """Send a frame; to a worker that is gone it is dropped.

        Raises:
            frames.FrameError: the frame is too large.
        """
        if self._worker is not None:
            self._worker.send(protocol.encode(frame))

    def drop(self, number: int) -> None:
        """Forget a call that was never sent."""
        self._calls.pop(number, None)

    def cancel(self, number: int) -> None:
        """Have the worker end a call that nobody waits for; one that does not obey is killed."""
        call = self._calls.get(number)
        if call is None:
            return
        call.feed = None
        call.cancel_deadline = asyncio.get_running_loop().time() + self._patience.cancel_seconds
        self.send(protocol.Cancel(number))

    async def close(self) -> None:
        """End the worker: it is asked to, then killed. Calls in flight end as DIED."""
        self._stopping = True
        if self._worker is not None:
            self.send(protocol.Stop())
            self._worker.hang_up()
        await asyncio.wait({self._task}, timeout=self._patience.stop_seconds)
        if self._worker is not None:
            self._worker.kill()
        await self.ended.wait()

    async def _run(self) -> None:
        try:
            self._worker = await worker_host.Worker.spawn(self._command, self._name, self._receive)
        except OSError as error:
            self._end(_fault(_Kind.UNAVAILABLE, f"The model process cannot start: {error}."))
            return
        if self._stopping:
            self._worker.kill()
        self.send(self._load)
        end = asyncio.create_task(self._worker.wait(), name=f"model {self._name} end")
        while not end.done():
            self._check()
            await asyncio.wait({end}, timeout=self._tick())
        self._end(self._killed_for or self._death(end.result()))

    def _death(self, how: str) -> errors.ModelFault:
        if self.fault is not None:
            return self.fault
        doing = "" if self.ready else " while it loaded"
        if self._stopping:
            return _fault(_Kind.DIED, f"The model {self._name} was stopped.")
        return _fault(_Kind.DIED, f"The process of model {self._name} ended by {how}{doing}.")

    def _end(self, fault: errors.ModelFault) -> None:
        self.fault = fault
        for call in self._calls.values():
            call.end(_copy(fault))
        self._calls.clear()
        self._settled.set()
        self.ended.set()

    def _tick(self) -> float:
        least = min(self._patience.progress_seconds, self._patience.cancel_seconds)
        return min(_TICK_SECONDS, max(least / 4, 0.01))

    def _check(self) -> None:
        """Kill the worker where it makes no progress, or does not obey a cancel."""
        now = asyncio.get_running_loop().time()
        patience = self._patience
        still = now - self._progressed
        if self.ready is None:
            if still > patience.load_seconds:
                self._kill(f"The model {self._name} loaded nothing for {still:.0f} s.")
        elif self._calls and still > patience.progress_seconds:
            self._kill(f"The model {self._name} made no progress for {still:.0f} s.")
        for call in self._calls.values():
            if call.cancel_deadline is not None and now > call.cancel_deadline:
                self._kill(f"The model {self._name} did not obey a cancel.")

    def _kill(self, sentence: str) -> None:
        assert self._worker is not None
        if self._killed_for is None:
            _log.warning("worker_killed", model=self._name, reason=sentence)
            self._killed_for = _fault(_Kind.STALLED, sentence)
            self._worker.kill()

    def _receive(self, payload: bytes) -> None:
        frame = protocol.decode_from_worker(payload)
        if isinstance(frame, protocol.Beat):
            self.rss_bytes = frame.rss_bytes
            if frame.steps == self._steps:
                return
            self._steps = frame.steps
        self._progressed = asyncio.get_running_loop().time()
        match frame:
            case protocol.Beat():
                pass
            case protocol.Loading(done, total):
                for feed in self._loading:
                    feed.progress(messages.Stage.LOADING, done, total)
            case protocol.Ready():
                self._serve(frame)
            case protocol.Noted(text):
                _log.warning("model_note", model=self._name, text=text)
            case protocol.Failed(call=0):
                self.fault = _fault(_Kind.UNAVAILABLE, frame.message)
                self._settled.set()
            case _:
                self._relay(frame)

    def _serve(self, frame: protocol.Ready) -> None:
        self.ready = frame
        self._settled.set()
        _log.info(
            "model_ready",
            model=self._name,
            template=frame.template,
            threads=frame.threads,
            trims=frame.trims,
            notes=frame.notes,
        )

    def _relay(
        self,
        frame: protocol.Queued
        | protocol.Prefill
        | protocol.Piece
        | protocol.Done
        | protocol.Counted
        | protocol.Failed,
    ) -> None:
        call = self._calls.get(frame.call)
        if call is None:
            return
        match frame:
            case protocol.Piece(thinking=True):
                call.thoughts.append(frame.text)
                if call.feed is not None:
                    call.feed.thought(frame.text)
            case protocol.Piece():
                call.pieces.append(frame.text)
                if call.feed is not None:
                    call.feed.text(frame.text)
            case protocol.Queued():
                if call.feed is not None:
                    call.feed.progress(messages.Stage.QUEUED, frame.ahead, frame.ahead)
            case protocol.Prefill():
                if call.feed is not None:
                    call.feed.progress(messages.Stage.PREFILL, frame.done, frame.total)
            case protocol.Failed():
                del self._calls[frame.call]
                call.end(_fault(_FAULTS[frame.kind], frame.message))
            case protocol.Done() | protocol.Counted():
                del self._calls[frame.call]
                call.end(frame)


_FAULTS = {
    "unavailable": _Kind.UNAVAILABLE,
    "overflow": _Kind.OVERFLOW,
    "rejected": _Kind.REJECTED,
    "broken": _Kind.DIED,
}


def _fault(kind: messages.ModelFaultKind, sentence: str) -> errors.ModelFault:
    return errors.ModelFault(kind, sentence)


def _copy(fault: errors.ModelFault) -> errors.ModelFault:
    """Each raise has its own instance, or tracebacks would grow on a shared one."""
    return errors.ModelFault(fault.kind, str(fault))


def too_large(error: frames.FrameError) -> errors.ModelFault:
    return errors.ModelFault(_Kind.OVERFLOW, f"The request is too large: {error}.")
