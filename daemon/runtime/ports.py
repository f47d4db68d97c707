"""The seams to the outside world. Each has a real adapter and a fake that keep the same contract.

`models` and `storage` implement them; `bootstrap` puts them together; nothing else names concretes.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from daemon.domain import (
    decisions,
    deliveries,
    events,
    ids,
    inputs,
    messages,
    presets,
    principals,
    state,
    taints,
    views,
    world,
)


class Feed(Protocol):
    """Where a running model call reports. Never blocks; safe only on the event loop's thread."""

    def text(self, piece: str) -> None:
        """The next piece of the answer. The first comes at once, later ones are coalesced."""

    def thought(self, piece: str) -> None:
        """The next piece of what a reasoning model thinks; it is no part of the answer."""

    def progress(self, stage: messages.Stage, done: int, total: int) -> None:
        """What the call is doing: bytes loaded, places ahead, or prompt tokens prefilled."""


class Model(Protocol):
    """One slot that generates text."""

    @property
    def name(self) -> str:
        """The slot's name in `models.toml`."""

    @property
    def context_tokens(self) -> int:
        """How many tokens of prompt and answer together fit."""

    async def generate(self, request: messages.ModelRequest, feed: Feed) -> messages.ModelResult:
        """Generate one answer. Cancelling the awaiting task stops the generation within a batch.

        Raises:
            errors.ModelFault: the call gave no result; its kind says why.
        """

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """The number of tokens of each text, by this slot's tokenizer.

        Raises:
            errors.ModelFault: the tokenizer cannot be reached.
        """

    async def stop(self) -> None:
        """End what the slot runs; it starts again with the next call."""


class Store(Protocol):
    """The log, its projections, the records kept with it, and content. One writer, many readers.

    Reads see every commit that was awaited before them.
    """

    async def commit(
        self,
        recorded: Sequence[events.Recorded],
        records: Sequence[decisions.Record],
        checkpoint: world.Snapshot | None = None,
    ) -> None:
        """Keep events, their projections, records and a checkpoint in one durable transaction.

        Raises:
            errors.StorageFull: no room; nothing was kept and the same call may be repeated.
            errors.StorageFault: nothing was kept.
        """

    async def head_seq(self) -> int:
        """The last sequence number of the log; 0 when it is empty."""

    async def log(
        self,
        after_seq: int,
        limit: int,
        task_id: ids.TaskId | None = None,
        conversation_id: ids.ConversationId | None = None,
    ) -> tuple[events.Recorded, ...]:
        """At most `limit` events after a sequence number, in order."""

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        """Texts by id; None for one that was forgotten or never kept."""

    async def content_taint(self, content_ids: Sequence[ids.ContentId]) -> taints.Taint:
        """Every source of untrusted text in some contents."""

    async def latest_checkpoint(self) -> world.Snapshot | None:
        """The newest checkpoint that this version can read."""

    async def known(self, given: inputs.RpcInput) -> inputs.Known:
        """What the store knows of the ids in a write by an RPC."""

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None: ...

    async def tasks(
        self,
        limit: int,
        before: int | None = None,
        conversation_id: ids.ConversationId | None = None,
        states: frozenset[state.TaskState] = frozenset(),
    ) -> views.Page[views.TaskView]:
        """Tasks, newest first, submitted before a sequence number; no states means all."""

    async def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None: ...

    async def approvals(
        self, limit: int, outcome: events.ApprovalOutcome | None, before: int | None = None
    ) -> views.Page[views.ApprovalView]:
        """Approvals with this outcome (None: pending), newest first."""

    async def conversation(
        self, conversation_id: ids.ConversationId
    ) -> views.ConversationView | None: ...

    async def conversations(
        self, limit: int, before: int | None = None
    ) -> views.Page[views.ConversationView]: ...

    async def token(self, token_id: ids.TokenId) -> views.TokenView | None: ...

    async def tokens(
        self, limit: int, before: int | None = None, revoked: bool = False
    ) -> views.Page[views.TokenView]:
        """Tokens, newest first; those that were revoked only when asked for."""

    async def live_tokens(self) -> tuple[decisions.TokenRecord, ...]:
        """Every token that is not revoked, with the digest of its secret, oldest first."""

    async def history(
        self, conversation_id: ids.ConversationId, before_seq: int, limit: int
    ) -> views.History:
        """The newest summary, and the last answered messages that it does not tell, submitted
        before a sequence number. What was undone is not among them."""

    async def projects(self) -> tuple[views.ProjectView, ...]:
        """Every named project, by name."""

    async def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None: ...

    async def deliveries(
        self,
        limit: int,
        before: int | None = None,
        account: str = "",
        states: frozenset[deliveries.State] = frozenset(),
    ) -> views.Page[views.DeliveryView]:
        """Deliveries, newest first; no account and no states mean all. A page may hold fewer than
        the limit: those that one event began stand on one page."""

    async def open_deliveries(
        self, account: str, after_seq: int, limit: int
    ) -> tuple[views.DeliveryView, ...]:
        """What is to be shown in the chats of an account (empty: of any), in the order in which it
        changed, from what changed after a sequence number."""

    async def delivery_of(
        self, account: str, chat: str, message_id: str
    ) -> views.DeliveryView | None:
        """The newest delivery that a message of a chat shows."""

    async def run(self, run_id: ids.RunId) -> views.RunView | None: ...

    async def runs(
        self,
        limit: int,
        before: int | None = None,
        schedule_id: ids.ScheduleId | None = None,
        principal: principals.Principal | None = None,
    ) -> views.Page[views.RunView]:
        """Runs of schedules, newest first, also of those that are gone; of one schedule, or of
        those that somebody made, where asked for."""

    async def cursor(self, credential: str, name: str) -> str:
        """What a bot kept under a name; empty for nothing."""

    async def presets(self) -> presets.Kept:
        """The profiles and skills that were set and not taken back."""

    async def drained(self) -> bool:
        """Whether the last run of a daemon on this store ended by draining."""

    async def set_drained(self, drained: bool) -> None:
        """Note whether this run has drained; durable when it returns."""


