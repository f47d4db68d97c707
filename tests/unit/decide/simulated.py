"""A daemon without a daemon: a world, what is in flight, and a watch that holds the invariants.

Any move may come at any time, also one that nobody could send: answers of calls that have ended,
approvals of other tasks, decisions that do not fit. `Daemon.feed` decides, folds and starts what
the step says, as the loop and the effects do; `Watch` looks at each step and at the world after.
"""

import json
import random
from collections.abc import Sequence

from daemon.decide import orchestrator, turn
from daemon.domain import decisions, events, fold, ids, inputs, limits, messages, state, world
from tests.unit.decide import moves, scenes
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


def owner_of(action: Starting) -> ids.TaskId:
    match action:
        case decisions.GatherContext():
            return action.task_id
        case decisions.CallModel():
            return action.request.task_id
        case _:
            return action.site.task_id


class Watch:
    """What must hold over all steps of a run; raises AssertionError where it does not."""

    def __init__(self, rules: turn.Rules) -> None:
        self._rules = rules
        self._log: list[events.Recorded] = []
        self._begun: dict[ids.CallId, int] = {}
        self._ended: dict[ids.CallId, list[events.CallOutcome | None]] = {}
        self._allowed: dict[ids.ApprovalId, str] = {}
        self._used: set[ids.ApprovalId] = set()
        self._unsafe: set[ids.CallId] = set()
        self._digests: dict[ids.CallId, str] = {}

    def saw(self, step: decisions.Step, after: world.World) -> None:
        """A step was adopted."""
        for recorded in step.events:
            self._event(recorded)
        for action in step.actions:
            if isinstance(action, STARTING):
                self._action(action, step, after)
        self._world(after)

    def _event(self, recorded: events.Recorded) -> None:
        assert recorded.seq == len(self._log) + 1
        self._log.append(recorded)
        match event := recorded.event:
            case events.ModelCallStarted():
                assert event.call_id not in self._begun
                self._begun[event.call_id] = 1
            case events.ToolCallProposed():
                self._begun[event.call_id] = 0
            case events.ToolCallStarted():
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
            case events.ApprovalRequested():
                self._asked(event)
            case events.ApprovalResolved():
                if event.outcome is not events.ApprovalOutcome.ALLOWED:
                    self._allowed.pop(event.approval_id, None)
            case events.ModelCallFinished() | events.ModelCallFailed():
                self._end(event.call_id, None)
            case events.ToolCallEnded():
                self._end(event.call_id, event.outcome)
            case _:
                pass

    def _asked(self, event: events.ApprovalRequested) -> None:
        self._allowed[event.approval_id] = event.digest

    def _end(self, call_id: ids.CallId, outcome: events.CallOutcome | None) -> None:
        assert call_id in self._begun
        before = self._ended.setdefault(call_id, [])
        unknown = [events.CallOutcome.OUTCOME_UNKNOWN]
        assert not before or (before == unknown and outcome is events.CallOutcome.MARKED_DONE)
        before.append(outcome)

    def _action(self, action: Starting, step: decisions.Step, after: world.World) -> None:
        task = after.tasks.get(owner_of(action))
        assert task is not None
        assert task.state is state.TaskState.RUNNING
        told = [one.event for one in step.events]
        match action:
            case decisions.CallModel():
                started = [one for one in told if isinstance(one, events.ModelCallStarted)]
                assert [one.call_id for one in started] == [action.request.call_id]
            case decisions.CallTool():
                self._permitted(action, told)
            case decisions.InspectCall() | decisions.ReconcileCall():
                assert action.site.call_id in self._begun
                assert action.site.call_id not in self._ended
            case decisions.GatherContext():
                assert not task.busy()

    def _permitted(self, action: decisions.CallTool, told: Sequence[events.Event]) -> None:
        permit, call_id = action.permit, action.site.call_id
        (started,) = [one for one in told if isinstance(one, events.ToolCallStarted)]
        assert started.call_id == call_id == permit.call_id
        assert started.digest == permit.digest
        category = self._rules.tools[action.site.tool].category
        if category is not contract.Category.READ_ONLY:
            assert permit.approval_id is not None
            assert permit.approval_id in self._used
            assert self._allowed[permit.approval_id] == permit.digest

    def _world(self, after: world.World) -> None:
        running = [t for t in after.tasks.values() if t.state is state.TaskState.RUNNING]
        assert len(running) <= self._rules.limits.running_tasks
        assert {t.conversation_id: t.task_id for t in running} == after.running
        assert len(running) == len(after.running)
        assert len(after.queued) <= self._rules.limits.queued_tasks
        for task in after.tasks.values():
            assert task.state not in state.FINAL or task.busy()
            assert (task.task_id in after.queued) == (task.state is state.TaskState.QUEUED)
            assert (task.task_id in after.ready) == task.ready
        for approval in after.approvals.values():
            assert approval.task_id in after.tasks

    def folds(self, after: world.World) -> None:
        """The log alone makes the same world, and so does a snapshot of it."""
        rebuilt = world.World()
        for recorded in self._log:
            fold.apply(rebuilt, recorded)
        kept = world.snapshot(after)
        assert world.snapshot(rebuilt) == kept
        assert world.Snapshot.model_validate_json(kept.model_dump_json()) == kept
        restored = world.restore(kept)
        assert world.snapshot(restored) == kept
        assert restored.running == after.running

    def all_ended(self) -> None:
        """Nothing is live any more: every call has its one result."""
        assert set(self._ended) == set(self._begun)


