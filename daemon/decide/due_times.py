"""Which times of a schedule have come and are not accounted for, and which of them are caught up.

Reckons only: what becomes of each is `runs`'.
"""

from daemon.decide import calendar, turn
from daemon.domain import schedules, world

MOST_DUE = 200
"""So many times are accounted for in one decision; more in the next."""


def is_used_up(planned: world.Planned) -> bool:
    """Whether it has begun as many runs as it may."""
    most = planned.schedule.policy.most_runs
    return most is not None and planned.runs + len(planned.queued) >= most


def following(
    current: turn.Turn, planned: world.Planned, after_ms: int | None = None
) -> int | None:
    """The next time that is to be accounted for; None where there is none, or where its zone is
    not known."""
    zone = current.rules.zones(planned.schedule.zone)
    if zone is None or planned.schedule.paused or is_used_up(planned):
        return None
    after_ms = planned.accounted_ms if after_ms is None else after_ms
    return calendar.next_due(planned.schedule.spec, zone, after_ms)


def come(current: turn.Turn, planned: world.Planned) -> list[int]:
    """Those that have come by now, oldest first, as many as one decision takes."""
    due: list[int] = []
    found = following(current, planned)
    while found is not None and found <= current.at_ms and len(due) < MOST_DUE:
        due.append(found)
        found = following(current, planned, found)
    return due


def newest(current: turn.Turn, planned: world.Planned) -> tuple[int, ...]:
    """The last of those that have come by now, as many as one decision takes."""
    zone = current.rules.zones(planned.schedule.zone)
    if zone is None or following(current, planned) is None:
        return ()
    spec, after_ms = planned.schedule.spec, planned.accounted_ms
    return calendar.due_between(spec, zone, after_ms, current.at_ms, MOST_DUE)


def most_caught_up(planned: world.Planned) -> int:
    """So many of those that nobody ran in time are run all the same."""
    missed = planned.schedule.policy.missed
    match missed.how:
        case schedules.WhenMissed.SKIP:
            return 0
        case schedules.WhenMissed.RUN_ONCE:
            return 1
        case schedules.WhenMissed.RUN_ALL:
            return missed.most


def caught_up(current: turn.Turn, planned: world.Planned, late_ms: int) -> frozenset[int]:
    """Those later than the grace that are run all the same: the newest."""
    zone = current.rules.zones(planned.schedule.zone)
    if zone is None:
        return frozenset()
    spec, after_ms = planned.schedule.spec, planned.accounted_ms
    if planned.schedule.policy.missed.how is schedules.WhenMissed.RUN_ONCE:
        fresh = calendar.next_due(spec, zone, max(after_ms, late_ms - 1))
        if fresh is not None and fresh <= current.at_ms:
            return frozenset()  # one that is due just now does for those before it
    most = most_caught_up(planned)
    return frozenset(calendar.due_between(spec, zone, after_ms, late_ms - 1, most))
