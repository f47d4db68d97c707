"""One decision in the making: events fold into a fork of the world as they are made.

So that a later part of the same decision sees what an earlier part did, and an impossible event
raises where it is made.
"""

import datetime
from collections.abc import Callable, Mapping

from daemon.domain import (
    base,
    decisions,
    events,
    fold,
    ids,
    inputs,
    limits,
    messages,
    presets,
    principals,
    state,
    taints,
    world,
)
from tools import contract


class Generation(base.Value):
    """How a role generates. `answer_tokens` 0 is the daemon's limit; `thinking_tokens` what a
    reasoning model may think beside its answer."""

    sampling: messages.Sampling = messages.Sampling()
    answer_tokens: int = 0
    thinking_tokens: int = 0


DEFAULT_GENERATION = Generation()


class Kit(base.Value):
    """What the tasks of a profile work with. `system_prompt` is the fixed part of every prompt,
    `directive_schema` the JSON Schema that a compiled directive has."""

    system_prompt: str
    tools: Mapping[str, contract.ToolSpec]
    codes: bool = False
    """A coder can change files."""
    directive_schema: str = ""
    generation: Mapping[messages.Role, Generation] = {}
    uses_skills: bool = True
    criticizes: bool | None = None
    """Whether steps are judged, where it differs from the daemon's setting."""


class Basis(base.Value):
    """What files say of all that can be set while the daemon runs, and of what kits are made."""

    system_prompt: str = ""
    generation: presets.Generations = {}
    """By role: the slot's, under the role's own."""
    profiles: Mapping[str, presets.Profile] = {}
    skills: Mapping[str, presets.Skill] = {}


Zones = Callable[[str], datetime.tzinfo | None]
"""A time zone by its IANA name; None where there is none."""


def no_zone(name: str) -> datetime.tzinfo | None:
    """Of a daemon that knows no zones."""
    return None


class Rules(base.Value):
    """What decisions depend on besides state and input. Fixed, but for what `profiles` changes.

    `tools` are all there are, `kits` by profile; the empty name is the kit of those that have none.
    `kept` was set while a daemon ran; `skills` and `kits` follow from it and from `basis`, and
    `pinned` are the kits that tasks began with before they were changed.
    `prompts` says to each role what it has to do. `compiles` when a model of its own makes
    directives of what the thinker says; `criticizes` when one judges the steps of plans.
    """

    limits: limits.Limits
    tools: Mapping[str, contract.ToolSpec]
    kits: Mapping[str, Kit]
    prompts: Mapping[messages.Purpose, str]
    skills: Mapping[str, presets.Skill] = {}
    basis: Basis = Basis()
    kept: presets.Kept = presets.Kept()
    pinned: Mapping[ids.TaskId, Kit] = {}
    compiles: bool = False
    criticizes: bool = True
    reviews: bool = False
    """A critic looks at each answer once before it is given."""
    owners: principals.Owners = principals.Owners()
    people: principals.People = principals.People()
    """Who may talk, beside the owners and those that an owner lets in."""
    zones: Zones = no_zone

    def kit(self, task: world.Task) -> Kit:
        """What a task works with: its profile's, or the default where that is gone."""
        pinned = self.pinned.get(task.task_id)
        return pinned or self.kits.get(task.profile) or self.kits[""]


class Turn:
    """Collects what one input leads to."""

    def __init__(self, rules: Rules, current: world.World, stamped: inputs.Stamped) -> None:
        self.rules = rules
        self.world = current.fork()
        self.at_ms = stamped.at_ms
        self.known = stamped.known
        self.utc_offset_minutes = stamped.utc_offset_minutes
        self.ids = ids.IdSource(stamped.at_ms, stamped.seed)
        self._events: list[events.Recorded] = []
        self._records: list[decisions.Record] = []
        self._actions: list[decisions.Action] = []

    @property
    def next_seq(self) -> int:
        """The sequence number that the next event will have."""
        return self.world.head_seq + 1

    def task(self, task_id: ids.TaskId) -> world.Task | None:
        """The live task as this decision has left it."""
        return self.world.tasks.get(task_id)

    def kit(self, task: world.Task) -> Kit:
        """What a task works with."""
        return self.rules.kit(task)

    def profile(self, conversation_id: ids.ConversationId) -> str:
        """The profile of a conversation's next task; empty, the default, where it is gone."""
        profile = self.world.setting(conversation_id).profile
        return profile if profile in self.rules.kits else ""

    def record(
        self,
        event: events.Event,
        conversation_id: ids.ConversationId,
        correlation_id: str,
        task_id: ids.TaskId | None = None,
    ) -> None:
        """Make an event happen."""
        recorded = events.Recorded(
            seq=self.next_seq,
            at_ms=self.at_ms,
            task_id=task_id,
            conversation_id=conversation_id,
            correlation_id=correlation_id,
            event=event,
        )
        fold.apply(self.world, recorded)
        self._events.append(recorded)

    def emit(self, task: world.Task, event: events.Event) -> world.Task:
        """Make an event of a live task happen; returns the task after it."""
        self.record(event, task.conversation_id, task.correlation_id, task.task_id)
        return self.world.tasks.get(task.task_id, task)

    def change_state(self, task: world.Task, to: state.TaskState, reason: str = "") -> world.Task:
        """Move a task; returns it after the move."""
        change = events.TaskStateChanged(
            task_id=task.task_id, previous=task.state, state=to, reason=reason
        )
        moved = self.emit(task, change)
        return moved if moved.state is to else moved.but({"state": to})

    def taint(self, task: world.Task, sources: taints.Taint) -> world.Task:
        """Untrusted text comes into a task; returns the task after it."""
        new = taints.beyond(sources, task.taint)
        if not new:
            return task
        return self.emit(task, events.TaskTainted(task_id=task.task_id, sources=new))

    def keep(
        self, owner: ids.ConversationId, text: str, taint: taints.Taint = taints.CLEAN
    ) -> ids.ContentId:
        """Keep a text; returns the id by which events refer to it."""
        content_id = self.ids.content()
        self._records.append(
            decisions.ContentRecord(content_id=content_id, owner=owner, text=text, taint=taint)
        )
        return content_id

    def keep_of(self, task: world.Task, text: str) -> ids.ContentId:
        """Keep a text that came of a task, and of all that the task has read."""
        return self.keep(task.conversation_id, text, task.taint)

    def keep_record(self, record: decisions.Record) -> None:
        """Keep a record with this decision."""
        self._records.append(record)

    def act(self, action: decisions.Action) -> None:
        """Have an action performed once this decision is durable."""
        self._actions.append(action)

    def note_key(self, given: inputs.Keyed, reply: decisions.Reply) -> None:
        """Keep the answer to a keyed write for its repetitions."""
        if given.client_key:
            self._records.append(
                decisions.ClientKeyRecord(
                    credential=given.credential,
                    client_key=given.client_key,
                    body_hash=given.body_hash,
                    reply=reply,
                    at_ms=self.at_ms,
                )
            )

    def step(self, reply: decisions.Reply | decisions.Rejected | None = None) -> decisions.Step:
        """The decision as a value."""
        return decisions.Step(
            events=tuple(self._events),
            records=tuple(self._records),
            actions=tuple(self._actions),
            reply=reply,
        )
