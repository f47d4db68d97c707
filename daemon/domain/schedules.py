"""When work comes due, and what becomes of it: the values of schedules, closed and checked.

A rule is told in local wall-clock times and names no zone: the schedule keeps the zone's IANA name
beside it, and `daemon.decide.calendar` says at what moments a rule is due there. Nothing here
knows what time it is.
"""

import datetime
import re
from enum import IntEnum, StrEnum
from typing import Annotated, Literal

import cronsim
import pydantic

from daemon.domain import base, deliveries, verdicts

FIRST_YEAR = 1970
LAST_YEAR = 2199
"""What lies beyond is no time of a schedule; all else may count on dates that exist."""

MOST_TIMES = 48
"""Times of day that one rule may name."""
MOST_EVERY_MINUTES = 366 * 24 * 60
MOST_EVERY_DAYS = 366
MOST_EVERY_WEEKS = 52
MOST_CRON_CHARS = 400
MOST_RUNS_CAUGHT_UP = 100

_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9][A-Za-z0-9_+-]*){0,2}")


def _zone_form(name: str) -> str:
    if _ZONE.fullmatch(name) is None or len(name) > 64:
        raise ValueError("a zone has an IANA name, such as Europe/Berlin or UTC")
    return name


ZoneName = Annotated[str, pydantic.AfterValidator(_zone_form)]
"""An IANA name by its form; whether there is such a zone is known outside."""


class Weekday(IntEnum):
    """Numbered as `datetime.date.weekday` does."""

    MON = 0
    TUE = 1
    WED = 2
    THU = 3
    FRI = 4
    SAT = 5
    SUN = 6


def _wall(moment: datetime.datetime) -> datetime.datetime:
    if moment.tzinfo is not None:
        raise ValueError("a wall-clock time names no zone")
    if moment.microsecond:
        raise ValueError("a wall-clock time has whole seconds")
    _year(moment)
    return moment.replace(fold=0)


def _year(day: datetime.date) -> datetime.date:
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"a year from {FIRST_YEAR} to {LAST_YEAR}")
    return day


def _whole_minute(moment: datetime.datetime) -> datetime.datetime:
    if moment.second:
        raise ValueError("a grid begins with a whole minute")
    return moment


def _times(times: tuple[datetime.time, ...]) -> tuple[datetime.time, ...]:
    for time in times:
        if time.second or time.microsecond or time.tzinfo is not None:
            raise ValueError("a time of day is an hour and a minute")
    return tuple(sorted({time.replace(fold=0) for time in times}))


def _days(weekdays: tuple[Weekday, ...]) -> tuple[Weekday, ...]:
    return tuple(sorted(set(weekdays)))


def _since(step: int, since: datetime.date | None) -> None:
    if step > 1 and since is None:
        raise ValueError("it counts from a day: end with `from 2027-01-05`, or the like")
    if step == 1 and since is not None:
        raise ValueError("what comes every time does not count from a day: leave `from` out")


Wall = Annotated[datetime.datetime, pydantic.AfterValidator(_wall)]
Day = Annotated[datetime.date, pydantic.AfterValidator(_year)]
Times = Annotated[
    tuple[datetime.time, ...],
    pydantic.Field(min_length=1, max_length=MOST_TIMES),
    pydantic.AfterValidator(_times),
]
Weekdays = Annotated[
    tuple[Weekday, ...],
    pydantic.Field(min_length=1, max_length=7),
    pydantic.AfterValidator(_days),
]


class Once(base.Value):
    """One time, by the wall clock. `again` is the later of two moments that a clock which is set
    back shows by the same name."""

    kind: Literal["once"] = "once"
    at: Wall
    again: bool = False


class Every(base.Value):
    """So many minutes of time that passes, on a grid through `anchor`: a day on which the clock
    is changed has more or fewer of them, and none is lost or doubled."""

    kind: Literal["every"] = "every"
    minutes: int = pydantic.Field(ge=1, le=MOST_EVERY_MINUTES)
    anchor: Annotated[Wall, pydantic.AfterValidator(_whole_minute)]


