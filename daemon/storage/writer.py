"""The one writer: turns a commit into one transaction. Lives on the writer thread alone.

Never keeps half of anything: what it remembers between commits changes only after one succeeded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from daemon.domain import decisions, events, ids, world
from daemon.storage import codec, database, event_store, projection_rows, projections, records

_ROWS_REMEMBERED = 512


@dataclass(frozen=True)
class Batch:
    """What one commit keeps."""

    recorded: tuple[events.Recorded, ...]
    records: tuple[decisions.Record, ...]
    checkpoint: world.Snapshot | None


class Writer:
    """Commits batches. `head_seq` may be read from any thread."""

    def __init__(
        self, opened: database.Database, events_codec: codec.Codec, client_key_days: int
    ) -> None:
        self.head_seq = 0
        self._database = opened
        self._connection = opened.writer
        self._codec = events_codec
        self._keys_kept_ms = client_key_days * records.DAY_MS
        self._keys_expired_ms = 0
        self._rows = projections.Rows()
        self._deleted: frozenset[ids.ConversationId] = frozenset()

    def prepare(self) -> None:
        """Find the head of the log and make the projections agree with it."""
        with database.faults(), self._connection.begin():
            self.head_seq = event_store.head_seq(self._connection)
            if not projection_rows.agree(self._connection, self.head_seq):
                projection_rows.rebuild(self._connection, self._read_page)
            self._deleted = projection_rows.deleted(self._connection)

    def _read_page(self, after_seq: int, limit: int) -> tuple[events.Recorded, ...]:
        return event_store.read(self._connection, self._codec, after_seq, limit)

    def commit(self, batch: Batch) -> None:
        """Keep a batch whole, or nothing of it.

        Raises:
            ValueError: the events do not follow the log; a fault of the program.
            errors.StorageFull: no room; the same batch may be tried again.
            errors.StorageFault: the database cannot be written.
        """
        event_store.check_sequence(self.head_seq, batch.recorded)
        with database.faults():
            self._forget_rows_when_many()
            with self._connection.begin():
                draft = self._write_events(batch.recorded)
                gone = self._deleted | draft.added.deleted
                records.insert(self._connection, batch.records, gone)
                if batch.checkpoint is not None:
                    records.insert_checkpoint(self._connection, batch.checkpoint)
                expired_ms = self._expire_client_keys(batch)
        self._rows.adopt(draft.changed)
        self._deleted = gone
        self._keys_expired_ms = expired_ms
        if batch.recorded:
            self.head_seq = batch.recorded[-1].seq

    def _write_events(self, recorded: Sequence[events.Recorded]) -> projections.Draft:
        if not recorded:
            return projections.Draft(self._rows)
        projection_rows.load(self._connection, self._rows, projections.named(recorded))
        projection_rows.load_deliveries(self._connection, self._rows, recorded)
        draft = projections.project(self._rows, recorded)
        event_store.append(self._connection, self._codec, recorded, draft)
        projection_rows.write(self._connection, draft, (self.head_seq, recorded[-1].seq))
        return draft

    def _forget_rows_when_many(self) -> None:
        rows = self._rows
        remembered = len(rows.tasks) + len(rows.approvals) + len(rows.conversations)
        if remembered + len(rows.deliveries) > _ROWS_REMEMBERED:
            self._rows = projections.Rows()

    def _expire_client_keys(self, batch: Batch) -> int:
        """At the first commit and then daily, by the clock of the events; returns when last."""
        now_ms = batch.recorded[-1].at_ms if batch.recorded else 0
        if now_ms - self._keys_expired_ms < records.DAY_MS:
            return self._keys_expired_ms
        records.expire_client_keys(self._connection, now_ms - self._keys_kept_ms)
        return now_ms

    def set_drained(self, drained: bool) -> None:
        """Note how this run ends."""
        with database.faults(), self._connection.begin():
            records.set_drained(self._connection, drained)

    def forget(self, content_ids: Sequence[ids.ContentId]) -> None:
        """Null texts; their old pages are in the write-ahead log until it is emptied."""
        with database.faults(), self._connection.begin():
            records.forget(self._connection, content_ids)

    def truncate_wal(self) -> bool:
        """Empty the write-ahead log; False while a reader needs it."""
        with database.faults():
            return self._database.truncate_wal()
