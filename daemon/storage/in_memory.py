"""A store and artifacts without a disk, under the same contract; what they keep ends with them.

Never decides what a row is: rows come from `projections`, as in SQLite.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import assert_never

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
    added_rows,
    event_store,
    in_memory_deliveries,
    in_memory_index,
    in_memory_runs,
    known,
    pages,
    projections,
    records,
)
from daemon.storage.in_memory_artifacts import InMemoryArtifacts as InMemoryArtifacts

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
        self._added = added_rows.Added()
        self._owners: dict[ids.ContentId, ids.ConversationId] = {}
        self._texts: dict[ids.ContentId, str | None] = {}
        self._taints: dict[ids.ContentId, taints.Taint] = {}
        self._keys: dict[tuple[str, str], decisions.ClientKeyRecord] = {}
        self._tokens: dict[ids.TokenId, decisions.TokenRecord] = {}
        self._revoked: dict[ids.TokenId, int] = {}
        self._projects: dict[str, decisions.ProjectRecord] = {}
        self._presets = presets.Kept()
        self._cursors: dict[tuple[str, str], str] = {}
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
        self._added.adopt(draft.added)
        self._keep(records)
        if checkpoint is not None:
            self._keep_checkpoint(checkpoint)
        if recorded:
            self._expire_client_keys(recorded[-1].at_ms)

    def _keep(self, given: Sequence[decisions.Record]) -> None:
        forgotten: set[ids.ConversationId] = set()
        for record in given:
            match record:
                case decisions.ContentRecord():
                    gone = record.owner in self._added.deleted
                    self._texts[record.content_id] = None if gone else record.text
                    self._owners[record.content_id] = record.owner
                    self._taints[record.content_id] = record.taint
                case decisions.ArtifactTaint():
                    self.artifacts.taint(record)
                case decisions.ClientKeyRecord():
                    self._keys[record.credential, record.client_key] = record
                case decisions.TokenRecord():
                    self._tokens[record.token_id] = record
                case decisions.TokenRevoked():
                    self._revoked.setdefault(record.token_id, record.revoked_ms)
                case decisions.ProjectRecord():
                    self._projects[record.name] = record
                case decisions.ProfileRecord():
                    self._presets = self._presets.with_profile(record.name, record.profile)
                case decisions.SkillRecord():
                    self._presets = self._presets.with_skill(record.name, record.skill)
                case decisions.CursorRecord():
                    self._cursors[record.credential, record.name] = record.value
                case decisions.ForgottenRecord():
                    forgotten.add(record.owner)
                case _:
                    assert_never(record)
        if forgotten:
            owned = (each for each, owner in self._owners.items() if owner in forgotten)
            self._texts.update((each, None) for each in owned)

    def _refuse_repeated(self, given: Iterable[decisions.Record]) -> None:
        contents, keys = set(self._texts), set(self._keys)
        tokens = {each for one in self._tokens.values() for each in (one.token_id, one.digest)}
        live = {one.name for one in self._live_tokens()}
        projects = {each for one in self._projects.values() for each in (one.name, one.folder)}
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
                case decisions.ProjectRecord(name=name, folder=folder):
                    repeated = not projects.isdisjoint((name, folder))
                    projects |= {name, folder}
                case (
                    decisions.TokenRevoked()
                    | decisions.ArtifactTaint()
                    | decisions.ProfileRecord()
                    | decisions.SkillRecord()
                    | decisions.CursorRecord()
                    | decisions.ForgottenRecord()
                ):
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
        index = in_memory_index.Index(
            self, self._keys, self._tokens, self._live_tokens(), self._projects.values()
        )
        return known.look_up(index, given)

    def shows(self, conversation_id: ids.ConversationId) -> bool:
        """Whether the conversation is there and not deleted."""
        there = conversation_id in self._rows.conversations
        return there and conversation_id not in self._added.deleted

    def task_views(self, conversation_id: ids.ConversationId | None = None) -> list[views.TaskView]:
        """The tasks that are shown, in the order of their submission."""
        found = [
            row.view
            for row in self._rows.tasks.values()
            if conversation_id in (None, row.view.conversation_id)
            and self.shows(row.view.conversation_id)
        ]
        return sorted(found, key=lambda view: view.submitted_seq)

    def task_view(self, task_id: ids.TaskId) -> views.TaskView | None:
        row = self._rows.tasks.get(task_id)
        return row.view if row is not None and self.shows(row.view.conversation_id) else None

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return self.task_view(task_id)

    async def tasks(
        self,
        limit: int,
        before: int | None = None,
        conversation_id: ids.ConversationId | None = None,
        states: frozenset[state.TaskState] = frozenset(),
    ) -> views.Page[views.TaskView]:
        found = self.task_views(conversation_id)
        wanted = (view for view in found if not states or view.state in states)
        return pages.page(wanted, lambda view: view.submitted_seq, limit, before)

    def approval_view(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        row = self._rows.approvals.get(approval_id)
        return row if row is not None and self.shows(row.conversation_id) else None

    async def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return self.approval_view(approval_id)

    async def approvals(
        self, limit: int, outcome: events.ApprovalOutcome | None, before: int | None = None
    ) -> views.Page[views.ApprovalView]:
        found = (
            row
            for row in self._rows.approvals.values()
            if row.outcome is outcome and self.shows(row.conversation_id)
        )
        return pages.page(found, lambda view: view.requested_seq, limit, before)

    async def conversation(
        self, conversation_id: ids.ConversationId
    ) -> views.ConversationView | None:
        return self._rows.conversations[conversation_id] if self.shows(conversation_id) else None

    async def conversations(
        self, limit: int, before: int | None = None
    ) -> views.Page[views.ConversationView]:
        found = (
            row for row in self._rows.conversations.values() if self.shows(row.conversation_id)
        )
        return pages.page(found, lambda view: view.created_seq, limit, before)

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
        return pages.page(wanted, lambda view: view.created_seq, limit, before)

    async def live_tokens(self) -> tuple[decisions.TokenRecord, ...]:
        return self._live_tokens()

    async def history(
        self, conversation_id: ids.ConversationId, before_seq: int, limit: int
    ) -> views.History:
        if not self.shows(conversation_id):
            return views.History()
        summary, after_seq = None, 0
        for row in self._added.summaries.values():
            if row.conversation_id == conversation_id and row.up_to_seq < before_seq:
                summary, after_seq = row.content_id, row.up_to_seq
        told = [
            views.Exchange(
                text=view.text,
                answer=view.answer,
                taint=view.taint,
                submitted_seq=view.submitted_seq,
                said=self._said(view.task_id),
            )
            for view in self.task_views(conversation_id)
            if after_seq < view.submitted_seq < before_seq
            and view.kind is events.TaskKind.ANSWER
            and not view.undone
            and view.answer is not None
        ]
        return views.History(
            summary=summary,
            summary_taint=self._taints.get(summary, taints.CLEAN) if summary else taints.CLEAN,
            exchanges=tuple(told[max(0, len(told) - limit) :]),
        )

    def _said(self, task_id: ids.TaskId) -> tuple[world.Said, ...]:
        rows = (row.said for row in self._added.said.values() if row.task_id == task_id)
        return tuple(itertools.chain.from_iterable(rows))

    async def projects(self) -> tuple[views.ProjectView, ...]:
        kept = sorted(self._projects.values(), key=lambda record: record.name)
        return tuple(
            views.ProjectView(name=one.name, folder=one.folder, created_ms=one.created_ms)
            for one in kept
        )

    def shown(self) -> in_memory_deliveries.InMemoryDeliveries:
        """The deliveries as they are now."""
        return in_memory_deliveries.InMemoryDeliveries(self._rows.deliveries.values())

    async def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None:
        return self.shown().one(delivery_id)

    async def deliveries(
        self,
        limit: int,
        before: int | None = None,
        account: str = "",
        states: frozenset[deliveries.State] = frozenset(),
    ) -> views.Page[views.DeliveryView]:
        return self.shown().page(limit, before, account, states)

    async def open_deliveries(
        self, account: str, after_seq: int, limit: int
    ) -> tuple[views.DeliveryView, ...]:
        return self.shown().open_ones(account, after_seq, limit)

    async def delivery_of(
        self, account: str, chat: str, message_id: str
    ) -> views.DeliveryView | None:
        return self.shown().of_message(account, chat, message_id)

    def _runs(self) -> list[views.RunView]:
        return in_memory_runs.shown(self._rows, self.shows)

    async def run(self, run_id: ids.RunId) -> views.RunView | None:
        return next((one for one in self._runs() if one.run_id == run_id), None)

    async def runs(
        self,
        limit: int,
        before: int | None = None,
        schedule_id: ids.ScheduleId | None = None,
        principal: principals.Principal | None = None,
    ) -> views.Page[views.RunView]:
        found = in_memory_runs.of(self._rows, self._runs(), schedule_id, principal)
        return pages.page(found, lambda one: one.number, limit, before)

    async def cursor(self, credential: str, name: str) -> str:
        return self._cursors.get((credential, name), "")

    async def presets(self) -> presets.Kept:
        return self._presets

    async def drained(self) -> bool:
        return self._drained

    async def set_drained(self, drained: bool) -> None:
        self._drained = drained
