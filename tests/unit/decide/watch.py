"""What must hold over all steps of a run of tasks, whatever comes in whatever order.

`Watch` looks at each step and at the world after it; it raises AssertionError where the log, the
actions or the state say what may not be.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence

from daemon.decide import asking, calls, turn
from daemon.domain import decisions, events, fold, ids, messages, state, world
from tools import contract

STARTING = (
    decisions.GatherContext,
    decisions.CallModel,
    decisions.InspectCall,
    decisions.CallTool,
    decisions.ReconcileCall,
)
Starting = (
    decisions.GatherContext
    | decisions.CallModel
    | decisions.InspectCall
    | decisions.CallTool
    | decisions.ReconcileCall
)
_GIVEN = frozenset({messages.Purpose.THINK})
"""Purposes whose calls end with no instruction of their own."""


def owner_of(action: Starting) -> ids.TaskId:
    match action:
        case decisions.GatherContext():
            return action.task_id
        case decisions.CallModel():
            return action.request.task_id
        case _:
            return action.site.task_id


def call_of(action: Starting) -> ids.CallId | None:
    """The call that an action is about; a gathering is about none."""
    match action:
        case decisions.GatherContext():
            return None
        case decisions.CallModel():
            return action.request.call_id
        case _:
            return action.site.call_id


class Watch:
    """The log as it grows, and what was begun, allowed and ended in it."""

    def __init__(self, rules: turn.Rules) -> None:
        self._rules = rules
        self.log: list[events.Recorded] = []
        self._begun: dict[ids.CallId, int] = {}
        self._ended: dict[ids.CallId, list[events.CallOutcome | None]] = {}
        self._allowed: dict[ids.ApprovalId, str] = {}
        self._used: set[ids.ApprovalId] = set()
        self._unsafe: set[ids.CallId] = set()
        self._digests: dict[ids.CallId, str] = {}
        self._models: dict[ids.TaskId, ids.CallId] = {}
        self._needs: dict[tuple[ids.TaskId, str], tuple[str, ...]] = {}
        self._done: set[tuple[ids.TaskId, str]] = set()
        self._said: dict[ids.TaskId, tuple[world.Said, ...]] = {}
        self._due: set[ids.TaskId] = set()

    @contextlib.contextmanager
    def starting(self, tasks: Iterable[ids.TaskId]) -> Iterator[set[ids.TaskId]]:
        """Nothing of these tasks need be in flight until they were told of the new start."""
        self._due = set(tasks)
        yield self._due
        assert not self._due

    def saw(self, step: decisions.Step, after: world.World, flying: Sequence[Starting]) -> None:
        """A step was adopted, and what it starts flies."""
        for recorded in step.events:
            self._event(recorded)
        for action in step.actions:
            if isinstance(action, STARTING):
                self._action(action, step, after)
        self._world(after)
        for task in after.tasks.values():
            self._grows(task)
            if task.task_id not in self._due:
                self._goes_on(task, after, [one for one in flying if owner_of(one) == task.task_id])

    def _event(self, recorded: events.Recorded) -> None:
        assert recorded.seq == len(self.log) + 1
        self.log.append(recorded)
        match event := recorded.event:
            case events.ModelCallStarted():
                assert event.call_id not in self._begun
                assert event.task_id not in self._models, "two model calls at once"
                self._models[event.task_id] = event.call_id
                self._begun[event.call_id] = 1
            case events.ToolCallProposed():
                self._begun[event.call_id] = 0
            case events.ToolCallStarted():
                self._started(event)
            case events.ApprovalRequested():
                self._allowed[event.approval_id] = event.digest
            case events.ApprovalResolved():
                if event.outcome is not events.ApprovalOutcome.ALLOWED:
                    self._allowed.pop(event.approval_id, None)
            case events.ModelCallFinished() | events.ModelCallFailed():
                assert self._models.pop(event.task_id) == event.call_id
                self._end(event.call_id, None)
            case events.ToolCallEnded():
                self._end(event.call_id, event.outcome)
            case events.PlanMade() | events.StepStarted() | events.StepEnded():
                self._step(event)
            case _:
                pass

    def _started(self, event: events.ToolCallStarted) -> None:
        self._begun[event.call_id] += 1
        assert event.attempt == self._begun[event.call_id]
        assert event.call_id not in self._unsafe
        assert self._digests.setdefault(event.call_id, event.digest) == event.digest
        if event.effect is contract.Effect.UNSAFE:
            self._unsafe.add(event.call_id)
        if event.approval_id is not None:
            assert event.approval_id not in self._used
            assert self._allowed[event.approval_id] == event.digest
            self._used.add(event.approval_id)

    def _step(self, event: events.PlanMade | events.StepStarted | events.StepEnded) -> None:
        """No step begins before what it needs is done; each begins only while it has not ended."""
        match event:
            case events.PlanMade():
                for planned in event.steps:
                    self._needs[event.task_id, planned.step_id] = planned.after
                    self._done.discard((event.task_id, planned.step_id))
            case events.StepStarted():
                needs = self._needs[event.task_id, event.step_id]
                assert all((event.task_id, name) in self._done for name in needs)
                assert (event.task_id, event.step_id) not in self._done
            case events.StepEnded():
                if event.outcome is events.StepOutcome.DONE:
                    self._done.add((event.task_id, event.step_id))

    def _end(self, call_id: ids.CallId, outcome: events.CallOutcome | None) -> None:
        assert call_id in self._begun
        before = self._ended.setdefault(call_id, [])
        unknown = [events.CallOutcome.OUTCOME_UNKNOWN]
        assert not before or (before == unknown and outcome is events.CallOutcome.MARKED_DONE)
        before.append(outcome)

    def _action(self, action: Starting, step: decisions.Step, after: world.World) -> None:
        task = after.tasks.get(owner_of(action))
        assert task is not None
        told = [one.event for one in step.events]
        match action:
            case decisions.CallModel():
                started = [one for one in told if isinstance(one, events.ModelCallStarted)]
                assert [one.call_id for one in started] == [action.request.call_id]
                self._asked(action.request, started[0])
            case decisions.CallTool():
                self._permitted(action, told)
            case decisions.InspectCall() | decisions.ReconcileCall():
                assert action.site.call_id in self._begun
            case decisions.GatherContext():
                assert task.model_call is None

    def _asked(self, request: messages.ModelRequest, started: events.ModelCallStarted) -> None:
        """A call is told what its purpose is, and nothing of another's."""
        assert request.role is started.role is asking.ROLES[started.purpose]
        assert [one.speaker for one in request.messages].count("system") == 1
        assert request.messages[0].speaker == "system"
        last = request.messages[-1].content
        given = [one for one in messages.Purpose if last.startswith(f"[{one}]")]
        assert given == ([] if started.purpose in _GIVEN else [started.purpose])

    def _permitted(self, action: decisions.CallTool, told: Sequence[events.Event]) -> None:
        permit, call_id = action.permit, action.site.call_id
        (started,) = [one for one in told if isinstance(one, events.ToolCallStarted)]
        assert started.call_id == call_id == permit.call_id
        assert started.digest == permit.digest
        category = self._rules.tools[action.site.tool].category
        if category is not contract.Category.READ_ONLY and started.attempt == 1:
            assert permit.approval_id in self._used or permit.grant_id is not None
        if permit.approval_id is not None:
            assert self._allowed[permit.approval_id] == permit.digest

    def _world(self, after: world.World) -> None:
        running = [t for t in after.tasks.values() if t.state is state.TaskState.RUNNING]
        assert len(running) <= self._rules.limits.running_tasks
        assert {t.conversation_id: t.task_id for t in running} == after.running
        assert len(running) == len(after.running)
        asked = [one for one in after.queued if after.tasks[one].run is None]
        assert len(asked) <= self._rules.limits.queued_tasks
        for task in after.tasks.values():
            assert task.state not in state.FINAL or task.busy()
            assert (task.task_id in after.queued) == (task.state is state.TaskState.QUEUED)
            assert (task.task_id in after.ready) == task.ready
        for approval in after.approvals.values():
            assert approval.task_id in after.tasks

    def _grows(self, task: world.Task) -> None:
        """What was said only grows at its end."""
        before = self._said.get(task.task_id, ())
        assert task.said[: len(before)] == before
        self._said[task.task_id] = task.said

    def _goes_on(self, task: world.Task, after: world.World, flying: Sequence[Starting]) -> None:
        """A task has something in flight, or waits for somebody, or is over: none is stuck, and no
        call is in flight twice."""
        mine = [call_of(one) for one in flying]
        about = [one for one in mine if one is not None]
        assert len(about) == len(set(about)), "one call is in flight twice"
        open_model = task.model_call.call_id if task.model_call is not None else None
        assert open_model is None or open_model in about, "a model call that nobody makes"
        for call in task.open_calls():
            flies = call.call_id in about
            if call.status is world.CallStatus.STARTED:
                assert flies != (task.state is state.TaskState.PARKED), "a call that nobody runs"
            elif task.state is state.TaskState.RUNNING:
                assert flies != calls.is_waiting(task, call), f"{call.status} and flies: {flies}"
        match task.state:
            case state.TaskState.RUNNING:
                gathers = [one for one in flying if isinstance(one, decisions.GatherContext)]
                fresh = any(one.asked == asking.moment(task) for one in gathers)
                inspected = {call.call_id for call in task.open_calls()} & set(about)
                assert fresh or open_model or inspected, "nothing of a running task is in flight"
            case one if one in state.WAITING:
                assert task.model_call is None
                assert not about, "what waits for somebody has a call in flight"
                assert task.ready or self._is_asked(task, after), "it waits for nobody"
            case _:
                pass

    def _is_asked(self, task: world.Task, after: world.World) -> bool:
        """Whether there is something that a person can say to a task that waits."""
        asked = [one for one in after.approvals.values() if one.task_id == task.task_id]
        match task.state:
            case state.TaskState.AWAITING_APPROVAL:
                return any(one.outcome is None for one in asked)
            case state.TaskState.AWAITING_SECRET:
                return task.secret_call is not None
            case state.TaskState.AWAITING_DECISION:
                return bool(task.unknown_calls())
            case _:
                return True

    def folds(self, after: world.World) -> None:
        """The log alone makes the same world, and so does a snapshot of it."""
        rebuilt = world.World()
        for recorded in self.log:
            fold.apply(rebuilt, recorded)
        kept = world.snapshot(after)
        assert world.snapshot(rebuilt) == kept
        assert world.Snapshot.model_validate_json(kept.model_dump_json()) == kept
        restored = world.restore(kept)
        assert world.snapshot(restored) == kept
        assert restored.running == after.running

    def said(self, task_id: ids.TaskId) -> tuple[world.Said, ...]:
        """What was said in a task when it was last seen."""
        return self._said.get(task_id, ())

    def all_ended(self) -> None:
        """Nothing is live any more: every call has its one result."""
        assert set(self._ended) == set(self._begun)