class Daily(base.Value):
    """Every so many local days, at times of the wall clock; `since` is the first of them where
    not every day is one."""

    kind: Literal["daily"] = "daily"
    days: int = pydantic.Field(default=1, ge=1, le=MOST_EVERY_DAYS)
    times: Times
    since: Day | None = None

    @pydantic.model_validator(mode="after")
    def _counts_from(self) -> "Daily":
        _since(self.days, self.since)
        return self


class Weekly(base.Value):
    """On days of the week, at times of the wall clock, every so many weeks. Weeks begin on Monday;
    the one that has `since` in it is the first, and nothing is due before that day."""

    kind: Literal["weekly"] = "weekly"
    weeks: int = pydantic.Field(default=1, ge=1, le=MOST_EVERY_WEEKS)
    weekdays: Weekdays
    times: Times
    since: Day | None = None

    @pydantic.model_validator(mode="after")
    def _counts_from(self) -> "Weekly":
        _since(self.weeks, self.since)
        return self


CRON_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
_CRON_RANGES = ("0 to 59", "0 to 23", "1 to 31 or L", "1 to 12 or JAN to DEC", "0 to 7 or SUN-SAT")
_CRON_SIZES = (60, 24, 31, 12, 7)
_ANY_DAY = datetime.datetime(2000, 1, 1)


class Cron(base.Value):
    """Five fields, as Debian's cron reads them: names (MON, JAN), ranges, lists, steps; a day of
    the month or one of the week where neither begins with a star. Besides: L (the last day), LW,
    MON#1 (the first Monday), 5L (the last Friday)."""

    kind: Literal["cron"] = "cron"
    fields: Annotated[str, pydantic.Field(max_length=MOST_CRON_CHARS)]

    @pydantic.field_validator("fields")
    @classmethod
    def _is_read(cls, fields: str) -> str:
        parts = fields.upper().split()
        if len(parts) != len(CRON_FIELDS):
            raise ValueError(
                f"cron has five fields ({', '.join(CRON_FIELDS)}), and here are {len(parts)}"
            )
        for place in range(len(parts)):
            _check_cron_field(parts[place], place)
        try:
            cronsim.CronSim(" ".join(parts), _ANY_DAY)
        except cronsim.CronSimError:
            raise ValueError("none of these months has such a day") from None
        return " ".join(parts)


def _check_cron_field(text: str, place: int) -> None:
    alone = ["*"] * len(CRON_FIELDS)
    alone[place] = text
    steps = [int(step) for step in re.findall(r"/([0-9]{1,9})(?![0-9])", text)]
    try:
        cronsim.CronSim(" ".join(alone), _ANY_DAY)
    except cronsim.CronSimError:
        told = f"{text[:40]!r} is no {CRON_FIELDS[place]}: {_CRON_RANGES[place]}"
        raise ValueError(f"{told}; ranges go upwards, and lists have commas") from None
    if any(step >= _CRON_SIZES[place] for step in steps):
        raise ValueError(
            f"{text[:40]!r}: steps in the {CRON_FIELDS[place]} are below {_CRON_SIZES[place]}"
        )


Spec = Once | Every | Daily | Weekly | Cron
AnySpec = Annotated[Spec, pydantic.Field(discriminator="kind")]


class WhenMissed(StrEnum):
    """What becomes of runs that came due while nothing could run them."""

    SKIP = "skip"
    RUN_ONCE = "run_once"
    """The newest of them, late."""
    RUN_ALL = "run_all"
    """The newest of them in their order, up to `most`."""


class Missed(base.Value):
    """A run is missed when it is later than the grace; one that is not only runs late."""

    how: WhenMissed = WhenMissed.RUN_ONCE
    most: int = pydantic.Field(default=10, ge=1, le=MOST_RUNS_CAUGHT_UP)
    grace_seconds: int = pydantic.Field(default=60, ge=1, le=7 * 24 * 3600)


class Overlap(StrEnum):
    """What becomes of a run that comes due while the one before it goes on."""

    SKIP = "skip"
    QUEUE = "queue"
    """One waits; a third is skipped."""


