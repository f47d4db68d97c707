"""What events put beside the rows of projections: it is added and never changed.

So a commit writes what is new of it, and nothing that was there before.
"""

from dataclasses import dataclass, field

from daemon.domain import ids, world


@dataclass(frozen=True, slots=True)
class SaidRow:
    """What one event added to what a task's models are told."""

    task_id: ids.TaskId
    said: tuple[world.Said, ...]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A summary of a conversation's exchanges up to a sequence number."""

    conversation_id: ids.ConversationId
    content_id: ids.ContentId
    up_to_seq: int


@dataclass
class Added:
    """What stands beside the rows, by the event that added it: it is never changed."""

    said: dict[int, SaidRow] = field(default_factory=dict)
    summaries: dict[int, SummaryRow] = field(default_factory=dict)
    deleted: set[ids.ConversationId] = field(default_factory=set)

    def adopt(self, more: "Added") -> None:
        """Take over what was added."""
        self.said.update(more.said)
        self.summaries.update(more.summaries)
        self.deleted.update(more.deleted)
