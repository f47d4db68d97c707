"""Hands committed events and live text to subscribers.

Numbered events are read from the log (its last part from memory), so a slow reader costs a page
and never a queue. Live text is kept once a call, with what each subscriber has seen of it: one that
comes late or reads slowly gets the text so far in one piece. Nothing unnumbered outlives its call.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from daemon.domain import errors, events, ids, messages
from daemon.runtime import ports

PAGE_EVENTS = 200
RECENT_EVENTS = 4096
PENDING_EVENTS = 1024
"""Events handed to a stream that it has not read; with more it goes back to reading the log."""
LIVE_CHARS = 256 * 1024
"""How much of a running call's text is kept for subscribers that come late."""


@dataclass(frozen=True)
class LivePiece:
    """The next piece of a running call's text; `offset` counts the characters before it.

    What a reasoning model is `thinking` is a text of its own, with offsets of its own.
    """

    task_id: ids.TaskId
    call_id: ids.CallId
    offset: int
    text: str
    tool: bool
    thinking: bool = False
    purpose: messages.Purpose | None = None
    """Of a model's call."""


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

    def takes(self, task_id: ids.TaskId | None, conversation_id: ids.ConversationId) -> bool:
        """Whether something about this task in this conversation is wanted."""
        if self.task_id is not None and task_id != self.task_id:
            return False
        return self.conversation_id in (None, conversation_id)


@dataclass
class _LiveText:
    """What is kept of a growing text: its last part."""

    dropped_chars: int = 0
    text: str = ""

    def add(self, piece: str) -> None:
        self.text += piece
        if len(self.text) > LIVE_CHARS:
            cut = len(self.text) - LIVE_CHARS // 2
            self.dropped_chars += cut
            self.text = self.text[cut:]

    def after(self, seen_chars: int) -> tuple[int, str]:
        """Where what was not seen begins, as far as it is kept, and that."""
        start = max(seen_chars, self.dropped_chars)
        return start, self.text[start - self.dropped_chars :]


@dataclass
class _LiveCall:
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    call_id: ids.CallId
    tool: bool
    started_ms: int
    purpose: messages.Purpose | None = None
    thoughts: _LiveText = field(default_factory=_LiveText)
    text: _LiveText = field(default_factory=_LiveText)
    progress: ProgressNote | None = None


@dataclass
class _Seen:
    """What a stream has seen of a call: characters, and the progress that it was told last."""

    thoughts_chars: int = 0
    text_chars: int = 0
    progress: ProgressNote | None = None

    def advance(self, call: _LiveCall) -> Iterator[Update]:
        """What is new, in the order in which a call comes by it; it counts as seen."""
        if call.progress not in (None, self.progress):
            self.progress = call.progress
            yield call.progress
        start, text = call.thoughts.after(self.thoughts_chars)
        if text:
            self.thoughts_chars = start + len(text)
            yield _piece(call, start, text, thinking=True)
        start, text = call.text.after(self.text_chars)
        if text:
            self.text_chars = start + len(text)
            yield _piece(call, start, text, thinking=False)


def _piece(call: _LiveCall, offset: int, text: str, thinking: bool) -> LivePiece:
    return LivePiece(call.task_id, call.call_id, offset, text, call.tool, thinking, call.purpose)


class CallFeed:
    """Where one running call reports; a `ports.Feed`."""

    def __init__(self, bus: "Bus", call: _LiveCall, clock: ports.Clock) -> None:
        self._bus = bus
        self._call = call
        self._clock = clock

    def text(self, piece: str) -> None:
        self._call.text.add(piece)
        self._bus.wake(self._call)

    def thought(self, piece: str) -> None:
        self._call.thoughts.add(piece)
        self._bus.wake(self._call)

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        call = self._call
        elapsed_ms = self._clock.monotonic_ms() - call.started_ms
        note = ProgressNote(call.task_id, call.call_id, stage, done, total, elapsed_ms)
        call.progress = note
        self._bus.wake(call)

    def so_far(self) -> str:
        """The text that has come, as far as it is kept; thoughts are none of it."""
        return self._call.text.text


class _Subscriber:
    """One open stream: what it wants, how far it has read, and what of live calls it has seen.

    Once it has caught up with the log it is handed what comes, until it reads so slowly that its
    part would grow: then it reads the log again from where it was.
    """

    def __init__(self, scope: Scope, after_seq: int) -> None:
        self.scope = scope
        self.cursor = after_seq
        self.caught_up = False
        self.waker = asyncio.Event()
        self._pending: list[events.Recorded] = []
        self._seen: dict[ids.CallId, _Seen] = {}

    def hand(self, recorded: events.Recorded) -> None:
        """Take an event that was committed now, unless the log has given it already."""
        self.waker.set()
        if not self.caught_up or recorded.seq <= self.cursor:
            return
        self._pending.append(recorded)
        if len(self._pending) > PENDING_EVENTS:
            self._pending = []
            self.caught_up = False

    def take_pending(self) -> list[events.Recorded]:
        """What was handed over since the last time."""
        taken, self._pending = self._pending, []
        if taken:
            self.cursor = taken[-1].seq
        return taken

    def unseen(self, live: Mapping[ids.CallId, _LiveCall]) -> list[Update]:
        """What the stream has not seen of the calls that run now."""
        for call_id in [one for one in self._seen if one not in live]:
            del self._seen[call_id]
        updates: list[Update] = []
        for call in live.values() if self.scope.live else ():
            if self.scope.takes(call.task_id, call.conversation_id):
                seen = self._seen.setdefault(call.call_id, _Seen())
                updates += seen.advance(call)
        return updates


