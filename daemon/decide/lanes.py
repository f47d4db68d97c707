"""Which tasks may run: one a conversation, in order, and so many at once on the whole daemon.

What people ask for goes before what comes due by itself, and no run of a schedule begins while
something that the one before it began has not ended.

A waiting task leaves its lane free, so a chat is never blocked by an unanswered card. One that was
answered goes before queued ones, as soon as its lane is free.
"""

from collections.abc import Iterable

from daemon.decide import engine, turn
from daemon.domain import decisions, ids, state, world


def _next(current: turn.Turn) -> world.Task | None:
    if len(current.world.running) >= current.rules.limits.running_tasks:
        return None
    return _free(current, current.world.ready) or _free(current, current.world.queued)


def _free(current: turn.Turn, candidates: Iterable[ids.TaskId]) -> world.Task | None:
    due: world.Task | None = None
    for task_id in candidates:
        task = current.world.tasks[task_id]
        if task.conversation_id in current.world.running:
            continue
        if task.run is None:
            return task
        if due is None and not _dies(current, task.conversation_id):
            due = task
    return due


def _dies(current: turn.Turn, conversation_id: ids.ConversationId) -> bool:
    """Whether what a task of the conversation began goes on, though the task has ended."""
    tasks = current.world.tasks.values()
    return any(one.conversation_id == conversation_id and one.state in state.FINAL for one in tasks)


def is_full(current: turn.Turn) -> bool:
    """Whether as many tasks as may wait for their turn; runs of schedules take nobody's place."""
    most, queued = current.rules.limits.queued_tasks, current.world.queued
    if len(queued) < most:
        return False
    return sum(current.world.tasks[task_id].run is None for task_id in queued) >= most


def advance(current: turn.Turn) -> None:
    """Start every task that may run now."""
    while (task := _next(current)) is not None:
        task = current.change_state(task, state.TaskState.RUNNING)
        current.act(budget_timer(current, task))
        engine.resume(current, task)


def budget_timer(current: turn.Turn, task: world.Task) -> decisions.SetTimer:
    """Reminds when a task that runs from now on has used up its time."""
    left_ms = current.rules.limits.task_seconds * 1000 - task.active_ms
    return decisions.SetTimer(
        timer=decisions.TimerKind.TASK_BUDGET,
        subject=task.task_id,
        due_ms=current.at_ms + max(0, left_ms),
    )
