"""Years of rules where clocks are changed: one run a local day, whatever was asked before."""

import collections
import datetime
import itertools
import zoneinfo
from collections.abc import Callable, Iterator

import hypothesis
import pytest
from hypothesis import strategies

from daemon.decide import calendar
from daemon.domain import schedules
from tests.unit.decide import moments
from tests.unit.domain import rules

pytestmark = pytest.mark.spec("K-14")

DAYS = [datetime.date(2026, 1, 1) + datetime.timedelta(one) for one in range(365 + 365 + 366)]
BEGIN = datetime.datetime(2026, 1, 1)
DAILY = ["00:00", "01:30", "01:45", "02:00", "02:15", "02:30", "03:00"]


def over_the_years(
    spec: schedules.Spec, zone: zoneinfo.ZoneInfo
) -> collections.Counter[datetime.date]:
    """How often it is due on each local day of 2026 to 2028."""
    found: collections.Counter[datetime.date] = collections.Counter()
    due_ms = calendar.next_due(spec, zone, calendar.moment(BEGIN, zone) - 1)
    while due_ms is not None and moments.shown(due_ms, zone).year < 2029:
        found[moments.shown(due_ms, zone).date()] += 1
        following = calendar.next_due(spec, zone, due_ms)
        assert following is None or following > due_ms
        due_ms = following
    return found


@pytest.mark.acceptance(38)
@pytest.mark.parametrize("zone", moments.CHANGING, ids=str)
def test_one_run_a_local_day(
    zone: zoneinfo.ZoneInfo, figures: Callable[[str, object], None]
) -> None:
    days = wrong = 0
    for time in DAILY:
        hour, minute = (int(part) for part in time.split(":"))
        for text in (
            f"every day at {time}",
            f"every mon,tue,wed,thu,fri,sat,sun at {time}",
            f"{minute} {hour} * * *",
            f"{minute} {hour} 1-31 * 0-6",
        ):
            found = over_the_years(moments.rule(text), zone)
            days += len(DAYS)
            wrong += sum(found[day] != 1 for day in DAYS) + len(found.keys() - set(DAYS))
    figures(f"local days of daily rules, {zone}", days)
    figures(f"with no run or two, {zone}", wrong)
    assert wrong == 0


@pytest.mark.acceptance(38)
@pytest.mark.parametrize("zone", moments.CHANGING, ids=str)
def test_a_daily_run_is_at_its_time_or_at_the_end_of_the_gap(zone: zoneinfo.ZoneInfo) -> None:
    moved = 0
    for time in DAILY:
        spec = moments.rule(f"every day at {time}")
        for due_ms in calendar.upcoming(spec, zone, calendar.moment(BEGIN, zone) - 1, len(DAYS)):
            clock = moments.shown(due_ms, zone)
            if clock.isoformat()[11:16] == time:
                assert clock.fold == 0
                continue
            moved += 1
            before = moments.shown(due_ms - 1000, zone)
            assert before.utcoffset() != clock.utcoffset()
            assert before.isoformat()[11:16] < time < clock.isoformat()[11:16]
    assert moved > 0


def scanned(
    matches: Callable[[datetime.datetime], bool], zone: zoneinfo.ZoneInfo, begin_ms: int, days: int
) -> Iterator[int]:
    """Every minute whose wall time matches, found by looking at each one."""
    for due_ms in range(begin_ms, begin_ms + days * moments.DAY_MS, moments.MINUTE_MS):
        if matches(moments.shown(due_ms, zone)):
            yield due_ms


@pytest.mark.acceptance(38)
@pytest.mark.parametrize("zone", [*moments.CHANGING, *moments.ODD], ids=str)
def test_a_cron_rule_of_every_hour_is_due_whenever_the_clock_shows_it(
    zone: zoneinfo.ZoneInfo,
) -> None:
    spec = moments.rule("*/20 * * * *")
    changes = [
        day_ms
        for day_ms in range(
            moments.at("2026-01-01 00:00+00:00"),
            moments.at("2029-01-01 00:00+00:00"),
            moments.DAY_MS,
        )
        if moments.shown(day_ms, zone).utcoffset()
        != moments.shown(day_ms + moments.DAY_MS, zone).utcoffset()
    ]
    for begin_ms in changes or [moments.at("2026-01-01 00:00+00:00")]:
        expected = tuple(scanned(lambda clock: clock.minute % 20 == 0, zone, begin_ms, 2))
        found = calendar.upcoming(spec, zone, begin_ms - 1, len(expected))
        assert found == expected


