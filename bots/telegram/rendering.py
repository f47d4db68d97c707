"""Markdown and plain text as Telegram messages: text with entities, split where it may be.

Answers for: that a message is never longer than Telegram takes, that code blocks stay whole where
they fit, and that no foreign text becomes a mention, a command or a button: what Telegram would
make one of stands in a `code` entity, so that its characters stay as they are.
"""

import dataclasses
import re
import typing
import unicodedata
from collections.abc import Iterable, Sequence

import telegramify_markdown
from telegramify_markdown.config import RenderConfig

from bots.telegram import outgoing

_KINDS: typing.Final = frozenset(
    {
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "blockquote",
        "expandable_blockquote",
        "code",
        "pre",
        "text_link",
    }
)
_STYLES: typing.Final = _KINDS - {"blockquote", "expandable_blockquote", "code", "pre"}
_LINKS: typing.Final = ("http://", "https://", "mailto:")
# What Telegram makes a mention, a command, a hashtag or a cashtag of.
_LIVE: typing.Final = re.compile(r"(?<![\w@/#$&])[@/#$]\w[^\s,;:!?()<>\[\]\"'`]*")
_JOINERS: typing.Final = frozenset("\u200d\ufe0f\ufe0e\u20e3")
_MOST_ENTITIES: typing.Final = 100


def markdown(source: str) -> outgoing.Text:
    """A model's text as one message of any length; as it is, where it cannot be read."""
    try:
        text, found = telegramify_markdown.convert(source, latex_escape=False, config=_config())
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return plain(source)
    entities = [
        outgoing.Entity(one.type, one.offset, one.length, one.url or "", one.language or "")
        for one in found
        if one.type in _KINDS and (one.type != "text_link" or _may_lead(one.url))
    ]
    total = outgoing.units(text)
    if any(
        one.offset < 0 or one.length <= 0 or one.offset + one.length > total for one in entities
    ):
        return plain(source)
    return inert(outgoing.Text(text, tuple(entities)))


def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    symbols = config.markdown_symbol
    for level in range(1, 7):
        setattr(symbols, f"heading_level_{level}", "")
    config.cite_expandable = False
    return config


def _may_lead(url: str | None) -> bool:
    return bool(url) and str(url).lower().startswith(_LINKS)


def plain(text: str) -> outgoing.Text:
    """A text as it is, with nothing in it alive."""
    return inert(outgoing.Text(text))


def inert(given: outgoing.Text) -> outgoing.Text:
    """The same text, with what Telegram would make live of it in code."""
    offsets = Offsets(given.text)
    codes = [one for one in given.entities if one.kind in ("code", "pre")]
    found: list[outgoing.Entity] = []
    for live in _LIVE.finditer(given.text):
        start, end = offsets.units[live.start()], offsets.units[live.end()]
        if not any(_overlap(one, start, end) for one in codes):
            found.append(outgoing.Entity("code", start, end - start))
    if not found:
        return given
    kept: list[outgoing.Entity] = []
    for entity in given.entities:
        kept += _without(entity, found) if entity.kind in _STYLES else [entity]
    whole = sorted([*kept, *found], key=lambda one: (one.offset, -one.length))
    return dataclasses.replace(given, entities=tuple(whole))


def _overlap(one: outgoing.Entity, start: int, end: int) -> bool:
    return one.offset < end and start < one.offset + one.length


def _without(entity: outgoing.Entity, cut: Iterable[outgoing.Entity]) -> list[outgoing.Entity]:
    """What of a style lies beside pieces of code, which take no style."""
    left = [(entity.offset, entity.offset + entity.length)]
    for one in cut:
        start, end = one.offset, one.offset + one.length
        left = [
            piece
            for first, last in left
            for piece in ((first, min(last, start)), (max(first, end), last))
            if piece[0] < piece[1]
        ]
    return [dataclasses.replace(entity, offset=first, length=last - first) for first, last in left]


class Offsets:
    """Where each character of a text begins, in UTF-16 units; `units` has one more at its end."""

    def __init__(self, text: str) -> None:
        self.units = [0]
        total = 0
        for character in text:
            total += 2 if ord(character) > 0xFFFF else 1
            self.units.append(total)


def split(given: outgoing.Text, limit: int = outgoing.TEXT_UNITS) -> tuple[outgoing.Text, ...]:
    """The text as messages of at most so many units, in order; none for a text of nothing."""
    text, offsets = given.text, Offsets(given.text).units
    blocks = _blocks(given, offsets)
    parts: list[outgoing.Text] = []
    start = 0
    while start < len(text):
        end = _end(text, offsets, blocks, start, limit)
        first, last = _trimmed(text, start, end, blocks)
        if text[first:last].strip():
            parts.append(_part(given, offsets, first, last))
        start = end
    if parts:
        parts[-1] = dataclasses.replace(parts[-1], rows=given.rows, asks=given.asks)
    return tuple(parts)


