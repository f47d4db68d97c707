"""The state that the log folds into: live tasks, their calls, and live approvals.

Ended tasks leave once their last call has ended; what is needed of them later is in projections.
`World.fork` gives a tentative copy: entries are immutable, so a fork is cheap and the original is
never touched.
"""

from enum import StrEnum
from typing import Literal

from daemon.domain import base, events, ids, messages, principals, state, taints, verdicts
from daemon.domain.standing import (
    DEFAULT_SETTINGS as DEFAULT_SETTINGS,
    DueRun as DueRun,
    Grant as Grant,
    LiveRun as LiveRun,
    Person as Person,
    PersonState as PersonState,
    Planned as Planned,
    Project as Project,
    Revert as Revert,
    Settings as Settings,
    Unreachable as Unreachable,
)
from tools import contract


class CallStatus(StrEnum):
    """How far a call has come."""

    PROPOSED = "proposed"
    INSPECTED = "inspected"
    AWAITING_APPROVAL = "awaiting_approval"
    APPROVED = "approved"
    STARTED = "started"
    ENDED = "ended"


class StepStatus(StrEnum):
    """How far a step of a plan has come."""

    WAITING = "waiting"
    RUNNING = "running"
    TRIED = "tried"
    """It has a result that nobody has judged yet."""
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


class Step(base.Value):
    """A step of the plan that a live task follows. `failed` is of its last attempt."""

    planned: events.PlannedStep
    status: StepStatus = StepStatus.WAITING
    attempts: int = 0
    result: ids.ContentId | None = None
    failed: bool = False
    exit_code: int | None = None
    """Of its command; another than 0 need not be a failure, and the critic may say so."""
    unjudged: bool = False
    """Its call was refused or denied: there is nothing to judge."""
    call_id: ids.CallId | None = None
    """The tool call whose result is the attempt's."""

    @property
    def step_id(self) -> str:
        return self.planned.step_id

    @property
    def ended(self) -> bool:
        return self.status in (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED)


class Said(base.Value):
    """What a model is told of a task beside its message, in the order in which it happened.

    `content` is a call's arguments, a plan, a refused reply or a further message; `name` the tool,
    the step, why the reply was refused, the skill, or a note of the daemon's in its own words.
    """

    kind: Literal["note", "skill", "call", "plan", "step", "refused", "steered", "words", "review"]
    words: ids.ContentId | None = None
    """A call's, as the thinker asked for it: told in its place, they are in the slot's cache."""
    content: ids.ContentId | None = None
    result: ids.ContentId | None = None
    name: str = ""


class ToolCall(base.Value):
    """A tool call of a live task."""

    call_id: ids.CallId
    tool: str
    arguments: ids.ContentId
    direct: bool
    status: CallStatus = CallStatus.PROPOSED
    effect: contract.Effect | None = None
    digest: str = ""
    basis: verdicts.Basis | None = None
    """What let it run, once it was started."""
    grant_id: ids.GrantId | None = None
    intent: str = ""
    attempt: int = 0
    started_ms: int = 0
    approval_id: ids.ApprovalId | None = None
    outcome: events.CallOutcome | None = None
    result: ids.ContentId | None = None
    exit_code: int | None = None
    settled: bool = False
    """Its outcome was unknown, and a person let it run again as another call."""
    fingerprint: str = ""
    step_id: str | None = None
    words: ids.ContentId | None = None

    @property
    def ended(self) -> bool:
        return self.status is CallStatus.ENDED


class ModelCall(base.Value):
    """The model call that a task has open."""

    call_id: ids.CallId
    role: messages.Role
    attempt: int
    purpose: messages.Purpose = messages.Purpose.THINK
    step_id: str | None = None
    up_to_seq: int = 0


