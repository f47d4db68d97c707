"""Hands committed events and live text to subscribers.

Numbered events are read from the log (its last part from memory), so a slow reader costs a page
and never a queue. Live text is kept once a call, with what each subscriber has seen of it: one that
comes late or reads slowly gets the text so far in one piece. Nothing unnumbered outlives its call.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field

from daemon.domain import errors, events, ids, messages
from daemon.runtime import ports

PAGE_EVENTS = 200
RECENT_EVENTS = 4096
LIVE_CHARS = 256 * 1024
"""How much of a running call's text is kept for subscribers that come late."""


@dataclass(frozen=True)
class LivePiece:
    """The next piece of a running call's text; `offset` counts the characters before it."""

    task_id: ids.TaskId
    call_id: ids.CallId
    offset: int
    text: str
    tool: bool


@dataclass(frozen=True)
class ProgressNote:
    """What a running model call is doing before its text comes."""

    task_id: ids.TaskId
    call_id: ids.CallId
    stage: messages.Stage
    done: int
    total: int
    elapsed_ms: int


Update = events.Recorded | LivePiece | ProgressNote


@dataclass(frozen=True)
class Scope:
    """What a subscriber wants to see; no id means everything."""

    task_id: ids.TaskId | None = None
    conversation_id: ids.ConversationId | None = None
    live: bool = True

    def takes(self, recorded: events.Recorded) -> bool:
        return self._takes(recorded.task_id, recorded.conversation_id)

    def takes_live(self, call: "_LiveCall") -> bool:
        return self.live and self._takes(call.task_id, call.conversation_id)

    def _takes(self, task_id: ids.TaskId | None, conversation_id: ids.ConversationId) -> bool:
        if self.task_id is not None and task_id != self.task_id:
            return False
        return self.conversation_id in (None, conversation_id)


@dataclass
class _LiveCall:
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    call_id: ids.CallId
    tool: bool
    started_ms: int
    dropped_chars: int = 0
    text: str = ""
    progress: ProgressNote | None = None

    def add(self, piece: str) -> None:
        self.text += piece
        if len(self.text) > LIVE_CHARS:
            cut = len(self.text) - LIVE_CHARS // 2
            self.dropped_chars += cut
            self.text = self.text[cut:]

    def after(self, seen_chars: int) -> LivePiece | None:
        start = max(seen_chars, self.dropped_chars)
        text = self.text[start - self.dropped_chars :]
        if not text:
            return None
        return LivePiece(self.task_id, self.call_id, start, text, self.tool)


class CallFeed:
    """Where one running call reports; a `ports.Feed`."""

    def __init__(self, bus: "Bus", call: _LiveCall, clock: ports.Clock) -> None:
        self._bus = bus
        self._call = call
        self._clock = clock

    def text(self, piece: str) -> None:
        self._call.add(piece)
        self._bus.wake()

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        call = self._call
        elapsed_ms = self._clock.monotonic_ms() - call.started_ms
        note = ProgressNote(call.task_id, call.call_id, stage, done, total, elapsed_ms)
        call.progress = note
        self._bus.wake()

    def so_far(self) -> str:
        """The text that has come, as far as it is kept."""
        return self._call.text


@dataclass
class _Seen:
    chars: dict[ids.CallId, int] = field(default_factory=dict)
    progress: dict[ids.CallId, ProgressNote] = field(default_factory=dict)

    def forget_ended(self, live: Iterable[ids.CallId]) -> None:
        current = set(live)
        for call_id in [c for c in self.chars if c not in current]:
            del self.chars[call_id]
        for call_id in [c for c in self.progress if c not in current]:
            del self.progress[call_id]


class Bus:
    """One daemon's events, as they are committed, and its live text."""

    def __init__(
        self, store: ports.Store, clock: ports.Clock, head_seq: int, capacity_subscribers: int
    ) -> None:
        self._store = store
        self._clock = clock
        self._capacity = capacity_subscribers
        self._recent: deque[events.Recorded] = deque(maxlen=RECENT_EVENTS)
        self._live: dict[ids.CallId, _LiveCall] = {}
        self._wakers: set[asyncio.Event] = set()
        self._closed = False
        self.head_seq = head_seq

    def publish(self, recorded: Sequence[events.Recorded]) -> None:
        """Hand out what was committed."""
        if not recorded:
            return
        self._recent.extend(recorded)
        self.head_seq = recorded[-1].seq
        for one in recorded:
            match one.event:
                case events.ModelCallFinished() | events.ModelCallFailed() | events.ToolCallEnded():
                    self._live.pop(one.event.call_id, None)
                case _:
                    pass
        self.wake()

    def open_feed(
        self,
        task_id: ids.TaskId,
        conversation_id: ids.ConversationId,
        call_id: ids.CallId,
        tool: bool,
    ) -> CallFeed:
        """Begin the live text of a call; it ends when the call's outcome is published."""
        started_ms = self._clock.monotonic_ms()
        call = _LiveCall(task_id, conversation_id, call_id, tool, started_ms)
        self._live[call_id] = call
        return CallFeed(self, call, self._clock)

    def wake(self) -> None:
        for waker in self._wakers:
            waker.set()

    def close(self) -> None:
        """End every subscription after what is committed has been read."""
        self._closed = True
        self.wake()

    async def subscribe(self, after_seq: int, scope: Scope) -> AsyncGenerator[Sequence[Update]]:
        """Pages of events after a sequence number, then live ones: no gap, no repeat.

        Raises:
            errors.Refusal: too many subscribers.
        """
        if len(self._wakers) >= self._capacity:
            raise errors.Refusal(
                errors.RefusalKind.EXHAUSTED,
                f"{self._capacity} streams are open already. Close one and try again.",
            )
        waker = asyncio.Event()
        self._wakers.add(waker)
        seen = _Seen()
        cursor = after_seq
        try:
            while True:
                waker.clear()
                while cursor < self.head_seq:
                    page, cursor = await self._page(cursor, scope)
                    if page:
                        yield page
                updates = self._unseen(scope, seen)
                if updates:
                    yield updates
                if self._closed and cursor >= self.head_seq:
                    return
                await waker.wait()
        finally:
            self._wakers.discard(waker)

    async def _page(self, cursor: int, scope: Scope) -> tuple[Sequence[events.Recorded], int]:
        if self._recent and self._recent[0].seq <= cursor + 1:
            start = cursor + 1 - self._recent[0].seq
            stop = min(start + PAGE_EVENTS, len(self._recent))
            page = [self._recent[index] for index in range(start, stop)]
            return [one for one in page if scope.takes(one)], page[-1].seq
        head_seq = self.head_seq
        found = await self._store.log(cursor, PAGE_EVENTS, scope.task_id, scope.conversation_id)
        if len(found) < PAGE_EVENTS:
            return found, max(head_seq, found[-1].seq if found else 0)
        return found, found[-1].seq

    def _unseen(self, scope: Scope, seen: _Seen) -> list[Update]:
        seen.forget_ended(self._live)
        updates: list[Update] = []
        for call in self._live.values():
            if not scope.takes_live(call):
                continue
            if call.progress is not None and seen.progress.get(call.call_id) is not call.progress:
                seen.progress[call.call_id] = call.progress
                updates.append(call.progress)
            piece = call.after(seen.chars.get(call.call_id, 0))
            if piece is not None:
                seen.chars[call.call_id] = piece.offset + len(piece.text)
                updates.append(piece)
        return updates
