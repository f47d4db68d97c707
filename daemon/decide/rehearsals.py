"""What of permission is a schedule's own: whom its runs ask and for how long, and its rehearsal.

A rehearsal has the command of a schedule allowed for each of its runs, and runs nothing: what was
allowed there is a grant of exactly that call, which counts for that schedule alone.
"""

from daemon.decide import endings, turn
from daemon.domain import events, principals, world
from daemon.permission import policy

_SCHEDULED = "a scheduled task asks"
_REHEARSED = "nothing runs now: always lets each run of the schedule do this unasked"
_ALLOWED = "From now on each run of the schedule may run this command unasked."
_ONCE = "It was allowed once only: each run of the schedule will ask."
_NOT_NEEDED = "This command needs no approval: each run of the schedule may run it."
_NEVER = "This command can never be allowed for good: each run of the schedule will ask."
_REFUSED = "This command is refused, and each run of the schedule will fail: {reasons}."


def asked(task: world.Task) -> tuple[tuple[principals.Principal, ...], tuple[str, ...]]:
    """Who may decide about what a task wants, beside the owners, and the chats that show it."""
    if task.run is None:
        return principals.approvers(task.origin), principals.places(task.origin)
    who, target = task.origin.principal, task.run.target
    if target is None:
        return (who,), ()
    alone = target.chat == principals.user_of(who)
    return (who,) if alone else (), (target.place,)


def reasons(task: world.Task) -> tuple[str, ...]:
    """What a card says first of a question that nobody asked for just then."""
    if task.run is None:
        return ()
    return (_REHEARSED if task.kind is events.TaskKind.REHEARSAL else _SCHEDULED,)


def approval_seconds(current: turn.Turn, task: world.Task) -> int:
    """How long a question of a task waits for an answer."""
    schedule_id = task.run.schedule_id if task.run is not None else None
    planned = current.world.schedules.get(schedule_id) if schedule_id is not None else None
    own = planned.schedule.policy.approval_seconds if planned is not None else None
    return own or current.rules.limits.approval_seconds


def asks(settled: policy.Settled, card_is_long: bool) -> bool:
    """Whether a rehearsal of that has something to ask: a long card is never for always."""
    return settled.way is policy.Way.ASK and settled.always_allowed and not card_is_long


def told(settled: policy.Settled) -> str:
    """What a rehearsal that asks nothing says."""
    match settled.way:
        case policy.Way.RUN:
            return _NOT_NEEDED
        case policy.Way.ASK:
            return _NEVER
        case policy.Way.REFUSE:
            return _REFUSED.format(reasons=", ".join(settled.reasons))


def allowed(current: turn.Turn, task: world.Task, approval: world.Approval | None) -> None:
    """Its question was answered with a yes."""
    granted = approval is not None and approval.grant_id is not None
    end(current, task, _ALLOWED if granted else _ONCE)


def end(current: turn.Turn, task: world.Task, text: str) -> None:
    """End a rehearsal, whose call never begins, with what it found."""
    task = endings.withdraw(current, task)
    endings.answer(current, task, text)
