"""What bots ask for beside the rest: reports, posts, chats that move, and people who want to talk.

Used by their names in `inputs`, which holds all that can happen to the runtime.
"""

from daemon.domain import deliveries, ids, keyed, principals


class ReportDelivery(keyed.Keyed):
    """`account` is the bot's own: it reports of nothing else. The owner, without one, of any."""

    account: str
    delivery_id: ids.DeliveryId
    revision: int
    state: deliveries.State
    platform_ids: tuple[str, ...] = ()
    fault: str = ""


class PostNotice(keyed.Keyed):
    target: deliveries.Target
    text: str
    rows: tuple[tuple[deliveries.Button, ...], ...] = ()
    artifacts: tuple[ids.ArtifactId, ...] = ()
    approval_id: ids.ApprovalId | None = None


class TaintProject(keyed.Keyed):
    """A file is to come into a project's folder; what of it is untrusted taints that."""

    origin: principals.Origin
    folder: str
    artifact_id: ids.ArtifactId


class MoveChat(keyed.Keyed):
    account: str
    chat: str
    to: str


class SetCursor(keyed.Keyed):
    name: str
    value: str


class RequestPairing(keyed.Keyed):
    """`principal` asks to talk."""

    name: str


class DecidePairing(keyed.Keyed):
    """About a person, or about whoever asked with that code."""

    person: principals.Principal | None
    code: str
    allow: bool
