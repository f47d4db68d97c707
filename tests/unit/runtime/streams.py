"""A bus over a log that grows by hand, and a subscriber that reads when it is told to."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from daemon.domain import events, ids, messages, principals, state
from daemon.runtime import bus
from daemon.storage import in_memory
from tests.unit.runtime import rig

CHATS = (ids.ConversationId("conversation-0"), ids.ConversationId("conversation-1"))
CALL = ids.CallId("call-1")
Pages = AsyncGenerator[Sequence[bus.Update]]
EVERYTHING = bus.Scope()


def task_of(chat: ids.ConversationId) -> ids.TaskId:
    return ids.TaskId(f"task-of-{chat}")


class Stage:
    """A bus over a store, and a log that grows by hand."""

    def __init__(self, subscribers: int = 8) -> None:
        self.store = in_memory.InMemoryStore()
        self.clock = rig.HandClock()
        self.bus = bus.Bus(self.store, self.clock, 0, subscribers)
        self.head_seq = 0

    async def commit(self, *happened: events.Event, chat: int = 0) -> list[events.Recorded]:
        """Make events durable; they are published apart."""
        recorded = []
        for event in happened:
            self.head_seq += 1
            task_id = (
                None if isinstance(event, events.ConversationCreated) else task_of(CHATS[chat])
            )
            recorded.append(
                events.Recorded(
                    seq=self.head_seq,
                    at_ms=0,
                    task_id=task_id,
                    conversation_id=CHATS[chat],
                    correlation_id="c",
                    event=event,
                )
            )
        await self.store.commit(recorded, ())
        return recorded

    async def happen(self, *happened: events.Event, chat: int = 0) -> None:
        self.bus.publish(await self.commit(*happened, chat=chat))

    async def begin(self, chat: int = 0) -> None:
        """A conversation with a task that runs."""
        task_id = task_of(CHATS[chat])
        await self.happen(
            events.ConversationCreated(
                conversation_id=CHATS[chat], principal=principals.LOCAL_OWNER
            ),
            events.TaskSubmitted(
                task_id=task_id,
                conversation_id=CHATS[chat],
                origin=principals.Origin(principal=principals.LOCAL_OWNER),
                text=ids.ContentId("content-1"),
            ),
            events.TaskStateChanged(
                task_id=task_id, previous=state.TaskState.QUEUED, state=state.TaskState.RUNNING
            ),
            chat=chat,
        )

    async def answers(self, count: int, chat: int = 0) -> None:
        """So many events that change little."""
        for _ in range(count):
            await self.happen(answer(chat), chat=chat)

    def feed(self, chat: int = 0, call_id: ids.CallId = CALL) -> bus.CallFeed:
        return self.bus.open_feed(task_of(CHATS[chat]), CHATS[chat], call_id, tool=False)


def answer(chat: int = 0) -> events.AnswerGiven:
    return events.AnswerGiven(task_id=task_of(CHATS[chat]), text=ids.ContentId("content-2"))


def started(purpose: messages.Purpose, chat: int = 0) -> events.ModelCallStarted:
    return events.ModelCallStarted(
        task_id=task_of(CHATS[chat]),
        call_id=CALL,
        role=messages.Role.CRITIC,
        attempt=1,
        purpose=purpose,
    )


def finished(chat: int = 0) -> events.ModelCallFinished:
    return events.ModelCallFinished(
        task_id=task_of(CHATS[chat]),
        call_id=CALL,
        text=ids.ContentId("content-3"),
        finish_reason="stop",
        slot="main",
        usage=messages.Usage(),
    )


class Reader:
    """A subscriber that reads when it is told to."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.seqs: list[int] = []
        self.live: list[str] = []
        self.thoughts: list[str] = []
        self.purposes: list[messages.Purpose | None] = []
        self.notes: list[bus.ProgressNote] = []

    async def read(self) -> None:
        """The next page."""
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            self._take(await anext(self.pages))

    def _take(self, page: Sequence[bus.Update]) -> None:
        assert page
        for one in page:
            match one:
                case events.Recorded():
                    self.seqs.append(one.seq)
                case bus.LivePiece():
                    kept = self.thoughts if one.thinking else self.live
                    kept.append(f"{one.offset}:{one.text}")
                    self.purposes.append(one.purpose)
                case bus.ProgressNote():
                    self.notes.append(one)

    async def read_until(self, seq: int) -> None:
        while not self.seqs or self.seqs[-1] < seq:
            await self.read()

    async def read_out(self) -> None:
        """Everything up to the end of the stream."""
        async with asyncio.timeout(rig.PATIENCE_SECONDS):
            async for page in self.pages:
                self._take(page)
