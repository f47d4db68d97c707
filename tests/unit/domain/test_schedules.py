"""Rules of schedules are closed, their text is one and complete, and impossible ones are refused
with words."""

import datetime
import itertools

import hypothesis
import pydantic
import pytest

from daemon.domain import base, schedule_text, schedules
from tests.unit.domain import rules

pytestmark = pytest.mark.spec("K-14")

TEXTS = [
    "at 2027-01-05 16:54",
    "at 2027-01-05 16:54:30",
    "at 2026-10-25 02:10 again",
    "every 1m from 2026-12-02 10:37",
    "every 90m from 2026-12-02 10:37",
    "every 2h from 2026-12-02 10:37",
    "every day at 09:30",
    "every day at 00:00,09:30,23:59",
    "every 3d at 09:30 from 2026-12-02",
    "every mon at 08:00",
    "every mon,wed,sun at 08:00,17:30",
    "every 2w on fri at 16:00 from 2026-12-02",
    "* * * * *",
    "*/15 0-6/2,12 * JAN-MAR MON-FRI",
    "0 9 1,15 * *",
    "0 9 L * *",
    "0 9 LW * *",
    "0 9 * * MON#1,FRI#3",
    "0 9 * * 5L",
    "0 0 29 2 *",
    "0 0 13 * FRI",
    "0 0 30 2 MON",
]

TIDIED = [
    ("every 1d at 09:30", "every day at 09:30"),
    ("every 60m from 2026-12-02 10:37", "every 1h from 2026-12-02 10:37"),
    ("every day at 17:00,09:00,17:00", "every day at 09:00,17:00"),
    ("every fri,mon,fri at 08:00", "every mon,fri at 08:00"),
    ("every 1w on mon at 08:00", "every mon at 08:00"),
    ("0 9 * jan mon-fri", "0 9 * JAN MON-FRI"),
]

NO_FORM = [
    "every 3d at 09:00",
    "every 2w on mon at 09:00",
    "",
    "now",
    "every",
    "every 2h",
    "at 16:54",
    "every banana at 08:00",
    "* * * *",
    "@daily",
]

IMPOSSIBLE = [
    ("at 2026-02-30 10:00", "there is no 2026-02-30"),
    ("at 1969-12-31 10:00", "a year from 1970 to 2199"),
    ("at 2200-01-01 10:00", "a year from 1970 to 2199"),
    ("every 0m from 2026-12-02 10:37", "minutes: at least 1"),
    ("every 9999h from 2026-12-02 10:37", "minutes: at most 527040"),
    ("every day at 25:00", "25:00 is no time of day"),
    ("every 0d at 09:00", "days: at least 1"),
    ("every 999d at 09:00 from 2026-12-02", "days: at most 366"),
    ("every day at 09:00 from 2026-12-02", "leave `from` out"),
    ("every 2w on mon at 09:00 from 2026-13-02", "there is no 2026-13-02"),
    ("60 * * * *", "'60' is no minute: 0 to 59"),
    ("* 24 * * *", "'24' is no hour"),
    ("* * 0 * *", "'0' is no day of the month"),
    ("* * 32 * *", "'32' is no day of the month"),
    ("* * * 13 *", "'13' is no month"),
    ("* * * FOO *", "'FOO' is no month"),
    ("* * * * 8", "'8' is no day of the week"),
    ("* * * * FRI-MON", "ranges go upwards"),
    ("* * * * MON#6", "is no day of the week"),
    ("*/0 * * * *", "is no minute"),
    ("*/90 * * * *", "steps in the minute are below 60"),
    ("0 */24 * * *", "steps in the hour are below 24"),
    ("5-1 * * * *", "ranges go upwards"),
    ("1,, * * * *", "is no minute"),
    ("0 0 30 2 *", "none of these months has such a day"),
    ("0 0 31 2,4,6,9,11 *", "none of these months has such a day"),
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_of_a_rule_gives_the_rule_again(text: str) -> None:
    spec = schedule_text.parse(text)
    assert spec is not None
    assert schedule_text.written(spec) == text


@pytest.mark.parametrize(("text", "tidied"), TIDIED)
def test_what_means_the_same_has_one_text(text: str, tidied: str) -> None:
    spec = schedule_text.parse(text)
    assert spec is not None
    assert schedule_text.written(spec) == tidied
    assert schedule_text.parse(tidied) == spec


@pytest.mark.parametrize("text", NO_FORM)
def test_a_text_of_another_form_is_no_rule(text: str) -> None:
    assert schedule_text.parse(text) is None


@pytest.mark.parametrize(("text", "words"), IMPOSSIBLE)
def test_what_cannot_be_is_refused_with_words(text: str, words: str) -> None:
    with pytest.raises(ValueError) as caught:
        schedule_text.parse(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@hypothesis.settings(max_examples=300, deadline=None, database=None)
@hypothesis.given(rules.specs())
def test_every_rule_comes_back_from_its_text_and_from_json(spec: schedules.Spec) -> None:
    assert schedule_text.parse(schedule_text.written(spec)) == spec
    adapter: pydantic.TypeAdapter[schedules.Spec] = pydantic.TypeAdapter(schedules.AnySpec)
    assert adapter.validate_json(adapter.dump_json(spec)) == spec


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(
    "contract",
    [
        schedules.Once,
        schedules.Every,
        schedules.Daily,
        schedules.Weekly,
        schedules.Cron,
        schedules.Missed,
        schedules.Delivery,
        schedules.Retries,
        schedules.Policy,
        schedules.Work,
    ],
    ids=lambda one: one.__name__,
)
def test_a_value_is_frozen_closed_and_strict(contract: type[pydantic.BaseModel]) -> None:
    assert issubclass(contract, base.Value)
    config = contract.model_config
    assert (config["extra"], config["frozen"], config["strict"]) == ("forbid", True, True)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("Europe/Berlin", True),
        ("UTC", True),
        ("America/Argentina/Buenos_Aires", True),
        ("Etc/GMT+5", True),
        ("", False),
        ("../passwd", False),
        ("/etc/localtime", False),
        ("Europe/Berlin\n", False),
        ("A/" * 40, False),
    ],
)
def test_a_zone_has_the_form_of_a_name(name: str, good: bool) -> None:
    adapter = pydantic.TypeAdapter(schedules.ZoneName)
    if good:
        assert adapter.validate_python(name) == name
        return
    with pytest.raises(pydantic.ValidationError, match="IANA"):
        adapter.validate_python(name)


