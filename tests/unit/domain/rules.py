"""Any rule that there can be, for properties."""

import datetime

from hypothesis import strategies

from daemon.domain import schedules

_DAYS = strategies.dates(datetime.date(2024, 1, 1), datetime.date(2030, 12, 31))
_TIMES = strategies.times().map(lambda time: time.replace(second=0, microsecond=0))
_MANY_TIMES = strategies.lists(_TIMES, min_size=1, max_size=4).map(tuple)
_WALLS = strategies.builds(datetime.datetime.combine, _DAYS, _TIMES)


def _daily(days: int, times: tuple[datetime.time, ...], since: datetime.date) -> schedules.Daily:
    return schedules.Daily(days=days, times=times, since=since if days > 1 else None)


def _weekly(
    weeks: int,
    weekdays: set[schedules.Weekday],
    times: tuple[datetime.time, ...],
    since: datetime.date,
) -> schedules.Weekly:
    return schedules.Weekly(
        weeks=weeks, weekdays=tuple(weekdays), times=times, since=since if weeks > 1 else None
    )


def _field(least: int, most: int) -> strategies.SearchStrategy[str]:
    number = strategies.integers(least, most)
    some = strategies.lists(number, min_size=1, max_size=3).map(
        lambda numbers: ",".join(str(one) for one in numbers)
    )
    ranges = strategies.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    steps = strategies.integers(1, most - 1).map(lambda step: f"*/{step}")
    return strategies.one_of(strategies.just("*"), some, ranges, steps)


def crons() -> strategies.SearchStrategy[schedules.Cron]:
    """Cron rules; days of the month are such that each month has them."""
    fields = strategies.tuples(
        _field(0, 59), _field(0, 23), _field(1, 28), _field(1, 12), _field(0, 6)
    )
    return fields.map(lambda parts: schedules.Cron(fields=" ".join(parts)))


def specs() -> strategies.SearchStrategy[schedules.Spec]:
    """Rules of every kind."""
    return strategies.one_of(
        strategies.builds(schedules.Once, at=_WALLS, again=strategies.booleans()),
        strategies.builds(
            schedules.Every,
            minutes=strategies.integers(1, schedules.MOST_EVERY_MINUTES),
            anchor=_WALLS,
        ),
        strategies.builds(_daily, strategies.integers(1, 40), _MANY_TIMES, _DAYS),
        strategies.builds(
            _weekly,
            strategies.integers(1, 8),
            strategies.sets(strategies.sampled_from(schedules.Weekday), min_size=1),
            _MANY_TIMES,
            _DAYS,
        ),
        crons(),
    )
