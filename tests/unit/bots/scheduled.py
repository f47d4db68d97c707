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