def _blocks(given: outgoing.Text, offsets: Sequence[int]) -> list[tuple[int, int]]:
    """The code blocks, as indices of characters."""
    places = {units: index for index, units in enumerate(offsets)}
    return [
        (places[one.offset], places[one.offset + one.length])
        for one in given.entities
        if one.kind == "pre" and one.offset in places and one.offset + one.length in places
    ]


def _end(
    text: str,
    offsets: Sequence[int],
    blocks: Sequence[tuple[int, int]],
    start: int,
    limit: int,
) -> int:
    """Where the message that begins there ends."""
    if offsets[-1] - offsets[start] <= limit:
        return len(text)
    hard = start
    while offsets[hard + 1] - offsets[start] <= limit:
        hard += 1
    inside = next((block for block in blocks if block[0] < hard < block[1]), None)
    if inside is not None:
        begins, ends = inside
        if begins > start and offsets[ends] - offsets[begins] <= limit:
            return begins
        newline = text.rfind("\n", max(start, begins) + 1, hard)
        return newline + 1 if newline > 0 else _grapheme(text, start, hard)
    for mark in ("\n\n", "\n", ". ", " "):
        at = text.rfind(mark, start + (hard - start) // 2, hard)
        if at > start:
            return at + len(mark)
    return _grapheme(text, start, hard)


def _grapheme(text: str, start: int, end: int) -> int:
    """The last border before `end` at which no character is torn from what it is made of."""
    for at in range(end, max(start, end - 64), -1):
        if at < len(text) and not _belongs(text[at - 1], text[at]):
            return at
    return end


def _belongs(before: str, after: str) -> bool:
    if after in _JOINERS or before == "\u200d" or unicodedata.combining(after):
        return True
    if 0x1F3FB <= ord(after) <= 0x1F3FF:
        return True
    return all(0x1F1E6 <= ord(one) <= 0x1F1FF for one in (before, after))


def _trimmed(text: str, start: int, end: int, blocks: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """A part without the blank at its ends, which Telegram would drop; code keeps its own."""
    while start < end and text[start] in "\n " and not _within(start, blocks):
        start += 1
    while end > start and text[end - 1] in "\n " and not _within(end - 1, blocks):
        end -= 1
    while start < end and text[start] == "\n":
        start += 1
    while end > start and text[end - 1] == "\n":
        end -= 1
    return start, end


def _within(at: int, blocks: Sequence[tuple[int, int]]) -> bool:
    return any(first <= at < last for first, last in blocks)


def _part(given: outgoing.Text, offsets: Sequence[int], first: int, last: int) -> outgoing.Text:
    begin, stop = offsets[first], offsets[last]
    entities = [
        dataclasses.replace(
            one,
            offset=max(one.offset, begin) - begin,
            length=min(one.offset + one.length, stop) - max(one.offset, begin),
        )
        for one in given.entities
        if _overlap(one, begin, stop)
    ]
    return outgoing.Text(
        given.text[first:last], tuple(entities[:_MOST_ENTITIES]), silent=given.silent
    )


def tail(given: outgoing.Text, limit: int) -> outgoing.Text:
    """The last part of a text that fits."""
    offsets = Offsets(given.text).units
    if offsets[-1] <= limit:
        return given
    first = next(at for at, units in enumerate(offsets) if offsets[-1] - units <= limit - 1)
    newline = given.text.find("\n", first, first + 200)
    first = newline + 1 if newline > 0 else first
    rest = _part(given, offsets, first, len(given.text))
    return joined([outgoing.Text("…"), rest], "")


def joined(parts: Sequence[outgoing.Text], between: str = "\n\n") -> outgoing.Text:
    """Texts as one, in order; those of nothing are left out."""
    text, entities = "", list[outgoing.Entity]()
    for part in parts:
        if not part.text:
            continue
        text += between if text else ""
        at = outgoing.units(text)
        entities += [dataclasses.replace(one, offset=one.offset + at) for one in part.entities]
        text += part.text
    return outgoing.Text(text, tuple(entities))


def marked(text: str, kind: str, language: str = "") -> outgoing.Text:
    """A text that is marked as a whole."""
    if not text:
        return outgoing.Text("")
    entity = outgoing.Entity(kind, 0, outgoing.units(text), language=language)
    return outgoing.Text(text, (entity,))


def quoted(given: outgoing.Text) -> outgoing.Text:
    """A text in a quote that opens with a touch."""
    if not given.text:
        return given
    quote = outgoing.Entity("expandable_blockquote", 0, outgoing.units(given.text))
    kept = tuple(one for one in given.entities if "blockquote" not in one.kind)
    kept = tuple(
        one if one.kind != "pre" else dataclasses.replace(one, kind="code") for one in kept
    )
    return dataclasses.replace(given, entities=(quote, *kept))
