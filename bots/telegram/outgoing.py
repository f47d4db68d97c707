"""What is sent to Telegram, as values: texts with entities and buttons, and documents.

Offsets and lengths are in UTF-16 units, as Telegram counts them.
"""

import dataclasses
import typing

TEXT_UNITS: typing.Final = 4096  # of a message, after entities
CAPTION_UNITS: typing.Final = 1024
CALLBACK_BYTES: typing.Final = 64


@dataclasses.dataclass(frozen=True)
class Entity:
    """A mark on a part of a text; `kind` is the Bot API's name of it."""

    kind: str
    offset: int
    length: int
    url: str = ""  # of a text_link
    language: str = ""  # of a pre


@dataclasses.dataclass(frozen=True)
class Button:
    text: str
    data: str  # at most CALLBACK_BYTES


@dataclasses.dataclass(frozen=True)
class Text:
    """One message. `asks` opens the reader's keyboard for a reply to it."""

    text: str
    entities: tuple[Entity, ...] = ()
    rows: tuple[tuple[Button, ...], ...] = ()
    silent: bool = False
    asks: bool = False


@dataclasses.dataclass(frozen=True)
class Document:
    """A file with the message that it goes with."""

    name: str
    data: bytes
    caption: Text = Text("")


def units(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text.encode("utf-16-le")) // 2