class Task(base.Value):
    """A live task."""

    task_id: ids.TaskId
    conversation_id: ids.ConversationId
    origin: principals.Origin
    text: ids.ContentId
    correlation_id: str
    state: state.TaskState
    submitted_ms: int
    submitted_seq: int
    attachments: tuple[ids.ArtifactId, ...] = ()
    reason: str = ""
    running_since_ms: int = 0
    active_ms: int = 0
    recoveries: int = 0
    kind: events.TaskKind = events.TaskKind.ANSWER
    skill: str = ""
    profile: str = ""
    run: events.RunOf | None = None
    """The schedule's run that it is of."""
    rounds: int = 0
    """Model calls that thought."""
    asked: int = 0
    """Model calls of any kind, repetitions too."""
    ready: bool = False
    """Answered while it waited, and goes on as soon as its conversation's lane is free."""
    model_call: ModelCall | None = None
    failed_call: ModelCall | None = None
    """The model call whose failure the next one repeats."""
    model_faults: int = 0
    """Deaths and stalls of the model since it last answered this task."""
    shrinks: int = 0
    calls: tuple[ToolCall, ...] = ()
    script_lines: tuple[tuple[messages.Role, int], ...] = ()
    answer: ids.ContentId | None = None
    said: tuple[Said, ...] = ()
    draft: ids.ContentId | None = None
    """What the thinker said, of which a directive is to be made."""
    refusals: int = 0
    """Replies in a row that were no valid directive."""
    cuts: int = 0
    """Replies in a row that the token limit cut."""
    summarized: bool = False
    """Its conversation's earlier messages were to be summarized for it once."""
    plan: tuple[Step, ...] = ()
    reviewed: bool = False
    """A critic has looked at its answer."""
    plan_left: bool = False
    """What is left of the plan is not followed any more."""
    urls: tuple[str, ...] = ()
    """Addresses that the user named."""
    files: tuple[str, ...] = ()
    """Real paths that its calls have read or written."""
    steered: tuple[ids.ContentId, ...] = ()
    """Further messages that the thinker has not heard yet."""
    told: int = 0
    """How much of what was said the thinker was told when it was asked last."""
    heard: int = 0
    """How much of what was said the thinker knew when it last said what to do."""
    taint: taints.Taint = taints.CLEAN
    denied: tuple[str, ...] = ()
    """Keys of what a person said no to: it is not asked again."""
    secret_call: ids.CallId | None = None
    """The call that waits for a secret."""
    secret_expires_ms: int = 0

    def call(self, call_id: ids.CallId) -> ToolCall | None:
        for call in reversed(self.calls):
            if call.call_id == call_id:
                return call
        return None

    def open_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that have no result yet, in the order in which they were proposed."""
        return tuple([call for call in self.calls if call.status is not CallStatus.ENDED])

    def step(self, step_id: str | None) -> Step | None:
        return next((step for step in self.plan if step.step_id == step_id), None)

    @property
    def follows_plan(self) -> bool:
        """Whether a step of its plan has not ended."""
        return any(not step.ended for step in self.plan)

    def unknown_calls(self) -> tuple[ToolCall, ...]:
        unknown = events.CallOutcome.OUTCOME_UNKNOWN
        return tuple(c for c in self.calls if c.outcome is unknown and not c.settled)

    def busy(self) -> bool:
        """Whether something that was started has not ended."""
        started = (call.status is CallStatus.STARTED for call in self.calls)
        return self.model_call is not None or any(started)


class Approval(base.Value):
    """An approval that nobody has answered, or that was answered and is not used up."""

    approval_id: ids.ApprovalId
    task_id: ids.TaskId
    call_id: ids.CallId
    digest: str
    expires_ms: int
    always_allowed: bool
    tool: str = ""
    card: ids.ContentId | None = None
    key: str = ""
    folder: str = ""
    approvers: tuple[principals.Principal, ...] = ()
    places: tuple[str, ...] = ()
    outcome: events.ApprovalOutcome | None = None
    decided_by: principals.Principal | None = None
    grant_id: ids.GrantId | None = None


class World:
    """The folded state. Mutable only by `fold.apply`, on a fork."""

    __slots__ = (
        "approvals",
        "grants",
        "head_seq",
        "people",
        "places",
        "projects",
        "queued",
        "ready",
        "reverts",
        "running",
        "schedules",
        "settings",
        "settling",
        "tasks",
        "unreachable",
    )

    def __init__(self) -> None:
        self.head_seq = 0
        self.tasks: dict[ids.TaskId, Task] = {}
        self.approvals: dict[ids.ApprovalId, Approval] = {}
        self.running: dict[ids.ConversationId, ids.TaskId] = {}
        self.queued: dict[ids.TaskId, None] = {}
        self.ready: dict[ids.TaskId, None] = {}
        self.grants: dict[ids.GrantId, Grant] = {}
        self.settings: dict[ids.ConversationId, Settings] = {}
        """Of the conversations that differ from the default."""
        self.reverts: dict[ids.TaskId, Revert] = {}
        self.projects: dict[str, Project] = {}
        """The tainted ones, by folder."""
        self.places: dict[str, ids.ConversationId] = {}
        """The conversation of each chat and topic."""
        self.people: dict[principals.Principal, Person] = {}
        self.unreachable: dict[tuple[str, str], Unreachable] = {}
        """By account and chat."""
        self.schedules: dict[ids.ScheduleId, Planned] = {}
        self.settling: dict[ids.ScheduleId, None] = {}
        """Those whose run's task has ended, until it is decided what follows."""

    def mode(self, conversation_id: ids.ConversationId) -> verdicts.Mode:
        """How much a conversation's tasks may do unasked."""
        return self.setting(conversation_id).mode

    def setting(self, conversation_id: ids.ConversationId) -> Settings:
        """How a conversation's tasks work."""
        return self.settings.get(conversation_id, DEFAULT_SETTINGS)

    def live_grants(self, now_ms: int) -> tuple[Grant, ...]:
        """Those that have not expired, oldest first."""
        return tuple(grant for grant in self.grants.values() if grant.expires_ms > now_ms)

    def taint_of(self, folder: str) -> taints.Taint:
        """Of a project's files."""
        project = self.projects.get(folder)
        return project.taint if project is not None else taints.CLEAN

    def fork(self) -> "World":
        """A tentative copy."""
        copy = World.__new__(World)
        copy.head_seq = self.head_seq
        copy.tasks = dict(self.tasks)
        copy.approvals = dict(self.approvals)
        copy.running = dict(self.running)
        copy.queued = dict(self.queued)
        copy.ready = dict(self.ready)
        copy.grants = dict(self.grants)
        copy.settings = dict(self.settings)
        copy.projects = dict(self.projects)
        copy.reverts = dict(self.reverts)
        copy.places = dict(self.places)
        copy.people = dict(self.people)
        copy.unreachable = dict(self.unreachable)
        copy.schedules = dict(self.schedules)
        copy.settling = dict(self.settling)
        return copy


