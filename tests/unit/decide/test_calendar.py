"""When rules are due: by the wall clock, over its changes, with the words of each case."""

import datetime
import zoneinfo

import pytest

from daemon.decide import calendar
from tests.unit.decide import moments

pytestmark = pytest.mark.spec("K-14")

SPRING = "2026-03-28 12:00+01:00"
AUTUMN = "2026-10-24 12:00+02:00"
CASES: list[tuple[str, zoneinfo.ZoneInfo, str, list[str]]] = [
    (
        "every day at 02:30",
        moments.BERLIN,
        SPRING,
        ["2026-03-29 03:00+02:00", "2026-03-30 02:30+02:00"],
    ),
    (
        "every day at 02:30",
        moments.BERLIN,
        AUTUMN,
        ["2026-10-25 02:30+02:00", "2026-10-26 02:30+01:00"],
    ),
    (  # both lie in the gap, whose end comes once
        "every day at 02:00,02:45,03:00",
        moments.BERLIN,
        SPRING,
        ["2026-03-29 03:00+02:00", "2026-03-30 02:00+02:00"],
    ),
    (  # a gap of half an hour
        "every day at 02:15",
        moments.LORD_HOWE,
        "2026-10-03 12:00+10:30",
        ["2026-10-04 02:30+11:00", "2026-10-05 02:15+11:00"],
    ),
    (  # the clock goes from 01:59 back to 01:30
        "every day at 01:45",
        moments.LORD_HOWE,
        "2026-04-04 12:00+11:00",
        ["2026-04-05 01:45+11:00", "2026-04-06 01:45+10:30"],
    ),
    (
        "*/30 2 * * *",
        moments.BERLIN,
        SPRING,
        ["2026-03-29 03:00+02:00", "2026-03-30 02:00+02:00", "2026-03-30 02:30+02:00"],
    ),
    (
        "*/30 2 * * *",
        moments.BERLIN,
        AUTUMN,
        ["2026-10-25 02:00+02:00", "2026-10-25 02:30+02:00", "2026-10-26 02:00+01:00"],
    ),
    (  # every hour: whenever the clock shows it
        "30 * * * *",
        moments.BERLIN,
        "2026-10-25 01:00+02:00",
        [
            "2026-10-25 01:30+02:00",
            "2026-10-25 02:30+02:00",
            "2026-10-25 02:30+01:00",
            "2026-10-25 03:30+01:00",
        ],
    ),
    (
        "30 * * * *",
        moments.BERLIN,
        "2026-03-29 01:00+01:00",
        ["2026-03-29 01:30+01:00", "2026-03-29 03:30+02:00"],
    ),
    (  # the hour before a change at midnight comes twice on that day
        "30 * 29 10 *",
        zoneinfo.ZoneInfo("Africa/Cairo"),
        "2026-10-29 22:40+03:00",
        ["2026-10-29 23:30+03:00", "2026-10-29 23:30+02:00", "2027-10-29 00:30+02:00"],
    ),
    (  # and is not passed over for a day of another year with the offset of before
        "30 * 25 10 *",
        zoneinfo.ZoneInfo("Africa/Cairo"),
        "2029-10-25 23:40+03:00",
        ["2029-10-25 23:30+02:00", "2030-10-25 00:30+03:00"],
    ),
    (
        "every 2h from 2026-10-24 23:00",
        moments.BERLIN,
        "2026-10-24 23:00+02:00",
        ["2026-10-25 01:00+02:00", "2026-10-25 02:00+01:00", "2026-10-25 04:00+01:00"],
    ),
    (
        "every 2h from 2026-03-28 23:00",
        moments.BERLIN,
        "2026-03-28 23:00+01:00",
        ["2026-03-29 01:00+01:00", "2026-03-29 04:00+02:00", "2026-03-29 06:00+02:00"],
    ),
    (  # an anchor that is still to come is the first
        "every 90m from 2026-12-02 08:00",
        moments.BERLIN,
        "2026-12-01 08:00+01:00",
        ["2026-12-02 08:00+01:00", "2026-12-02 09:30+01:00"],
    ),
    (
        "every 3d at 09:30 from 2026-10-24",
        moments.BERLIN,
        "2026-10-24 12:00+02:00",
        ["2026-10-27 09:30+01:00", "2026-10-30 09:30+01:00"],
    ),
    (
        "every 3d at 09:30 from 2026-11-01",
        moments.BERLIN,
        "2026-10-24 12:00+02:00",
        ["2026-11-01 09:30+01:00", "2026-11-04 09:30+01:00"],
    ),
    (  # the week of Wednesday the 21st is the first, and its Monday is past
        "every 2w on mon,fri at 08:00 from 2026-10-21",
        moments.BERLIN,
        "2026-10-01 12:00+02:00",
        ["2026-10-23 08:00+02:00", "2026-11-02 08:00+01:00", "2026-11-06 08:00+01:00"],
    ),
    (
        "every tue,sun at 08:00,20:00",
        moments.UTC,
        "2026-12-01 09:00+00:00",
        ["2026-12-01 20:00+00:00", "2026-12-06 08:00+00:00", "2026-12-06 20:00+00:00"],
    ),
    ("at 2026-10-25 02:10", moments.BERLIN, AUTUMN, ["2026-10-25 02:10+02:00"]),
    ("at 2026-10-25 02:10 again", moments.BERLIN, AUTUMN, ["2026-10-25 02:10+01:00"]),
    ("at 2026-10-26 02:10 again", moments.BERLIN, AUTUMN, ["2026-10-26 02:10+01:00"]),
    ("at 2026-03-29 02:10", moments.BERLIN, SPRING, ["2026-03-29 03:00+02:00"]),
    ("at 2026-03-28 12:00", moments.BERLIN, SPRING, []),
    ("at 2026-03-28 11:59", moments.BERLIN, SPRING, []),
    (  # a day of the month or of the week, where neither is a star
        "0 0 13 * FRI",
        moments.UTC,
        "2026-11-06 12:00+00:00",
        ["2026-11-13 00:00+00:00", "2026-11-20 00:00+00:00", "2026-11-27 00:00+00:00"],
    ),
    (  # and both, where one begins with a star
        "0 0 */2 * FRI",
        moments.UTC,
        "2026-11-06 12:00+00:00",
        ["2026-11-13 00:00+00:00", "2026-11-27 00:00+00:00"],
    ),
    (
        "0 9 31 * *",
        moments.UTC,
        "2026-11-06 12:00+00:00",
        ["2026-12-31 09:00+00:00", "2027-01-31 09:00+00:00", "2027-03-31 09:00+00:00"],
    ),
    (
        "0 9 L * *",
        moments.UTC,
        "2027-02-06 12:00+00:00",
        ["2027-02-28 09:00+00:00", "2027-03-31 09:00+00:00"],
    ),
    (
        "0 9 * * MON#1,5L",
        moments.UTC,
        "2026-12-01 12:00+00:00",
        ["2026-12-07 09:00+00:00", "2026-12-25 09:00+00:00", "2027-01-04 09:00+00:00"],
    ),
    (
        "0 0 29 2 *",
        moments.UTC,
        "2026-12-01 12:00+00:00",
        ["2028-02-29 00:00+00:00", "2032-02-29 00:00+00:00"],
    ),
    (
        "0 0 * * 7",
        moments.UTC,
        "2026-12-01 12:00+00:00",
        ["2026-12-06 00:00+00:00", "2026-12-13 00:00+00:00"],
    ),
    (  # the zone left out the whole of the 30th
        "every day at 09:00",
        zoneinfo.ZoneInfo("Pacific/Apia"),
        "2011-12-28 12:00-10:00",
        ["2011-12-29 09:00-10:00", "2011-12-31 09:00+14:00"],
    ),
    (
        "0 * * * *",
        zoneinfo.ZoneInfo("Pacific/Apia"),
        "2011-12-29 22:30-10:00",
        ["2011-12-29 23:00-10:00", "2011-12-31 00:00+14:00", "2011-12-31 01:00+14:00"],
    ),
    (  # the day begins at one o'clock
        "every day at 00:00",
        zoneinfo.ZoneInfo("Africa/Cairo"),
        "2026-04-23 12:00+02:00",
        ["2026-04-24 01:00+03:00", "2026-04-25 00:00+03:00"],
    ),
]


