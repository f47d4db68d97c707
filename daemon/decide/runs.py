"""The runs of schedules: begun when they are due, accounted for once, and settled when they end.

A run and its task begin in one decision. Every time that was due is a run, or is left out and noted
as such; the next time follows from the rule and from what is accounted for, never from the last
start. What comes due while something else of the schedule goes on follows its own policy.
"""

from daemon.decide import channels, due_times, endings, submitting, turn
from daemon.domain import decisions, events, ids, inputs, schedules, state, world

_MINUTE_MS = 60_000
_PAUSED = "it failed {count} times in a row"
_TOO_LONG = "it took longer than its schedule lets it"


def timer(current: turn.Turn, subject: str) -> None:
    """It may be time: for what is due, for what is tried again, for the end of what takes long."""
    schedule_id = ids.ScheduleId(subject)
    planned = current.world.schedules.get(schedule_id)
    if planned is None:
        return
    live = planned.live
    if live is not None and live.ended is None:
        _look_after(current, planned, live)
    account(current, schedule_id)
    go_on(current, schedule_id)


def _look_after(current: turn.Turn, planned: world.Planned, live: world.LiveRun) -> None:
    """It may be time for something of the run that goes on."""
    now_ms, model_ms = current.at_ms, _model_ms(current, live)
    deadline_ms = _deadline_ms(planned, live)
    if deadline_ms is not None and now_ms >= deadline_ms:
        _overrun(current, planned, live)
    elif live.again_ms is not None and now_ms >= live.again_ms:
        _try_again(current, planned, live)
    elif model_ms is not None and now_ms >= model_ms:
        task = current.world.tasks[live.task_id]
        retry = events.Decision.RETRY
        current.emit(
            task,
            events.TaskDecided(task_id=task.task_id, decision=retry, principal=channels.DAEMON),
        )


def _model_ms(current: turn.Turn, live: world.LiveRun) -> int | None:
    """When a run whose model was not ready is tried once more: that keeps it due."""
    task = current.task(live.task_id)
    if task is None or task.ready or task.state is not state.TaskState.MODEL_UNAVAILABLE:
        return None
    return task.running_since_ms + current.rules.limits.schedule_model_seconds * 1000


def recover(current: turn.Turn, given: inputs.RecoverSchedule) -> None:
    """After a start: what was due meanwhile, what had ended, and the timers, which nothing kept."""
    if given.schedule_id in current.world.settling:
        settle(current, given.schedule_id)
    timer(current, given.schedule_id)


# --- what is due


