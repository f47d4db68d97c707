"""Wire events of schedules and their runs."""

from typing import assert_never

from daemon.domain import events, schedule_text, schedules
from daemon.rpc import convert
from proto.ducklm.v1 import events_pb2

Event = (
    events.ScheduleSet
    | events.ScheduleRemoved
    | events.ScheduleRunQueued
    | events.ScheduleRunStarted
    | events.ScheduleRunsLeftOut
    | events.ScheduleRunEnded
)


def fill(sent: events_pb2.Event, given: Event, texts: convert.Texts) -> None:
    """Say one of these events in an event that is to be sent."""
    match given:
        case events.ScheduleSet():
            sent.schedule_set.CopyFrom(_set(given, texts))
        case events.ScheduleRemoved():
            sent.schedule_removed.CopyFrom(
                events_pb2.ScheduleRemoved(schedule_id=given.schedule_id, by=given.by or "")
            )
        case events.ScheduleRunQueued():
            sent.schedule_run_queued.CopyFrom(
                events_pb2.ScheduleRunQueued(
                    schedule_id=given.schedule_id,
                    run_id=given.run_id,
                    due_at=convert.timestamp(given.due_ms),
                )
            )
        case events.ScheduleRunStarted():
            sent.schedule_run_started.CopyFrom(
                events_pb2.ScheduleRunStarted(
                    schedule_id=given.schedule_id,
                    run_id=given.run_id,
                    due_at=convert.timestamp(given.due_ms),
                    run_task_id=given.run_task,
                    late_ms=given.late_ms,
                    by_hand=given.by_hand,
                    attempt=given.attempt,
                )
            )
        case events.ScheduleRunsLeftOut():
            sent.schedule_runs_left_out.CopyFrom(
                events_pb2.ScheduleRunsLeftOut(
                    schedule_id=given.schedule_id,
                    due_at=[convert.timestamp(at) for at in given.due_ms],
                    why=given.why,
                )
            )
        case events.ScheduleRunEnded():
            sent.schedule_run_ended.CopyFrom(_ended(given))
        case _:
            assert_never(given)


def _set(given: events.ScheduleSet, texts: convert.Texts) -> events_pb2.ScheduleSet:
    schedule = given.schedule
    return events_pb2.ScheduleSet(
        schedule_id=schedule.schedule_id,
        name=convert.said(texts, schedule.name),
        text=convert.said(texts, schedule.text),
        when=schedule_text.written(schedule.spec),
        zone=schedule.zone,
        paused=schedule.paused,
        by=given.by,
        why=given.why,
        command=schedule.work.kind is schedules.WorkKind.COMMAND,
    )


def _ended(given: events.ScheduleRunEnded) -> events_pb2.ScheduleRunEnded:
    again_at = None if given.again_ms is None else convert.timestamp(given.again_ms)
    return events_pb2.ScheduleRunEnded(
        schedule_id=given.schedule_id,
        run_id=given.run_id,
        run_task_id=given.run_task,
        outcome=given.outcome,
        again_at=again_at,
        told=given.told,
    )