def test_a_wall_time_has_no_zone_and_no_fractions() -> None:
    for at in (
        datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC),
        datetime.datetime(2027, 1, 1, microsecond=1),
    ):
        with pytest.raises(pydantic.ValidationError, match="wall-clock"):
            schedules.Once(at=at)
    with pytest.raises(pydantic.ValidationError, match="counts from a day"):
        schedules.Daily(days=2, times=(datetime.time(9),))
    with pytest.raises(pydantic.ValidationError, match="whole minute"):
        schedules.Every(minutes=1, anchor=datetime.datetime(2027, 1, 1, second=1))
    with pytest.raises(pydantic.ValidationError, match="time of day"):
        schedules.Daily(times=(datetime.time(1, 1, 1),))


def test_a_run_moves_along_its_table_and_ends() -> None:
    may = {
        (before.value, after.value)
        for before, after in itertools.product(schedules.RunState, repeat=2)
        if schedules.may_move(before, after)
    }
    assert may == {
        ("scheduled", "late"),
        ("scheduled", "missed"),
        ("scheduled", "skipped"),
        ("scheduled", "running"),
        ("late", "missed"),
        ("late", "skipped"),
        ("late", "running"),
        ("scheduled", "failed"),
        ("scheduled", "cancelled"),
        ("running", "waiting"),
        ("running", "scheduled"),
        ("running", "cancelled"),
        ("running", "done"),
        ("running", "failed"),
        ("waiting", "running"),
        ("waiting", "scheduled"),
        ("waiting", "cancelled"),
        ("waiting", "done"),
        ("waiting", "failed"),
        ("done", "delivered"),
    }
    assert set(schedules.MOVES) == set(schedules.RunState)


def test_bounds_of_a_policy_hold_and_have_their_unit_last() -> None:
    for contract, faults in (
        (schedules.Missed, {"most": 0, "grace_seconds": -1}),
        (schedules.Retries, {"most": 11, "backoff_seconds": 0}),
        (
            schedules.Policy,
            {"pause_after_failures": 0, "most_runs": 0, "deadline_seconds": 0},
        ),
    ):
        for name, bad in faults.items():
            with pytest.raises(pydantic.ValidationError):
                contract.model_validate({name: bad})
