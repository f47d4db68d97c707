"""A daemon without a daemon: a world, what is in flight, and a watch that holds the invariants.

Any move may come at any time, also one that nobody could send: answers of calls that have ended,
approvals of other tasks, decisions that do not fit. `Daemon.feed` decides, folds, projects and
starts what the step says, as the loop, the store and the effects do.
"""

import random

from daemon.decide import orchestrator
from daemon.domain import decisions, events, ids, inputs, limits, messages, state, world
from daemon.permission import policy
from daemon.storage import added_rows, history, projections
from tests.unit.decide import moves, planned, replies, scenes, watch, watch_schedules
from tools import contract

_CONTEXT_TOKENS = 512
_MOST_LANDINGS = 3000
_FAULTY = 0.05
_Recover = inputs.RecoverTask


class Daemon(scenes.Scene):
    """A scene that performs: what a step starts flies until it answers or the daemon dies."""

    def __init__(
        self,
        bounds: limits.Limits,
        compiles: bool = False,
        criticizes: bool = False,
        reviews: bool = False,
    ) -> None:
        super().__init__(bounds, compiles=compiles, criticizes=criticizes, reviews=reviews)
        self.flying: list[watch.Starting] = []
        self.reverting: list[decisions.RevertCommits] = []
        self.cancelled: set[ids.CallId] = set()
        self.rules = self.rules.but({"zones": planned.zone})
        self.watch = watch.Watch(self.rules)
        self.timers: dict[str, int] = {}
        self.reading: list[decisions.ReadAnswer] = []
        self.schedules = watch_schedules.ScheduleWatch(self.rules)
        self.rows = projections.Rows()
        self.added = added_rows.Added()
        self._said: dict[ids.TaskId, tuple[world.Said, ...]] = {}
        self._starting = False

    def known(self, given: inputs.Input) -> inputs.Known:
        """What a store knows, with what was deleted and what can be undone."""
        known = super().known(given)
        conversation_id = getattr(given, "conversation_id", None)
        if conversation_id in self.added.deleted:
            known = known.but({"conversation_exists": False})
        if isinstance(given, inputs.UndoExchange):
            known = known.but({"last_task": self._last_task(given.conversation_id)})
        if isinstance(given, inputs.GiveFeedback):
            row = self.rows.tasks.get(given.task_id)
            if row is not None:
                answered = row.view.answer is not None
                chat = row.view.conversation_id
                known = known.but({"task_answered": answered, "task_conversation": chat})
        return known

    def _last_task(self, conversation_id: ids.ConversationId) -> inputs.LastTask | None:
        views = [row.view for row in self.rows.tasks.values()]
        ended = (
            history.of_view(view)
            for view in reversed(views)
            if view.conversation_id == conversation_id
            and view.state in state.FINAL
            and view.kind is events.TaskKind.ANSWER
            and not view.undone
        )
        return next(ended, None)

    def feed(self, given: inputs.Input) -> decisions.Step:
        """Decide on one input, adopt it and start what follows."""
        step = self._apply(given)
        self._project(step)
        for action in step.actions:
            if isinstance(action, watch.STARTING):
                self.flying.append(action)
            elif isinstance(action, decisions.RevertCommits):
                self.reverting.append(action)
            elif isinstance(action, decisions.CancelCall):
                self.cancelled.add(action.call_id)
            elif isinstance(action, decisions.ReadAnswer):
                self.reading.append(action)
            elif isinstance(action, decisions.SetTimer):
                self._remind(action)
        self.watch.saw(step, self.world, self.flying)
        self.schedules.saw(step)
        if not self._starting:
            self._look_at_schedules()
        return step

    def _remind(self, action: decisions.SetTimer) -> None:
        if action.timer is decisions.TimerKind.SCHEDULE:
            self.timers[action.subject] = action.due_ms

    def _look_at_schedules(self) -> None:
        live = [one for one in self.reading if one.schedule_id in self.world.settling]
        self.reading[:] = live
        reading = [one.schedule_id for one in live]
        self.schedules.holds(self.world, self.timers, reading, self.now_ms)

    def ring(self, most: int) -> None:
        """Fire the timers of schedules that are due, and those that they set, so many."""
        kind = decisions.TimerKind.SCHEDULE
        for _ in range(most):
            due = [one for one, at_ms in self.timers.items() if at_ms <= self.now_ms]
            if not due:
                return
            first = min(due, key=self.timers.__getitem__)
            del self.timers[first]
            self.feed(inputs.TimerFired(timer=kind, subject=first))

    def _project(self, step: decisions.Step) -> None:
        """What a store makes of the log says the same as the fold."""
        draft = projections.project(self.rows, step.events)
        self.rows.adopt(draft.changed)
        self.added.adopt(draft.added)
        for row in draft.added.said.values():
            self._said[row.task_id] = (*self._said.get(row.task_id, ()), *row.said)
        for task in self.world.tasks.values():
            view = self.rows.tasks[task.task_id].view
            assert (view.state, view.reason) == (task.state, task.reason)
            assert (view.answer, view.taint) == (task.answer, task.taint)
            assert self._said.get(task.task_id, ()) == task.said

    def waits(self, task_id: ids.TaskId) -> bool:
        """Whether a task waits for a person."""
        task = self.world.tasks.get(task_id)
        return task is not None and task.state in state.WAITING

    def flies(self, task_id: ids.TaskId) -> bool:
        """Whether something of a task is in flight."""
        return any(watch.owner_of(one) == task_id for one in self.flying)

    def lose(self, given: inputs.Input) -> None:
        """Decide on an input and fail to commit it: nothing happened."""
        before = world.snapshot(self.world)
        orchestrator.decide(self.rules, self.world, self.stamp(given))
        assert world.snapshot(self.world) == before

    def land(self, dice: random.Random, which: int) -> None:
        """One thing in flight answers."""
        action = self.flying.pop(which % len(self.flying))
        self.feed(self._outcome(action, dice))

    def revert(self, dice: random.Random) -> None:
        """Taking back commits ends."""
        action = self.reverting.pop(dice.randrange(len(self.reverting)))
        fault = dice.choice(("", "it conflicts"))
        self.feed(inputs.CommitsReverted(task_id=action.task_id, commit="c", fault=fault))

    def restart(self, clean: bool) -> None:
        """Everything in flight is gone; every live task is told."""
        self.flying.clear()
        self.reverting.clear()
        self.cancelled.clear()
        self.timers.clear()
        self.reading.clear()
        self._starting = True
        told = moves.restart(clean)(self)
        with self.watch.starting(one.task_id for one in told if isinstance(one, _Recover)) as due:
            for given in told:
                if isinstance(given, _Recover):
                    due.discard(given.task_id)
                self.feed(given)
        self._starting = False
        self._look_at_schedules()
        self.schedules.rows(self.rows.runs, self.world)

    def settle(self, dice: random.Random) -> None:
        """Let everything in flight answer, and end what then waits."""
        for _ in range(_MOST_LANDINGS):
            if self.flying:
                self.land(dice, 0)
            elif self.reverting:
                self.revert(dice)
            elif self.reading:
                one = self.reading.pop()
                read = inputs.AnswerRead(
                    schedule_id=one.schedule_id, run_id=one.run_id, digest="settled"
                )
                self.feed(read)
            elif self.world.schedules:
                self.feed(planned.delete_of(next(iter(self.world.schedules))))
            elif self.world.tasks:
                task_id = next(iter(self.world.tasks))
                self.feed(moves.cancel(task_id=task_id)(self)[0])
            else:
                self.watch.folds(self.world)
                self.watch.all_ended()
                self.schedules.rows(self.rows.runs, self.world)
                assert not self.world.reverts
                return
        raise AssertionError("it never comes to rest")

    def _outcome(self, action: watch.Starting, dice: random.Random) -> inputs.Input:
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
        if dice.random() < _FAULTY:
            return inputs.ContextFailed(
                task_id=action.task_id,
                asked=action.asked,
                kind=dice.choice(list(messages.ModelFaultKind)),
                message="no counting",
            )
        told = tuple(
            inputs.Piece(
                speaker=part.speaker,
                text=part.before + self._text(part.content) + part.after,
                tokens=dice.choice((1, 1, 1, 8)),
                shortens=part.shortens,
            )
            for part in action.turn
        )
        earlier = range(dice.choice((0, 0, 2, 8)))
        return inputs.ContextGathered(
            task_id=action.task_id,
            asked=action.asked,
            heard=action.heard,
            history=tuple(inputs.Piece("user", "x", 40, seq=number + 1) for number in earlier),
            turn=told,
            summary=None,
            system_tokens=1,
            context_tokens=_CONTEXT_TOKENS,
        )

    def _text(self, content: ids.ContentId | None) -> str:
        return "" if content is None else self.texts[content]

    def _reply(self, request: messages.ModelRequest, dice: random.Random) -> inputs.Input:
        cancelled = request.call_id in self.cancelled
        if cancelled or dice.random() < _FAULTY * 2:
            return inputs.ModelFailed(
                task_id=request.task_id,
                call_id=request.call_id,
                kind=dice.choice(list(messages.ModelFaultKind)),
                message="broke",
                cancelled=cancelled,
            )
        task = self.world.tasks[request.task_id]
        assert task.model_call is not None
        result = replies.reply(task.model_call.purpose, dice)
        return inputs.ModelFinished(task_id=request.task_id, call_id=request.call_id, result=result)

    def _inspection(self, site: decisions.CallSite, dice: random.Random) -> inputs.Input:
        found = dice.choice(("same",) * 12 + ("other", "gone", "parks", "secret"))
        if found in ("gone", "parks"):
            return inputs.InspectionFailed(
                task_id=site.task_id,
                call_id=site.call_id,
                message="gone",
                parks=found == "parks",
            )
        tool = scenes.TOOLS[site.tool]
        asks = site.tool == "fire" and found == "secret"
        facts = moves.facts(tool.effect, "other" if found == "other" else "same")
        return inputs.CallInspected(
            task_id=site.task_id,
            call_id=site.call_id,
            arguments=self.texts[site.arguments],
            facts=facts.model_copy(update={"secret": "a password" if asks else ""}),
            judged=policy.of_category(tool.category),
            policy="rules",
            folder=moves.FOLDER,
            has_secret=dice.random() < 0.5,
        )

    def _run(self, site: decisions.CallSite, dice: random.Random) -> inputs.Input:
        outcomes = (events.CallOutcome.FAILED, events.CallOutcome.OUTCOME_UNKNOWN)
        outcome = dice.choice((None, None, None, None, *outcomes))
        if outcome is events.CallOutcome.OUTCOME_UNKNOWN and not _is_unsafe(site):
            outcome = events.CallOutcome.FAILED
        if site.call_id in self.cancelled:
            outcome = events.CallOutcome.CANCELLED
        change = None
        if site.tool in ("write", "apply_edits") and outcome is None:
            change = inputs.Change(commit=f"commit-{site.call_id}", files=("x",), diff="+x")
        if outcome is None:
            return inputs.ToolFinished(
                task_id=site.task_id,
                call_id=site.call_id,
                result=contract.Result(text="out", failed=dice.random() < 0.2),
                duration_ms=1,
                change=change,
            )
        return inputs.ToolStopped(
            task_id=site.task_id, call_id=site.call_id, outcome=outcome, message="stopped"
        )


def _is_unsafe(site: decisions.CallSite) -> bool:
    return scenes.TOOLS[site.tool].effect is contract.Effect.UNSAFE
