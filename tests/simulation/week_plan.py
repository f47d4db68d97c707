"""What fifty people want done in a week, how each run would go, and what the week does to it.

All of it follows from a seed: `Fate` of a run from its schedule and time, so that it is the same
for whoever asks, whenever they do.
"""

import random
import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from daemon.domain import deliveries, schedule_text, schedules

SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
BEGIN_MS = 1_761_091_201_000
"""2025-10-22 00:00:01 UTC: clocks in Berlin are set back on that Sunday."""
WEEK_MS = 7 * DAY_MS
SCHEDULES = 50
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe")
WHEN = (
    "every 97m from 2025-10-01 00:13",
    "every 5h from 2025-10-22 03:30",
    "every day at 08:00",
    "every day at 02:30,12:15,21:45",
    "every 2d at 06:10 from 2025-10-20",
    "every mon,wed,fri at 09:00,17:30",
    "every sun at 02:30",
    "at 2025-10-25 18:20",
    "at 2025-10-26 02:30",
    "0 */3 * * *",
    "15,45 6-8 * * *",
    "20 4 * * 1-5",
    "5 */2 * * MON-SAT",
)
TARGET = deliveries.Target(account="telegram:77", chat="5")


class Kind(Enum):
    """How the runs of a schedule work."""

    AGENT = auto()
    COMMAND = auto()
    ASKS = auto()
    """A command that asks, and nobody answers."""


@dataclass(frozen=True)
class Fate:
    """How one attempt of a run goes, once it has begun."""

    lasts_ms: int
    succeeds: bool


@dataclass(frozen=True)
class Wish:
    """One schedule."""

    number: int
    kind: Kind
    spec: schedules.Spec
    zone: str
    policy: schedules.Policy
    seed: int

    @property
    def rules_of(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.zone)

    def fate(self, due_ms: int, attempt: int) -> Fate:
        """Of one attempt. Ends fall on odd milliseconds, so that nothing else happens just then."""
        dice = random.Random(f"{self.seed} {self.number} {due_ms} {attempt}")
        lasts_ms = dice.choice((0, 0, 37, 187, 1_307, 5_711, 16_411)) * SECOND_MS + 123
        return Fate(lasts_ms, dice.random() < 0.8)


def policy(dice: random.Random) -> schedules.Policy:
    return schedules.Policy(
        missed=schedules.Missed(
            how=dice.choice(list(schedules.WhenMissed)),
            most=dice.choice((1, 2, 5)),
            grace_seconds=dice.choice((60, 60, 1800)),
        ),
        overlap=dice.choice(list(schedules.Overlap)),
        delivery=schedules.Delivery(
            to=dice.choice((None, TARGET)), tell=dice.choice(list(schedules.Tell))
        ),
        retries=schedules.Retries(
            most=dice.choice((0, 0, 1, 3)), backoff_seconds=dice.choice((61, 601))
        ),
        pause_after_failures=dice.choice((None, None, 3)),
        most_runs=dice.choice((None, None, None, 7)),
        approval_seconds=dice.choice((307, 4_507)),
    )


def wishes(seed: int) -> list[Wish]:
    """All of the week's: each kind of rule in turn, with policies and zones as they fall."""
    dice = random.Random(seed)
    return [
        Wish(
            number=number,
            kind=dice.choice((Kind.AGENT, Kind.COMMAND, Kind.COMMAND, Kind.ASKS)),
            spec=rule(WHEN[number % len(WHEN)]),
            zone=dice.choice(ZONES),
            policy=policy(dice),
            seed=seed,
        )
        for number in range(SCHEDULES)
    ]


def rule(text: str) -> schedules.Spec:
    spec = schedule_text.parse(text)
    assert spec is not None
    return spec


class What(Enum):
    """What the week does."""

    KILL = auto()
    """At the very moment at which something may be due."""
    DRAIN = auto()
    """Both with a time in which there is no daemon: `value` milliseconds."""
    STEP = auto()
    """The clock is set by `value` milliseconds."""
    PAUSE = auto()
    RESUME = auto()
    DELETE = auto()
    """Of the schedule with the number `value`."""


@dataclass(frozen=True)
class Happening:
    """Something that happens so many milliseconds after the begin, by no clock of anybody."""

    after_ms: int
    what: What
    value: int


def happenings(seed: int) -> Sequence[Happening]:
    """Forty of them, in their order: starts anew, steps of the clock, and what people change.

    All fall between two full minutes, but kills on one: what is due then has begun, or has not."""
    dice = random.Random(~seed)
    gone_ms = (0, 900, 61_000, 61_000, 20 * MINUTE_MS, 20 * MINUTE_MS, 3 * HOUR_MS, 9 * HOUR_MS)
    found = [
        *[(What.KILL, dice.choice(gone_ms)) for _ in range(12)],
        *[(What.DRAIN, dice.choice(gone_ms)) for _ in range(6)],
        *[(What.STEP, by * HOUR_MS) for by in (-1, 1, -1, 1, -24, 2)],
        *[(What.STEP, by) for by in (-MINUTE_MS, 2 * MINUTE_MS)],
        *[(What.PAUSE, dice.randrange(SCHEDULES)) for _ in range(6)],
        *[(What.RESUME, dice.randrange(SCHEDULES)) for _ in range(6)],
        *[(What.DELETE, dice.randrange(SCHEDULES)) for _ in range(2)],
    ]
    moments = sorted(dice.sample(range(5, WEEK_MS // MINUTE_MS, 5), len(found)))
    dice.shuffle(found)
    told, free_ms = list[Happening](), 0
    for at, (what, value) in zip(moments, found, strict=True):
        begin_ms = max(at * MINUTE_MS, -(-free_ms // MINUTE_MS) * MINUTE_MS)
        within_ms = -SECOND_MS if what is What.KILL else 23_457
        told.append(Happening(begin_ms + within_ms, what, value))
        gone_for_ms = value if what in (What.KILL, What.DRAIN) else 0
        free_ms = begin_ms + gone_for_ms + 2 * MINUTE_MS
    return told