class _Subscribers:
    """The open streams, found by what they want."""

    def __init__(self) -> None:
        self._all: set[_Subscriber] = set()
        self._by_task: dict[ids.TaskId | None, set[_Subscriber]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[_Subscriber]:
        return iter(self._all)

    def add(self, subscriber: _Subscriber) -> None:
        self._all.add(subscriber)
        self._by_task.setdefault(subscriber.scope.task_id, set()).add(subscriber)

    def discard(self, subscriber: _Subscriber) -> None:
        self._all.discard(subscriber)
        same = self._by_task[subscriber.scope.task_id]
        same.discard(subscriber)
        if not same:
            del self._by_task[subscriber.scope.task_id]

    def wanting(
        self, task_id: ids.TaskId | None, conversation_id: ids.ConversationId
    ) -> list[_Subscriber]:
        """Those that want to see something about this task in this conversation."""
        candidates = [*self._by_task.get(None, ())]
        if task_id is not None:
            candidates += self._by_task.get(task_id, ())
        return [one for one in candidates if one.scope.conversation_id in (None, conversation_id)]


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
        self._purposes: dict[ids.CallId, messages.Purpose] = {}
        """What the model calls that have begun and not ended are for."""
        self._subscribers = _Subscribers()
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
                case events.ModelCallStarted():
                    self._purposes[one.event.call_id] = one.event.purpose
                case events.ModelCallFinished() | events.ModelCallFailed() | events.ToolCallEnded():
                    self._live.pop(one.event.call_id, None)
                    self._purposes.pop(one.event.call_id, None)
                case _:
                    pass
            for subscriber in self._subscribers.wanting(one.task_id, one.conversation_id):
                subscriber.hand(one)

    def open_feed(
        self,
        task_id: ids.TaskId,
        conversation_id: ids.ConversationId,
        call_id: ids.CallId,
        tool: bool,
    ) -> CallFeed:
        """Begin the live text of a call; it ends when the call's outcome is published. A model's
        call is known by its beginning, which was published before."""
        started_ms = self._clock.monotonic_ms()
        purpose = self._purposes.get(call_id)
        call = _LiveCall(task_id, conversation_id, call_id, tool, started_ms, purpose)
        self._live[call_id] = call
        return CallFeed(self, call, self._clock)

    def wake(self, call: _LiveCall) -> None:
        """Let the streams that want a running call's text or progress look at it."""
        for subscriber in self._subscribers.wanting(call.task_id, call.conversation_id):
            if subscriber.scope.live:
                subscriber.waker.set()

    def close(self) -> None:
        """End every subscription after what is committed has been read."""
        self._closed = True
        for subscriber in self._subscribers:
            subscriber.waker.set()

    def check_room(self) -> None:
        """Whether one more may subscribe, for who must know before it begins something.

        Raises:
            errors.Refusal: too many subscribers.
        """
        if len(self._subscribers) >= self._capacity:
            raise errors.Refusal(
                errors.RefusalKind.EXHAUSTED,
                f"{self._capacity} streams are open already. Close one and try again.",
            )

    async def subscribe(self, after_seq: int, scope: Scope) -> AsyncGenerator[Sequence[Update]]:
        """Pages of events after a sequence number, then live ones: no gap, no repeat.

        Raises:
            errors.Refusal: too many subscribers.
        """
        self.check_room()
        subscriber = _Subscriber(scope, after_seq)
        self._subscribers.add(subscriber)
        try:
            while True:
                subscriber.waker.clear()
                while not subscriber.caught_up:
                    if subscriber.cursor >= self.head_seq:
                        subscriber.caught_up = True
                        break
                    page, subscriber.cursor = await self._page(subscriber.cursor, scope)
                    if page:
                        yield page
                pending = subscriber.take_pending()
                if pending:
                    yield pending
                    continue
                updates = subscriber.unseen(self._live)
                if updates:
                    yield updates
                if self._closed and subscriber.caught_up and not subscriber.waker.is_set():
                    return
                await subscriber.waker.wait()
        finally:
            self._subscribers.discard(subscriber)

    async def _page(self, cursor: int, scope: Scope) -> tuple[Sequence[events.Recorded], int]:
        if self._recent and self._recent[0].seq <= cursor + 1:
            start = cursor + 1 - self._recent[0].seq
            stop = min(start + PAGE_EVENTS, len(self._recent))
            page = [self._recent[index] for index in range(start, stop)]
            return [one for one in page if scope.takes(one.task_id, one.conversation_id)], page[
                -1
            ].seq
        head_seq = self.head_seq
        found = await self._store.log(cursor, PAGE_EVENTS, scope.task_id, scope.conversation_id)
        if len(found) < PAGE_EVENTS:
            return found, max(head_seq, found[-1].seq if found else 0)
        return found, found[-1].seq
