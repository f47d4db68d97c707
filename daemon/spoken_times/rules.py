"""What comes again: `every 2 hours`, `every weekday`, `first monday of every month`.

A grammar of its own, and no library: the one made for this reads `every other day at 6` as 18:00,
forgets the noon of `every day at noon`, and takes `monday to friday` for one Monday.
"""

import datetime
import re

from daemon.domain import schedules
from daemon.spoken_times import words

_MINUTES = r"(?:minutes?|mins?|m)"
_HOURS = r"(?:hours?|hrs?|h)"
_INTERVAL = re.compile(
    rf"every (?:(?P<other>other|second|2nd) )?(?:(?P<hours>[0-9]{{1,4}}) ?{_HOURS}(?: and |,? ?))?"
    rf"(?:(?P<minutes>[0-9]{{1,6}}) ?{_MINUTES}\b)?(?P<unit>hour|minute)?"
)
_SECONDS = re.compile(r"every (?:[0-9]+ ?)?(?:seconds?|secs?|s)")
_DAILY = re.compile(
    r"daily|(?:once a|1 time a) day|every (?:(?P<days>[0-9]{1,3})(?:st|nd|rd|th)? ?)?(?:days?|d)"
    r"|every (?P<other>other|second|third) day"
)
_DAY = rf"(?:{words.WEEKDAYS}|weekdays?|weekends?|days?)"
_DAYS_S = r"(?:(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend)s)\b"
_AND = r"(?:, and |,? and |, ?)"
_RANGE = rf"(?:{words.WEEKDAY}(?: to | through | thru | until | ?- ?){words.WEEKDAY})"
_LIST = rf"(?:{_RANGE}|{_DAY}(?:{_AND}(?:every )?{_DAY})*)"
_EXCEPT = rf"(?: (?:except|but not)(?: for)?(?: on)? (?P<but>{_LIST}))?"
_WEEKLY = re.compile(
    rf"(?:(?:every|every week on|weekly on|once a week on) (?P<every>{_LIST})"
    rf"|every (?P<weeks>[0-9]{{1,2}}) ?(?:weeks?|w) on (?P<of>{_LIST})"
    rf"|every (?P<other>other week on|other) (?P<others>{_LIST})"
    rf"|(?:on )?(?P<plural>{_DAYS_S}(?:{_AND}{_DAYS_S})*|{_RANGE}))"
    rf"{_EXCEPT}"
)
_SECOND_DAY = re.compile(rf"every (?:second|2nd|third|3rd|fourth|4th) {words.WEEKDAY}")
_RANKS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_NTH = r"[0-9]{1,2}(?:st|nd|rd|th)"
_RANK = rf"(?:{'|'.join(_RANKS)}|1st|2nd|3rd|4th|5th|last)"
_RANKED = rf"{_RANK}(?:{_AND}(?:the )?{_RANK})* {words.WEEKDAY}"
_IN_MONTH = rf"(?:{_NTH}(?:{_AND}(?:the )?{_NTH})*(?: day)?|(?:first|last) (?:week)?day|{_RANKED})"
_MONTHLY = re.compile(
    rf"(?:on )?(?:the )?(?P<first>{_IN_MONTH}) (?:of|in) every month"
    rf"|every month on (?:the )?(?P<month>{_IN_MONTH})"
    rf"|(?:monthly|once a month) on (?:the )?(?P<monthly>{_IN_MONTH})"
    rf"|every (?P<every>{_IN_MONTH}) (?:of|in) (?:the|every) month"
)
_YEARLY = re.compile(
    r"(?:every year on|yearly on|annually on|once a year on|every) (?:the )?"
    rf"(?:(?P<month>{words.MONTH}) (?:the )?(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<first>[0-9]{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<second>{words.MONTH}))"
    r"(?: every year)?"
)
_DAYLESS = re.compile(r"weekly|monthly|yearly|annually|every (?:other )?(?:week|month|year)")
_THE_MONTH = re.compile(rf"(?:on )?(?:the )?{_IN_MONTH} of the month")
NO_TIME = 'It says no time of day, such as "at 9" or "at 17:45".'
_MACROS = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *"} | {
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_WEEKDAYS = tuple(schedules.Weekday)[:5]
_WEEKEND = tuple(schedules.Weekday)[5:]
_Days = tuple[schedules.Weekday, ...]


def read(
    rest: str, times: tuple[datetime.time, ...], now: datetime.datetime
) -> schedules.Spec | None:
    """The rule of a text, without its times of day, and those; None where it has no such shape.

    Raises NotRead where something is missing, or is not clear, or cannot be; ValueError, with
    words, where a value of the rule cannot.
    """
    if rest in _MACROS and not times:
        return schedules.Cron(fields=_MACROS[rest])
    if _SECONDS.fullmatch(rest) is not None:
        raise words.NotRead("At most once a minute.")
    if (interval := _interval(rest, times, now)) is not None:
        return interval
    found = (
        _DAILY.fullmatch(rest)
        or _MONTHLY.fullmatch(rest)
        or _YEARLY.fullmatch(rest)
        or _WEEKLY.fullmatch(rest)
    )
    if _SECOND_DAY.fullmatch(rest) is not None:
        raise words.NotRead(
            'Every second week, or the second of every month? Say "every 2 weeks on monday at 9" '
            'or "second monday of every month at 9".'
        )
    if found is None:
        if _DAYLESS.fullmatch(rest) is not None:
            raise words.NotRead(
                'It says no day: "weekly on monday at 9", "every month on the 1st".'
            )
        if _THE_MONTH.fullmatch(rest) is not None:
            raise words.NotRead('Is it once, or "of every month"?')
        return None
    if not times:
        raise words.NotRead(NO_TIME)
    if found.re is _DAILY:
        return _daily(found, times, now)
    if found.re is _WEEKLY:
        return _weekly(found, times, now)
    return _cron(times, *(_in_month(found) if found.re is _MONTHLY else _in_year(found)))


