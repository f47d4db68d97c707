"""What must hold of schedules over all steps of a run, whatever comes in whatever order.

Raises AssertionError where a due time is lost or had twice, a run is stuck, or nobody would remind
of what comes next.
"""

from collections.abc import Collection, Mapping, Sequence

from daemon.decide import calendar, turn
from daemon.domain import decisions, events, ids, schedules, state, world
from daemon.storage import run_rows

_State = schedules.RunState


class ScheduleWatch:
    """Each time that was accounted for, and the timers that stand."""

    def __init__(self, rules: turn.Rules) -> None:
        self._rules = rules
        self._times: dict[tuple[ids.ScheduleId, int], str] = {}
        self._ends: dict[ids.RunId, int] = {}

    def saw(self, step: decisions.Step) -> None:
        """A step was adopted."""
        for recorded in step.events:
            self._event(recorded.event)

    def holds(
        self,
        after: world.World,
        timers: Mapping[str, int],
        reading: Collection[ids.ScheduleId],
        now_ms: int,
    ) -> None:
        """Look at what is after a step; `timers` and `reading` are what is set and in flight."""
        assert set(after.settling) == set(reading), "an end that nobody settles"
        for schedule_id, planned in after.schedules.items():
            self._planned(planned, after)
            due_ms = self._next(planned)
            if due_ms is not None:
                assert timers[schedule_id] <= max(due_ms, now_ms), "nobody reminds of what is due"
            if planned.live is not None and planned.live.again_ms is not None:
                assert timers[schedule_id] <= planned.live.again_ms

    def _event(self, event: events.Event) -> None:
        match event:
            case events.ScheduleRunQueued():
                self._account(event.schedule_id, event.due_ms, "queued")
            case events.ScheduleRunStarted() if event.attempt == 1 and not event.by_hand:
                self._account(event.schedule_id, event.due_ms, "started")
            case events.ScheduleRunsLeftOut():
                for at in event.due_ms:
                    self._account(event.schedule_id, at, "left out")
            case events.ScheduleRunEnded() if event.again_ms is None:
                assert event.run_id not in self._ends, "a run ends twice"
                self._ends[event.run_id] = 1
            case _:
                pass

    def _account(self, schedule_id: ids.ScheduleId, due_ms: int, became: str) -> None:
        before = self._times.get((schedule_id, due_ms), "due")
        assert before == "due" or (before == "queued" and became != "queued"), "a time had twice"
        self._times[schedule_id, due_ms] = became

    def _planned(self, planned: world.Planned, after: world.World) -> None:
        live, policy = planned.live, planned.schedule.policy
        assert policy.most_runs is None or planned.runs <= policy.most_runs
        assert not planned.queued or live is not None, "what waits has nothing to wait for"
        assert len(planned.queued) <= max(1, policy.missed.most) + 1
        assert not (planned.queued and planned.schedule.paused), "a paused schedule keeps a run"
        if live is None:
            assert planned.schedule.paused or self._next(planned) is not None, (
                "over, and still there"
            )
            return
        task = after.tasks.get(live.task_id)
        if live.ended is not None:
            assert planned.schedule.schedule_id in after.settling
        elif live.again_ms is None:
            assert task is not None, "its task is gone"
            assert task.state not in state.FINAL

    def _next(self, planned: world.Planned) -> int | None:
        zone = self._rules.zones(planned.schedule.zone)
        most = planned.schedule.policy.most_runs
        used_up = most is not None and planned.runs + len(planned.queued) >= most
        if zone is None or planned.schedule.paused or used_up:
            return None
        return calendar.next_due(planned.schedule.spec, zone, planned.accounted_ms)

    def rows(self, found: Mapping[ids.RunId, run_rows.RunRow], after: world.World) -> None:
        """What a store keeps of runs: one row a time, and what it says is what is so."""
        due = {events.due_run(*one) for one in self._times}
        assert due == {run_id for run_id, row in found.items() if not row.by_hand}
        going = {one.live.run_id: one.live for one in after.schedules.values() if one.live}
        waiting = {run.run_id for one in after.schedules.values() for run in one.queued}
        for run_id, row in found.items():
            if run_id in going:
                tried = going[run_id].again_ms is not None
                assert row.state is (_State.SCHEDULED if tried else _State.RUNNING)
                assert row.task_id == going[run_id].task_id
            elif run_id in waiting:
                assert row.state is _State.LATE
            else:
                assert row.state in schedules.ENDED, f"{run_id} is forgotten"


def moved(before: Sequence[schedules.RunState]) -> bool:
    """Whether these states of one run may follow each other."""
    pairs = zip(before, before[1:], strict=False)
    return all(one is then or schedules.may_move(one, then) for one, then in pairs)
