"""What `known` looks up in where there is no disk."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from daemon.domain import decisions, events, ids, inputs, state, taints, views
from daemon.storage import history, in_memory_artifacts, in_memory_deliveries


class Store(Protocol):
    """What of the store is looked at."""

    artifacts: in_memory_artifacts.InMemoryArtifacts

    def shows(self, conversation_id: ids.ConversationId) -> bool: ...

    def task_views(
        self, conversation_id: ids.ConversationId | None = None
    ) -> list[views.TaskView]: ...

    def task_view(self, task_id: ids.TaskId) -> views.TaskView | None: ...

    def approval_view(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None: ...

    def shown(self) -> in_memory_deliveries.InMemoryDeliveries: ...


class Index:
    """What `known` looks up in."""

    def __init__(
        self,
        store: Store,
        keys: Mapping[tuple[str, str], decisions.ClientKeyRecord],
        tokens: Iterable[ids.TokenId],
        live_tokens: Sequence[decisions.TokenRecord],
        projects: Iterable[decisions.ProjectRecord],
    ) -> None:
        self._store = store
        self._keys = keys
        self._tokens = tokens
        self._live_tokens = live_tokens
        self._projects = projects

    def client_key(self, credential: str, key: str) -> tuple[str, decisions.Reply] | None:
        kept = self._keys.get((credential, key))
        return None if kept is None else (kept.body_hash, kept.reply)

    def has_conversation(self, conversation_id: ids.ConversationId) -> bool:
        return self._store.shows(conversation_id)

    def has_task(self, task_id: ids.TaskId) -> bool:
        return self.task(task_id) is not None

    def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return self._store.task_view(task_id)

    def last_task(self, conversation_id: ids.ConversationId) -> inputs.LastTask | None:
        ended = (
            history.of_view(view)
            for view in reversed(self._store.task_views(conversation_id))
            if view.state in state.FINAL and view.kind is events.TaskKind.ANSWER and not view.undone
        )
        return next(ended, None)

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None:
        return self._store.approval_view(approval_id)

    def has_artifact(self, artifact_id: ids.ArtifactId) -> bool:
        return self._store.artifacts.holds(artifact_id)

    def artifact_taint(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint:
        return self._store.artifacts.taint_of(artifact_ids)

    def has_token(self, token_id: ids.TokenId) -> bool:
        return token_id in self._tokens

    def live_token_names(self) -> frozenset[str]:
        return frozenset(one.name for one in self._live_tokens)

    def project_folder(self, name: str) -> str | None:
        return next((one.folder for one in self._projects if one.name == name), None)

    def project_name(self, folder: str) -> str | None:
        return next((one.name for one in self._projects if one.folder == folder), None)

    def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None:
        return self._store.shown().one(delivery_id)

    def delivery_of(self, account: str, chat: str, message_id: str) -> views.DeliveryView | None:
        return self._store.shown().of_message(account, chat, message_id)

    def open_deliveries(self, account: str, chat: str) -> tuple[ids.DeliveryId, ...]:
        waiting = {view.waiting for view in self._store.task_views()}
        return self._store.shown().open_in(account, chat, waiting)
