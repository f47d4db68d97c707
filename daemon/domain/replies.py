"""What a write by an RPC is answered with. Used by their names in `decisions`."""

from typing import Annotated, Literal

import pydantic

from daemon.domain import base, ids, principals


class Submitted(base.Value):
    kind: Literal["submitted"] = "submitted"
    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    seq: int


class ConversationKept(base.Value):
    kind: Literal["conversation"] = "conversation"
    conversation_id: ids.ConversationId


class TaskKept(base.Value):
    kind: Literal["task"] = "task"
    task_id: ids.TaskId


class ApprovalKept(base.Value):
    """`grant_id` when the answer was "always"."""

    kind: Literal["approval"] = "approval"
    approval_id: ids.ApprovalId
    grant_id: ids.GrantId | None = None


class GrantKept(base.Value):
    kind: Literal["grant"] = "grant"
    grant_id: ids.GrantId


class ProjectKept(base.Value):
    kind: Literal["project"] = "project"
    folder: str


class ProfileKept(base.Value):
    kind: Literal["profile"] = "profile"
    name: str


class SkillKept(base.Value):
    kind: Literal["skill"] = "skill"
    name: str


class Undone(base.Value):
    """What an undo takes back: the task, its commits, and the calls that cannot be taken back."""

    kind: Literal["undone"] = "undone"
    task_id: ids.TaskId
    commits: tuple[str, ...]
    left: tuple[ids.CallId, ...]


class DeliveryKept(base.Value):
    kind: Literal["delivery"] = "delivery"
    delivery_id: ids.DeliveryId


class ChatKept(base.Value):
    """The chat as it is called now."""

    kind: Literal["chat"] = "chat"
    chat: str


class CursorKept(base.Value):
    kind: Literal["cursor"] = "cursor"
    name: str


class PersonKept(base.Value):
    kind: Literal["person"] = "person"
    principal: principals.Principal


class ScheduleKept(base.Value):
    """`task_id` of a run that it began."""

    kind: Literal["schedule"] = "schedule"
    schedule_id: ids.ScheduleId | None
    task_id: ids.TaskId | None = None


class TokenKept(base.Value):
    kind: Literal["token"] = "token"
    token_id: ids.TokenId


Reply = Annotated[
    Submitted
    | ConversationKept
    | TaskKept
    | ApprovalKept
    | GrantKept
    | ProjectKept
    | ProfileKept
    | SkillKept
    | TokenKept
    | DeliveryKept
    | ChatKept
    | CursorKept
    | PersonKept
    | ScheduleKept
    | Undone,
    pydantic.Field(discriminator="kind"),
]
