"""The way in: a text, the time and the zone; out comes a rule that is due at least once more."""

import datetime
import re
from dataclasses import dataclass

import pydantic

from daemon.decide import calendar
from daemon.domain import schedule_text, schedules
from daemon.spoken_times import clock, dates, rules, words

MOST_CHARS = 300

EXAMPLES = (
    "every 2h",
    "every 3d at 09:30",
    "every weekday at 8",
    "first monday of every month at 9",
    "tomorrow at noon",
    "in 20 minutes",
    "at 2027-01-05 16:54",
    "0 9 * * 1-5",
)
"""One of each form, for refusals and for help."""

_CRON_LIKE = re.compile(r"(?:[^ ]+ )*\*(?:/[0-9]+)?(?: [^ ]+)*|[0-9*,/-]+(?: [0-9*,/#-]+){3,}")


@dataclass(frozen=True, slots=True)
class Heard:
    """The rule, and a sentence for each thing that could have been meant otherwise."""

    spec: schedules.Spec
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """Why the text is no rule, in sentences that a person can act on."""

    reason: str


def read(text: str, now_ms: int, zone: datetime.tzinfo) -> Heard | Unread:
    """The rule that the text says, all of it. What is not wholly understood is not guessed."""
    try:
        heard = _read(text, now_ms, zone)
    except words.NotRead as fault:
        return _unread(str(fault))
    except pydantic.ValidationError as fault:
        return _unread(schedule_text.in_words(fault))
    except ValueError as fault:
        return _unread(str(fault))
    due_ms = calendar.next_due(heard.spec, zone, now_ms)
    if due_ms is None:
        return Unread("It never comes due: that is past, or too far away.")
    return Heard(heard.spec, heard.notes + _notes(heard.spec, due_ms, zone))


def _unread(reason: str) -> Unread:
    told = reason[:1].upper() + reason[1:] + ("" if reason.endswith((".", "?")) else ".")
    return Unread(f"{told} Write it like one of these: {'; '.join(EXAMPLES)}.")


def _read(text: str, now_ms: int, zone: datetime.tzinfo) -> Heard:
    if len(text) > MOST_CHARS:
        raise words.NotRead(f"When it shall be done has at most {MOST_CHARS} characters.")
    plain = " ".join(text.split())
    own = schedule_text.parse(_canonical(plain))
    if own is not None:
        return Heard(own)
    if _CRON_LIKE.fullmatch(plain) is not None:
        return Heard(schedules.Cron(fields=plain))
    said = clock.take(words.alike(plain))
    now = calendar.local(now_ms, zone).replace(fold=0)
    spec = rules.read(said.rest, said.times, now)
    if spec is not None:
        return Heard(spec, said.notes)
    return _once(said, now_ms, zone)


def _canonical(text: str) -> str:
    """The same, where only what does not matter keeps it from being one of our own forms."""
    small = re.sub(
        r"^(?:at )?([0-9-]{10})[t ]([0-9:]{5,8})(?= again$|$)", r"at \1 \2", text.lower()
    )
    return text if "*" in text or "#" in text else small


def _once(said: clock.Said, now_ms: int, zone: datetime.tzinfo) -> Heard:
    now = calendar.local(now_ms, zone).replace(fold=0)
    if len(said.times) > 1:
        raise words.NotRead("One time of day, or say on which days it comes again.")
    if not said.rest:
        return _next_time(said, now)
    day = dates.read(said.rest, now_ms, zone)
    match day:
        case None:
            raise words.NotRead(f'"{said.rest[:80]}" was not understood.')
        case dates.After():
            return _after(day, said)
        case dates.Day():
            return _on(day, said, now)


def _next_time(said: clock.Said, now: datetime.datetime) -> Heard:
    """A time of day alone is the next one, today or tomorrow."""
    if not said.times:
        raise words.NotRead("It says nothing.")
    at = datetime.datetime.combine(now.date(), said.times[0])
    if at <= now:
        at += datetime.timedelta(days=1)
    return Heard(schedules.Once(at=at), said.notes)


def _after(after: dates.After, said: clock.Said) -> Heard:
    if not said.times:
        return Heard(schedules.Once(at=after.wall, again=after.again))
    if not after.counts_days:
        raise words.NotRead("So much later, or a time of day, but not both.")
    at = datetime.datetime.combine(after.wall.date(), said.times[0])
    return Heard(schedules.Once(at=at), said.notes)


def _on(day: dates.Day, said: clock.Said, now: datetime.datetime) -> Heard:
    if not said.times:
        raise words.NotRead(rules.NO_TIME)
    at = datetime.datetime.combine(day.day, said.times[0])
    notes = said.notes + day.notes
    if said.next_day:
        at += datetime.timedelta(days=1)
    if day.is_today_named:
        today = datetime.datetime.combine(now.date(), said.times[0])
        if today > now:
            at = today
            notes += ("that day is today",)
    return Heard(schedules.Once(at=at), notes)


def _notes(spec: schedules.Spec, due_ms: int, zone: datetime.tzinfo) -> tuple[str, ...]:
    """What a zone's clock or a short month does to the rule."""
    match spec:
        case schedules.Once():
            if calendar.local(due_ms, zone).replace(fold=0) != spec.at:
                shown = calendar.told(due_ms, zone)
                return (f"the clock leaves that time out, so it is done at {shown}",)
            if calendar.is_twice(spec.at, zone):
                which = "second" if spec.again else "first"
                return (f"the clock shows that time twice, and the {which} is meant",)
            return ()
        case schedules.Cron():
            numbers = re.findall(r"[0-9]+", spec.fields.split()[2])
            if any(int(number) > 28 for number in numbers) and spec.fields.split()[4] == "*":
                return ("months that do not have that day are left out",)
            return ()
        case _:
            return ()
