"""A task's states and the only ways between them, in one table. An unlisted pair raises."""

from enum import StrEnum

from daemon.domain import ids


class TaskState(StrEnum):
    """Where a task stands."""

    QUEUED = "queued"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    AWAITING_SECRET = "awaiting_secret"
    AWAITING_DECISION = "awaiting_decision"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    MODEL_UNAVAILABLE = "model_unavailable"
    MODEL_PROTOCOL_ERROR = "model_protocol_error"
    BUDGET_EXHAUSTED = "budget_exhausted"
    PARKED = "parked"


S = TaskState

TRANSITIONS: dict[TaskState, frozenset[TaskState]] = {
    S.QUEUED: frozenset({S.RUNNING, S.CANCELLED}),
    S.RUNNING: frozenset(
        {
            S.AWAITING_APPROVAL,
            S.AWAITING_SECRET,
            S.AWAITING_DECISION,
            S.COMPLETED,
            S.FAILED,
            S.CANCELLED,
            S.MODEL_UNAVAILABLE,
            S.MODEL_PROTOCOL_ERROR,
            S.BUDGET_EXHAUSTED,
            S.PARKED,
        }
    ),
    S.AWAITING_APPROVAL: frozenset({S.RUNNING, S.FAILED, S.CANCELLED}),
    S.AWAITING_SECRET: frozenset({S.RUNNING, S.FAILED, S.CANCELLED}),
    S.AWAITING_DECISION: frozenset({S.RUNNING, S.FAILED, S.CANCELLED}),
    S.MODEL_UNAVAILABLE: frozenset({S.RUNNING, S.FAILED, S.CANCELLED}),
    S.PARKED: frozenset({S.RUNNING, S.FAILED, S.CANCELLED}),
    S.COMPLETED: frozenset(),
    S.FAILED: frozenset(),
    S.CANCELLED: frozenset(),
    S.MODEL_PROTOCOL_ERROR: frozenset(),
    S.BUDGET_EXHAUSTED: frozenset(),
}

FINAL: frozenset[TaskState] = frozenset(state for state, to in TRANSITIONS.items() if not to)
WAITING: frozenset[TaskState] = frozenset(
    {
        S.AWAITING_APPROVAL,
        S.AWAITING_SECRET,
        S.AWAITING_DECISION,
        S.MODEL_UNAVAILABLE,
        S.PARKED,
    }
)
"""States that need somebody and leave the conversation's lane free meanwhile."""


class ImpossibleTransition(Exception):
    """A programmer's fault: the table does not list this pair."""

    def __init__(self, task_id: ids.TaskId, previous: TaskState, state: TaskState) -> None:
        super().__init__(f"{task_id} cannot go from {previous} to {state}")


def check(task_id: ids.TaskId, previous: TaskState, state: TaskState) -> None:
    """Raise ImpossibleTransition unless the table lists previous → state."""
    if state not in TRANSITIONS[previous]:
        raise ImpossibleTransition(task_id, previous, state)
