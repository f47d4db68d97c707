"""Given, when, then for decisions: a scene is a world that moves were applied to, one by one.

A move says what happens in few words (`says("hi")`, `allow()`, `crash()`) and finds the ids by
itself: it is about the task submitted last, or the n-th one (`of=1`). What a decision led to reads
as short lines, so that a table of cases can be compared with it. Each step is checked on its way:
the same input gives the same step, the world that was given stays as it was, and the events of the
step are all that makes the next world.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from daemon.decide import asking, orchestrator
from daemon.domain import (
    decisions,
    events,
    fold,
    ids,
    inputs,
    limits,
    principals,
    state,
    taints,
    world,
)
from tests import rules
from tests.unit.decide import lines
from tools import contract

START_MS = 1_750_000_000_000
SYSTEM = "Be brief."
OWNER = principals.LOCAL_OWNER


def _spec(name: str, effect: contract.Effect, category: contract.Category) -> contract.ToolSpec:
    return contract.ToolSpec(
        name=name,
        version=1,
        description=name,
        parameters="{}",
        effect=effect,
        category=category,
    )


TOOLS = {
    spec.name: spec
    for spec in (
        _spec("shell_exec", contract.Effect.UNSAFE, contract.Category.NORMAL),
        _spec("look", contract.Effect.PURE, contract.Category.READ_ONLY),
        _spec("keep", contract.Effect.KEYED, contract.Category.READ_ONLY),
        _spec("write", contract.Effect.RECONCILABLE, contract.Category.READ_ONLY),
        _spec("fire", contract.Effect.UNSAFE, contract.Category.READ_ONLY),
        _spec("erase", contract.Effect.UNSAFE, contract.Category.NO_ALWAYS),
        _spec("explode", contract.Effect.UNSAFE, contract.Category.HARD_STOP),
        _spec("file_read", contract.Effect.PURE, contract.Category.READ_ONLY),
        _spec("apply_edits", contract.Effect.RECONCILABLE, contract.Category.NORMAL),
    )
}


@dataclass(frozen=True)
class Then:
    """What one move led to, as short lines; the steps themselves are beside them."""

    steps: tuple[decisions.Step, ...]

    @property
    def events(self) -> list[str]:
        return [lines.event(one.event) for step in self.steps for one in step.events]

    @property
    def actions(self) -> list[str]:
        return [lines.action(one) for step in self.steps for one in step.actions]

    @property
    def reply(self) -> str:
        return lines.reply(self.steps[-1].reply) if self.steps else ""

    @property
    def texts(self) -> list[str]:
        """The texts that were kept with it."""
        records = [record for step in self.steps for record in step.records]
        return [one.text for one in records if isinstance(one, decisions.ContentRecord)]


@dataclass
class Seen:
    """The ids of one task that moves refer to, also after the task has left."""

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    model_calls: list[ids.CallId] = field(default_factory=list)
    tool_calls: list[ids.CallId] = field(default_factory=list)
    approvals: list[ids.ApprovalId] = field(default_factory=list)

    @property
    def model_call(self) -> ids.CallId:
        """The last one; an id that never was when there is none."""
        return self.model_calls[-1] if self.model_calls else ids.CallId("call-never")

    @property
    def tool_call(self) -> ids.CallId:
        return self.tool_calls[-1] if self.tool_calls else ids.CallId("call-never")

    @property
    def approval(self) -> ids.ApprovalId:
        return self.approvals[-1] if self.approvals else ids.ApprovalId("approval-never")


class Scene:
    """A world with the clock and the chance that its inputs are stamped with."""

    def __init__(
        self,
        bounds: limits.Limits | None = None,
        owners: principals.Owners | None = None,
        compiles: bool = False,
        criticizes: bool = False,
        reviews: bool = False,
    ) -> None:
        self.rules = rules.plain(
            TOOLS, bounds, SYSTEM, owners, compiles, criticizes, reviews=reviews
        )
        self.world = world.World()
        self.now_ms = START_MS
        self.texts: dict[ids.ContentId, str] = {}
        self.keys: dict[str, decisions.ClientKeyRecord] = {}
        self.resolved: dict[ids.ApprovalId, events.ApprovalResolved] = {}
        self.attached: taints.Taint = taints.CLEAN
        self.recorded: list[events.Recorded] = []
        self.seen: list[Seen] = []
        self._stamps = 0

    def given(self, moves: Sequence["Move"]) -> "Scene":
        """The world after these moves."""
        for move in moves:
            self.when(move)
        return self

    def when(self, move: "Move") -> Then:
        """What a move leads to, by one decision or more."""
        return Then(tuple(self._apply(given) for given in move(self)))

    def stamp(self, given: inputs.Input) -> inputs.Stamped:
        self._stamps += 1
        seed = f"{self._stamps:032x}"
        return inputs.Stamped(input=given, at_ms=self.now_ms, seed=seed, known=self.known(given))

    def known(self, given: inputs.Input) -> inputs.Known:
        """What a store would know of the input's ids."""
        if not isinstance(given, inputs.Keyed):
            return inputs.Known()
        key = self.keys.get(given.client_key)
        chat, task_id = getattr(given, "conversation_id", None), getattr(given, "task_id", None)
        resolved = self.resolved.get(getattr(given, "approval_id", ids.ApprovalId("")))
        return inputs.Known(
            key_body_hash=key.body_hash if key else None,
            key_reply=key.reply if key else None,
            conversation_exists=any(one.conversation_id == chat for one in self.recorded),
            task_exists=any(one.task_id == task_id for one in self.recorded if task_id),
            approval_outcome=resolved.outcome if resolved else None,
            approval_grant=resolved.grant_id if resolved else None,
            taint=self.attached,
        )

    def _apply(self, given: inputs.Input) -> decisions.Step:
        stamped = self.stamp(given)
        before = world.snapshot(self.world)
        step = orchestrator.decide(self.rules, self.world, stamped)
        assert orchestrator.decide(self.rules, self.world, stamped) == step
        assert world.snapshot(self.world) == before
        after = self.world.fork()
        for recorded in step.events:
            fold.apply(after, recorded)
            self._note(recorded.event)
        self.world = after
        self.recorded.extend(step.events)
        for record in step.records:
            match record:
                case decisions.ContentRecord():
                    self.texts[record.content_id] = record.text
                case decisions.ClientKeyRecord():
                    self.keys[record.client_key] = record
                case _:
                    pass
        return step

    def _note(self, event: events.Event) -> None:
        match event:
            case events.TaskSubmitted():
                self.seen.append(Seen(event.task_id, event.conversation_id))
            case events.ModelCallStarted():
                self._of(event.task_id).model_calls.append(event.call_id)
            case events.ToolCallProposed():
                self._of(event.task_id).tool_calls.append(event.call_id)
            case events.ApprovalRequested():
                self._of(event.task_id).approvals.append(event.approval_id)
            case events.ApprovalResolved():
                self.resolved[event.approval_id] = event
            case _:
                pass

    def _of(self, task_id: ids.TaskId) -> Seen:
        return next(one for one in self.seen if one.task_id == task_id)

    def task(self, of: int = -1) -> world.Task:
        """A live task, by the order of submission."""
        return self.world.tasks[self.seen[of].task_id]

    def text(self, content: ids.ContentId | None) -> str:
        """A text that was kept."""
        assert content is not None
        return self.texts[content]

    def asked(self, of: int = -1) -> int:
        """What a gathering that is not late would say; of a task that has left, nothing."""
        task = self.world.tasks.get(self.seen[of].task_id)
        return asking.moment(task) if task is not None else 0

    def steered(self, of: int = -1) -> tuple[ids.ContentId, ...]:
        """The further messages that a task's thinker has not heard."""
        task = self.world.tasks.get(self.seen[of].task_id)
        return task.steered if task is not None else ()

    def state(self, of: int = -1) -> state.TaskState:
        """Where a task stands, live or not."""
        task_id = self.seen[of].task_id
        moves = [one.event for one in self.recorded if one.task_id == task_id]
        changes = [one.state for one in moves if isinstance(one, events.TaskStateChanged)]
        return changes[-1] if changes else state.TaskState.QUEUED

    def answer(self, of: int = -1) -> str | None:
        """The text of the answer that a task gave."""
        task_id = self.seen[of].task_id
        given = [one.event for one in self.recorded if one.task_id == task_id]
        found = [self.texts[one.text] for one in given if isinstance(one, events.AnswerGiven)]
        return found[-1] if found else None


Move = Callable[[Scene], Sequence[inputs.Input]]
"""What happens, as the inputs that tell of it; a move of time has none."""


@dataclass(frozen=True)
class Case:
    """One row of a table: given these moves, when this one, then these lines."""

    given: Sequence[Move]
    when: Move
    events: Sequence[str] = ()
    actions: Sequence[str] = ()
    reply: str = ""

    def check(self, scene: Scene | None = None) -> Scene:
        scene = (scene or Scene()).given(self.given)
        then = scene.when(self.when)
        assert then.events == list(self.events)
        assert then.actions == list(self.actions)
        assert then.reply == self.reply
        return scene
