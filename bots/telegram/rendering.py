"""Markdown and plain text as Telegram messages: text with entities, split where it may be.

Answers for: that nothing of a text is lost, that a message is never longer than Telegram takes,
that code blocks stay whole where they fit, and that no foreign text becomes a mention, a command
or a button: what Telegram would make one of stands in a `code` entity, so that its characters stay
as they are.
"""

import bisect
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
_WORD: typing.Final = r"[^\s,;:!?()<>\[\]\"'`]*"
_ADDRESS: typing.Final = (
    r"(?<!\w)(?i:https?://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?(?:[/?#][a-z0-9\-._~%/?=&+:#@]*)?)"
)
# What Telegram makes a mention, a hashtag, a cashtag or a command of. It makes them of what stands
# behind any sign that is no letter; a web address stays one, with all that belongs to it.
_LIVE: typing.Final = re.compile(
    rf"(?P<address>{_ADDRESS})"
    rf"|(?:(?<!\w)(?:@\w|#\d*[^\W\d]|\$[A-Z])|(?<![\w/<>])/\w){_WORD}"
)
# More lists and quotes in each other on one line than anybody writes: they take very long to read.
_NESTED: typing.Final = re.compile(
    r"^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+|>[ \t]*){12}", re.MULTILINE
)
_DOLLARS: typing.Final = re.compile(r"\$\$[^$]*\$\$|\$[^$\n]*\$|\$")
_PRIVATE: typing.Final = range(0xE000, 0xF900)
_BLANK: typing.Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters that show nothing
_JOINERS: typing.Final = frozenset("\u200d\ufe0f\ufe0e\u20e3")
_MOST_ENTITIES: typing.Final = 100
_MARKS: typing.Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>=&:^])")
_FENCES: typing.Final = re.compile("`+")


def markdown(source: str) -> outgoing.Text:
    """A model's text as one message of any length; as it is, where it cannot be read."""
    if _NESTED.search(source):
        return plain(source)
    try:
        held, less, dollar = _held(source)
        text, found = telegramify_markdown.convert(held, latex_escape=False, config=_config())
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError):
        return plain(source)
    again = str.maketrans({less: "<", dollar: "$"})
    text = text.translate(again)
    entities = [
        outgoing.Entity(
            one.type,
            one.offset,
            one.length,
            (one.url or "").translate(again),
            (one.language or "").translate(again),
        )
        for one in found
        if one.type in _KINDS and (one.type != "text_link" or _may_lead(one.url))
    ]
    borders = set(Offsets(text).units)
    is_sound = all(
        one.length > 0 and {one.offset, one.offset + one.length} <= borders for one in entities
    )
    if not is_sound or (shows(source) and not shows(text)):
        return plain(source)
    return inert(outgoing.Text(text, tuple(entities)))


def _held(source: str) -> tuple[str, str, str]:
    """The source with other characters for what would be read as HTML or mathematics and be lost,
    and those characters. Dollars stay where a backslash between them says that it is mathematics.
    """
    free = (chr(number) for number in _PRIVATE if chr(number) not in source)
    less, dollar = next(free, ""), next(free, "")
    if not dollar:
        raise ValueError("no character is free")

    def hold(match: re.Match[str]) -> str:
        return match[0] if "\\" in match[0] else match[0].replace("$", dollar)

    return _DOLLARS.sub(hold, source).replace("<", less), less, dollar


def _config() -> RenderConfig:
    config = RenderConfig.isolated()
    symbols = config.markdown_symbol
    for level in range(1, 7):
        setattr(symbols, f"heading_level_{level}", "")
    config.cite_expandable = False
    return config


def _may_lead(url: str | None) -> bool:
    return bool(url) and str(url).lower().startswith(_LINKS)


def escaped(text: str) -> str:
    """A line as Markdown that says just that, with no mark in it."""
    return _MARKS.sub(r"\\\1", text).replace("$", "&#36;")