class Snapshot(base.Value):
    """A checkpoint: the world at `head_seq`, in the order in which its tasks came."""

    version: int
    head_seq: int
    tasks: tuple[Task, ...]
    approvals: tuple[Approval, ...]
    queued: tuple[ids.TaskId, ...]
    ready: tuple[ids.TaskId, ...]
    grants: tuple[Grant, ...]
    settings: tuple[tuple[ids.ConversationId, Settings], ...]
    projects: tuple[Project, ...]
    reverts: tuple[Revert, ...]
    places: tuple[tuple[str, ids.ConversationId], ...]
    people: tuple[Person, ...]
    unreachable: tuple[Unreachable, ...]
    schedules: tuple[Planned, ...]
    settling: tuple[ids.ScheduleId, ...]


SNAPSHOT_VERSION = 5


def snapshot(world: World) -> Snapshot:
    """The world as a value."""
    return Snapshot(
        version=SNAPSHOT_VERSION,
        head_seq=world.head_seq,
        tasks=tuple(world.tasks.values()),
        approvals=tuple(world.approvals.values()),
        queued=tuple(world.queued),
        ready=tuple(world.ready),
        grants=tuple(world.grants.values()),
        settings=tuple(world.settings.items()),
        projects=tuple(world.projects.values()),
        reverts=tuple(world.reverts.values()),
        places=tuple(world.places.items()),
        people=tuple(world.people.values()),
        unreachable=tuple(world.unreachable.values()),
        schedules=tuple(world.schedules.values()),
        settling=tuple(world.settling),
    )


def restore(kept: Snapshot) -> World:
    """The world that a snapshot was taken of."""
    world = World()
    world.head_seq = kept.head_seq
    world.tasks = {task.task_id: task for task in kept.tasks}
    world.approvals = {approval.approval_id: approval for approval in kept.approvals}
    world.queued = dict.fromkeys(kept.queued)
    world.ready = dict.fromkeys(kept.ready)
    world.grants = {grant.grant_id: grant for grant in kept.grants}
    world.settings = dict(kept.settings)
    world.projects = {project.folder: project for project in kept.projects}
    world.reverts = {revert.task_id: revert for revert in kept.reverts}
    world.places = dict(kept.places)
    world.people = {person.principal: person for person in kept.people}
    world.unreachable = {(one.account, one.chat): one for one in kept.unreachable}
    world.schedules = {one.schedule.schedule_id: one for one in kept.schedules}
    world.settling = dict.fromkeys(kept.settling)
    running = state.TaskState.RUNNING
    world.running = {t.conversation_id: t.task_id for t in kept.tasks if t.state is running}
    return world
