"""What changes in a text, line by line, for a person to read. Pure; bounded in time and size."""

import difflib

MOST_BYTES = 64 * 1024
MOST_LINES = 1000
CONTEXT_LINES = 3


def between(old: bytes, new: str) -> str | None:
    """The unified diff; None when the old is no text, either is long, or nothing differs.

    A line without its newline is followed by a line that says so.
    """
    if len(old) > MOST_BYTES or len(new.encode()) > MOST_BYTES or b"\0" in old:
        return None
    try:
        before, after = _lines(old.decode()), _lines(new)
    except UnicodeDecodeError:
        return None
    if max(len(before), len(after)) > MOST_LINES:
        return None
    diff = difflib.unified_diff(before, after, "before", "after", n=CONTEXT_LINES)
    told = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at the end\n" for line in diff
    )
    return told or None


def _lines(text: str) -> list[str]:
    """Lines with their ends; only a newline ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
