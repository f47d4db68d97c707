"""Words that mean the same, made the same; and how it is said that something was not understood."""

import re

from daemon.domain import schedules


class NotRead(Exception):
    """The text was not understood, or cannot be; the message says why, in a sentence."""


_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}

_SAME: tuple[tuple[str, str], ...] = (
    (r"\beach\b", "every"),
    (r"\bevery single\b", "every"),
    (r"\beveryday\b", "every day"),
    (r" ?& ?", " and "),
    (r"\b(an|1) hour and a half\b", "90 minutes"),
    (r"\bhour and a half\b", "90 minutes"),
    (r"\b12 (noon|midnight)\b", r"\1"),
    (r"\bhalf an hour\b", "30 minutes"),
    (r"\bhalf hour\b", "30 minutes"),
    (r"\b(a )?quarter of an hour\b", "15 minutes"),
    (r"\bquarter hour\b", "15 minutes"),
    (r"\b(a )?fortnight\b", "2 weeks"),
    (r"\bthe day after tomorrow\b", "in 2 days"),
    (r"\bday after tomorrow\b", "in 2 days"),
    (r"(?<!once )\ban? (?=(?:second|minute|hour|day|week|month|year)\b)", "1 "),
    (r"\bworkdays?\b|\bworking days?\b|\bbusiness days?\b", "weekdays"),
)

_WEEKDAY_NAMES: dict[str, schedules.Weekday] = {
    spelling: day
    for day, spellings in (
        (schedules.Weekday.MON, "monday mon"),
        (schedules.Weekday.TUE, "tuesday tue tues"),
        (schedules.Weekday.WED, "wednesday wed weds"),
        (schedules.Weekday.THU, "thursday thu thur thurs"),
        (schedules.Weekday.FRI, "friday fri"),
        (schedules.Weekday.SAT, "saturday sat"),
        (schedules.Weekday.SUN, "sunday sun"),
    )
    for spelling in spellings.split()
}
_ANY_WEEKDAY = "(?:" + "|".join(sorted(_WEEKDAY_NAMES, key=len, reverse=True)) + ")"
WEEKDAY = _ANY_WEEKDAY + r"\b"
"""One day of the week, for regular expressions."""
WEEKDAYS = _ANY_WEEKDAY + r"s?\b"
"""The same, or all of that name."""

_MONTH_NAMES: dict[str, int] = {
    spelling: number
    for number, spellings in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for spelling in spellings.split()
}
MONTH = "(?:" + "|".join(sorted(_MONTH_NAMES, key=len, reverse=True)) + r")\b"
"""One month, for regular expressions."""


def alike(text: str) -> str:
    """The text in small letters and single spaces, with one spelling for what means the same."""
    text = " ".join(text.casefold().replace("\u2019", "'").split())
    text = text.strip(" .!")
    for number, value in _NUMBERS.items():
        text = re.sub(rf"\b{number}\b", str(value), text)
    for spelled, same in _SAME:
        text = re.sub(spelled, same, text)
    return text


def weekday(name: str) -> schedules.Weekday:
    """The day of the week of that name, be it short."""
    return _WEEKDAY_NAMES[name]


def weekday_name(day: schedules.Weekday) -> str:
    """Its long name, which every library reads."""
    return next(name for name, named in _WEEKDAY_NAMES.items() if named is day)


def month(name: str) -> int:
    """The number of the month of that name, be it short."""
    return _MONTH_NAMES[name]


def month_name(number: int) -> str:
    """Its long name, which every library reads."""
    return next(name for name, named in _MONTH_NAMES.items() if named == number)
