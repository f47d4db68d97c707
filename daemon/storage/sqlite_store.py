"""The store of a state folder: SQLite behind the port, opened and closed by `open_store`.

Never touches the database on the event loop's thread.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy

from daemon.domain import (
    decisions,
    deliveries,
    errors,
    events,
    ids,
    inputs,
    limits,
    presets,
    principals,
    state,
    taints,
    views,
    world,
)
from daemon.storage import (
    artifacts,
    codec,
    database,
    delivery_queries,
    event_store,
    history,
    known,
    lock,
    records,
    run_queries,
    threads,
    writer,
)

if TYPE_CHECKING:
    from daemon.storage import queries

_Result = TypeVar("_Result")
_WAL_TRIES_SECONDS = 1.0
OPENING_SECONDS = 900.0
"""For a migration, or projections that are made anew from a long log."""

_DEFAULTS = limits.Limits()


@asynccontextmanager
async def open_store(
    folder: Path,
    held: lock.StateLock | None = None,
    client_key_days: int = _DEFAULTS.client_key_days,
) -> AsyncIterator["SqliteStore"]:
    """Open the store of a state folder, and close it in the end.

    The folder is made when it is missing. Its lock is taken, unless the caller hands over the one
    that it holds (and goes on to own it).

    Raises:
        errors.StorageClosed: another daemon uses the folder, or the store is newer than this one.
        errors.StorageFault: the store is damaged or cannot be used; StorageFull when for room.
    """
    if held is not None and held.folder != folder:
        raise ValueError(f"the lock of another folder: {held.folder}")
    with ExitStack() as stack:
        if held is None:
            stack.callback(_take(folder).release)
        writing = threads.Threads("database writer", 1)
        reading = threads.Threads("database reader", database.READERS)
        for pool in (writing, reading):
            stack.callback(pool.stop)
            pool.start()
        files = artifacts.FileArtifacts(folder / artifacts.FOLDER_NAME)
        opened = await writing.run(lambda: _open(folder, files), OPENING_SECONDS)
        try:
            store = SqliteStore(opened, writing, reading, files, client_key_days)
            await store.start()
            try:
                yield store
            finally:
                await store.stop()
        finally:
            reading.stop()
            with suppress(errors.StorageFault):
                await writing.run(opened.close)


def _take(folder: Path) -> lock.StateLock:
    try:
        return lock.take(folder)
    except lock.LockFault as fault:
        raise errors.StorageClosed(str(fault)) from fault


def _open(folder: Path, files: artifacts.FileArtifacts) -> database.Database:
    files.prepare()
    return database.open_database(folder / database.FILE_NAME)


class SqliteStore:
    """The log, projections, records and content of one state folder. Made by `open_store`."""

    def __init__(
        self,
        opened: database.Database,
        writing: threads.Threads,
        reading: threads.Threads,
        files: artifacts.FileArtifacts,
        client_key_days: int,
    ) -> None:
        self.artifacts = files
        self._database = opened
        self._writing = writing
        self._reading = reading
        self._codec = codec.Codec()
        self._writer = writer.Writer(opened, self._codec, client_key_days)
        self._wal_large = asyncio.Event()
        self._wal_small = asyncio.Event()
        self._wal_small.set()
        self._truncating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Make the projections agree with the log."""
        await self._writing.run(self._writer.prepare, OPENING_SECONDS)
        self._truncating = asyncio.create_task(self._truncate_when_large(), name="truncate wal")

    async def stop(self) -> None:
        if self._truncating is not None:
            self._truncating.cancel()
            await asyncio.wait([self._truncating])

    async def _truncate_when_large(self) -> None:
        """Empty the write-ahead log once the reader that made it grow is gone."""
        while True:
            await self._wal_large.wait()
            with suppress(errors.StorageFault):
                if await self._writing.run(self._writer.truncate_wal):
                    self._wal_large.clear()
                    self._wal_small.set()
            await asyncio.sleep(_WAL_TRIES_SECONDS)

    def _want_small_wal(self) -> None:
        self._wal_small.clear()
        self._wal_large.set()

    async def wal_settled(self) -> None:
        """Wait until the write-ahead log is small again; for as long as a reader needs it."""
        await self._wal_small.wait()

    async def _read(self, query: Callable[[sqlalchemy.Connection], _Result]) -> _Result:
        def work() -> _Result:
            with database.faults(), self._database.readers.connect() as connection:
                return query(connection)

        return await self._reading.run(work)

    async def _look(self, query: "Callable[[queries.Queries], _Result]") -> _Result:
        def work() -> _Result:
            from daemon.storage import queries

            with database.faults(), self._database.readers.connect() as connection:
                return query(queries.Queries(connection))

        return await self._reading.run(work)

    async def prepare_looks(self) -> None:
        """Load what the first look of a person would wait for."""
        await self._look(lambda found: None)

    async def commit(
        self,
        recorded: Sequence[events.Recorded],
        records: Sequence[decisions.Record],
        checkpoint: world.Snapshot | None = None,
    ) -> None:
        """Keep events, their projections, records and a checkpoint in one durable transaction."""
        batch = writer.Batch(tuple(recorded), tuple(records), checkpoint)
        await self._writing.run(lambda: self._writer.commit(batch))
        if any(isinstance(record, decisions.ForgottenRecord) for record in records):
            await self._drop_old_pages()
        elif self._database.wal_bytes() > database.WAL_LARGE_BYTES:
            self._want_small_wal()

    async def head_seq(self) -> int:
        return self._writer.head_seq

    async def log(
        self,
        after_seq: int,
        limit: int,
        task_id: ids.TaskId | None = None,
        conversation_id: ids.ConversationId | None = None,
    ) -> tuple[events.Recorded, ...]:
        return await self._read(
            lambda connection: event_store.read(
                connection, self._codec, after_seq, limit, task_id, conversation_id
            )
        )

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        if not content_ids:
            return {}
        return await self._read(lambda connection: records.texts(connection, content_ids))

    async def content_taint(self, content_ids: Sequence[ids.ContentId]) -> taints.Taint:
        return await self._read(lambda connection: records.content_taint(connection, content_ids))

    async def forget(self, content_ids: Sequence[ids.ContentId]) -> None:
        """Null texts for good; the log stays whole."""
        await self._writing.run(lambda: self._writer.forget(content_ids))
        await self._drop_old_pages()

    async def _drop_old_pages(self) -> None:
        """Have the write-ahead log lose what was forgotten, as soon as no reader needs it."""
        if not await self._writing.run(self._writer.truncate_wal):
            self._want_small_wal()

    async def latest_checkpoint(self) -> world.Snapshot | None:
        return await self._read(records.latest_checkpoint)

    async def known(self, given: inputs.RpcInput) -> inputs.Known:
        if not known.asks(given):
            return inputs.Known()
        return await self._look(lambda found: known.look_up(found.index(self.artifacts), given))

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return await self._look(lambda found: found.task(task_id))

    async def tasks(
        self,
        limit: int,
        before: int | None = None,
        conversation_id: ids.ConversationId | None = None,
        states: frozenset[state.TaskState] = frozenset(),
    ) -> views.Page[views.TaskView]:
        return await self._look(lambda found: found.tasks(limit, before, conversation_id, states))

    async def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return await self._look(lambda found: found.approval(approval_id))

    async def approvals(
        self, limit: int, outcome: events.ApprovalOutcome | None, before: int | None = None
    ) -> views.Page[views.ApprovalView]:
        return await self._look(lambda found: found.approvals(limit, outcome, before))

    async def conversation(
        self, conversation_id: ids.ConversationId
    ) -> views.ConversationView | None:
        return await self._look(lambda found: found.conversation(conversation_id))

    async def conversations(
        self, limit: int, before: int | None = None
    ) -> views.Page[views.ConversationView]:
        return await self._look(lambda found: found.conversations(limit, before))

    async def token(self, token_id: ids.TokenId) -> views.TokenView | None:
        return await self._look(lambda found: found.token(token_id))

    async def tokens(
        self, limit: int, before: int | None = None, revoked: bool = False
    ) -> views.Page[views.TokenView]:
        return await self._look(lambda found: found.tokens(limit, before, revoked))

    async def live_tokens(self) -> tuple[decisions.TokenRecord, ...]:
        return await self._read(records.live_tokens)

    async def history(
        self, conversation_id: ids.ConversationId, before_seq: int, limit: int
    ) -> views.History:
        return await self._read(
            lambda connection: history.read(connection, conversation_id, before_seq, limit)
        )

    async def projects(self) -> tuple[views.ProjectView, ...]:
        return await self._read(records.projects)

    async def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None:
        return await self._read(lambda connection: delivery_queries.one(connection, delivery_id))

    async def deliveries(
        self,
        limit: int,
        before: int | None = None,
        account: str = "",
        states: frozenset[deliveries.State] = frozenset(),
    ) -> views.Page[views.DeliveryView]:
        return await self._read(
            lambda connection: delivery_queries.page(connection, limit, before, account, states)
        )

    async def open_deliveries(
        self, account: str, after_seq: int, limit: int
    ) -> tuple[views.DeliveryView, ...]:
        return await self._read(
            lambda connection: delivery_queries.open_ones(connection, account, after_seq, limit)
        )

    async def delivery_of(
        self, account: str, chat: str, message_id: str
    ) -> views.DeliveryView | None:
        return await self._read(
            lambda connection: delivery_queries.of_message(connection, account, chat, message_id)
        )

    async def run(self, run_id: ids.RunId) -> views.RunView | None:
        return await self._read(lambda connection: run_queries.one(connection, run_id))

    async def runs(
        self,
        limit: int,
        before: int | None = None,
        schedule_id: ids.ScheduleId | None = None,
        principal: principals.Principal | None = None,
    ) -> views.Page[views.RunView]:
        return await self._read(
            lambda connection: run_queries.page(connection, limit, before, schedule_id, principal)
        )

    async def cursor(self, credential: str, name: str) -> str:
        return await self._read(lambda connection: records.cursor(connection, credential, name))

    async def presets(self) -> presets.Kept:
        return await self._read(records.presets)

    async def drained(self) -> bool:
        return await self._read(records.drained)

    async def set_drained(self, drained: bool) -> None:
        await self._writing.run(lambda: self._writer.set_drained(drained))
