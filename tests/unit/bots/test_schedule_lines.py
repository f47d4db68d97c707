"""Schedules and their runs as lines: 80 columns, inert, and every state with its word."""

import pytest

from bots import texts
from bots.terminal import schedule_lines, schedule_policy
from proto.ducklm.v1 import schedules_pb2
from tests.unit.bots import scheduled, stage

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("K-14")]
RUN = schedules_pb2.Run

DIGEST_WHOLE = """\
schedule      schedule-00aa11bb22cc
name          Digest
text          What is new?
when          every mon,fri at 08:00 (Europe/Berlin)
next          Fri 2026-12-04 08:00 CET
              Mon 2026-12-07 08:00 CET
              Fri 2026-12-11 08:00 CET
state         active
if missed     the newest runs late; missed is what is more than 1 min late
if busy       left out while a run goes on
results       in ducklm schedule runs alone
pauses after  5 failures in a row
runs          0
mode          build
project       the daemon's own
of            local:owner
conversation  conversation-9
"""
BACKUP_WHOLE = """\
schedule      schedule-00aa11bb33dd
name          Backup \\u202eof all that there is, and this name has many words
command       tar -c x
              \x20
                | gzip\\x1b[2J
when          0 9 * * 1-5 (UTC)
next          not due
state         paused · waits (task-5) · 1 behind it · failed 2 in a row
approval      its runs may run it unasked
if missed     the newest 3 run late; missed is what is more than 1 h 30 min late
if busy       one waits for the run that goes on
results       that differ from the one before, to telegram:7/-5/2
if it failed  tried again 2 times, the first after 1 min 30 s, then twice as long
pauses after  never
runs          4 of 10
at most       1 h
waits for yes 5 min
mode          build
project       /p
profile       careful
of            local:owner
conversation  conversation-8
"""


def test_the_list_fits_80_columns_and_is_inert() -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.DIGEST, scheduled.BACKUP)

    played = stage.play(["schedule", "list"], script)
    assert (played.code, played.stdout) == (0, scheduled.LISTED)
    assert scheduled.wide(played.stdout.splitlines()) == []


def test_no_schedule_is_said_so() -> None:
    played = stage.play(["schedule", "list"], scheduled.listed)
    assert (played.code, played.stdout, played.lines) == (0, "", [texts.SCHEDULES_NONE])


@pytest.mark.parametrize(
    ("row", "whole"),
    [(scheduled.DIGEST, DIGEST_WHOLE), (scheduled.BACKUP, BACKUP_WHOLE)],
    ids=["digest", "backup"],
)
def test_one_is_shown_with_all_that_is_set(row: schedules_pb2.Schedule, whole: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.Get", row)

    assert stage.play(["schedule", "show", "schedule-1"], script).stdout == whole


def test_ids_are_shown_as_far_as_they_differ() -> None:
    rows = [schedules_pb2.Schedule(schedule_id=f"schedule-{n}7654321") for n in (1, 2)]
    assert schedule_lines.short_ids(rows) == {
        "schedule-17654321": "17654321",
        "schedule-27654321": "27654321",
    }
    assert schedule_lines.short_ids([]) == {}


@pytest.mark.parametrize(
    ("row", "lines"), scheduled.RUNS, ids=["told", "failed", "missed", "retries"]
)
def test_a_run_says_what_became_of_it(row: schedules_pb2.Run, lines: list[str]) -> None:
    told = schedule_lines.run(row).split("\n")
    assert told == lines
    assert scheduled.wide(told) == []


def test_every_state_of_a_run_has_its_word() -> None:
    names = {name for name in RUN.State.keys() if name != "STATE_UNSPECIFIED"}  # noqa: SIM118
    assert set(texts.RUN_STATES) == names


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (60, "1 min"),
        (3599, "59 min 59 s"),
        (3600, "1 h"),
        (5400, "1 h 30 min"),
        (86_399, "23 h 59 min"),
        (604_800, "7 d"),
        (90_000, "1 d 1 h"),
    ],
)
def test_a_span_of_time_in_its_two_largest_units(seconds: float, told: str) -> None:
    assert schedule_policy.seconds_told(seconds) == told


def test_what_is_over_is_not_called_active() -> None:
    over = schedules_pb2.Schedule()
    over.CopyFrom(scheduled.DIGEST)
    over.state = schedules_pb2.Schedule.OVER
    over.ClearField("times")
    assert " over " in schedule_lines.schedule(over, "bb22cc")
    assert "state         over\n" in schedule_lines.whole(over) + "\n"
