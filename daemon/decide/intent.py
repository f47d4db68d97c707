"""Finds an explicit tool intent in plain words, without a model; says nothing when unsure."""

import re

# Possessive throughout: a text of a megabyte must not cost more than one pass.
_EXPLICIT_COMMAND = re.compile(
    r"\s*+(?:(?:please\s++)?+(?:run|execute|exec)(?:\s*+:)?+\s++)?+"
    r"(?:`(?P<single>[^`\n]++)`|```(?:sh|bash|shell)?\n(?P<block>[^`]++)```)"
    r"\s*+[.!]?+\s*+(?:please[.!]?+\s*+)?+",
    re.IGNORECASE,
)


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
