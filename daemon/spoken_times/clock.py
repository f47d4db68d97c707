"""Takes the times of day out of a text; what is left says on which days.

`at 8`, `at 8pm`, `at 9:30 and 17:45`, `noon`, `8 in the evening`; and the part of the day that
stands beside a day, as in `tomorrow morning at 9`, which says which eight o'clock is meant.
"""

import datetime
import re
from dataclasses import dataclass
from typing import Literal

from daemon.spoken_times import words

Part = Literal["morning", "afternoon", "evening", "night"]

_PART = r"(?: in the (?P<part>morning|afternoon|evening))"
_HALF = r"(?: ?(?:am|pm|a\.m\.?|p\.m\.?))"
_NAMED = r"(?:noon|midday|midnight)"
_BARE = r"(?:[0-9]{1,2})"
_FULL = r"(?:[0-9]{1,2}:[0-9]{2})"
_ANY = rf"(?:{_NAMED}|{_FULL}{_HALF}?|{_BARE}(?:{_HALF}| o'?clock)?)"
_PLAIN = rf"(?:{_NAMED}|{_FULL}{_HALF}?|{_BARE}(?:{_HALF}| o'?clock))"
_AND = r"(?:, and |,? and |, ?)"
_CLAUSE = rf"(?:(?:at |@ ?)(?P<any>{_ANY}(?:{_AND}(?:at )?{_ANY})*)|(?P<plain>{_PLAIN}))"
_LAST = re.compile(rf"(?P<rest>.*?)(?:^|,? ){_CLAUSE}{_PART}?")
_FIRST = re.compile(rf"{_CLAUSE}{_PART}?,? (?P<rest>.+)")
_ONE = re.compile(
    rf"(?P<named>{_NAMED})|(?P<hour>[0-9]{{1,2}})(?::(?P<minute>[0-9]{{2}}))?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?(?P<oclock> o'?clock)?"
)
_BESIDE: tuple[tuple[re.Pattern[str], str, Part], ...] = (
    (re.compile(r"\bevery morning\b"), "every day", "morning"),
    (re.compile(r"\bevery afternoon\b"), "every day", "afternoon"),
    (re.compile(r"\bevery (?:evening|night)\b"), "every day", "evening"),
    (re.compile(r"\bthis afternoon\b"), "today", "afternoon"),
    (re.compile(r"\bthis evening\b"), "today", "evening"),
    (re.compile(r"\btonight\b"), "today", "night"),
    (re.compile(rf"\b(tomorrow|today|{words.WEEKDAY}) morning\b"), r"\1", "morning"),
    (re.compile(rf"\b(tomorrow|today|{words.WEEKDAY}) afternoon\b"), r"\1", "afternoon"),
    (re.compile(rf"\b(tomorrow|today|{words.WEEKDAY}) (?:evening|night)\b"), r"\1", "evening"),
)
_FROM: dict[Part, tuple[int, int]] = {
    "morning": (0, 12),
    "afternoon": (12, 19),
    "evening": (16, 24),
    "night": (17, 24),
}


@dataclass(frozen=True, slots=True)
class Said:
    """`rest` says the days, `times` the times of day. `part` is a part of the day that was named;
    `next_day` that the only time, midnight, ends the named day. `notes` tell how it was read."""

    rest: str
    times: tuple[datetime.time, ...]
    part: Part | None = None
    next_day: bool = False
    notes: tuple[str, ...] = ()


def take(text: str) -> Said:
    """The times of day and the rest of a text that was made alike; raises NotRead."""
    found = _LAST.fullmatch(text) or _FIRST.fullmatch(text)
    rest = text if found is None else found["rest"]
    part = None if found is None else _named_part(found["part"])
    for beside, day, named in _BESIDE:
        rest, count = beside.subn(day, rest)
        if count and part not in (None, named):
            raise words.NotRead("It names two parts of a day.")
        part = named if count else part
    rest = rest.strip(" ,")
    if found is None:
        return Said(rest, (), part)
    listed = re.split(rf"{_AND}(?:at )?", found["any"] or found["plain"])
    times: list[datetime.time] = []
    notes: list[str] = []
    for one in listed:
        time, note = _read(one, part)
        times.append(time)
        notes.extend([note] if note else [])
    if len(set(times)) < len(times):
        raise words.NotRead("It says the same time twice.")
    next_day = part == "night" and times == [datetime.time()]
    if "midnight" in listed and not next_day and not _again(rest):
        notes.append("midnight is read as 00:00, with which a day begins")
    return Said(rest, tuple(times), part, next_day, tuple(notes))


def _again(rest: str) -> bool:
    return not rest or rest.startswith(("every", "daily"))


def _named_part(name: str | None) -> Part | None:
    match name:
        case "morning" | "afternoon" | "evening":
            return name
        case _:
            return None


def _read(text: str, part: Part | None) -> tuple[datetime.time, str]:
    found = _ONE.fullmatch(text)
    if found is None:
        raise words.NotRead(f'"{text}" is no time of day.')
    if found["named"] is not None:
        return _in_part(datetime.time(0 if found["named"] == "midnight" else 12), part, text), ""
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), found["half"]
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        raise words.NotRead(f'"{text}" is no time of day.')
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    elif part in ("afternoon", "evening", "night") and 1 <= hour < 12:
        hour += 12
    time = _in_part(datetime.time(hour, minute), part, text)
    if half or part or found["minute"] or found["hour"].startswith("0") or not 1 <= hour < 12:
        return time, ""
    return time, f"{hour} is read as {hour:02}:00, in the morning; say {hour}pm for {hour + 12}:00"


def _in_part(time: datetime.time, part: Part | None, text: str) -> datetime.time:
    if part is None or (part in ("evening", "night") and text == "midnight"):
        return time
    begin, end = _FROM[part]
    if not begin <= time.hour < end or (part == "morning" and text == "midnight"):
        raise words.NotRead(f'"{text}" is not in the {part}.')
    return time
