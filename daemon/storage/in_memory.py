"""A store and artifacts without a disk, under the same contract; what they keep ends with them.

Never decides what a row is: rows come from `projections`, as in SQLite.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import TypeVar, assert_never

from daemon.domain import (
    decisions,
    errors,
    events,
    ids,
    inputs,
    limits,
    state,
    taints,
    views,
    world,
)
from daemon.storage import artifacts, event_store, known, projections, records

_View = TypeVar("_View")
_DEFAULTS = limits.Limits()


class InMemoryStore:
    """The log, projections, records and content of one process's life.

    `failing_commits` is how many of the next commits fail as if the disk were full.
    """

    def __init__(self, client_key_days: int = _DEFAULTS.client_key_days) -> None:
        self.artifacts = InMemoryArtifacts()
        self.failing_commits = 0
        self._log: list[events.Recorded] = []
        self._rows = projections.Rows()
        self._texts: dict[ids.ContentId, str | None] = {}
        self._taints: dict[ids.ContentId, taints.Taint] = {}
        self._keys: dict[tuple[str, str], decisions.ClientKeyRecord] = {}
        self._tokens: dict[ids.TokenId, decisions.TokenRecord] = {}
        self._revoked: dict[ids.TokenId, int] = {}
        self._keys_kept_ms = client_key_days * records.DAY_MS
        self._checkpoints: dict[int, world.Snapshot] = {}
        self._drained = False

    async def commit(
        self,
        recorded: Sequence[events.Recorded],
        records: Sequence[decisions.Record],
        checkpoint: world.Snapshot | None = None,
    ) -> None:
        """Keep events, their projections, records and a checkpoint, or nothing of them."""
        event_store.check_sequence(len(self._log), recorded)
        if self.failing_commits > 0:
            self.failing_commits -= 1
            raise errors.StorageFull("The disk is full: nothing was kept.")
        draft = projections.project(self._rows, recorded)
        self._refuse_repeated(records)
        self._log.extend(recorded)
        self._rows.adopt(draft.changed)
        for record in records:
            match record:
                case decisions.ContentRecord():
                    self._texts[record.content_id] = record.text
                    self._taints[record.content_id] = record.taint
                case decisions.ArtifactTaint():
                    self.artifacts.taint(record)
                case decisions.ClientKeyRecord():
                    self._keys[record.credential, record.client_key] = record
                case decisions.TokenRecord():
                    self._tokens[record.token_id] = record
                case decisions.TokenRevoked():
                    self._revoked.setdefault(record.token_id, record.revoked_ms)
        if checkpoint is not None:
            self._keep_checkpoint(checkpoint)
        if recorded:
            self._expire_client_keys(recorded[-1].at_ms)

    def _refuse_repeated(self, given: Iterable[decisions.Record]) -> None:
        contents, keys = set(self._texts), set(self._keys)
        tokens = {each for one in self._tokens.values() for each in (one.token_id, one.digest)}
        live = {one.name for one in self._live_tokens()}
        for record in given:
            match record:
                case decisions.ContentRecord(content_id=content_id):
                    repeated = content_id in contents
                    contents.add(content_id)
                case decisions.ClientKeyRecord(credential=credential, client_key=key):
                    repeated = (credential, key) in keys
                    keys.add((credential, key))
                case decisions.TokenRecord(token_id=token_id, digest=digest, name=name):
                    repeated = not tokens.isdisjoint((token_id, digest)) or name in live
                    tokens |= {token_id, digest}
                    live.add(name)
                case decisions.TokenRevoked() | decisions.ArtifactTaint():
                    repeated = False
                case _:
                    assert_never(record)
            if repeated:
                raise errors.StorageFault("A record is there already: nothing was kept.")

    def _keep_checkpoint(self, checkpoint: world.Snapshot) -> None:
        self._checkpoints[checkpoint.head_seq] = checkpoint
        newest = sorted(self._checkpoints, reverse=True)[: records.CHECKPOINTS_KEPT]
        self._checkpoints = {seq: self._checkpoints[seq] for seq in newest}

    def _expire_client_keys(self, now_ms: int) -> None:
        before_ms = now_ms - self._keys_kept_ms
        self._keys = {at: kept for at, kept in self._keys.items() if kept.at_ms >= before_ms}

    async def head_seq(self) -> int:
        return len(self._log)

    async def log(
        self,
        after_seq: int,
        limit: int,
        task_id: ids.TaskId | None = None,
        conversation_id: ids.ConversationId | None = None,
    ) -> tuple[events.Recorded, ...]:
        found = [
            one
            for one in self._log[max(0, after_seq) :]
            if task_id in (None, one.task_id) and conversation_id in (None, one.conversation_id)
        ]
        return tuple(found[:limit])

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        return {content_id: self._texts.get(content_id) for content_id in content_ids}

    async def content_taint(self, content_ids: Sequence[ids.ContentId]) -> taints.Taint:
        return taints.join(*(self._taints.get(each, taints.CLEAN) for each in content_ids))

    async def forget(self, content_ids: Sequence[ids.ContentId]) -> None:
        """Null texts for good; the log stays whole."""
        self._texts.update((each, None) for each in content_ids if each in self._texts)

    async def latest_checkpoint(self) -> world.Snapshot | None:
        readable = [
            kept for kept in self._checkpoints.values() if kept.version == world.SNAPSHOT_VERSION
        ]
        return max(readable, key=lambda kept: kept.head_seq, default=None)

    async def known(self, given: inputs.RpcInput) -> inputs.Known:
        return known.look_up(
            _Index(self._keys, self._rows, self.artifacts, self._tokens, self._live_tokens()), given
        )

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        row = self._rows.tasks.get(task_id)
        return None if row is None else row.view

    async def tasks(
        self,
        limit: int,
        before: int | None = None,
        conversation_id: ids.ConversationId | None = None,
        states: frozenset[state.TaskState] = frozenset(),
    ) -> views.Page[views.TaskView]:
        found = (
            row.view
            for row in self._rows.tasks.values()
            if conversation_id in (None, row.view.conversation_id)
            and (not states or row.view.state in states)
        )
        return _page(found, lambda view: view.submitted_seq, limit, before)

    async def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return self._rows.approvals.get(approval_id)

    async def approvals(
        self, limit: int, outcome: events.ApprovalOutcome | None, before: int | None = None
    ) -> views.Page[views.ApprovalView]:
        found = (row for row in self._rows.approvals.values() if row.outcome is outcome)
        return _page(found, lambda view: view.requested_seq, limit, before)

    async def conversation(
        self, conversation_id: ids.ConversationId
    ) -> views.ConversationView | None:
        return self._rows.conversations.get(conversation_id)

    async def conversations(
        self, limit: int, before: int | None = None
    ) -> views.Page[views.ConversationView]:
        found = self._rows.conversations.values()
        return _page(found, lambda view: view.created_seq, limit, before)

    def _live_tokens(self) -> tuple[decisions.TokenRecord, ...]:
        return tuple(one for one in self._tokens.values() if one.token_id not in self._revoked)

    def _token_views(self) -> dict[ids.TokenId, views.TokenView]:
        return {
            one.token_id: views.TokenView(
                token_id=one.token_id,
                name=one.name,
                principal=one.principal,
                scopes=one.scopes,
                created_ms=one.created_ms,
                revoked_ms=self._revoked.get(one.token_id),
                created_seq=seq,
            )
            for seq, one in enumerate(self._tokens.values(), 1)
        }

    async def token(self, token_id: ids.TokenId) -> views.TokenView | None:
        return self._token_views().get(token_id)

    async def tokens(
        self, limit: int, before: int | None = None, revoked: bool = False
    ) -> views.Page[views.TokenView]:
        found = self._token_views().values()
        wanted = (view for view in found if revoked or view.revoked_ms is None)
        return _page(wanted, lambda view: view.created_seq, limit, before)

    async def live_tokens(self) -> tuple[decisions.TokenRecord, ...]:
        return self._live_tokens()

    async def exchanges(
        self, conversation_id: ids.ConversationId, before_seq: int, limit: int
    ) -> tuple[views.Exchange, ...]:
        answered = [
            views.Exchange(text=row.view.text, answer=row.view.answer, taint=row.view.taint)
            for row in sorted(self._rows.tasks.values(), key=lambda row: row.view.submitted_seq)
            if row.view.conversation_id == conversation_id
            and row.view.submitted_seq < before_seq
            and row.view.answer is not None
        ]
        return tuple(answered[max(0, len(answered) - limit) :])

    async def drained(self) -> bool:
        return self._drained

    async def set_drained(self, drained: bool) -> None:
        self._drained = drained


class _Index:
    """What `known` looks up in."""

    def __init__(
        self,
        keys: Mapping[tuple[str, str], decisions.ClientKeyRecord],
        rows: projections.Rows,
        kept: "InMemoryArtifacts",
        tokens: Iterable[ids.TokenId],
        live_tokens: Sequence[decisions.TokenRecord],
    ) -> None:
        self._keys = keys
        self._rows = rows
        self._artifacts = kept
        self._tokens = tokens
        self._live_tokens = live_tokens

    def client_key(self, credential: str, key: str) -> tuple[str, decisions.Reply] | None:
        kept = self._keys.get((credential, key))
        return None if kept is None else (kept.body_hash, kept.reply)

    def has_conversation(self, conversation_id: ids.ConversationId) -> bool:
        return conversation_id in self._rows.conversations

    def has_task(self, task_id: ids.TaskId) -> bool:
        return task_id in self._rows.tasks

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return self._rows.approvals.get(approval_id)

    def has_artifact(self, artifact_id: ids.ArtifactId) -> bool:
        return self._artifacts.holds(artifact_id)

    def artifact_taint(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint:
        return self._artifacts.taint_of(artifact_ids)

    def has_token(self, token_id: ids.TokenId) -> bool:
        return token_id in self._tokens

    def live_token_names(self) -> frozenset[str]:
        return frozenset(one.name for one in self._live_tokens)


def _page(
    found: Iterable[_View], place: Callable[[_View], int], limit: int, before: int | None
) -> views.Page[_View]:
    rows = sorted(found, key=place, reverse=True)
    if before is not None:
        rows = [row for row in rows if place(row) < before]
    more = len(rows) > limit and limit > 0
    return views.Page(
        rows=tuple(rows[:limit]), next_before=place(rows[limit - 1]) if more else None
    )


class InMemoryArtifacts:
    """Bytes by their SHA-256."""

    def __init__(self) -> None:
        self._kept: dict[ids.ArtifactId, bytes] = {}
        self._taints: dict[ids.ArtifactId, taints.Taint] = {}

    def taint(self, given: decisions.ArtifactTaint) -> None:
        """Note where an artifact's text came from, beside what is known of it."""
        known = self._taints.get(given.artifact_id, taints.CLEAN)
        self._taints[given.artifact_id] = taints.join(known, given.taint)

    def taint_of(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint:
        """Every source of untrusted text in some artifacts."""
        return taints.join(*(self._taints.get(each, taints.CLEAN) for each in artifact_ids))

    async def put(
        self, chunks: AsyncIterator[bytes], limit_bytes: int
    ) -> tuple[ids.ArtifactId, int]:
        """Keep bytes; returns (id, size in bytes)."""
        whole = bytearray()
        async for chunk in chunks:
            artifacts.check_size(len(whole) + len(chunk), limit_bytes)
            whole += chunk
        artifact_id = ids.ArtifactId(hashlib.sha256(whole).hexdigest())
        self._kept[artifact_id] = bytes(whole)
        return artifact_id, len(whole)

    async def get(self, artifact_id: ids.ArtifactId) -> AsyncIterator[bytes]:
        """The bytes in chunks of at most 256 KiB."""
        if artifact_id not in self._kept:
            raise artifacts.missing(artifact_id)
        whole = self._kept[artifact_id]
        for start in range(0, len(whole), artifacts.CHUNK_BYTES):
            yield whole[start : start + artifacts.CHUNK_BYTES]

    async def exists(self, artifact_id: ids.ArtifactId) -> bool:
        return self.holds(artifact_id)

    def holds(self, artifact_id: ids.ArtifactId) -> bool:
        return artifact_id in self._kept
