"""At what moments a rule is due in a zone. Pure: the zone is made outside and the time is given.

A rule's times are those of the wall clock, and each comes once: one that a change of the clock
leaves out comes at the first moment after the gap, one that the clock shows twice comes the first
time. A whole local day that a zone leaves out has no times. Only what says that it follows time
that passes does so: `every 2h`, and a cron rule of every hour (`*/15 * * * *`), which is due
whenever the clock shows it. The next time follows from the rule alone, never from the last one.
"""

import collections
import datetime
import itertools
from collections.abc import Iterator
from typing import assert_never

import cronsim

from daemon.domain import schedules

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MS = datetime.timedelta(milliseconds=1)
_SECOND = datetime.timedelta(seconds=1)
_MINUTE_MS = 60_000
_HOUR_MS = 60 * _MINUTE_MS
_DAY = datetime.timedelta(days=1)
_DAY_MS = 24 * _HOUR_MS
_FIRST_MS = (datetime.datetime(schedules.FIRST_YEAR, 1, 2, tzinfo=datetime.UTC) - _EPOCH) // _MS
_END = datetime.datetime(schedules.LAST_YEAR, 12, 30)
_END_MS = (_END.replace(tzinfo=datetime.UTC) - _EPOCH) // _MS
_HOURS = frozenset(range(24))


def next_due(spec: schedules.Spec, zone: datetime.tzinfo, after_ms: int) -> int | None:
    """The first moment after that one at which the rule is due there; None when there is none.

    Milliseconds since 1970, as everywhere. What is due before 1970 or after 2199 is not found.
    """
    after_ms = max(after_ms, _FIRST_MS)
    if after_ms >= _END_MS:
        return None
    match spec:
        case schedules.Once():
            found: int | None = moment(spec.at, zone, again=spec.again)
        case schedules.Every():
            found = _next_of_grid(spec, zone, after_ms)
        case schedules.Cron():
            found = _next_of_cron(spec, zone, after_ms)
        case schedules.Daily() | schedules.Weekly():
            walls = _walls(spec, local(after_ms, zone).date())
            found = _first(walls, zone, after_ms)
        case _:
            assert_never(spec)
    return found if found is not None and after_ms < found < _END_MS else None


def upcoming(
    spec: schedules.Spec, zone: datetime.tzinfo, after_ms: int, count: int
) -> tuple[int, ...]:
    """The next moments, at most `count`, each later than the one before it."""
    found: list[int] = []
    while len(found) < count:
        due_ms = next_due(spec, zone, found[-1] if found else after_ms)
        if due_ms is None:
            break
        found.append(due_ms)
    return tuple(found)


def due_between(
    spec: schedules.Spec, zone: datetime.tzinfo, after_ms: int, upto_ms: int, most: int
) -> tuple[int, ...]:
    """The newest moments after the one and up to the other, at most `most`, oldest first.

    Looks back no further than it must: a minute's rule that slept for a month costs no more.
    """
    if most < 1:
        return ()
    span_ms = _HOUR_MS
    while True:
        begin_ms = max(after_ms, upto_ms - span_ms)
        newest: collections.deque[int] = collections.deque(maxlen=most)
        due_ms = next_due(spec, zone, begin_ms)
        while due_ms is not None and due_ms <= upto_ms:
            newest.append(due_ms)
            due_ms = next_due(spec, zone, due_ms)
        if len(newest) == most or begin_ms <= after_ms:
            return tuple(newest)
        span_ms *= 2


def local(at_ms: int, zone: datetime.tzinfo) -> datetime.datetime:
    """What the clock on the wall shows then, without the zone; `fold` 1 is the second time."""
    return (_EPOCH + at_ms * _MS).astimezone(zone).replace(tzinfo=None)


def moment(wall: datetime.datetime, zone: datetime.tzinfo, *, again: bool = False) -> int:
    """When the clock shows that: the first time, or the later one of two; after a gap, if never."""
    at_ms = _shown(wall, zone, fold=0)
    if at_ms is None:
        late = wall - _offset_of(wall, zone, fold=1)
        early = wall - _offset_of(wall, zone, fold=0)
        return _change(_since_epoch(late), _since_epoch(early), zone)
    return (_shown(wall, zone, fold=1) or at_ms) if again else at_ms


def is_twice(wall: datetime.datetime, zone: datetime.tzinfo) -> bool:
    """Whether the clock shows that twice."""
    return moment(wall, zone) != moment(wall, zone, again=True)


def told(at_ms: int, zone: datetime.tzinfo) -> str:
    """That moment for people of the zone: `Thu 2026-12-03 08:00 CET`."""
    there = (_EPOCH + at_ms * _MS).astimezone(zone)
    weekday = schedules.Weekday(there.weekday()).name.capitalize()
    clock = there.replace(tzinfo=None).isoformat(" ", "seconds" if there.second else "minutes")
    return f"{weekday} {clock} {there.tzname() or ''}".rstrip()


def _since_epoch(utc: datetime.datetime) -> int:
    return (utc.replace(tzinfo=datetime.UTC, fold=0) - _EPOCH) // _MS


