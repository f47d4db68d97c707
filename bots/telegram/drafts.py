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


def written(draft: Draft) -> bytes:
    """The bytes of a draft."""
    return json.dumps(dataclasses.asdict(draft), ensure_ascii=False).encode()


def read(data: bytes) -> Draft | None:
    """The draft that was written; None for bytes that are none."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    fields = {field.name: field.type for field in dataclasses.fields(Draft)}
    if not isinstance(found, dict) or found.keys() != fields.keys():
        return None
    if not all(isinstance(value, fields[name]) for name, value in found.items()):  # type: ignore[arg-type]
        return None
    return Draft(**found)
