"""Single days and spans of time: `tomorrow`, `next friday`, `5 January 2027`, `in 20 minutes`.

The library counts; what it may be asked is told here, as few shapes. It gets the whole of a text
and must have used all of it, and what the text names (a day of the month, a day of the week) must
be in what comes out.
"""

import datetime
import functools
import importlib
import re
from dataclasses import dataclass
from typing import Protocol

from daemon.decide import calendar
from daemon.domain import schedules
from daemon.spoken_times import words

_UNIT = (
    r"(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w|months?|years?)(?![a-z])"
)
_COUNT = r"(?:[0-9]{1,4}(?:\.[0-9])?)"
_SPAN = rf"{_COUNT} ?{_UNIT}(?:(?:,| and|, and)? ?[0-9]{{1,4}} ?{_UNIT})?"
_IN = re.compile(rf"in (?P<span>{_SPAN})|(?P<later>{_SPAN}) from now")
_AFTER_TOMORROW = re.compile(rf"(?:in )?(?P<span>{_COUNT} (?:days?|weeks?)) from tomorrow")
_CLOCK_UNIT = re.compile(r"(?<![a-z])(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)(?![a-z])")
_DAY = re.compile(r"today|tomorrow")
_WEEKDAY = re.compile(rf"(?:on )?(?:(?P<which>this|next) )?(?P<name>{words.WEEKDAY})")
_ISO = re.compile(r"(?:on |at )?(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})")
_DOTTED = re.compile(r"(?:on )?(?P<day>[0-9]{1,2})\.(?P<month>[0-9]{1,2})\.(?P<year>[0-9]{4})")
_NTH = r"(?P<{}>[0-9]{{1,2}})(?:st|nd|rd|th)?"
_NAMED = re.compile(
    rf"(?:on )?(?:(?P<weekday>{words.WEEKDAY}),? )?(?:the )?"
    rf"(?:(?P<month>{words.MONTH}) (?:the )?{_NTH.format('day')}"
    rf"|{_NTH.format('first')} (?:of )?(?P<second>{words.MONTH}))"
    r"(?:,? (?P<year>[0-9]{4}))?"
)
_PART = re.compile(r"([0-9.]+) ?([a-z]+)")
_UNITS = {
    short: unit
    for unit in ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
    for short in (unit[0], unit[:3])
    if (short, unit) != ("m", "months")
} | {"hr": "hours", "hrs": "hours"}
"""By what each of their spellings begins with."""


class _Library(Protocol):
    """What is used of it. Each find: when, how exact, from where to where, and its text."""

    def nlp(
        self, inputString: str, sourceTime: datetime.datetime
    ) -> tuple[tuple[datetime.datetime, object, int, int, str], ...] | None: ...


@dataclass(frozen=True, slots=True)
class After:
    """So much later: a moment where hours and minutes are counted, else a day and its clock."""

    wall: datetime.datetime
    again: bool
    counts_days: bool


@dataclass(frozen=True, slots=True)
class Day:
    """A single day. `is_today_named` when its weekday's name is today's; `notes` tell more."""

    day: datetime.date
    is_today_named: bool = False
    notes: tuple[str, ...] = ()


def read(text: str, now_ms: int, zone: datetime.tzinfo) -> After | Day | None:
    """What the text names, all of it; None where it has no shape that is known here.

    Raises NotRead for a day that is none.
    """
    now = calendar.local(now_ms, zone).replace(fold=0)
    if (found := _IN.fullmatch(text)) is not None:
        return _after(found["span"] or found["later"], now_ms, zone)
    if _DAY.fullmatch(text) is not None:
        return Day(_counted(text, now).date())
    if (found := _AFTER_TOMORROW.fullmatch(text)) is not None:
        return Day(_counted(f"{found['span']} from tomorrow", now).date())
    if (found := _WEEKDAY.fullmatch(text)) is not None:
        return _weekday(found, now)
    if (found := _ISO.fullmatch(text) or _DOTTED.fullmatch(text)) is not None:
        return _numbered(found)
    if (found := _NAMED.fullmatch(text)) is not None:
        return _named(found, now)
    return None


def _after(span: str, now_ms: int, zone: datetime.tzinfo) -> After:
    counts_days = _CLOCK_UNIT.search(span) is None
    parts = [f"{found[1]} {_UNITS[found[2][:3]]}" for found in _PART.finditer(span)]
    span = " ".join(parts)
    if counts_days and "." in span:
        raise words.NotRead("Whole days, weeks, months and years.")
    begin_ms = -(-now_ms // 1000) * 1000
    if counts_days:
        wall = _counted(f"in {span}", calendar.local(begin_ms, zone).replace(fold=0))
        return After(wall, again=False, counts_days=True)
    utc = _counted(f"in {span}", calendar.local(begin_ms, datetime.UTC))
    shown = calendar.local(calendar.moment(utc, datetime.UTC), zone)
    return After(shown.replace(fold=0), again=bool(shown.fold), counts_days=False)


def _weekday(found: re.Match[str], now: datetime.datetime) -> Day:
    name, which = words.weekday_name(words.weekday(found["name"])), found["which"]
    day = _counted(f"{which} {name}" if which else name, now).date()
    if day.weekday() != words.weekday(name):
        raise words.NotRead(f"It is not clear which {name.capitalize()} is meant.")
    if which == "next":
        told = f'"next {name}" is read as the one of next week'
        return Day(day, notes=(told,))
    return Day(day, is_today_named=which is None and now.weekday() == day.weekday())


def _numbered(found: re.Match[str]) -> Day:
    try:
        return Day(datetime.date(int(found["year"]), int(found["month"]), int(found["day"])))
    except ValueError:
        raise words.NotRead("There is no such day.") from None


def _named(found: re.Match[str], now: datetime.datetime) -> Day:
    month, number = found["month"] or found["second"], int(found["day"] or found["first"])
    year = f" {found['year']}" if found["year"] else ""
    day = _counted(f"{words.month_name(words.month(month))} {number}{year}", now).date()
    if (day.month, day.day) != (words.month(month), number):
        raise words.NotRead("There is no such day.")
    if found["year"] and day.year != int(found["year"]):
        raise words.NotRead("There is no such day.")
    if found["weekday"] and day.weekday() != words.weekday(found["weekday"]):
        is_one = words.weekday_name(schedules.Weekday(day.weekday())).capitalize()
        raise words.NotRead(f"{day.isoformat()} is a {is_one}.")
    return Day(day)


def _counted(text: str, now: datetime.datetime) -> datetime.datetime:
    """What the library makes of it, if it used the whole and knows what it says."""
    try:
        finds = _library().nlp(text, sourceTime=now)
    except (ValueError, OverflowError):
        finds = None
    if finds is None or len(finds) != 1:
        raise words.NotRead(f'"{text}" was not understood.')
    wall, context, begin, end, _ = finds[0]
    if (begin, end) != (0, len(text)) or not getattr(context, "accuracy", 0):
        raise words.NotRead(f'"{text}" is no day or time that there is.')
    return wall.replace(microsecond=0)


@functools.cache
def _library() -> _Library:
    """Loaded with the first words; with its own English, whatever the machine speaks."""
    loaded = importlib.import_module("parsedatetime")
    constants = loaded.Constants("en_US", usePyICU=False)
    library: _Library = loaded.Calendar(constants, version=loaded.VERSION_CONTEXT_STYLE)
    return library
