"""What a store knows of the ids in a write by an RPC, beyond the live state."""

from collections.abc import Sequence
from typing import Protocol

from daemon.domain import decisions, ids, inputs, taints, views


class Index(Protocol):
    """What is looked up in."""

    def client_key(self, credential: str, key: str) -> tuple[str, decisions.Reply] | None: ...

    def has_conversation(self, conversation_id: ids.ConversationId) -> bool: ...

    def has_task(self, task_id: ids.TaskId) -> bool: ...

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView | None: ...

    def has_artifact(self, artifact_id: ids.ArtifactId) -> bool: ...

    def artifact_taint(self, artifact_ids: Sequence[ids.ArtifactId]) -> taints.Taint: ...

    def has_token(self, token_id: ids.TokenId) -> bool: ...

    def live_token_names(self) -> frozenset[str]: ...

    def task(self, task_id: ids.TaskId) -> views.TaskView | None: ...

    def last_task(self, conversation_id: ids.ConversationId) -> inputs.LastTask | None: ...

    def project_folder(self, name: str) -> str | None: ...

    def project_name(self, folder: str) -> str | None: ...

    def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView | None: ...

    def delivery_of(
        self, account: str, chat: str, message_id: str
    ) -> views.DeliveryView | None: ...

    def open_deliveries(self, account: str, chat: str) -> tuple[ids.DeliveryId, ...]: ...


_WITHOUT_IDS = (
    inputs.CreateConversation,
    inputs.RevokeGrant,
    inputs.TrustProject,
    inputs.SetProfile,
    inputs.SetSkill,
    inputs.SetCursor,
    inputs.RequestPairing,
    inputs.DecidePairing,
    inputs.CreateSchedule,
    inputs.UpdateSchedule,
    inputs.DeleteSchedule,
    inputs.PauseSchedule,
    inputs.RunSchedule,
    inputs.StopSchedule,
)
"""What names nothing that stands in the store alone."""


def asks(given: inputs.RpcInput) -> bool:
    """Whether the input has any id to look up."""
    if given.client_key:
        return True
    if isinstance(given, _WITHOUT_IDS):
        return False
    match given:
        case inputs.SubmitTask():
            return given.conversation_id is not None or bool(given.attachments)
        case _:
            return True


def look_up(index: Index, given: inputs.RpcInput) -> inputs.Known:
    """Look up every id that the input has."""
    found: dict[str, object] = {}
    if given.client_key:
        kept = index.client_key(given.credential, given.client_key)
        if kept is not None:
            found["key_body_hash"], found["key_reply"] = kept
    match given:
        case inputs.SubmitTask():
            if given.conversation_id is not None:
                found["conversation_exists"] = index.has_conversation(given.conversation_id)
            missing = (a for a in given.attachments if not index.has_artifact(a))
            found["missing_artifact"] = next(missing, None)
            if given.attachments:
                found["taint"] = index.artifact_taint(given.attachments)
        case (
            inputs.UpdateConversation() | inputs.DeleteConversation() | inputs.CompactConversation()
        ):
            found["conversation_exists"] = index.has_conversation(given.conversation_id)
        case inputs.UndoExchange():
            found["conversation_exists"] = index.has_conversation(given.conversation_id)
            found["last_task"] = index.last_task(given.conversation_id)
        case inputs.GiveFeedback():
            task = index.task(given.task_id)
            if task is not None:
                found["task_exists"] = True
                found["task_answered"] = task.answer is not None
                found["task_conversation"] = task.conversation_id
        case inputs.RegisterProject():
            found["project_folder"] = index.project_folder(given.name)
            found["project_name"] = index.project_name(given.folder)
        case inputs.CancelTask() | inputs.DecideTask() | inputs.ProvideSecret():
            found["task_exists"] = index.has_task(given.task_id)
        case inputs.ResolveApproval():
            approval = index.approval(given.approval_id)
            if approval is not None:
                found["approval_outcome"] = approval.outcome
                found["approval_grant"] = approval.grant_id
            account, _, rest = given.place.partition("/")
            if given.message_id:
                chat = rest.partition("/")[0]
                found["delivery"] = _shown(index.delivery_of(account, chat, given.message_id))
        case inputs.ReportDelivery():
            found["delivery"] = _shown(index.delivery(given.delivery_id))
        case inputs.PostNotice():
            missing = (a for a in given.artifacts if not index.has_artifact(a))
            found["missing_artifact"] = next(missing, None)
        case inputs.TaintProject():
            found["taint"] = index.artifact_taint((given.artifact_id,))
        case inputs.MoveChat():
            found["open_deliveries"] = index.open_deliveries(given.account, given.chat)
        case inputs.CreateToken():
            found["live_tokens"] = index.live_token_names()
        case inputs.RevokeToken():
            found["token_exists"] = index.has_token(given.token_id)
        case _:
            pass
    return inputs.Known.model_validate(found)


def _shown(view: views.DeliveryView | None) -> inputs.Shown | None:
    if view is None:
        return None
    return inputs.Shown(
        delivery_id=view.delivery_id,
        conversation_id=view.conversation_id,
        account=view.target.account,
        chat=view.target.chat,
        revision=view.revision,
        approval_id=view.approval_id,
    )
