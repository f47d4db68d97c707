"""Who acts, and where a message came from."""

from typing import Literal, NewType

from daemon.domain import base

Principal = NewType("Principal", str)
"""`platform:account:user`; `local:owner` is the person at the machine, `token:<name>` a script."""

LOCAL_OWNER = Principal("local:owner")

Scope = Literal["run", "read", "approve", "channel", "admin"]
ALL_SCOPES: frozenset[Scope] = frozenset(("run", "read", "approve", "channel", "admin"))


class Credential(base.Value):
    """What a valid token grants: its name, whom it speaks for, and its scopes."""

    name: str
    principal: Principal
    scopes: frozenset[Scope]


class Origin(base.Value):
    """Where a request was made, so that results and questions find the way back."""

    principal: Principal
    channel: str = ""
    chat: str = ""
    topic: str = ""
    message_id: str = ""
    reply_to: str = ""
    forwarded: bool = False


_PARTS = 3


def platform(principal: Principal) -> str:
    """The platform part of a principal: `telegram` of `telegram:bot:42`."""
    return principal.split(":", 1)[0]


def is_principal(text: str) -> bool:
    """Whether the text names a principal of a chat platform: three non-empty parts."""
    parts = text.split(":", _PARTS - 1)
    return len(parts) == _PARTS and all(parts)