@pytest.mark.parametrize(("text", "zone", "after", "due"), CASES)
def test_a_rule_is_due(text: str, zone: zoneinfo.ZoneInfo, after: str, due: list[str]) -> None:
    count = max(1, len(due))
    assert (
        moments.told(calendar.upcoming(moments.rule(text), zone, moments.at(after), count), zone)
        == due
    )


def test_a_long_sleep_costs_no_more_than_what_is_wanted() -> None:
    asked = 0

    class Counted(datetime.tzinfo):
        def utcoffset(self, moment: datetime.datetime | None) -> datetime.timedelta:
            nonlocal asked
            asked += 1
            return datetime.timedelta()

        def tzname(self, moment: datetime.datetime | None) -> str:
            return "UTC"

        def dst(self, moment: datetime.datetime | None) -> datetime.timedelta:
            return datetime.timedelta()

    now_ms = moments.at("2026-12-01 00:00+00:00")
    found = calendar.due_between(
        moments.rule("* * * * *"), Counted(), now_ms - 365 * moments.DAY_MS, now_ms, 10
    )
    assert found == tuple(now_ms - one * moments.MINUTE_MS for one in range(9, -1, -1))
    assert asked < 2000


def test_beyond_the_years_there_is_nothing() -> None:
    for text in ("every day at 09:00", "* * * * *", "every 1m from 2026-12-02 10:37"):
        assert (
            calendar.next_due(
                moments.rule(text), moments.BERLIN, moments.at("2199-12-31 00:00+00:00")
            )
            is None
        )
        assert calendar.next_due(moments.rule(text), moments.BERLIN, 10**18) is None
        assert calendar.next_due(moments.rule(text), moments.BERLIN, -(10**18)) is not None
    last = calendar.upcoming(
        moments.rule("0 0 29 2 *"), moments.UTC, moments.at("2190-01-01 00:00+00:00"), 5
    )
    assert moments.told(last, moments.UTC) == ["2192-02-29 00:00+00:00", "2196-02-29 00:00+00:00"]


def test_moments_are_told_with_their_zone() -> None:
    for moment, expected in (
        ("2026-10-25 02:30+02:00", "Sun 2026-10-25 02:30 CEST"),
        ("2026-10-25 02:30+01:00", "Sun 2026-10-25 02:30 CET"),
        ("2026-12-03 08:00:30+01:00", "Thu 2026-12-03 08:00:30 CET"),
    ):
        assert calendar.told(moments.at(moment), moments.BERLIN) == expected
    assert calendar.is_twice(datetime.datetime(2026, 10, 25, 2, 30), moments.BERLIN)
    assert not calendar.is_twice(datetime.datetime(2026, 10, 25, 3, 0), moments.BERLIN)
    assert not calendar.is_twice(datetime.datetime(2026, 3, 29, 2, 30), moments.BERLIN)
