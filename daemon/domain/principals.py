"""Who acts, and where a message came from; who may speak for whom, and who are the owners."""

import re
from typing import Annotated, Literal, NewType

import pydantic

from daemon.domain import base

Principal = NewType("Principal", str)
"""`platform:account:user`; `local:owner` is the person at the machine, `token:<name>` a script.

A bot acts for the people of its platform and account; for itself it is `platform:account:bot`.
"""

LOCAL_OWNER = Principal("local:owner")
BOT_USER = "bot"
OWN_PLATFORMS = frozenset(("local", "token"))
"""What no bot can have as its platform."""

Scope = Literal["run", "read", "approve", "channel", "admin"]
ALL_SCOPES: frozenset[Scope] = frozenset(("run", "read", "approve", "channel", "admin"))


class Credential(base.Value):
    """What a valid token grants: whom it speaks for, and its scopes.

    `name` is no other token's, not even a later one's: client keys belong to it.
    """

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
    speaker: str = ""
    """In a group: the person's name, which models are told as data."""


_PARTS = 3


def platform(principal: Principal) -> str:
    """The platform part of a principal: `telegram` of `telegram:bot:42`."""
    return principal.split(":", 1)[0]


def is_principal(text: str) -> bool:
    """Whether the text names a principal of a chat platform: three non-empty parts."""
    parts = text.split(":", _PARTS - 1)
    return len(parts) == _PARTS and all(parts)


def is_chat_user(principal: Principal) -> bool:
    """Whether that is a person of a chat platform, who talks through a bot."""
    if not is_principal(principal) or platform(principal) in OWN_PLATFORMS:
        return False
    return user_of(principal) != BOT_USER


def user_of(principal: Principal) -> str:
    """The user of a platform: `42` of `telegram:bot:42`."""
    return principal.split(":", _PARTS - 1)[-1]


def of_script(name: str) -> Principal:
    """The principal of a script's token."""
    return Principal(f"token:{name}")


def of_bot(platform_name: str, account: str) -> Principal:
    """The principal of a bot's own."""
    return Principal(f"{platform_name}:{account}:{BOT_USER}")


def account_of(principal: Principal) -> str:
    """Platform and account: `telegram:bot` of `telegram:bot:42`."""
    return ":".join(principal.split(":", _PARTS - 1)[: _PARTS - 1])


def may_state(credential: Credential, stated: Principal) -> bool:
    """Whether a call with this credential may be in the name of that principal.

    A bot's may for the people of its own platform and account; the owner's for everybody, since
    whoever has it can make a bot's.
    """
    if stated == credential.principal:
        return True
    if "channel" not in credential.scopes or not is_principal(stated):
        return False
    if credential.principal == LOCAL_OWNER:
        return True
    bot = is_principal(credential.principal)
    return bot and account_of(stated) == account_of(credential.principal)


def place(origin: Origin) -> str:
    """The chat of an origin, as one text; empty where it has none. A bot's is its account's,
    whatever it names as its channel."""
    if not origin.channel and not origin.chat:
        return ""
    account = account_of(origin.principal)
    channel = account if is_chat_user(origin.principal) else origin.channel or account
    return "/".join((channel, origin.chat, origin.topic))


def places(origin: Origin) -> tuple[str, ...]:
    """Where what was asked from there is shown."""
    found = place(origin)
    return (found,) if found else ()


def approvers(origin: Origin) -> tuple[Principal, ...]:
    """Who may decide about what was asked from there, beside the owners.

    The requester, where nobody else is in the chat; in groups the owners alone.
    """
    user = user_of(origin.principal)
    alone = not origin.chat or origin.chat == user
    return (origin.principal,) if alone else ()


_TELEGRAM_USER = re.compile(r"[1-9][0-9]{0,18}")
_MATRIX_USER = re.compile(r"@[^:\s]+:[^\s]+")


def _telegram_user(given: object) -> object:
    text = str(given) if type(given) is int else given
    if isinstance(text, str) and not _TELEGRAM_USER.fullmatch(text):
        raise ValueError("a Telegram user is a number, not a name")
    return text


def _matrix_user(text: str) -> str:
    if not _MATRIX_USER.fullmatch(text):
        raise ValueError("a Matrix user looks like @name:server")
    return text


class People(base.Value):
    """People by platform, each by what the platform names them for good."""

    telegram: frozenset[Annotated[str, pydantic.BeforeValidator(_telegram_user)]] = frozenset()
    matrix: frozenset[Annotated[str, pydantic.AfterValidator(_matrix_user)]] = frozenset()

    def users(self, platform_name: str) -> frozenset[str]:
        """Those of a platform."""
        match platform_name:
            case "telegram":
                return self.telegram
            case "matrix":
                return self.matrix
            case _:
                return frozenset()

    def has(self, principal: Principal) -> bool:
        """Whether that is one of them, through whichever bot."""
        named = is_principal(principal)
        return named and user_of(principal) in self.users(platform(principal))


class Owners(People):
    """Who owns this daemon, beside the person at the machine."""

    def is_owner(self, principal: Principal) -> bool:
        """Whether that is the owner."""
        return principal == LOCAL_OWNER or self.has(principal)