def fenced(text: str) -> str:
    """Lines as Markdown that shows them as they are, in a block of code."""
    longest = max((len(one) for one in _FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def shows(text: str) -> bool:
    """Whether anything of it can be seen: Telegram takes no message of nothing else."""
    return any(unicodedata.category(one)[0] not in "CZM" and one not in _BLANK for one in text)


def plain(text: str) -> outgoing.Text:
    """A text as it is, with nothing in it alive."""
    return inert(outgoing.Text(text))


def inert(given: outgoing.Text) -> outgoing.Text:
    """The same text, with what Telegram would make live of it in code."""
    offsets = Offsets(given.text).units
    codes = sorted(
        (one for one in given.entities if one.kind in ("code", "pre")), key=lambda one: one.offset
    )
    found: list[outgoing.Entity] = []
    for live in _LIVE.finditer(given.text):
        if live["address"] is None:
            start, end = offsets[live.start()], offsets[live.end()]
            found += _without(outgoing.Entity("code", start, end - start), codes)
    if not found:
        return given
    kept: list[outgoing.Entity] = []
    for entity in given.entities:
        kept += _without(entity, found) if entity.kind in _STYLES else [entity]
    return dataclasses.replace(given, entities=_sorted([*kept, *found]))


def _sorted(entities: Iterable[outgoing.Entity]) -> tuple[outgoing.Entity, ...]:
    return tuple(sorted(entities, key=lambda one: (one.offset, -one.length)))


def _without(entity: outgoing.Entity, codes: Sequence[outgoing.Entity]) -> list[outgoing.Entity]:
    """What of a mark lies beside pieces of code, which are in order and have no other mark."""
    at, end = entity.offset, entity.offset + entity.length
    left: list[tuple[int, int]] = []
    first = bisect.bisect_right(codes, at, key=lambda one: one.offset + one.length)
    for code in codes[first:]:
        if code.offset >= end:
            break
        left.append((at, code.offset))
        at = code.offset + code.length
    left.append((at, end))
    return [
        dataclasses.replace(entity, offset=begin, length=stop - begin)
        for begin, stop in left
        if begin < stop
    ]


def _overlap(one: outgoing.Entity, start: int, end: int) -> bool:
    return one.offset < end and start < one.offset + one.length


def _capped(entities: Sequence[outgoing.Entity]) -> tuple[outgoing.Entity, ...]:
    """As many marks as Telegram takes. It passes over further ones, so those go that keep nothing
    inert, and if that is not enough, pieces of code become one with what is between them."""
    codes = [one for one in entities if one.kind in ("code", "pre")]
    if len(codes) <= _MOST_ENTITIES:
        others = [one for one in entities if one.kind not in ("code", "pre")]
        return _sorted([*codes, *others[: _MOST_ENTITIES - len(codes)]])
    while len(codes) > _MOST_ENTITIES:
        pairs = [codes[at : at + 2] for at in range(0, len(codes), 2)]
        codes = [
            outgoing.Entity("code", one[0].offset, one[-1].offset + one[-1].length - one[0].offset)
            for one in pairs
        ]
    return tuple(codes)


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
    half = start + (hard - start) // 2
    for mark in ("\n\n", "\n", ". ", " "):
        at = _behind(text, mark, half, hard, blocks)
        if at > start:
            return at
    behind = [ends for _, ends in blocks if half < ends <= hard]
    return max(behind, default=0) or _grapheme(text, start, hard)


def _behind(text: str, mark: str, first: int, last: int, blocks: Sequence[tuple[int, int]]) -> int:
    """Behind the last such mark within these bounds and no code block; 0 where there is none."""
    at = text.rfind(mark, first, last)
    while at >= 0:
        end = at + len(mark)
        block = next((block for block in blocks if block[0] < end < block[1]), None)
        if block is None:
            return end
        at = text.rfind(mark, first, block[0])
    return 0


def _grapheme(text: str, start: int, end: int) -> int:
    """The last border before `end` at which no character is torn from what it is made of."""
    for at in range(end, max(start, end - 64), -1):
        if at < len(text) and not _belongs(text, at):
            return at
    return end


def _belongs(text: str, at: int) -> bool:
    """Whether the character there is one sign with what stands before it."""
    before, after = text[at - 1], text[at]
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after)[0] == "M":
        return True
    if 0x1F3FB <= ord(after) <= 0x1F3FF or 0xE0020 <= ord(after) <= 0xE007F:
        return True
    flags = 0  # letters of flags before it: two make one
    while flags < at and 0x1F1E6 <= ord(text[at - 1 - flags]) <= 0x1F1FF:
        flags += 1
    return bool(flags % 2) and 0x1F1E6 <= ord(after) <= 0x1F1FF


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
    return outgoing.Text(given.text[first:last], _capped(entities), silent=given.silent)


def tail(given: outgoing.Text, limit: int) -> outgoing.Text:
    """The last part of a text that fits."""
    offsets = Offsets(given.text).units
    if offsets[-1] <= limit:
        return dataclasses.replace(given, entities=_capped(given.entities))
    first = next(at for at, units in enumerate(offsets) if offsets[-1] - units <= limit - 1)
    newline = given.text.find("\n", first, first + 200)
    if 0 <= newline < len(given.text) - 1:
        first = newline + 1
    while first < len(given.text) - 1 and _belongs(given.text, first):
        first += 1
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