class Daemon(scenes.Scene):
    """A scene that performs: what a step starts flies until it answers or the daemon dies."""

    def __init__(self, bounds: limits.Limits) -> None:
        super().__init__(bounds)
        self.flying: list[Starting] = []
        self.cancelled: set[ids.CallId] = set()
        self.watch = Watch(self.rules)

    def feed(self, given: inputs.Input) -> decisions.Step:
        """Decide on one input, adopt it and start what follows."""
        step = self._apply(given)
        self.watch.saw(step, self.world)
        for action in step.actions:
            if isinstance(action, STARTING):
                assert not self.flies(owner_of(action))
                self.flying.append(action)
            elif isinstance(action, decisions.CancelCall):
                self.cancelled.add(action.call_id)
        return step

    def waits(self, task_id: ids.TaskId) -> bool:
        """Whether a task waits for a person."""
        task = self.world.tasks.get(task_id)
        return task is not None and task.state in state.WAITING

    def flies(self, task_id: ids.TaskId) -> bool:
        """Whether something of a task is in flight; there is never more than one thing."""
        return any(owner_of(one) == task_id for one in self.flying)

    def lose(self, given: inputs.Input) -> None:
        """Decide on an input and fail to commit it: nothing happened."""
        before = world.snapshot(self.world)
        orchestrator.decide(self.rules, self.world, self.stamp(given))
        assert world.snapshot(self.world) == before

    def land(self, dice: random.Random, which: int) -> None:
        """One thing in flight answers."""
        action = self.flying.pop(which % len(self.flying))
        self.feed(self._outcome(action, dice))

    def restart(self, clean: bool) -> None:
        """Everything in flight is gone; every live task is told."""
        self.flying.clear()
        self.cancelled.clear()
        for given in moves.restart(clean)(self):
            self.feed(given)

    def settle(self, dice: random.Random) -> None:
        """Let everything in flight answer, and end what then waits."""
        for _ in range(1000):
            if self.flying:
                self.land(dice, 0)
            elif self.world.tasks:
                task_id = next(iter(self.world.tasks))
                self.feed(moves.cancel(task_id=task_id)(self)[0])
            else:
                self.watch.folds(self.world)
                self.watch.all_ended()
                return
        raise AssertionError("it never comes to rest")

    def _outcome(self, action: Starting, dice: random.Random) -> inputs.Input:
        match action:
            case decisions.GatherContext():
                return self._context(action, dice)
            case decisions.CallModel():
                return self._reply(action.request, dice)
            case decisions.InspectCall():
                return self._inspection(action.site, dice)
            case decisions.CallTool():
                return self._run(action.site, dice)
            case decisions.ReconcileCall():
                found = dice.choice(list(contract.Reconciled))
                site = action.site
                return inputs.CallReconciled(
                    task_id=site.task_id, call_id=site.call_id, found=found
                )

    def _context(self, action: decisions.GatherContext, dice: random.Random) -> inputs.Input:
        for part in action.turn:
            assert part.content is None or part.content in self.texts
        if dice.random() < 0.05:
            kind = dice.choice(list(messages.ModelFaultKind))
            return inputs.ContextFailed(
                task_id=action.task_id, asked=action.asked, kind=kind, message="no"
            )
        return inputs.ContextGathered(
            task_id=action.task_id,
            asked=action.asked,
            heard=action.heard,
            history=(),
            turn=tuple(
                inputs.Piece(
                    speaker=part.speaker,
                    text=self.texts[part.content] if part.content is not None else part.before,
                    tokens=1,
                )
                for part in action.turn
            ),
            summary=None,
            system_tokens=1,
            context_tokens=512,
        )

    def _reply(self, request: messages.ModelRequest, dice: random.Random) -> inputs.Input:
        said = dice.choice(("tool", "tool", "tool", "words", "bad", "fault"))
        if said == "fault" or request.call_id in self.cancelled:
            return inputs.ModelFailed(
                task_id=request.task_id,
                call_id=request.call_id,
                kind=dice.choice(list(messages.ModelFaultKind)),
                message="broke",
                cancelled=request.call_id in self.cancelled,
            )
        tool = dice.choice((*scenes.TOOLS, "no_such"))
        texts = {
            "words": "done",
            "bad": '{"kind":"sing"}',
            "tool": json.dumps({"kind": "tool", "tool": tool, "arguments": {}}),
        }
        result = messages.ModelResult(text=texts[said], finish_reason="stop", slot="main")
        return inputs.ModelFinished(task_id=request.task_id, call_id=request.call_id, result=result)

    def _inspection(self, site: decisions.CallSite, dice: random.Random) -> inputs.Input:
        found = dice.choice(("same", "same", "same", "same", "other", "gone"))
        if found == "gone":
            return inputs.InspectionFailed(
                task_id=site.task_id, call_id=site.call_id, message="gone"
            )
        return inputs.CallInspected(
            task_id=site.task_id,
            call_id=site.call_id,
            arguments=self.texts[site.arguments],
            facts=moves.facts(scenes.TOOLS[site.tool].effect, found),
        )

    def _run(self, site: decisions.CallSite, dice: random.Random) -> inputs.Input:
        outcomes = (events.CallOutcome.FAILED, events.CallOutcome.OUTCOME_UNKNOWN)
        outcome = dice.choice((None, None, None, *outcomes))
        if site.call_id in self.cancelled:
            outcome = events.CallOutcome.CANCELLED
        if outcome is None:
            return inputs.ToolFinished(
                task_id=site.task_id,
                call_id=site.call_id,
                result=contract.Result(text="out"),
                duration_ms=1,
            )
        return inputs.ToolStopped(
            task_id=site.task_id, call_id=site.call_id, outcome=outcome, message="stopped"
        )
