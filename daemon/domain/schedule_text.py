"""The one text of each rule of a schedule, complete in itself: reading it gives the rule again.

People may leave out what follows from the moment at which they write, and say it in other words;
that is read by `daemon.spoken_times`, which tries these forms first.
"""

import datetime
import re
from typing import assert_never

import pydantic

from daemon.domain import schedules

_STAMP = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIMES = r"[0-9]{2}:[0-9]{2}(?:,[0-9]{2}:[0-9]{2})*"
_WEEKDAYS = r"[a-z]{3}(?:,[a-z]{3})*"

_ONCE = re.compile(rf"at (?P<at>{_STAMP}(?::[0-9]{{2}})?)(?P<again> again)?")
_EVERY = re.compile(rf"every (?P<count>[0-9]{{1,6}})(?P<unit>[mh]) from (?P<anchor>{_STAMP})")
_DAILY = re.compile(
    rf"every (?:day|(?P<days>[0-9]{{1,3}})d) at (?P<times>{_TIMES})(?: from (?P<since>{_DAY}))?"
)
_WEEKLY = re.compile(
    rf"every (?:(?P<weeks>[0-9]{{1,2}})w on )?(?P<weekdays>{_WEEKDAYS}) at (?P<times>{_TIMES})"
    rf"(?: from (?P<since>{_DAY}))?"
)
_CRON = re.compile(r"[0-9*,/-]+ [0-9*,/-]+(?: [0-9A-Za-z*,/#-]+){3}")


def written(spec: schedules.Spec) -> str:
    """The rule's own text, such as `every 2h from 2026-12-02 10:37`."""
    match spec:
        case schedules.Once():
            return f"at {_stamp(spec.at)}" + (" again" if spec.again else "")
        case schedules.Every():
            hours, rest = divmod(spec.minutes, 60)
            period = f"{spec.minutes}m" if rest else f"{hours}h"
            return f"every {period} from {_stamp(spec.anchor)}"
        case schedules.Daily():
            days = "day" if spec.since is None else f"{spec.days}d"
            return f"every {days} at {_clock(spec.times)}{_from(spec.since)}"
        case schedules.Weekly():
            weeks = "" if spec.since is None else f"{spec.weeks}w on "
            names = ",".join(day.name.lower() for day in spec.weekdays)
            return f"every {weeks}{names} at {_clock(spec.times)}{_from(spec.since)}"
        case schedules.Cron():
            return spec.fields
        case _:
            assert_never(spec)


def parse(text: str) -> schedules.Spec | None:
    """The rule that the text is of; None where it has no such form, or not all of it.

    Raises ValueError, with words, where the form is there and what it says cannot be.
    """
    try:
        return _parse(text)
    except pydantic.ValidationError as fault:
        raise ValueError(in_words(fault)) from None


def in_words(fault: pydantic.ValidationError) -> str:
    """Why a rule cannot be, for people."""
    first = fault.errors()[0]
    place = " ".join(str(part) for part in first["loc"])
    match first["type"]:
        case "greater_than_equal":
            return f"{place}: at least {first['ctx']['ge']}"
        case "less_than_equal":
            return f"{place}: at most {first['ctx']['le']}"
        case "value_error":
            return str(first["ctx"]["error"])
        case _:
            return f"{place}: {first['msg']}"


def _parse(text: str) -> schedules.Spec | None:
    if (found := _ONCE.fullmatch(text)) is not None:
        return schedules.Once(at=_read_stamp(found["at"]), again=found["again"] is not None)
    if (found := _EVERY.fullmatch(text)) is not None:
        minutes = int(found["count"]) * (60 if found["unit"] == "h" else 1)
        return schedules.Every(minutes=minutes, anchor=_read_stamp(found["anchor"]))
    if (found := _DAILY.fullmatch(text)) is not None:
        if found["since"] is None and int(found["days"] or 1) > 1:
            return None
        return schedules.Daily(
            days=int(found["days"] or 1), times=_read_clock(found["times"]), since=_read_day(found)
        )
    if (found := _WEEKLY.fullmatch(text)) is not None:
        weekdays = _read_weekdays(found["weekdays"])
        if weekdays is None or (found["since"] is None and int(found["weeks"] or 1) > 1):
            return None
        return schedules.Weekly(
            weeks=int(found["weeks"] or 1),
            weekdays=weekdays,
            times=_read_clock(found["times"]),
            since=_read_day(found),
        )
    if _CRON.fullmatch(text) is not None:
        return schedules.Cron(fields=text)
    return None


def _stamp(moment: datetime.datetime) -> str:
    return moment.isoformat(" ", "seconds" if moment.second else "minutes")


def _clock(times: tuple[datetime.time, ...]) -> str:
    return ",".join(time.isoformat("minutes") for time in times)


def _from(since: datetime.date | None) -> str:
    return "" if since is None else f" from {since.isoformat()}"


def _read_stamp(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"there is no {text}") from None


def _read_clock(text: str) -> tuple[datetime.time, ...]:
    try:
        return tuple(datetime.time.fromisoformat(one) for one in text.split(","))
    except ValueError:
        raise ValueError(f"{text} is no time of day") from None


def _read_day(found: re.Match[str]) -> datetime.date | None:
    return None if found["since"] is None else _read_stamp(found["since"]).date()


def _read_weekdays(text: str) -> tuple[schedules.Weekday, ...] | None:
    names = schedules.Weekday.__members__
    try:
        return tuple(names[name.upper()] for name in text.split(","))
    except KeyError:
        return None