class Tell(StrEnum):
    """Which results are told."""

    ALWAYS = "always"
    ON_FAILURE = "on_failure"
    ON_CHANGE = "on_change"
    """When the result differs from the one before it."""
    NEVER = "never"
    """The chat is asked for approvals all the same."""


class Delivery(base.Value):
    """Where results go: None is nowhere, and they stand in the history alone."""

    to: deliveries.Target | None = None
    tell: Tell = Tell.ALWAYS


class Retries(base.Value):
    """Of a run that failed: so many more, each after twice the seconds of the one before it."""

    most: int = pydantic.Field(default=0, ge=0, le=10)
    backoff_seconds: int = pydantic.Field(default=60, ge=1, le=24 * 3600)


class Policy(base.Value):
    """What a schedule does with its runs. None is no bound of its own."""

    missed: Missed = Missed()
    overlap: Overlap = Overlap.SKIP
    delivery: Delivery = Delivery()
    retries: Retries = Retries()
    pause_after_failures: int | None = pydantic.Field(default=5, ge=1, le=1000)
    """In a row; a run with retries has failed when its last one has."""
    most_runs: int | None = pydantic.Field(default=None, ge=1, le=1_000_000)
    """All in all; then the schedule is over."""
    deadline_seconds: int | None = pydantic.Field(default=None, ge=1, le=7 * 24 * 3600)
    """A run that takes longer is ended and has failed."""
    approval_seconds: int | None = pydantic.Field(default=None, ge=10, le=7 * 24 * 3600)
    """How long a run's questions wait for an answer, where not as long as others."""


class WorkKind(StrEnum):
    """What a run is."""

    AGENT = "agent"
    """A task with a message, as if it were said in the schedule's conversation."""
    COMMAND = "command"
    """A command of a shell alone, without a model."""


class Work(base.Value):
    """How a run works; what it is told is content, and stands elsewhere."""

    kind: WorkKind = WorkKind.AGENT
    mode: verdicts.Mode = verdicts.Mode.BUILD
    project: str = ""
    """The folder; empty is none of its own."""
    profile: str = ""
    """The preset; empty is the default."""


class RunState(StrEnum):
    """What became of one due time."""

    SCHEDULED = "scheduled"
    LATE = "late"
    """Due, within its grace or to be caught up, and not begun."""
    MISSED = "missed"
    """Never begun, by policy."""
    SKIPPED = "skipped"
    """Never begun: the one before it went on, or the schedule was paused."""
    RUNNING = "running"
    WAITING = "waiting"
    """For an approval, or for a model."""
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """Somebody stopped it."""
    DELIVERED = "delivered"
    """Its result was told: the platform gave the message an id."""


MOVES: dict[RunState, frozenset[RunState]] = {
    RunState.SCHEDULED: frozenset(
        {
            RunState.LATE,
            RunState.MISSED,
            RunState.SKIPPED,
            RunState.RUNNING,
            RunState.FAILED,
            RunState.CANCELLED,
        }
    ),
    RunState.LATE: frozenset({RunState.MISSED, RunState.SKIPPED, RunState.RUNNING}),
    RunState.RUNNING: frozenset(
        {
            RunState.WAITING,
            RunState.SCHEDULED,
            RunState.DONE,
            RunState.FAILED,
            RunState.CANCELLED,
        }
    ),
    RunState.WAITING: frozenset(
        {
            RunState.RUNNING,
            RunState.SCHEDULED,
            RunState.DONE,
            RunState.FAILED,
            RunState.CANCELLED,
        }
    ),
    RunState.DONE: frozenset({RunState.DELIVERED}),
    RunState.FAILED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.MISSED: frozenset(),
    RunState.SKIPPED: frozenset(),
    RunState.DELIVERED: frozenset(),
}
"""From where to where; one that failed and is tried again is scheduled until then."""

ENDED: frozenset[RunState] = frozenset(
    {
        RunState.MISSED,
        RunState.SKIPPED,
        RunState.DONE,
        RunState.FAILED,
        RunState.CANCELLED,
        RunState.DELIVERED,
    }
)


def may_move(before: RunState, after: RunState) -> bool:
    """Whether a run can become that next."""
    return after in MOVES[before]