def _offset_of(wall: datetime.datetime, zone: datetime.tzinfo, *, fold: int) -> datetime.timedelta:
    return wall.replace(tzinfo=zone, fold=fold).utcoffset() or datetime.timedelta()


def _offset_at(at_ms: int, zone: datetime.tzinfo) -> datetime.timedelta:
    return (_EPOCH + at_ms * _MS).astimezone(zone).utcoffset() or datetime.timedelta()


def _shown(wall: datetime.datetime, zone: datetime.tzinfo, *, fold: int) -> int | None:
    """When the clock shows that; None where a change of the clock leaves it out."""
    at_ms = _since_epoch(wall - _offset_of(wall, zone, fold=fold))
    return at_ms if local(at_ms, zone).replace(fold=0) == wall.replace(fold=0) else None


def _change(before_ms: int, after_ms: int, zone: datetime.tzinfo) -> int:
    """The moment, between two of different offsets, from which the later one's holds."""
    old = _offset_at(before_ms, zone)
    before, after = before_ms // 1000, -(-after_ms // 1000)
    while after - before > 1:
        middle = (before + after) // 2
        if _offset_at(middle * 1000, zone) == old:
            before = middle
        else:
            after = middle
    return after * 1000


def _first(walls: Iterator[datetime.datetime], zone: datetime.tzinfo, after_ms: int) -> int | None:
    """The first moment of these wall times, in their order, that is later than the given one."""
    for wall in walls:
        at_ms = moment(wall, zone)
        if at_ms > after_ms and _has_day(wall, at_ms, zone):
            return at_ms
    return None


def _has_day(wall: datetime.datetime, at_ms: int, zone: datetime.tzinfo) -> bool:
    """Whether there is such a local day at all; zones have left out whole ones."""
    day = wall.date()
    if local(at_ms, zone).date() == day:
        return True
    midnight = datetime.datetime.combine(day, datetime.time())
    return local(moment(midnight, zone), zone).date() == day


def _walls(
    spec: schedules.Daily | schedules.Weekly, today: datetime.date
) -> Iterator[datetime.datetime]:
    """The rule's wall times from that day on, in their order."""
    for day in itertools.takewhile(lambda one: one < _END.date(), _days(spec, today)):
        for time in spec.times:
            yield datetime.datetime.combine(day, time)


def _days(
    spec: schedules.Daily | schedules.Weekly, today: datetime.date
) -> Iterator[datetime.date]:
    first = max(today, spec.since or today)
    since = spec.since or today
    match spec:
        case schedules.Daily():
            day = first + _DAY * (-(first - since).days % spec.days)
            while True:
                yield day
                day += _DAY * spec.days
        case schedules.Weekly():
            since -= _DAY * since.weekday()
            weeks = (first - since).days // 7
            monday = since + 7 * _DAY * (weeks - weeks % spec.weeks)
            while True:
                for weekday in spec.weekdays:
                    day = monday + _DAY * weekday
                    if day >= first:
                        yield day
                monday += 7 * _DAY * spec.weeks
        case _:
            assert_never(spec)


def _next_of_grid(spec: schedules.Every, zone: datetime.tzinfo, after_ms: int) -> int:
    anchor_ms = moment(spec.anchor, zone)
    if after_ms < anchor_ms:
        return anchor_ms
    step_ms = spec.minutes * _MINUTE_MS
    return anchor_ms + ((after_ms - anchor_ms) // step_ms + 1) * step_ms


def _next_of_cron(spec: schedules.Cron, zone: datetime.tzinfo, after_ms: int) -> int | None:
    shown = local(after_ms, zone).replace(fold=0)
    if cronsim.CronSim(spec.fields, shown).hours != _HOURS:
        return _first(_matches(spec, shown), zone, after_ms)
    return _next_shown(spec, zone, after_ms)


def _matches(spec: schedules.Cron, after: datetime.datetime) -> Iterator[datetime.datetime]:
    """The wall times of the rule that are later; without a zone, cronsim knows no changes."""
    return itertools.takewhile(lambda wall: wall < _END, cronsim.CronSim(spec.fields, after))


def _next_shown(spec: schedules.Cron, zone: datetime.tzinfo, after_ms: int) -> int | None:
    """The next moment at which the clock shows a time of the rule, be it for the second time."""
    base_ms = after_ms
    shown = local(after_ms, zone).replace(fold=0)
    while True:
        wall = next(_matches(spec, shown), None)
        if wall is None:
            return None
        offset = _offset_at(base_ms, zone)
        at_ms = _since_epoch(wall - offset)
        near_ms = min(at_ms, base_ms + _DAY_MS)
        if _offset_at(near_ms, zone) != offset:
            base_ms = _change(base_ms, near_ms, zone)
            shown = local(base_ms, zone).replace(fold=0) - _SECOND
        elif near_ms == at_ms:
            return at_ms
        else:
            found = _shown(wall, zone, fold=0)
            if found is not None:
                return found
            shown = wall