@pytest.mark.parametrize("zone", moments.CHANGING, ids=str)
@pytest.mark.parametrize("minutes", [1, 7, 60, 120, 1440])
def test_a_grid_of_time_that_passes_knows_no_changes(zone: zoneinfo.ZoneInfo, minutes: int) -> None:
    spec = schedules.Every(minutes=minutes, anchor=BEGIN)
    anchor_ms = calendar.moment(BEGIN, zone)
    found = calendar.upcoming(spec, zone, anchor_ms + 200 * moments.DAY_MS, 300)
    assert all((due_ms - anchor_ms) % (minutes * moments.MINUTE_MS) == 0 for due_ms in found)
    steps = {later - due_ms for due_ms, later in itertools.pairwise(found)}
    assert steps == {minutes * moments.MINUTE_MS}


MOMENTS = strategies.integers(
    moments.at("2025-12-01 00:00+00:00"), moments.at("2029-02-01 00:00+00:00")
)
ANY_ZONE = strategies.sampled_from(moments.ZONES)
often = hypothesis.settings(max_examples=150, deadline=None, database=None)


@often
@hypothesis.given(rules.specs(), ANY_ZONE, MOMENTS)
def test_times_increase_and_the_way_to_one_does_not_matter(
    spec: schedules.Spec, zone: zoneinfo.ZoneInfo, after_ms: int
) -> None:
    dues = calendar.upcoming(spec, zone, after_ms, 6)
    assert list(dues) == sorted(set(dues))
    assert all(due_ms > after_ms for due_ms in dues)
    for before_ms, due_ms in itertools.pairwise((after_ms, *dues)):
        for asked_ms in (before_ms, (before_ms + due_ms) // 2, due_ms - 1):
            assert calendar.next_due(spec, zone, asked_ms) == due_ms


@often
@hypothesis.given(rules.crons(), ANY_ZONE, MOMENTS)
def test_a_cron_rule_is_due_at_a_time_that_it_names_or_after_a_gap(
    spec: schedules.Cron, zone: zoneinfo.ZoneInfo, after_ms: int
) -> None:
    for due_ms in calendar.upcoming(spec, zone, after_ms, 5):
        clock = calendar.local(due_ms, zone).replace(fold=0)
        earlier = clock - datetime.timedelta(minutes=1)
        utc = rule_in_utc(spec, earlier)
        gap = calendar.local(due_ms - 1, zone) + datetime.timedelta(minutes=1) < clock
        assert utc == clock or gap


def rule_in_utc(spec: schedules.Cron, after: datetime.datetime) -> datetime.datetime:
    """The next time of the rule on a clock that is never changed."""
    due_ms = calendar.next_due(spec, moments.UTC, calendar.moment(after, moments.UTC))
    assert due_ms is not None
    return calendar.local(due_ms, moments.UTC)


@often
@hypothesis.given(rules.specs(), ANY_ZONE, MOMENTS, strategies.integers(0, 90), strategies.data())
def test_what_came_due_are_the_newest_of_all(
    spec: schedules.Spec,
    zone: zoneinfo.ZoneInfo,
    after_ms: int,
    hours: int,
    data: strategies.DataObject,
) -> None:
    upto_ms = after_ms + hours * 60 * moments.MINUTE_MS
    every = walked(spec, zone, after_ms, upto_ms)
    most = data.draw(strategies.integers(0, 20))
    newest = tuple(every[-most:]) if most else ()
    assert calendar.due_between(spec, zone, after_ms, upto_ms, most) == newest


def walked(spec: schedules.Spec, zone: zoneinfo.ZoneInfo, after_ms: int, upto_ms: int) -> list[int]:
    """All of its times in between, one by one."""
    found: list[int] = []
    due_ms = calendar.next_due(spec, zone, after_ms)
    while due_ms is not None and due_ms <= upto_ms:
        found.append(due_ms)
        due_ms = calendar.next_due(spec, zone, due_ms)
    return found
