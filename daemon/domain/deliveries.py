"""What must reach a chat, and the names by which it is known; pure vocabulary.

A delivery's id follows from what it shows, so that the log needs no event to begin one.
"""

from enum import StrEnum
from typing import Annotated

import pydantic

from daemon.domain import base, ids, principals

BUTTON_BYTES = 64
"""Of what comes back with a press."""


class Kind(StrEnum):
    """What a delivery shows."""

    PREVIEW = "preview"
    """A task that goes on."""
    FINAL = "final"
    """The end of a task."""
    APPROVAL = "approval"
    NOTICE = "notice"
    SCHEDULE = "schedule"
    """The end of a task that nobody asked for just then."""


class State(StrEnum):
    """What became of the newest revision."""

    PENDING = "pending"
    SENT = "sent"
    """Messages for it are there, their content is not yet."""
    SHOWN = "shown"
    FAILED = "failed"
    """The platform does not take it."""
    GONE = "gone"
    """The chat is gone, or the bot is not let in."""
    HELD = "held"
    """Nothing is to be shown: of a schedule's run, until it has ended and is to be told."""


OPEN = frozenset({State.PENDING, State.SENT})


def _short(data: str) -> str:
    if len(data.encode()) > BUTTON_BYTES:
        raise ValueError(f"at most {BUTTON_BYTES} bytes come back with a press")
    return data


class Button(base.Value):
    """A button below a message; `data` comes back with a press."""

    text: str
    data: Annotated[str, pydantic.AfterValidator(_short)]


class Target(base.Value):
    """Where something is shown: `account` is platform:account. `reply_to` is the message that it
    answers, `principal` whom."""

    account: str
    chat: str
    topic: str = ""
    reply_to: str = ""
    principal: principals.Principal | None = None

    @property
    def place(self) -> str:
        """The chat as one text, as `principals.place` has it."""
        return "/".join((self.account, self.chat, self.topic))


def target(origin: principals.Origin) -> Target | None:
    """Where what was asked from there is shown by a bot; None where no bot's chat was named."""
    if not origin.chat or not principals.is_chat_user(origin.principal):
        return None
    return Target(
        account=principals.account_of(origin.principal),
        chat=origin.chat,
        topic=origin.topic,
        reply_to=origin.message_id,
        principal=origin.principal,
    )


def of_task(task_id: ids.TaskId) -> ids.DeliveryId:
    """What shows how a task goes on, and its end."""
    return ids.DeliveryId(f"answer.{task_id}")


def of_approval(approval_id: ids.ApprovalId, place: int) -> ids.DeliveryId:
    """The card in one of the places that show an approval."""
    return ids.DeliveryId(f"card.{approval_id}.{place}")


def of_waiting(task_id: ids.TaskId, seq: int) -> ids.DeliveryId:
    """What says that a task waits, since that event."""
    return ids.DeliveryId(f"waiting.{task_id}.{seq}")


def of_pairing(principal: principals.Principal, code: str, chat: int) -> ids.DeliveryId:
    """What asks an owner whether somebody may talk."""
    return ids.DeliveryId(f"pairing.{principal}.{code}.{chat}")
