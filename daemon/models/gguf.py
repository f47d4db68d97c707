"""A slot in front of a GGUF file: starts a worker when one is needed, and replaces it when due.

A worker that dies costs the calls in flight; the next call starts another. One that dies while it
loads is not tried again before a pause, so that a broken file never spins. A worker that served
enough, or grew too large, is ended while nothing runs.
"""

import asyncio
import dataclasses
import pathlib
from collections.abc import Sequence

from daemon.decide import context
from daemon.domain import errors, messages
from daemon.models import session, worker_host
from daemon.models.worker import frames, protocol
from daemon.runtime import ports

_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_ENVIRONMENT = {"GOMP_SPINCOUNT": "3000"}
"""Threads that wait for each other soon sleep: where another program wants a core, spinning costs
tenfold; where none does, this costs nothing that can be measured."""
_Kind = messages.ModelFaultKind


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """How a GGUF file is served.

    `context_tokens` is what one prompt and its answer may take. `cells` bounds the tokens of all
    sequences together, running and remembered; 0 is twice the context. `places` answers are
    written at once, and `resident` more sequences are remembered. `gpu_layers` -1 is all of them;
    `threads` 0 is one a physical core. `recycle_*` 0 is never. In the folder `prefixes` the fixed
    part of prompts is kept over restarts; without one it is read anew by each worker.
    """

    name: str
    path: pathlib.Path
    context_tokens: int = 4096
    cells: int = 0
    places: int = 2
    resident: int = 6
    gpu_layers: int = -1
    threads: int = 0
    recycle_requests: int = 0
    recycle_rss_bytes: int = 0
    prefixes: pathlib.Path | None = None
    patience: session.Patience = session.Patience()


class GgufModel:
    """A `ports.Model` over a worker process. Costs nothing until it is started or called."""

    def __init__(self, settings: Settings, command: worker_host.Command | None = None) -> None:
        self._settings = settings
        self._command = command or worker_host.python_module("daemon.models.worker", _ENVIRONMENT)
        self._session: session.Session | None = None
        self._failed_loads = 0
        self._not_before = 0.0
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return self._settings.name

    @property
    def context_tokens(self) -> int:
        return self._settings.context_tokens

    @property
    def pid(self) -> int | None:
        """The worker's process id while one runs; for status and tests."""
        return self._session.pid if self._session else None

    async def start(self) -> None:
        """Load the model now instead of with the first call.

        Raises:
            errors.ModelFault: it cannot be loaded.
        """
        await self._serving(None)

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        """See `ports.Model.generate`."""
        serving = await self._serving(feed)
        number, call = serving.begin(feed)
        done = await self._outcome(serving, number, call, _frame(number, request))
        assert isinstance(done, protocol.Done)
        return messages.ModelResult(
            text="".join(call.pieces),
            reasoning="".join(call.thoughts),
            finish_reason="length" if done.reason == "length" else "stop",
            slot=self.name,
            usage=messages.Usage(
                prompt_tokens=done.prompt_tokens,
                reused_tokens=done.reused_tokens,
                completion_tokens=done.completion_tokens,
                queued_ms=done.queued_ms,
                prefill_ms=done.prefill_ms,
                decode_ms=done.decode_ms,
            ),
        )

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """See `ports.Model.count`."""
        serving = await self._serving(None)
        number, call = serving.begin(None)
        frame = protocol.Count(number, list(texts))
        counted = await self._outcome(serving, number, call, frame)
        assert isinstance(counted, protocol.Counted)
        return tuple(counted.counts)

    async def stop(self) -> None:
        """End the worker; calls in flight end as DIED, the next call starts another."""
        if self._session is not None:
            self._retire()
        if self._closing:
            await asyncio.wait(set(self._closing))

    async def _outcome(
        self,
        serving: session.Session,
        number: int,
        call: session.Call,
        frame: protocol.ToWorker,
    ) -> protocol.Done | protocol.Counted:
        try:
            serving.send(frame)
        except frames.FrameError as error:
            serving.drop(number)
            raise session.too_large(error) from error
        try:
            outcome = await call.outcome
        except asyncio.CancelledError:
            serving.cancel(number)
            raise
        if isinstance(outcome, errors.ModelFault):
            raise outcome
        self._recycle_if_due(serving)
        return outcome

    async def _serving(self, feed: ports.Feed | None) -> session.Session:
        """The session that serves, made and waited for if need be."""
        current = self._session
        if current is None or current.ended.is_set():
            current = self._session = self._open()
        try:
            await current.loaded(feed)
        except errors.ModelFault:
            self._load_failed(current)
            raise
        self._failed_loads = 0
        return current

    def _open(self) -> session.Session:
        left = self._not_before - asyncio.get_running_loop().time()
        if left > 0:
            raise errors.ModelFault(
                _Kind.UNAVAILABLE,
                f"The model {self.name} could not be loaded; it is tried again in {left:.0f} s.",
            )
        chosen = self._settings
        load = protocol.Load(
            path=str(chosen.path),
            context_tokens=chosen.context_tokens,
            cells=chosen.cells or 2 * chosen.context_tokens,
            places=chosen.places,
            sequences=chosen.places + chosen.resident,
            gpu_layers=chosen.gpu_layers,
            threads=chosen.threads,
            prefixes=str(chosen.prefixes or ""),
        )
        return session.Session(self.name, self._command, load, chosen.patience)

    def _load_failed(self, failed: session.Session) -> None:
        """Every caller that waited comes here; the first one counts."""
        if self._session is not failed:
            return
        self._retire()
        if failed.ready is None:
            pause = min(_PAUSE_SECONDS * 2**self._failed_loads, _LONGEST_PAUSE_SECONDS)
            self._failed_loads += 1
            self._not_before = asyncio.get_running_loop().time() + pause

    def _recycle_if_due(self, current: session.Session) -> None:
        if current is not self._session or not current.idle:
            return
        chosen = self._settings
        served_out = 0 < chosen.recycle_requests <= current.served
        too_large = 0 < chosen.recycle_rss_bytes < current.rss_bytes
        if served_out or too_large:
            self._retire()

    def _retire(self) -> None:
        """Let the session end beside whatever comes next."""
        assert self._session is not None
        task = asyncio.create_task(self._session.close(), name=f"model {self.name} close")
        self._session = None
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _frame(number: int, request: messages.ModelRequest) -> protocol.Generate:
    sampling = request.sampling
    return protocol.Generate(
        call=number,
        messages=[[message.speaker, message.content] for message in request.messages],
        max_tokens=request.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        repeat_penalty=sampling.repeat_penalty,
        seed=sampling.seed,
        schema=request.json_schema,
        thinking_tokens=request.thinking_tokens,
        fixed=_fixed_characters(request.messages),
    )


def _fixed_characters(said: Sequence[messages.Message]) -> int:
    """How much of the first message is the fixed part: the summary after it is the user's."""
    if not said or said[0].speaker != "system":
        return 0
    return len(said[0].content.partition(context.SUMMARY)[0])
