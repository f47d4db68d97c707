"""A server whose inbox notes what it is asked and answers as a test says, over a store of rows."""

import contextlib
import pathlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

import grpc

from daemon.domain import (
    decisions,
    errors,
    events,
    ids,
    inputs,
    principals,
    state,
    views,
)
from daemon.rpc import backend, credentials
from daemon.runtime import bus, clock, contents, inbox
from daemon.storage import in_memory
from tests.integration.rpc import served

CONVERSATION = ids.ConversationId("conversation-1")
TASK = ids.TaskId("task-1")
BOT = "a-bots-token"
PERSON = principals.Principal("telegram:home:7")
OWNER_IN_CHAT = principals.Principal("telegram:home:42")
Answer = decisions.Reply | errors.Refusal


class Inbox(inbox.Inbox):
    """Notes every input, and gives the one answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(8)
        self._answer = answer
        self.asked: list[inputs.RpcInput] = []

    async def ask(self, given: inputs.RpcInput) -> decisions.Reply:
        self.asked.append(given)
        if isinstance(self._answer, errors.Refusal):
            raise self._answer
        return self._answer


def conversation(
    principal: principals.Principal = PERSON, title: ids.ContentId | None = None, folder: str = ""
) -> views.ConversationView:
    return views.ConversationView(
        conversation_id=CONVERSATION,
        principal=principal,
        title=title,
        created_ms=1_900_000_000_500,
        updated_ms=1_900_000_000_500,
        created_seq=1,
        folder=folder,
    )


def task(
    number: int = 1,
    kind: events.TaskKind = events.TaskKind.ANSWER,
    ended: state.TaskState = state.TaskState.COMPLETED,
) -> views.TaskView:
    return views.TaskView(
        task_id=ids.TaskId(f"task-{number}"),
        conversation_id=CONVERSATION,
        principal=PERSON,
        state=ended,
        reason="",
        text=ids.ContentId("content-said"),
        answer=None,
        created_ms=0,
        updated_ms=0,
        submitted_seq=number * 100,
        kind=kind,
    )


class Store(in_memory.InMemoryStore):
    """Gives the rows that it was made with; texts that it does not know are forgotten."""

    def __init__(
        self,
        found: views.ConversationView | None = None,
        tasks: Sequence[views.TaskView] = (),
        logs: Mapping[ids.TaskId, Sequence[events.Event]] | None = None,
        texts: Mapping[str, str] | None = None,
        projects: Iterable[views.ProjectView] = (),
    ) -> None:
        super().__init__()
        self._found = found
        self._tasks_of = {one.task_id: one for one in tasks}
        self._logs = logs or {}
        self._told = texts or {}
        self._named = tuple(projects)

    async def conversation(
        self, conversation_id: ids.ConversationId
    ) -> views.ConversationView | None:
        return self._found if conversation_id == CONVERSATION else None

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return self._tasks_of.get(task_id)

    async def tasks(
        self,
        limit: int,
        before: int | None = None,
        conversation_id: ids.ConversationId | None = None,
        states: frozenset[state.TaskState] = frozenset(),
    ) -> views.Page[views.TaskView]:
        rows = [
            one for one in self._tasks_of.values() if before is None or one.submitted_seq < before
        ]
        rows.sort(key=lambda one: -one.submitted_seq)
        page = rows[: min(limit, 3)]  # as if pages were short
        more = len(rows) > len(page)
        return views.Page(page, page[-1].submitted_seq if more else None)

    async def log(
        self,
        after_seq: int,
        limit: int,
        task_id: ids.TaskId | None = None,
        conversation_id: ids.ConversationId | None = None,
    ) -> tuple[events.Recorded, ...]:
        happened = self._logs.get(task_id, ()) if task_id is not None else ()
        recorded = (
            events.Recorded(seq, 1_900_000_000_000, task_id, CONVERSATION, "c", event)
            for seq, event in enumerate(happened, 1)
        )
        return tuple(one for one in recorded if one.seq > after_seq)[:limit]

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        return {one: self._told.get(one) for one in content_ids}

    async def projects(self) -> tuple[views.ProjectView, ...]:
        return self._named


def three_tokens() -> credentials.Credentials:
    """The owner's token, a script's, and a bot's, each with every scope but admin."""
    scopes = principals.ALL_SCOPES - {"admin"}
    bot = principals.Credential(
        name="bot", principal=principals.of_bot("telegram", "home"), scopes=scopes
    )
    script = served.credential("script", scopes - {"channel"})
    owner = principals.Credential(
        name="owner", principal=principals.LOCAL_OWNER, scopes=principals.ALL_SCOPES
    )
    tokens = {served.OWNER: owner, served.OTHER: script, BOT: bot}
    return credentials.Credentials(
        {credentials.digest(token): one for token, one in tokens.items()}
    )


@contextlib.asynccontextmanager
async def serving(
    box: Inbox, store: Store, folder: pathlib.Path
) -> AsyncIterator[grpc.aio.Channel]:
    """A server over both, whose owner in the chat is 42."""
    backing = backend.Backend(
        box,
        store,
        store.artifacts,
        contents.Contents(store),
        bus.Bus(store, clock.SystemClock(), 0, 8),
        1024,
        served.empty_vault(),
        tuple,
        principals.Owners(telegram=frozenset(("42",))).is_owner,
    )
    async with served.serving(backing, three_tokens(), served.Look(folder)) as channel:
        yield channel
