"""How events of schedules change the world, and how the ends of their runs' tasks do."""

from typing import assert_never

from daemon.domain import events, state, world

Event = (
    events.ScheduleSet
    | events.ScheduleRemoved
    | events.ScheduleRunQueued
    | events.ScheduleRunStarted
    | events.ScheduleRunsLeftOut
    | events.ScheduleRunEnded
)


def apply(target: world.World, event: Event, at_ms: int) -> None:
    if isinstance(event, events.ScheduleSet):
        _set(target, event.schedule, at_ms)
        return
    planned = target.schedules.get(event.schedule_id)
    if planned is None:
        raise ValueError(f"{event.schedule_id} is no schedule")
    match event:
        case events.ScheduleRemoved():
            _remove(target, event)
            return
        case events.ScheduleRunQueued():
            _first(planned, event.due_ms)
            due = world.DueRun(run_id=event.run_id, due_ms=event.due_ms)
            changes = _accounted(planned, event.due_ms) | {"queued": (*planned.queued, due)}
        case events.ScheduleRunStarted():
            changes = _start(planned, event, at_ms)
        case events.ScheduleRunsLeftOut():
            waited = {one.due_ms for one in planned.queued}
            _first(planned, *(at for at in event.due_ms if at not in waited))
            left = tuple(one for one in planned.queued if one.due_ms not in event.due_ms)
            changes = _accounted(planned, *event.due_ms) | {"queued": left}
        case events.ScheduleRunEnded():
            target.settling.pop(event.schedule_id, None)
            changes = _end(planned, event)
        case _:
            assert_never(event)
    target.schedules[event.schedule_id] = planned.but(changes)


def _set(target: world.World, schedule: events.Schedule, at_ms: int) -> None:
    planned = target.schedules.get(schedule.schedule_id)
    if planned is None:
        planned = world.Planned(schedule=schedule, accounted_ms=at_ms)
        target.schedules[schedule.schedule_id] = planned
        return
    before = planned.schedule
    changes: dict[str, object] = {"schedule": schedule}
    goes_on = before.paused and not schedule.paused
    if goes_on or (before.spec, before.zone) != (schedule.spec, schedule.zone):
        changes |= _accounted(planned, at_ms)  # a clock that was set back brings nothing back
    if goes_on:
        changes["failures"] = 0
    target.schedules[schedule.schedule_id] = planned.but(changes)


def _remove(target: world.World, event: events.ScheduleRemoved) -> None:
    del target.schedules[event.schedule_id]
    target.settling.pop(event.schedule_id, None)
    gone = [one for one in target.grants.values() if one.schedule_id == event.schedule_id]
    for grant in gone:
        del target.grants[grant.grant_id]


def _first(planned: world.Planned, *due_ms: int) -> None:
    """Each time is accounted for once."""
    for at in due_ms:
        if at <= planned.accounted_ms:
            raise ValueError(f"{planned.schedule.schedule_id} has accounted for {at} already")


def _accounted(planned: world.Planned, *due_ms: int) -> dict[str, object]:
    return {"accounted_ms": max(planned.accounted_ms, *due_ms)}


def _start(
    planned: world.Planned, event: events.ScheduleRunStarted, at_ms: int
) -> dict[str, object]:
    live = world.LiveRun(
        run_id=event.run_id,
        due_ms=event.due_ms,
        task_id=event.run_task,
        attempt=event.attempt,
        by_hand=event.by_hand,
        began_ms=at_ms,
        has_chat=planned.schedule.policy.delivery.to is not None,
    )
    if event.attempt > 1:
        began_ms = planned.live.began_ms if planned.live is not None else at_ms
        return {"live": live.but({"began_ms": began_ms})}
    if event.by_hand:
        return {"live": live}
    left = tuple(one for one in planned.queued if one.run_id != event.run_id)
    if left == planned.queued:
        _first(planned, event.due_ms)
    changes: dict[str, object] = {"live": live, "queued": left, "runs": planned.runs + 1}
    return _accounted(planned, event.due_ms) | changes


def _end(planned: world.Planned, event: events.ScheduleRunEnded) -> dict[str, object]:
    if planned.live is None or planned.live.run_id != event.run_id:
        raise ValueError(f"{event.run_id} does not go on")
    if event.again_ms is not None:
        return {"live": planned.live.but({"again_ms": event.again_ms, "ended": None})}
    failures = planned.failures + 1 if event.outcome == "failed" else 0
    changes: dict[str, object] = {"live": None, "failures": failures}
    if event.outcome != "cancelled":
        changes |= {"last_outcome": event.outcome, "last_digest": event.digest}
    else:
        changes["failures"] = planned.failures
    return changes


def task_ended(target: world.World, task: world.Task) -> None:
    """A task is final: the run that it is of has ended, and what follows is to be decided."""
    planned = target.schedules.get(task.run.schedule_id) if task.run is not None else None
    if planned is None or planned.live is None or planned.live.task_id != task.task_id:
        return
    ended = planned.live.but({"ended": _outcome(task), "answer": task.answer})
    target.schedules[planned.schedule.schedule_id] = planned.but({"live": ended})
    target.settling[planned.schedule.schedule_id] = None


def _outcome(task: world.Task) -> events.RunOutcome:
    """How a run did; a command that says with its exit code that it failed has failed."""
    if task.state is state.TaskState.CANCELLED:
        return "cancelled"
    last = task.calls[-1] if task.calls else None
    went_wrong = last is not None and last.direct and last.exit_code not in (None, 0)
    return "done" if task.state is state.TaskState.COMPLETED and not went_wrong else "failed"


def move_chat(target: world.World, event: events.ChatMoved) -> None:
    """What schedules tell a chat goes on under its new id."""
    for schedule_id, planned in tuple(target.schedules.items()):
        policy = planned.schedule.policy
        to = policy.delivery.to
        if to is None or (to.account, to.chat) != (event.account, event.chat):
            continue
        there = policy.delivery.but({"to": to.but({"chat": event.to, "reply_to": ""})})
        schedule = planned.schedule.but({"policy": policy.but({"delivery": there})})
        target.schedules[schedule_id] = planned.but({"schedule": schedule})
