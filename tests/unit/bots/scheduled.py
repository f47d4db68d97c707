"""Schedules and runs as the daemon sends them."""

from collections.abc import Sequence

import grpc

from proto.ducklm.v1 import common_pb2, events_pb2, schedules_pb2
from tests.unit.bots import stage

RULE = "every mon,fri at 08:00"
TOLD = ("Fri 2026-12-04 08:00 CET", "Mon 2026-12-07 08:00 CET", "Fri 2026-12-11 08:00 CET")
TIMES = schedules_pb2.Times(when=RULE, zone="Europe/Berlin", next=[], told=TOLD)
HEARD = schedules_pb2.Times(
    when=RULE, zone="Europe/Berlin", told=TOLD, notes=["8 is read as 08:00\x1b[2J"]
)
POLICY = schedules_pb2.SchedulePolicy(
    missed=schedules_pb2.SchedulePolicy.RUN_ONCE,
    catch_up=10,
    grace_seconds=60,
    overlap=schedules_pb2.SchedulePolicy.LEAVE_OUT,
    tell=schedules_pb2.SchedulePolicy.ALWAYS,
    no_chat=True,
    retries=0,
    backoff_seconds=60,
    pause_after_failures=5,
)
DIGEST = schedules_pb2.Schedule(
    schedule_id="schedule-00aa11bb22cc",
    conversation_id="conversation-9",
    principal="local:owner",
    name="Digest",
    text="What is new?",
    kind=schedules_pb2.Schedule.AGENT,
    mode=common_pb2.BUILD,
    policy=POLICY,
    state=schedules_pb2.Schedule.ACTIVE,
    times=TIMES,
)
BACKUP = schedules_pb2.Schedule(
    schedule_id="schedule-00aa11bb33dd",
    conversation_id="conversation-8",
    principal="local:owner",
    name="Backup \u202eof all that there is, and this name has many words",
    text="tar -c x\n\n  | gzip\x1b[2J",
    kind=schedules_pb2.Schedule.COMMAND,
    mode=common_pb2.BUILD,
    folder="/p",
    profile="careful",
    policy=schedules_pb2.SchedulePolicy(
        missed=schedules_pb2.SchedulePolicy.RUN_ALL,
        catch_up=3,
        grace_seconds=5400,
        overlap=schedules_pb2.SchedulePolicy.WAIT,
        tell=schedules_pb2.SchedulePolicy.ON_CHANGE,
        to=schedules_pb2.ChatTarget(account="telegram:7", chat="-5", topic="2"),
        retries=2,
        backoff_seconds=90,
        pause_after_failures=0,
        most_runs=10,
        deadline_seconds=3600,
        approval_seconds=300,
    ),
    state=schedules_pb2.Schedule.PAUSED,
    times=schedules_pb2.Times(when="0 9 * * 1-5", zone="UTC"),
    runs=4,
    failures=2,
    live=schedules_pb2.Run(state=schedules_pb2.Run.WAITING, task_id="task-5"),
    waiting_runs=1,
    allowed=True,
)
LISTED = """\
bb22cc  Fri 2026-12-04 08:00 CET   active     Digest
        every mon,fri at 08:00 (Europe/Berlin)
bb33dd  not due                    paused     Backup \\u202eof all that there is…
        0 9 * * 1-5 (UTC) · command, allowed · failed 2 in a row
"""
RUNS = [
    (
        schedules_pb2.Run(
            due_told="Thu 2026-12-03 08:00 CET",
            state=schedules_pb2.Run.DELIVERED,
            name="Digest",
            late_ms=999,
            duration_ms=64_000,
            attempts=1,
            task_id="task-1",
        ),
        ["Thu 2026-12-03 08:00 CET      delivered  1 min 4 s    Digest", "  task-1"],
    ),
    (
        schedules_pb2.Run(
            due_told="Thu 2026-07-02 08:00:30 CEST",
            state=schedules_pb2.Run.FAILED,
            name="Backup\x1b[2J " * 9,
            by_hand=True,
            late_ms=4_320_000,
            duration_ms=400,
            attempts=3,
            task_id="task-2",
            reason="it\u202e took too long",
        ),
        [
            "Thu 2026-07-02 08:00:30 CEST  failed     0.4 s        Backup\\x1b[2J Backup\\x1b[…",
            "  by hand · 1 h 12 min late · 3 attempts · task-2",
            "  it\\u202e took too long",
        ],
    ),
    (
        schedules_pb2.Run(
            due_told="Thu 2026-12-03 08:00 CET", state=schedules_pb2.Run.MISSED, name="Digest"
        ),
        ["Thu 2026-12-03 08:00 CET      missed                  Digest"],
    ),
    (
        schedules_pb2.Run(
            due_told="Thu 2026-12-03 08:00 CET", state=schedules_pb2.Run.SCHEDULED, attempts=2
        ),
        ["Thu 2026-12-03 08:00 CET      retries", "  2 attempts"],
    ),
]


def listed(daemon: stage.Daemon, *rows: schedules_pb2.Schedule) -> None:
    """Serve a List."""
    response = schedules_pb2.ListSchedulesResponse(schedules=rows)
    request = daemon.answer("Schedules.List", response)
    assert request.origin.channel == "terminal"


def keeps(
    daemon: stage.Daemon, made: schedules_pb2.Schedule = DIGEST
) -> tuple[schedules_pb2.PreviewRequest, schedules_pb2.CreateScheduleRequest]:
    """Serve a Preview and a Create."""
    previewed = daemon.answer("Schedules.Preview", HEARD)
    return previewed, daemon.answer("Schedules.Create", made)


def refuses(daemon: stage.Daemon, sentence: str) -> None:
    daemon.refuse("Schedules.Preview", grpc.StatusCode.INVALID_ARGUMENT, sentence)


def head(daemon: stage.Daemon, seq: int) -> None:
    """Serve the look at where the log stands."""
    daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=seq))


def wide(lines: Sequence[str], columns: int = 80) -> list[str]:
    """The lines that are wider than that."""
    return [line for line in lines if len(line) > columns]
