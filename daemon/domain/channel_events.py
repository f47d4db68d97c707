"""What can have happened in the chats of bots: what was shown there, and who may talk.

Used by their names in `events`. What a task, a card or a waiting needs shown has no event of its
own: it follows from theirs, by `deliveries`.
"""

from typing import Literal

from daemon.domain import base, deliveries, ids, principals


class DeliveryReported(base.Value):
    """What became of a revision of a delivery; `platform_ids` are the messages that show it."""

    type: Literal["delivery_reported"] = "delivery_reported"
    delivery_id: ids.DeliveryId
    revision: int
    state: deliveries.State
    platform_ids: tuple[str, ...] = ()
    fault: str = ""
    account: str = ""
    chat: str = ""


class NoticePosted(base.Value):
    """A text is to be shown in a chat, with buttons and documents.

    An answer to it is the reason for a no to `approval_id`, where it names one.
    """

    type: Literal["notice_posted"] = "notice_posted"
    delivery_id: ids.DeliveryId
    target: deliveries.Target
    text: ids.ContentId | None
    rows: tuple[tuple[deliveries.Button, ...], ...] = ()
    artifacts: tuple[ids.ArtifactId, ...] = ()
    approval_id: ids.ApprovalId | None = None


class ChatMoved(base.Value):
    """A chat goes on under another id.

    `tasks` are those that are shown there, `approvals` those that wait there; `deliveries` of
    theirs and the open ones are to be shown anew, as messages do not move with a chat.
    """

    type: Literal["chat_moved"] = "chat_moved"
    account: str
    chat: str
    to: str
    tasks: tuple[ids.TaskId, ...] = ()
    approvals: tuple[ids.ApprovalId, ...] = ()
    deliveries: tuple[ids.DeliveryId, ...] = ()


class PairingRequested(base.Value):
    """Somebody unknown asks to talk; the owners' chats are shown it."""

    type: Literal["pairing_requested"] = "pairing_requested"
    principal: principals.Principal
    name: str
    code: str
    chats: tuple[str, ...] = ()


class PairingDecided(base.Value):
    """An owner let somebody in, or not, or not any longer. `code` is of the request, with the
    chats that were shown it."""

    type: Literal["pairing_decided"] = "pairing_decided"
    principal: principals.Principal
    allowed: bool
    decided_by: principals.Principal
    code: str = ""
    chats: tuple[str, ...] = ()
