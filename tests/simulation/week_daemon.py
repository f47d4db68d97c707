"""A daemon's centre through a week that passes by hand: the loop over a real store, ended anyhow.

Hands stand for models and tools: what a run does takes as long as its fate says. Nothing waits for
time to pass. When it is killed, what stood in its inbox and what it had begun is lost.
"""

import heapq
from contextlib import AsyncExitStack
from pathlib import Path
from typing import assert_never

from daemon.domain import (
    decisions,
    ids,
    inputs,
    limits,
    messages,
    principals,
    schedules,
    verdicts,
    world,
)
from daemon.permission import policy
from daemon.runtime import alarm, bus, contents, inbox, loop, resume
from daemon.storage import sqlite_store
from tests import rules
from tests.simulation import week_plan
from tests.unit.decide import moves, planned, scenes
from tests.unit.runtime import rig
from tools import contract

BOUNDS = limits.Limits(running_tasks=1000, task_seconds=10**6, task_recoveries=1000)
_ASKS = policy.of_category(contract.Category.NORMAL)
_READS = policy.of_category(contract.Category.READ_ONLY)


class Hands:
    """Performs actions: at once, or when the fate of a run says so."""

    def __init__(self, week: "Week", box: inbox.Inbox) -> None:
        self._week = week
        self._box = box
        self.due = alarm.DueTimes()
        self.promised: list[tuple[int, int, inputs.Input]] = []
        self._promises = 0
        self.let_go = False
        """It performs nothing any more: the daemon is about to be killed."""

    def perform(self, action: decisions.Action) -> None:
        if self.let_go:
            return
        match action:
            case decisions.SetTimer():
                self.due.set(action.timer, action.subject, action.due_ms)
            case decisions.GatherContext():
                self._box.post(_gathered(action))
            case decisions.CallModel():
                self._promise(action.request.task_id, action)
            case decisions.InspectCall():
                self._box.post(self._inspected(action.site))
            case decisions.CallTool():
                self._promise(action.site.task_id, action)
            case decisions.ReadAnswer(schedule_id=schedule_id, run_id=run_id):
                digest = f"digest of {action.answer}"
                read = inputs.AnswerRead(schedule_id=schedule_id, run_id=run_id, digest=digest)
                self._box.post(read)
            case decisions.CancelCall() | decisions.ReleaseCall():
                pass
            case decisions.ReconcileCall() | decisions.RevertCommits():
                raise AssertionError(f"nobody wanted {action}")
            case _:
                assert_never(action)

    def _promise(
        self, task_id: ids.TaskId, action: decisions.CallModel | decisions.CallTool
    ) -> None:
        wish, due_ms, attempt = self._week.run_of(task_id)
        fate = wish.fate(due_ms, attempt)
        self._promises += 1
        entry = (self._week.elapsed_ms + fate.lasts_ms, self._promises, _outcome(action, fate))
        heapq.heappush(self.promised, entry)

    def _inspected(self, site: decisions.CallSite) -> inputs.CallInspected:
        wish, _, _ = self._week.run_of(site.task_id)
        asks = wish.kind is week_plan.Kind.ASKS
        return inputs.CallInspected(
            task_id=site.task_id,
            call_id=site.call_id,
            arguments="{}",
            facts=moves.facts(contract.Effect.PURE),
            judged=_ASKS if asks else _READS,
            policy="rules",
            folder="/project",
        )

    def next_ms(self, offset_ms: int) -> int | None:
        """When something is due next, by elapsed time."""
        wall_ms = self.due.next_ms()
        found = [] if wall_ms is None else [wall_ms - offset_ms]
        return min([*found, *(at for at, _, _ in self.promised[:1])], default=None)

    def give(self, elapsed_ms: int, wall_ms: int) -> None:
        """Hand in what is due."""
        for kind, subject in self.due.take(wall_ms):
            self._box.post(inputs.TimerFired(timer=kind, subject=subject))
        while self.promised and self.promised[0][0] <= elapsed_ms:
            self._box.post(heapq.heappop(self.promised)[2])


def _gathered(action: decisions.GatherContext) -> inputs.ContextGathered:
    return inputs.ContextGathered(
        task_id=action.task_id,
        asked=action.asked,
        heard=action.heard,
        history=(),
        turn=(inputs.Piece(speaker="user", text="do", tokens=1),),
        summary=None,
        system_tokens=1,
        context_tokens=4096,
    )


def _outcome(
    action: decisions.CallModel | decisions.CallTool, fate: week_plan.Fate
) -> inputs.Input:
    if isinstance(action, decisions.CallTool):
        site = action.site
        result = contract.Result(text="out", exit_code=0 if fate.succeeds else 1)
        return inputs.ToolFinished(
            task_id=site.task_id, call_id=site.call_id, result=result, duration_ms=fate.lasts_ms
        )
    text = "It is done." if fate.succeeds else '{"kind": "fail", "reason": "it cannot be"}'
    said = messages.ModelResult(text=text, finish_reason="stop", slot="main")
    request = action.request
    return inputs.ModelFinished(task_id=request.task_id, call_id=request.call_id, result=said)


