"""From the log to a running world: fold what the last checkpoint lacks; let every task go on."""

from daemon.domain import errors, fold, inputs, state, world
from daemon.runtime import ports

PAGE_EVENTS = 1000

Restart = inputs.RecoverTask | inputs.RecoverRevert | inputs.RecoverSchedule


async def load(store: ports.Store) -> world.World:
    """The world as the log has it: the newest checkpoint and every event after it.

    Raises:
        errors.StorageFault: the log cannot be read, or says what cannot be.
    """
    kept = await store.latest_checkpoint()
    return await follow(store, world.restore(kept) if kept is not None else world.World())


async def follow(store: ports.Store, current: world.World) -> world.World:
    """Fold every event of the log that a world lacks."""
    while page := await store.log(current.head_seq, PAGE_EVENTS):
        for recorded in page:
            try:
                fold.apply(current, recorded)
            except (ValueError, KeyError, state.ImpossibleTransition) as error:
                raise errors.StorageFault(
                    f"The log is damaged at event {recorded.seq}: restore it from a backup."
                ) from error
    return current


def restarts(current: world.World, clean: bool) -> tuple[Restart, ...]:
    """One input a live task, in the order in which they came; one a pending revert; one a
    schedule."""
    tasks = tuple(
        inputs.RecoverTask(task_id=task.task_id, state=task.state, clean=clean)
        for task in current.tasks.values()
    )
    reverts = tuple(inputs.RecoverRevert(task_id=task_id) for task_id in current.reverts)
    planned = tuple(inputs.RecoverSchedule(schedule_id=one) for one in current.schedules)
    return tasks + reverts + planned


def waiting(current: world.World) -> int:
    """How many tasks wait for somebody."""
    return sum(task.state in state.WAITING for task in current.tasks.values())


def pending(current: world.World) -> int:
    """How many approvals nobody has answered."""
    return sum(one.outcome is None for one in current.approvals.values())


def unreachable(current: world.World) -> tuple[str, ...]:
    """The chats that bots could not reach when they last tried, one sentence each."""
    return tuple(
        f"{one.account}: the chat {one.chat} cannot be reached: {one.reason}"
        for one in current.unreachable.values()
    )
