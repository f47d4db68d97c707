"""Writes histories one legal event after the other, with the texts that they name."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from daemon.domain import decisions, events, fold, ids, principals, state, world

START_MS = 1_750_000_000_000
OWNER = principals.LOCAL_OWNER


@dataclass
class History:
    """A log, the texts that it names, and the world that it folds to."""

    recorded: list[events.Recorded] = field(default_factory=list)
    contents: list[decisions.ContentRecord] = field(default_factory=list)
    folded: world.World = field(default_factory=world.World)

    def text_of(self, content_id: ids.ContentId) -> str:
        return next(kept.text for kept in self.contents if kept.content_id == content_id)

    def deleted(self) -> frozenset[ids.ConversationId]:
        happened = (one.event for one in self.recorded)
        return frozenset(
            each.conversation_id
            for each in happened
            if isinstance(each, events.ConversationDeleted)
        )

    def batches(self, dice: random.Random) -> list["Batch"]:
        """The same history in commits of random sizes, each text with the first that needs it."""
        cut, start, first = [], 0, 0
        while start < len(self.recorded):
            end = min(len(self.recorded), start + dice.randint(1, 24))
            last = first + dice.randint(0, len(self.contents) - first)
            last = len(self.contents) if end == len(self.recorded) else last
            cut.append(Batch(self.recorded[start:end], self.contents[first:last]))
            start, first = end, last
        return cut


@dataclass(frozen=True)
class Batch:
    """What one commit keeps."""

    recorded: Sequence[events.Recorded]
    contents: Sequence[decisions.ContentRecord]


class Author:
    """Writes a history, one legal event after the other."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self._drawn = 0
        self.now_ms = START_MS
        self.history = History()

    def new_id(self, kind: str) -> str:
        self._drawn += 1
        return f"{kind}-{self.dice.getrandbits(128):032x}"

    def content(self, owner: ids.ConversationId) -> ids.ContentId:
        content_id = ids.ContentId(self.new_id("content"))
        text = "".join(self.dice.choices("abc äß漢🦆\n\x00\"\\'", k=self.dice.randint(0, 60)))
        record = decisions.ContentRecord(content_id=content_id, owner=owner, text=text)
        self.history.contents.append(record)
        return content_id

    def add(
        self,
        event: events.Event,
        conversation_id: ids.ConversationId,
        task_id: ids.TaskId | None = None,
    ) -> None:
        """Append an event and fold it, so that no history is impossible."""
        self.now_ms += self.dice.randint(0, 5000)
        recorded = events.Recorded(
            seq=self.history.folded.head_seq + 1,
            at_ms=self.now_ms,
            task_id=task_id,
            conversation_id=conversation_id,
            correlation_id=f"correlation-{self._drawn}",
            event=event,
        )
        fold.apply(self.history.folded, recorded)
        self.history.recorded.append(recorded)

    def tell(self, task: world.Task, event: events.Event) -> None:
        self.add(event, task.conversation_id, task.task_id)

    def move(self, task: world.Task, to: state.TaskState, reason: str = "") -> None:
        now = self.history.folded.tasks[task.task_id].state
        moved = events.TaskStateChanged(task_id=task.task_id, previous=now, state=to, reason=reason)
        self.tell(task, moved)