def _interval(
    rest: str, times: tuple[datetime.time, ...], now: datetime.datetime
) -> schedules.Every | None:
    stem = rest.removesuffix(" from")
    found = _INTERVAL.fullmatch("every hour" if stem == "hourly" else stem)
    if found is None:
        return None
    minutes = int(found["hours"] or 0) * 60 + int(found["minutes"] or 0)
    if found["unit"] is not None:
        if found["hours"] or found["minutes"]:
            return None
        minutes = (60 if found["unit"] == "hour" else 1) * (2 if found["other"] else 1)
    elif found["other"] or (found["hours"] is None and found["minutes"] is None):
        return None
    anchor = now.replace(second=0, microsecond=0)
    if stem == rest and times:
        raise words.NotRead(f'To begin a grid at a time, say "{rest} from 08:00".')
    if stem != rest:
        if len(times) != 1:
            raise words.NotRead("A grid begins at one time.")
        anchor = datetime.datetime.combine(now.date(), times[0])
    return schedules.Every(minutes=minutes, anchor=anchor)


def _daily(
    found: re.Match[str], times: tuple[datetime.time, ...], now: datetime.datetime
) -> schedules.Daily:
    days = 1
    if found["days"] is not None:
        days = int(found["days"])
    elif found["other"] is not None:
        days = 3 if found["other"] == "third" else 2
    since = now.date() if days > 1 else None
    return schedules.Daily(days=days, times=times, since=since)


def _weekly(
    found: re.Match[str], times: tuple[datetime.time, ...], now: datetime.datetime
) -> schedules.Weekly | schedules.Daily:
    weeks = int(found["weeks"] or (2 if found["other"] else 1))
    said = found["every"] or found["of"] or found["others"] or found["plural"]
    but = () if found["but"] is None else _listed(found["but"])
    weekdays = tuple(day for day in _listed(said) if day not in but)
    if not weekdays:
        raise words.NotRead("No day is left.")
    since = now.date() if weeks > 1 else None
    return schedules.Weekly(weeks=weeks, weekdays=weekdays, times=times, since=since)


def _listed(text: str) -> _Days:
    if re.fullmatch(_RANGE, text) is not None:
        first, last = re.findall(words.WEEKDAY, text)
        begin, end = words.weekday(first), words.weekday(last)
        return tuple(schedules.Weekday((begin + step) % 7) for step in range((end - begin) % 7 + 1))
    found: list[schedules.Weekday] = []
    for one in re.split(rf"{_AND}(?:every )?", text):
        found.extend(_day(one.removesuffix("s")))
    return tuple(found)


def _day(name: str) -> _Days:
    match name:
        case "weekday":
            return _WEEKDAYS
        case "weekend":
            return _WEEKEND
        case "day":
            return tuple(schedules.Weekday)
        case _:
            return (words.weekday(name),)


def _in_month(found: re.Match[str]) -> tuple[str, str, str]:
    said = found["first"] or found["month"] or found["monthly"] or found["every"]
    if said == "last day":
        return "L", "*", "*"
    if said == "first day":
        return "1", "*", "*"
    if said == "last weekday":
        return "LW", "*", "*"
    if said == "first weekday":
        raise words.NotRead("The first weekday of a month cannot be said; its last one can.")
    numbers = re.findall(r"([0-9]{1,2})(?:st|nd|rd|th)", said)
    ranked = re.fullmatch(rf"(?P<ranks>.*) (?P<day>{words.WEEKDAY})", said)
    if ranked is None:
        return ",".join(numbers), "*", "*"
    day = words.weekday(ranked["day"])
    ranks = re.split(rf"{_AND}(?:the )?", ranked["ranks"])
    return "*", "*", ",".join(_ranked(rank, day) for rank in ranks)


def _ranked(rank: str, day: schedules.Weekday) -> str:
    if rank == "last":
        return f"{(day + 1) % 7}L"
    return f"{day.name}#{_RANKS[rank] if rank in _RANKS else rank[0]}"


def _in_year(found: re.Match[str]) -> tuple[str, str, str]:
    month = words.month(found["month"] or found["second"])
    return found["day"] or found["first"], str(month), "*"


def _cron(times: tuple[datetime.time, ...], day: str, month: str, weekday: str) -> schedules.Cron:
    if len({time.minute for time in times}) > 1:
        raise words.NotRead("Times with different minutes need a schedule each.")
    hours = ",".join(str(time.hour) for time in sorted(times))
    return schedules.Cron(fields=f"{times[0].minute} {hours} {day} {month} {weekday}")