def account(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Say of each time that has come what becomes of it, oldest first."""
    planned = current.world.schedules.get(schedule_id)
    if planned is None:
        return
    due = due_times.come(current, planned)
    late_ms = current.at_ms - planned.schedule.policy.missed.grace_seconds * 1000
    caught_up = due_times.caught_up(current, planned, late_ms) if due else frozenset()
    missed = tuple(at for at in due if at < late_ms and at not in caught_up)
    _leave_out(current, planned, missed, "missed")
    overlapped: list[int] = []
    for at in due:
        now = current.world.schedules[schedule_id]
        if at in missed or due_times.is_used_up(now):
            continue
        if now.live is None and not now.queued:
            _start(current, now, at)
        elif len(now.queued) < (due_times.most_caught_up(now) if at in caught_up else _waits(now)):
            queued = events.ScheduleRunQueued(
                schedule_id=schedule_id, run_id=events.due_run(schedule_id, at), due_ms=at
            )
            _record(current, now, queued, queued.run_id)
        else:
            overlapped.append(at)
    _leave_out(current, planned, tuple(overlapped), "overlap")


def _waits(planned: world.Planned) -> int:
    """How many runs that are due in time may wait for the one that goes on."""
    return 1 if planned.schedule.policy.overlap is schedules.Overlap.QUEUE else 0


def _record(
    current: turn.Turn, planned: world.Planned, event: events.Event, run_id: str = ""
) -> None:
    """Make an event of a schedule happen; a run's own id tells in logs what came of it."""
    current.record(event, planned.schedule.conversation_id, run_id)


def _leave_out(
    current: turn.Turn, planned: world.Planned, due_ms: tuple[int, ...], why: events.LeftOut
) -> None:
    if due_ms:
        schedule_id = planned.schedule.schedule_id
        left = events.ScheduleRunsLeftOut(schedule_id=schedule_id, due_ms=due_ms, why=why)
        _record(current, planned, left)


def drop_queued(current: turn.Turn, planned: world.Planned, why: events.LeftOut) -> None:
    """Leave out what waits for the run that goes on."""
    _leave_out(current, planned, tuple(one.due_ms for one in planned.queued), why)


def drop_due(current: turn.Turn, planned: world.Planned, why: events.LeftOut) -> None:
    """Leave out what waits, and what has come though no timer has said so yet."""
    waiting = tuple(one.due_ms for one in planned.queued)
    _leave_out(current, planned, (*waiting, *due_times.newest(current, planned)), why)


# --- begins


def _start(current: turn.Turn, planned: world.Planned, due_ms: int) -> None:
    """Begin the run that is due then."""
    run_id = events.due_run(planned.schedule.schedule_id, due_ms)
    _begin(current, planned, world.DueRun(run_id=run_id, due_ms=due_ms))


def start_now(current: turn.Turn, planned: world.Planned) -> ids.TaskId:
    """Begin a run that somebody wants now, beside those that come due."""
    due = world.DueRun(run_id=current.ids.run(), due_ms=current.at_ms)
    return _begin(current, planned, due, by_hand=True)


def _try_again(current: turn.Turn, planned: world.Planned, live: world.LiveRun) -> None:
    due = world.DueRun(run_id=live.run_id, due_ms=live.due_ms)
    _begin(current, planned, due, live.by_hand, live.attempt + 1)


def _begin(
    current: turn.Turn,
    planned: world.Planned,
    due: world.DueRun,
    by_hand: bool = False,
    attempt: int = 1,
) -> ids.TaskId:
    schedule = planned.schedule
    task_id = current.ids.task()
    late_ms = max(0, current.at_ms - due.due_ms)
    started = events.ScheduleRunStarted(
        schedule_id=schedule.schedule_id,
        run_id=due.run_id,
        due_ms=due.due_ms,
        run_task=task_id,
        late_ms=late_ms,
        by_hand=by_hand,
        attempt=attempt,
    )
    _record(current, planned, started, due.run_id)
    submitting.begin_run(current, schedule, task_id, due.run_id, _told(late_ms, attempt))
    remind(current, schedule.schedule_id)
    return task_id


def _told(late_ms: int, attempt: int) -> str:
    """What the models are told of a run beside its text."""
    told = "this is a scheduled task, and nobody may be there to answer"
    if late_ms >= _MINUTE_MS:
        told = f"{told}; it is {late_ms // _MINUTE_MS} minutes late"
    return f"{told}; it failed before, and this is attempt {attempt}" if attempt > 1 else told


# --- ends


def _deadline_ms(planned: world.Planned, live: world.LiveRun) -> int | None:
    seconds = planned.schedule.policy.deadline_seconds
    return None if seconds is None else live.began_ms + seconds * 1000


def _overrun(current: turn.Turn, planned: world.Planned, live: world.LiveRun) -> None:
    """A run took longer than it may: it has failed, be it that it never came to its turn."""
    task = current.task(live.task_id)
    if task is not None and task.state not in state.FINAL:
        queued = task.state is state.TaskState.QUEUED
        to = state.TaskState.CANCELLED if queued else state.TaskState.FAILED
        endings.end(current, task, to, _TOO_LONG)
    now = current.world.schedules[planned.schedule.schedule_id]
    _finish(current, now, now.live or live, "failed")


def cancel(current: turn.Turn, planned: world.Planned) -> None:
    """End the run that goes on, or is to be tried again."""
    live = planned.live
    if live is None:
        return
    task = current.task(live.task_id)
    if task is not None and task.state not in state.FINAL:
        endings.end(current, task, state.TaskState.CANCELLED, "its run was stopped")
    now = current.world.schedules[planned.schedule.schedule_id]
    if now.live is not None:
        _end(current, now, now.live, now.live.ended or "cancelled")


def settle(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Decide what follows a run whose task has ended."""
    planned = current.world.schedules[schedule_id]
    live = planned.live
    if live is None or live.ended is None:
        raise ValueError(f"no run of {schedule_id} has ended")
    again_ms = _again_ms(current, planned, live)
    if again_ms is not None:
        _end(current, planned, live, live.ended, again_ms=again_ms)
        remind(current, schedule_id)
        return
    delivery = planned.schedule.policy.delivery
    compares = delivery.tell is schedules.Tell.ON_CHANGE and live.ended != "cancelled"
    if compares and live.answer is not None:
        current.act(
            decisions.ReadAnswer(
                schedule_id=schedule_id,
                run_id=live.run_id,
                task_id=live.task_id,
                answer=live.answer,
            )
        )
        return
    _finish(current, planned, live, live.ended)


def answer_read(current: turn.Turn, given: inputs.AnswerRead) -> None:
    """What a run answered is known: whether it is told follows."""
    planned = current.world.schedules.get(given.schedule_id)
    live = planned.live if planned is not None else None
    if planned is None or live is None or live.run_id != given.run_id or live.ended is None:
        return
    _finish(current, planned, live, live.ended, given.digest)


def _again_ms(current: turn.Turn, planned: world.Planned, live: world.LiveRun) -> int | None:
    """When a run that failed is tried again, if it is: later each time, within its deadline."""
    retries = planned.schedule.policy.retries
    if live.ended != "failed" or live.attempt > retries.most:
        return None
    again_ms = current.at_ms + retries.backoff_seconds * 1000 * 2 ** (live.attempt - 1)
    deadline_ms = _deadline_ms(planned, live)
    return again_ms if deadline_ms is None or again_ms < deadline_ms else None


def _finish(
    current: turn.Turn,
    planned: world.Planned,
    live: world.LiveRun,
    outcome: events.RunOutcome,
    digest: str = "",
) -> None:
    """Note how a run ended, and let what follows begin."""
    schedule_id = planned.schedule.schedule_id
    _end(
        current,
        planned,
        live,
        outcome,
        told=_is_told(planned, live, outcome, digest),
        digest=digest,
    )
    _pause_failing(current, schedule_id)
    go_on(current, schedule_id)


def go_on(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Begin what waits; take a schedule away that is over; else ask to be reminded."""
    planned = current.world.schedules.get(schedule_id)
    if planned is None:
        return
    if planned.live is None and planned.queued:
        _begin(current, planned, planned.queued[0])
        return
    is_known = current.rules.zones(planned.schedule.zone) is not None
    is_over = planned.live is None and not planned.schedule.paused and is_known
    if is_over and due_times.following(current, planned) is None:
        _record(current, planned, events.ScheduleRemoved(schedule_id=schedule_id))
        return
    remind(current, schedule_id)


def _is_told(
    planned: world.Planned, live: world.LiveRun, outcome: events.RunOutcome, digest: str
) -> bool:
    """Whether the chat that a run began with, if there still is to be one, is shown its end."""
    delivery = planned.schedule.policy.delivery
    if delivery.to is None or not live.has_chat or outcome == "cancelled":
        return False
    match delivery.tell:
        case schedules.Tell.ALWAYS:
            return True
        case schedules.Tell.ON_FAILURE:
            return outcome == "failed"
        case schedules.Tell.ON_CHANGE:
            return (outcome, digest) != (planned.last_outcome, planned.last_digest)
        case schedules.Tell.NEVER:
            return False


def _end(
    current: turn.Turn,
    planned: world.Planned,
    live: world.LiveRun,
    outcome: events.RunOutcome,
    again_ms: int | None = None,
    told: bool = False,
    digest: str = "",
) -> None:
    ended = events.ScheduleRunEnded(
        schedule_id=planned.schedule.schedule_id,
        run_id=live.run_id,
        run_task=live.task_id,
        outcome=outcome,
        again_ms=again_ms,
        told=told,
        digest=digest,
    )
    _record(current, planned, ended, live.run_id)


def _pause_failing(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Pause what fails again and again, and say so where its results go."""
    planned = current.world.schedules[schedule_id]
    schedule, most = planned.schedule, planned.schedule.policy.pause_after_failures
    if most is None or planned.failures < most or schedule.paused:
        return
    drop_due(current, planned, "paused")
    why = _PAUSED.format(count=planned.failures)
    paused = events.ScheduleSet(
        schedule=schedule.but({"paused": True}), by=channels.DAEMON, why=why
    )
    _record(current, planned, paused)
    target = schedule.policy.delivery.to
    if target is not None:
        text = f"A scheduled task is paused: {why}. /schedule shows it and lets it go on."
        channels.tell(current, target, schedule.conversation_id, text)


def remind(current: turn.Turn, schedule_id: ids.ScheduleId) -> None:
    """Ask to be reminded of what comes next, if the schedule is still there."""
    planned = current.world.schedules.get(schedule_id)
    if planned is None:
        return
    live = planned.live
    times = [due_times.following(current, planned)]
    if live is not None and live.ended is None:
        times += [live.again_ms, _deadline_ms(planned, live), _model_ms(current, live)]
    due_ms = min((at for at in times if at is not None), default=None)
    if due_ms is not None:
        kind = decisions.TimerKind.SCHEDULE
        current.act(decisions.SetTimer(timer=kind, subject=schedule_id, due_ms=due_ms))