class Artifacts(Protocol):
    """Large bytes, named by their SHA-256. What was put is durable and complete, or absent."""

    async def put(self, chunks: AsyncIterator[bytes], limit_bytes: int) -> tuple[str, int]:
        """Keep bytes; returns (id, size in bytes). The same bytes give the same id.

        Raises:
            errors.Refusal: they are larger than the limit.
            errors.StorageFull: no room; nothing was kept.
        """

    def get(self, artifact_id: ids.ArtifactId) -> AsyncIterator[bytes]:
        """The bytes in chunks of at most 256 KiB.

        Raises:
            errors.Refusal: there is no such artifact, or the id is none.
        """

    async def exists(self, artifact_id: ids.ArtifactId) -> bool: ...


class Clock(Protocol):
    """The wall clock in milliseconds since the epoch, and one that only goes forward."""

    def now_ms(self) -> int: ...

    def monotonic_ms(self) -> int: ...

    def utc_offset_minutes(self) -> int:
        """How far the owner's clock is ahead of UTC now."""


class Chance(Protocol):
    """Where randomness comes from."""

    def seed(self) -> str:
        """128 random bits as 32 hexadecimal digits."""


class History(Protocol):
    """What became of each project's files, in a store beside them; folders by their real path, the
    default by an empty one.

    A call's changes are what `after` finds that `before` had not kept. Both give up after a few
    seconds, never hold a call up longer and never raise for a history that does not work: commands
    run without one, and `notices` says so.
    """

    async def before(self, folder: str) -> None:
        """Keep what the folder holds, so that what is kept next is a call's alone."""

    async def after(
        self, folder: str, message: str, task_id: ids.TaskId, call_id: ids.CallId
    ) -> inputs.Change | None:
        """Keep what a call changed since `before`; None when that is nothing, or is not known."""

    async def revert(
        self, folder: str, commits: Sequence[str], task_id: ids.TaskId | None = None
    ) -> str:
        """Take commits back, newest first, by a new one whose id is returned. Those that were
        taken back before stay so.

        Raises:
            errors.HistoryFault: it cannot be, for the files that it names; nothing was changed.
        """

    async def log(self, folder: str, limit: int, before: str = "") -> tuple[views.CommitView, ...]:
        """The newest commits, or those before one.

        Raises:
            errors.HistoryFault: there is no history, or no such commit in it.
        """

    async def diff(self, folder: str, commit: str) -> str:
        """What a commit changed, as a unified diff of bounded size.

        Raises:
            errors.HistoryFault: there is no history, or no such commit in it.
        """

    def notices(self) -> tuple[str, ...]:
        """What of the histories does not work now, one sentence each."""


class ProjectFiles(Protocol):
    """Files in and out of a project's folder, given by its real path. Reaches nothing outside."""

    async def put(self, folder: str, name: str, data: bytes) -> views.FileView:
        """Put bytes into the folder `incoming`, under a safe name like the given one that is free;
        the same bytes under the same name are the same file.

        Raises:
            errors.StorageFull: no room; nothing was kept.
            errors.Refusal: it cannot be put there.
        """

    async def list(self, folder: str, path: str) -> tuple[tuple[views.FileView, ...], bool]:
        """What a folder below holds, by name, and whether there is more.

        Raises:
            errors.Refusal: there is no such folder, or it is hidden.
        """

    def read(self, folder: str, path: str, limit_bytes: int) -> AsyncIterator[bytes]:
        """The bytes of a file below.

        Raises:
            errors.Refusal: there is no such file, it is too large, hidden, or looks like a secret.
        """


class ProjectFolders(Protocol):
    """The folders that may be projects. Never blocks for longer than a look at a path."""

    @property
    def default(self) -> str:
        """The real path of the folder that calls work in where no project is named."""

    def made(self, name: str) -> str:
        """The folder of a new project of the daemon's own, which is made if missing.

        Raises:
            errors.Refusal: it cannot be made.
        """

    def checked(self, folder: str) -> str:
        """The real path of a folder that may be a project.

        Raises:
            errors.Refusal: it is not there, or holds or lies in what has to stay shut.
        """

    def missing(self, folder: str) -> bool:
        """Whether a project's folder (empty: the default) is not there as a folder, by its path."""
