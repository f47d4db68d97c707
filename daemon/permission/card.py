"""What a human must see before saying yes: every byte, with nothing that can hide or mislead.

Characters that show nothing, reorder others or stand for unusual spaces are written as `\\u{HEX}`;
a text that already holds `\\u{` has that backslash written as `\\u{5c}`, so the shown form decodes
to exactly one text. Line breaks stay; sizes are said when there is more than one line.
"""

from daemon.permission import deception
from tools import contract

_PLAIN = frozenset(" \n")


def visible(text: str) -> str:
    """The text with everything invisible spelled out."""
    if text.isascii() and text.replace("\n", "").isprintable() and "\\u{" not in text:
        return text
    return "".join(_spell(text, index) for index in range(len(text)))


def _spell(text: str, index: int) -> str:
    character = text[index]
    if character in _PLAIN:
        return character
    if character == "\\" and text.startswith("\\u{", index):
        return "\\u{5c}"
    tab = character == "\t"
    if tab or deception.is_hidden(character) or deception.is_odd_space(character):
        return f"\\u{{{ord(character):x}}}"
    return character


def render(tool: str, shown: tuple[tuple[str, str], ...]) -> str:
    """The card's text: the tool, then each labelled fact from the inspection."""
    lines = [tool]
    for label, text in shown:
        body = visible(text)
        if "\n" not in body:
            lines.append(f"{label}: {body}")
            continue
        count = text.count("\n") + 1
        lines.append(f"{label} ({len(text.encode())} bytes, {count} lines):")
        lines.append(body)
    return "\n".join(lines)


LONG_CHARS = 3000
"""Beyond it a chat shows only the beginning and the end, so "always" is not offered."""


def is_long(text: str) -> bool:
    """Whether a card is too long to be read whole in a chat."""
    return len(text) > LONG_CHARS


def of(spec: contract.ToolSpec, facts: contract.Facts) -> str:
    """The card of an inspected call. Made from its facts, never from what a model said of it."""
    return render(spec.name, facts.shown)
