"""What people write is read wholly and rightly, or refused with words that help."""

import datetime
import itertools
import random
import subprocess
import sys
import time
import zoneinfo

import hypothesis
import pytest
from hypothesis import strategies

from daemon.decide import calendar
from daemon.domain import schedule_text, schedules
from daemon.spoken_times import reader
from tests.unit.decide import moments
from tests.unit.domain import rules
from tests.unit.spoken_times import phrases

pytestmark = pytest.mark.spec("C-05")

NOW_MS = moments.at("2026-12-02 10:30+01:00")


def read(
    text: str, now_ms: int = NOW_MS, zone: zoneinfo.ZoneInfo = moments.BERLIN
) -> tuple[str, str, tuple[str, ...]]:
    """The rule's text, when it is due next by the clock there, and the notes."""
    heard = reader.read(text, now_ms, zone)
    assert isinstance(heard, reader.Heard), heard
    due_ms = calendar.next_due(heard.spec, zone, now_ms)
    assert due_ms is not None
    due = calendar.local(due_ms, zone)
    seconds = "seconds" if due.second else "minutes"
    return schedule_text.written(heard.spec), due.isoformat(" ", seconds), heard.notes


@pytest.mark.parametrize(("text", "rule", "due"), phrases.READ, ids=lambda one: one[:40])
def test_it_is_read(text: str, rule: str, due: str) -> None:
    assert read(text)[:2] == (rule, due)


@pytest.mark.parametrize(("text", "words"), phrases.REFUSED, ids=lambda one: one[:40])
def test_it_is_refused_with_words(text: str, words: str) -> None:
    unread = reader.read(text, NOW_MS, moments.BERLIN)
    assert isinstance(unread, reader.Unread), unread
    assert words in unread.reason
    assert len(unread.reason) < 600


def test_there_are_enough_phrases() -> None:
    assert len({text for text, _, _ in phrases.READ}) >= 80
    assert len({text for text, _ in phrases.REFUSED}) >= 30


def test_every_example_of_a_refusal_is_read() -> None:
    unread = reader.read("banana", NOW_MS, moments.BERLIN)
    assert isinstance(unread, reader.Unread)
    for example in reader.EXAMPLES:
        assert example in unread.reason
        assert isinstance(reader.read(example, NOW_MS, moments.BERLIN), reader.Heard)


@pytest.mark.parametrize(
    ("text", "now", "notes"),
    [
        ("tomorrow at 8", "", ["8 is read as 08:00, in the morning; say 8pm for 20:00"]),
        ("tomorrow at 8am", "", []),
        ("tomorrow at 8:00", "", []),
        ("tomorrow at 08", "", []),
        ("tomorrow at 12", "", []),
        ("tomorrow morning at 8", "", []),
        ("tomorrow at midnight", "", ["midnight is read as 00:00, with which a day begins"]),
        ("every day at midnight", "", []),
        ("next friday at 5pm", "", ['"next friday" is read as the one of next week']),
        ("wednesday at 18:00", "", ["that day is today"]),
        ("wednesday at 9:00", "", []),
        ("every 31st of the month at noon", "", ["months that do not have that day are left out"]),
        (
            "tomorrow at 2:30",
            "2026-03-28 10:00+01:00",
            ["the clock leaves that time out, so it is done at Sun 2026-03-29 03:00 CEST"],
        ),
        (
            "tomorrow at 2:30",
            "2026-10-24 10:00+02:00",
            ["the clock shows that time twice, and the first is meant"],
        ),
        (
            "in 20 minutes",
            "2026-10-25 02:50+02:00",
            ["the clock shows that time twice, and the second is meant"],
        ),
    ],
)
def test_what_could_be_meant_otherwise_is_told(text: str, now: str, notes: list[str]) -> None:
    assert list(read(text, moments.at(now) if now else NOW_MS)[2]) == notes


