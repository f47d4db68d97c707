"""Finds an explicit tool intent in plain words, without a model; says nothing when unsure."""

import re

# Possessive throughout: a text of a megabyte must not cost more than one pass.
_EXPLICIT_COMMAND = re.compile(
    r"\s*+(?:(?:please\s++)?+(?:run|execute|exec)(?:\s*+:)?+\s++)?+"
    r"(?:`(?P<single>[^`\n]++)`|```(?:sh|bash|shell)?\n(?P<block>[^`]++)```)"
    r"\s*+[.!]?+\s*+(?:please[.!]?+\s*+)?+",
    re.IGNORECASE,
)


_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\^{}]{1,2000}+", re.IGNORECASE)
_SENTENCE_ENDS = ".,;:!?)]"
_MOST_ADDRESSES = 8


def addresses(text: str) -> tuple[str, ...]:
    """The web addresses that a message names, as written and with the path that all have."""
    found: dict[str, None] = {}
    for match in _ADDRESS.finditer(text):
        if len(found) >= 2 * _MOST_ADDRESSES:
            break
        address = match[0].rstrip(_SENTENCE_ENDS)
        found[address] = None
        if address.count("/") == 2:
            found[f"{address}/"] = None
    return tuple(found)


def explicit_command(text: str) -> str | None:
    """The shell command that the whole text asks for, or None.

    Only a text that is nothing but a command in backticks, with or without "run" before it, counts:
    a command quoted inside a sentence may be what the person asks about.
    """
    found = _EXPLICIT_COMMAND.fullmatch(text)
    if found is None:
        return None
    command = (found["single"] or found["block"] or "").strip()
    return command or None
