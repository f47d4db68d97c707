"""What can have happened to approvals and grants. Used by their names in `events`."""

from enum import StrEnum
from typing import Literal

from daemon.domain import base, ids, principals


class ApprovalRequested(base.Value):
    """A human must decide; `card` is the content that shows exactly what would run.

    `key` is the digest less the task: what "always" would allow. `approvers` may decide, beside the
    owners; `places` are the chats that show it.
    """

    type: Literal["approval_requested"] = "approval_requested"
    task_id: ids.TaskId
    approval_id: ids.ApprovalId
    call_id: ids.CallId
    tool: str
    digest: str
    card: ids.ContentId
    reasons: tuple[str, ...]
    always_allowed: bool
    expires_ms: int
    key: str = ""
    folder: str = ""
    approvers: tuple[principals.Principal, ...] = ()
    places: tuple[str, ...] = ()


class ApprovalOutcome(StrEnum):
    ALLOWED = "allowed"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class ApprovalResolved(base.Value):
    type: Literal["approval_resolved"] = "approval_resolved"
    task_id: ids.TaskId
    approval_id: ids.ApprovalId
    call_id: ids.CallId
    outcome: ApprovalOutcome
    decided_by: principals.Principal | None = None
    reason: ids.ContentId | None = None
    grant_id: ids.GrantId | None = None


class GrantCreated(base.Value):
    """ "Always": from now on exactly this call by this principal in this folder runs unasked."""

    type: Literal["grant_created"] = "grant_created"
    grant_id: ids.GrantId
    key: str
    tool: str
    principal: principals.Principal
    folder: str
    card: ids.ContentId
    granted_by: principals.Principal
    expires_ms: int
    uses: int
    schedule_id: ids.ScheduleId | None = None
    """Of the schedule for whose runs alone it counts."""


class GrantRevoked(base.Value):
    type: Literal["grant_revoked"] = "grant_revoked"
    grant_id: ids.GrantId
    principal: principals.Principal
