"""From the log to a running world: fold what the last checkpoint lacks; let every task go on."""

from daemon.domain import fold, inputs, state, world
from daemon.runtime import ports

PAGE_EVENTS = 1000


async def load(store: ports.Store) -> world.World:
    """The world as the log has it: the newest checkpoint and every event after it.

    Raises:
        errors.StorageFault: the log cannot be read.
        ValueError: the log has a gap.
    """
    kept = await store.latest_checkpoint()
    return await follow(store, world.restore(kept) if kept is not None else world.World())


async def follow(store: ports.Store, current: world.World) -> world.World:
    """Fold every event of the log that a world lacks."""
    while page := await store.log(current.head_seq, PAGE_EVENTS):
        for recorded in page:
            fold.apply(current, recorded)
    return current


def restarts(current: world.World, clean: bool) -> tuple[inputs.RecoverTask, ...]:
    """One input a live task, in the order in which they came."""
    return tuple(inputs.RecoverTask(task_id=task_id, clean=clean) for task_id in current.tasks)


def waiting(current: world.World) -> int:
    """How many tasks wait for somebody."""
    return sum(task.state in state.WAITING for task in current.tasks.values())
