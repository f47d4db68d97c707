"""What changes in a text, line by line, for a person to read. Pure; bounded in time and size."""

import difflib
import re

MOST_BYTES = 64 * 1024
"""Of what lies between the first and the last line that differ."""
MOST_LINES = 1000
CONTEXT_LINES = 3
_WHOLE_BYTES = 4 * 1024 * 1024
_RANGES = re.compile(r"@@ -(\d+)(.*) \+(\d+)(.*) @@\n")


def between(old: bytes, new: str) -> str | None:
    """The unified diff; None when the old is no text, much lies between the first and the last
    change, or nothing differs.

    A line without its newline is followed by a line that says so.
    """
    if max(len(old), len(new.encode())) > _WHOLE_BYTES or b"\0" in old:
        return None
    try:
        before, after = _lines(old.decode()), _lines(new)
    except UnicodeDecodeError:
        return None
    first, behind = _alike(before, after)
    before, after = before[first : len(before) - behind], after[first : len(after) - behind]
    for lines in (before, after):
        if len(lines) > MOST_LINES or len("".join(lines).encode()) > MOST_BYTES:
            return None
    diff = difflib.unified_diff(before, after, "before", "after", n=CONTEXT_LINES)
    told = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at the end\n"
        for line in (_moved(line, first) for line in diff)
    )
    return told or None


def _alike(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at the beginning and at the end need no look: alike, less what is context."""
    most = min(len(before), len(after))
    first = next((n for n in range(most) if before[n] != after[n]), most)
    behind = next((n for n in range(most - first) if before[-1 - n] != after[-1 - n]), most - first)
    return max(0, first - CONTEXT_LINES), max(0, behind - CONTEXT_LINES)


def _moved(line: str, by: int) -> str:
    """A line of the diff, with the ranges counted from the beginning of the whole."""
    found = _RANGES.fullmatch(line) if line.startswith("@@ ") else None
    if found is None:
        return line
    old, old_size, new, new_size = found.groups()
    return f"@@ -{int(old) + by}{old_size} +{int(new) + by}{new_size} @@\n"


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a newline ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