class Week:
    """One state folder, and the daemons on it."""

    def __init__(self, folder: Path) -> None:
        self.elapsed_ms = week_plan.BEGIN_MS
        self.offset_ms = 0
        self.made: dict[ids.ScheduleId, week_plan.Wish] = {}
        self._folder = folder
        self._clock = rig.HandClock()
        self._rules = rules.plain(scenes.TOOLS, BOUNDS).but({"zones": planned.zone})

    async def start(self, clean: bool) -> None:
        """Open the store, fold the log, and let what is there go on."""
        self._stack = AsyncExitStack()
        self.store = await self._stack.enter_async_context(sqlite_store.open_store(self._folder))
        current = await resume.load(self.store)
        self._box = inbox.Inbox(BOUNDS.inbox_inputs)
        self._hands = Hands(self, self._box)
        publish = bus.Bus(self.store, self._clock, current.head_seq, BOUNDS.subscribers)
        kept, chance = contents.Contents(self.store), rig.CountedChance(current.head_seq)
        outside = (self.store, kept, self._clock, chance, self._box, publish)
        self._loop = loop.RuntimeLoop(self._rules, current, *outside)
        self._show_clock()
        await self._loop.recover(resume.restarts(current, clean), self._hands)
        await self._serve()

    async def stop(self) -> None:
        """End it by a drain: all that was handed in is served, and the world is kept."""
        await self._loop.checkpoint()
        await self._stack.aclose()

    async def kill(self, elapsed_ms: int) -> None:
        """End it just then: what is due was decided and kept, and nothing of it was begun."""
        await self.until(elapsed_ms - 1)
        self.elapsed_ms = elapsed_ms
        self._show_clock()
        self._hands.let_go = True
        self._hands.give(self.elapsed_ms, self.elapsed_ms + self.offset_ms)
        await self._loop.finish(self._hands)
        await self._stack.aclose()

    def step(self, by_ms: int) -> None:
        """The clock is set; the timers look at it at once."""
        self.offset_ms += by_ms
        self._show_clock()

    async def until(self, elapsed_ms: int) -> None:
        """Let time pass, from one thing that is due to the next."""
        if elapsed_ms < self.elapsed_ms:
            return
        while (due_ms := self._hands.next_ms(self.offset_ms)) is not None and due_ms <= elapsed_ms:
            self.elapsed_ms = max(self.elapsed_ms, due_ms)
            self._show_clock()
            await self._serve()
        self.elapsed_ms = elapsed_ms
        self._show_clock()

    async def _serve(self) -> None:
        self._hands.give(self.elapsed_ms, self.elapsed_ms + self.offset_ms)
        await self._loop.finish(self._hands)

    def _show_clock(self) -> None:
        self._clock.ms = self.elapsed_ms + self.offset_ms

    @property
    def world(self) -> world.World:
        return self._loop.world

    def run_of(self, task_id: ids.TaskId) -> tuple[week_plan.Wish, int, int]:
        """What a task is a run of, when that was due, and its attempt."""
        run = self.world.tasks[task_id].run
        assert run is not None
        live = self.world.schedules[run.schedule_id].live
        assert live is not None
        return self.made[run.schedule_id], live.due_ms, live.attempt

    async def ask(self, given: inputs.Input) -> None:
        """Somebody asks something; what is refused is."""
        self._box.post(given)
        await self._loop.finish(self._hands)

    async def make(self, wish: week_plan.Wish) -> None:
        """Somebody makes a schedule."""
        agent = wish.kind is week_plan.Kind.AGENT
        work = schedules.Work(
            kind=schedules.WorkKind.AGENT if agent else schedules.WorkKind.COMMAND,
            mode=verdicts.Mode.BUILD,
        )
        before = set(self.world.schedules)
        await self.ask(
            inputs.CreateSchedule(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="week",
                name=f"number {wish.number}",
                text="do it",
                spec=wish.spec,
                zone=wish.zone,
                work=work,
                policy=wish.policy,
            )
        )
        (made,) = set(self.world.schedules) - before
        self.made[made] = wish

    def id_of(self, number: int) -> ids.ScheduleId:
        return next(one for one, wish in self.made.items() if wish.number == number)

    async def pause(self, number: int, paused: bool) -> None:
        await self.ask(
            inputs.PauseSchedule(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="week",
                schedule_id=self.id_of(number),
                paused=paused,
            )
        )

    async def delete(self, number: int) -> None:
        await self.ask(planned.delete_of(self.id_of(number)))
