"""A schedule as it was read and is to be kept: what its buttons name until somebody presses one.

A draft is an artifact in the daemon, so that it outlives the bot, and names whose it is: only they
can keep it. Nothing here is trusted: the daemon judges what is kept.
"""

import dataclasses
import json
import typing

MOST_BYTES: typing.Final = 64 * 1024


@dataclasses.dataclass(frozen=True)
class Draft:
    """What keeping it makes: a schedule, or with an id another time for that one."""

    principal: str
    key: str  # of the message that asked: the same words said twice are two drafts
    when: str  # the rule's own text
    zone: str
    text: str = ""
    is_command: bool = False
    schedule_id: str = ""


_TEXTS: typing.Final = {one.name for one in dataclasses.fields(Draft)} - {"is_command"}


def written(draft: Draft) -> bytes:
    """The bytes of a draft."""
    return json.dumps(dataclasses.asdict(draft), ensure_ascii=False).encode()


def read(data: bytes) -> Draft | None:
    """The draft that was written; None for bytes that are none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    is_command = found.pop("is_command", None)
    texts = {name: one for name, one in found.items() if isinstance(one, str)}
    whole = texts.keys() == found.keys() == _TEXTS and isinstance(is_command, bool)
    return Draft(**texts, is_command=is_command) if whole else None