@pytest.mark.parametrize("zone", moments.ZONES, ids=str)
def test_so_much_later_is_time_that_passes(zone: zoneinfo.ZoneInfo) -> None:
    begin_ms = moments.at("2026-01-01 00:17+00:00")
    for now_ms in range(begin_ms, begin_ms + 365 * moments.DAY_MS, moments.DAY_MS // 8 * 3):
        heard = reader.read("in 90 minutes", now_ms, zone)
        assert isinstance(heard, reader.Heard)
        due = calendar.upcoming(heard.spec, zone, now_ms, 2)
        assert due == (now_ms + 90 * moments.MINUTE_MS,)


def test_fractions_of_the_present_second_round_up() -> None:
    assert read("in 1 minute", NOW_MS + 1)[0] == "at 2026-12-02 10:31:01"
    assert read("every hour", NOW_MS + 59_999)[0] == "every 1h from 2026-12-02 10:30"


@pytest.mark.parametrize("days", range(14))
def test_days_of_the_week_are_right_on_each_day(days: int) -> None:
    """Reckoned apart: `friday` is the next one that is not today, `next` the one of next week."""
    now_ms = NOW_MS + days * moments.DAY_MS
    today = calendar.local(now_ms, moments.BERLIN).date()
    monday = today - datetime.timedelta(today.weekday())
    for weekday in schedules.Weekday:
        ahead = (weekday - today.weekday()) % 7
        plain = today + datetime.timedelta(ahead or 7)
        following = monday + datetime.timedelta(7 + weekday)
        assert read(f"{weekday.name.lower()} at 10:30", now_ms)[1] == f"{plain} 10:30"
        assert read(f"next {weekday.name.lower()} at 10:30", now_ms)[1] == f"{following} 10:30"
        if ahead == 0:
            assert read(f"{weekday.name.lower()} at 10:31", now_ms)[1] == f"{today} 10:31"


@pytest.mark.parametrize("year", [1990, 2031, 2150])
def test_the_time_is_the_one_that_is_given(year: int) -> None:
    now_ms = moments.at(f"{year}-06-15 10:00+02:00")
    zone = moments.BERLIN
    today = calendar.local(now_ms, zone).date()
    for text, days in (("tomorrow at noon", 1), ("in 3 days at noon", 3), ("today at noon", 0)):
        assert read(text, now_ms)[1] == f"{today + datetime.timedelta(days)} 12:00"
    assert read("5 january at noon", now_ms)[1] == f"{year + 1}-01-05 12:00"
    assert read("20 june at noon", now_ms)[1] == f"{year}-06-20 12:00"
    assert isinstance(reader.read("february 30 at noon", now_ms, zone), reader.Unread)


FOREIGN = ("banana", "mum", "not", "maybe", "never", "before", "report", "17x", "until", "unless")


def test_half_a_sentence_is_never_enough() -> None:
    """A word that says something else, anywhere in what is understood, and it is not."""
    tried = 0
    for (text, _, _), word in itertools.product(phrases.READ, FOREIGN):
        parts = text.split()
        for place in range(len(parts) + 1):
            spoiled = " ".join([*parts[:place], word, *parts[place:]])
            found = reader.read(spoiled, NOW_MS, moments.BERLIN)
            assert isinstance(found, reader.Unread), spoiled
            tried += 1
    assert tried > 3000


@hypothesis.settings(max_examples=200, deadline=None, database=None)
@hypothesis.given(rules.specs(), strategies.sampled_from(moments.ZONES))
def test_the_text_of_a_rule_is_read_as_that_rule(
    spec: schedules.Spec, zone: zoneinfo.ZoneInfo
) -> None:
    now_ms = moments.at("2023-12-01 00:00+00:00")
    found = reader.read(schedule_text.written(spec), now_ms, zone)
    if isinstance(found, reader.Unread):
        assert calendar.next_due(spec, zone, now_ms) is None
    else:
        assert found.spec == spec


def test_any_words_are_answered_soon(seed: int) -> None:
    """Whatever stands there, in any length that is taken: an answer, and no long thinking."""
    dice = random.Random(seed)
    known = sorted({word for text, _, _ in phrases.READ for word in text.split()})
    texts = [" ".join(dice.choices(known, k=dice.randrange(1, 40)))[:300] for _ in range(400)]
    texts += [
        "at " + "9, " * 99,
        "every " + "mon, " * 58,
        "1" * 300,
        "a " * 150,
        "9" + " and 9" * 49,
    ]
    texts += ["every 9th" + " and 9th" * 36, "* " * 150, "," * 300, "at 9 " * 60, "- " * 150]
    slowest = 0.0
    for text in texts:
        begin = time.process_time()
        found = reader.read(text, NOW_MS, moments.BERLIN)
        slowest = max(slowest, time.process_time() - begin)
        assert isinstance(found, reader.Heard | reader.Unread)
    assert slowest < 0.5


def test_the_library_is_loaded_with_the_first_words_and_no_sooner() -> None:
    program = (
        "import sys, datetime\n"
        "from daemon.spoken_times import reader\n"
        "loaded = lambda: 'parsedatetime' in sys.modules\n"
        "read = lambda text: reader.read(text, 0, datetime.UTC)\n"
        "read('every 2h'); read('0 9 * * *'); read('every weekday at 8')\n"
        "before = loaded()\n"
        "read('tomorrow at noon')\n"
        "print(before, loaded())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
