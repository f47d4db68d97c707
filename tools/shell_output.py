"""Makes the output of a command short by its meaning, for a model that reads it.

Pure. Keeps the end of what went well; of what failed, the lines that look like errors with their
numbers, and the end. Never longer than the limit, and always says how much is left out.
"""

import re
from collections.abc import Iterator

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ERRORS = re.compile(
    r"\berr(?:or)?s?\b|(?-i:[a-z]Error\b)|\bfail(?:ed|ure|s)?\b|\bfatal\b|\bpanic"
    r"|exception\b|traceback|\bundefined\b|\bdenied\b|\bnot found\b|no such file|cannot|can't"
    r"|\bunable\b|\babort|segfault|segmentation fault|assert|\bE   |✗|✘",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"\b(?:0|no) (?:errors?|failures?|failed)\b", re.IGNORECASE)
_LINE_CHARS = 400
_MOST_ERROR_LINES = 40
_ERROR_PART = 0.6
"""The part of the limit that lines with errors may fill; the end takes the rest."""
_LEAST_FOLDED = 3
_LEFT_OUT = "… {} of {} lines left out …"


def shorten(text: str, limit_chars: int, failed: bool) -> str:
    """The text as a model should read it, at most `limit_chars` long."""
    lines = list(_folded(_drawn(text)))
    whole = "\n".join(lines)
    if len(whole) <= limit_chars:
        return whole
    errors = _errors(lines, int(limit_chars * _ERROR_PART)) if failed else []
    return _joined(lines, errors, limit_chars)


def _drawn(text: str) -> list[str]:
    """The lines as a terminal would show them at last: redrawn lines once, no escapes."""
    plain = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    shown = (_redrawn(line) for line in plain.rstrip("\n").split("\n"))
    return [_CONTROLS.sub("", line) for line in shown]


def _redrawn(line: str) -> str:
    """What is left of a line that was drawn over: its last drawing that says something."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), "")


def _folded(lines: list[str]) -> Iterator[str]:
    """Runs of the same line once, with their count."""
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and lines[end] == lines[start]:
            end += 1
        count = end - start
        if count < _LEAST_FOLDED:
            yield from lines[start:end]
        else:
            yield f"{lines[start]}  (× {count})"
        start = end


def _errors(lines: list[str], room: int) -> list[int]:
    """The places of the lines that look like errors, the first ones first, within the room."""
    found: list[int] = []
    for place, line in enumerate(lines):
        if not _ERRORS.search(_HARMLESS.sub("", line)):
            continue
        room -= len(_numbered(place, line)) + 1
        if room < 0 or len(found) == _MOST_ERROR_LINES:
            break
        found.append(place)
    return found


def _numbered(place: int, line: str) -> str:
    return f"{place + 1}: {_clipped(line)}"


def _clipped(line: str) -> str:
    if len(line) <= _LINE_CHARS:
        return line
    return f"{line[:_LINE_CHARS]}… ({len(line) - _LINE_CHARS} more characters)"


def _joined(lines: list[str], errors: list[int], limit_chars: int) -> str:
    """The errors with their numbers, what is left out, and as much of the end as fits."""
    head = [_numbered(place, lines[place]) for place in errors]
    widest = len(_LEFT_OUT.format(len(lines), len(lines))) + 1
    room = limit_chars - sum(len(line) + 1 for line in head) - widest
    start = len(lines)
    tail: list[str] = []
    while start > 0 and len(clipped := _clipped(lines[start - 1])) + 1 <= room:
        room -= len(clipped) + 1
        tail.insert(0, clipped)
        start -= 1
    head = [line for place, line in zip(errors, head, strict=True) if place < start]
    hidden = start - len(head)
    if not tail and not head:
        return _cut(lines[-1], limit_chars)
    left_out = [_LEFT_OUT.format(hidden, len(lines))] if hidden else []
    return "\n".join([*head, *left_out, *tail])


def _cut(line: str, limit_chars: int) -> str:
    """One line that is longer than all the room: its end."""
    for kept in range(limit_chars, -1, -1):
        said = f"… {len(line) - kept} characters left out …"
        if len(said) + kept <= limit_chars:
            return said + (line[-kept:] if kept else "")
    return line[-limit_chars:] if limit_chars > 0 else ""
