"""Rows by id, and which of them events build on. Pure; used by its names in `projections`."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.domain import events, ids, views
from daemon.storage import run_rows, task_row


@dataclass
class Rows:
    """Rows by id."""

    tasks: dict[ids.TaskId, task_row.TaskRow] = field(default_factory=dict)
    approvals: dict[ids.ApprovalId, views.ApprovalView] = field(default_factory=dict)
    conversations: dict[ids.ConversationId, views.ConversationView] = field(default_factory=dict)
    deliveries: dict[ids.DeliveryId, views.DeliveryView] = field(default_factory=dict)
    runs: dict[ids.RunId, run_rows.RunRow] = field(default_factory=dict)

    def adopt(self, changed: "Rows") -> None:
        """Take over rows that changed."""
        self.tasks.update(changed.tasks)
        self.approvals.update(changed.approvals)
        self.conversations.update(changed.conversations)
        self.deliveries.update(changed.deliveries)
        self.runs.update(changed.runs)


@dataclass
class Named:
    """Ids of rows."""

    tasks: set[ids.TaskId] = field(default_factory=set)
    approvals: set[ids.ApprovalId] = field(default_factory=set)
    conversations: set[ids.ConversationId] = field(default_factory=set)
    runs: set[ids.RunId] = field(default_factory=set)


_NAMERS = frozenset(
    {
        events.ConversationCreated,
        events.TaskSubmitted,
        events.ApprovalRequested,
        events.ApprovalResolved,
        events.ExchangeUndone,
        events.ProjectReverted,
        events.FeedbackGiven,
        events.ChatMoved,
    }
)
"""The events that begin rows, or name others than those of their own task and conversation."""


def named(recorded: Sequence[events.Recorded]) -> Named:
    """The rows that these events build on; those that they begin are not among them."""
    begun = Named()
    found = Named(
        tasks={one.task_id for one in recorded if one.task_id is not None},
        conversations={one.conversation_id for one in recorded if one.conversation_id},
    )
    for one in recorded:
        if type(one.event) not in _NAMERS:
            continue
        match one.event:
            case events.ConversationCreated(conversation_id=conversation_id):
                begun.conversations.add(conversation_id)
            case events.TaskSubmitted(task_id=task_id):
                begun.tasks.add(task_id)
            case events.ApprovalRequested(approval_id=approval_id):
                begun.approvals.add(approval_id)
            case events.ApprovalResolved(approval_id=approval_id):
                found.approvals.add(approval_id)
            case (
                events.ExchangeUndone(task_id=task_id)
                | events.ProjectReverted(task_id=task_id)
                | events.FeedbackGiven(task_id=task_id)
            ):
                found.tasks.add(task_id)
            case events.ChatMoved():
                found.tasks.update(one.event.tasks)
                found.approvals.update(one.event.approvals)
            case _:
                pass
    found.runs = run_rows.named(recorded)
    found.tasks -= begun.tasks
    found.approvals -= begun.approvals
    found.conversations -= begun.conversations
    return found
