"""The history of schedules' runs, in every store the same: one row a due time."""

from collections.abc import Callable

import pytest

from daemon.domain import deliveries, events, ids, schedules, state, world
from daemon.storage import projections
from tests.contract.storage import histories, planning
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep
from tests.contract.storage.test_views import paged

_State = schedules.RunState
S = state.TaskState
pytestmark = pytest.mark.spec("K-14")


class Scripted(histories.Play):
    """A history with one schedule, written by hand."""

    def __init__(self) -> None:
        super().__init__(1)
        self.schedule_id = self.make(planning.TARGET).schedule.schedule_id

    @property
    def planned(self) -> world.Planned:
        return self.history.folded.schedules[self.schedule_id]

    def due(self, hours: int) -> int:
        first = self.history.recorded[1].at_ms // planning.HOUR_MS * planning.HOUR_MS
        return first + hours * planning.HOUR_MS

    def begin(self, hours: int, by_hand: bool = False) -> ids.TaskId:
        task_id = self.start(self.planned, self.due(hours), by_hand=by_hand)
        self.move(self.history.folded.tasks[task_id], S.RUNNING)
        return task_id

    def finish(self, task_id: ids.TaskId, to: S = S.COMPLETED, again: bool = False) -> None:
        self.move(self.history.folded.tasks[task_id], to, "so it was")
        self.end(self.planned, again)

    def leave_out(self, why: events.LeftOut, *hours: int) -> None:
        dues = tuple(self.due(one) for one in hours)
        left = events.ScheduleRunsLeftOut(schedule_id=self.schedule_id, due_ms=dues, why=why)
        self.add(left, self.planned.schedule.conversation_id)

    def queue(self, hours: int) -> None:
        due_ms = self.due(hours)
        run_id = events.due_run(self.schedule_id, due_ms)
        queued = events.ScheduleRunQueued(
            schedule_id=self.schedule_id, run_id=run_id, due_ms=due_ms
        )
        self.add(queued, self.planned.schedule.conversation_id)

    def show(self, task_id: ids.TaskId) -> None:
        shown = events.DeliveryReported(
            delivery_id=deliveries.of_task(task_id),
            revision=2,
            state=deliveries.State.SHOWN,
            platform_ids=("30",),
        )
        self.add(shown, self.planned.schedule.conversation_id)


async def told(store: Store, play: Scripted) -> list[str]:
    """Each run, oldest first: its hour, its state, its attempts."""
    rows = await paged(lambda before: store.runs(2, before, play.schedule_id))
    first = play.due(0)
    return [
        f"{'by hand' if one.by_hand else (one.due_ms - first) // planning.HOUR_MS} {one.state}"
        f" {one.attempts}"
        for one in reversed(rows)
    ]


async def test_what_became_of_each_time(store: Store) -> None:
    """States follow from the schedule, the task and what its chat was shown."""
    play = Scripted()
    shown = play.begin(1)
    play.finish(shown)
    play.show(shown)
    play.finish(play.begin(2))
    play.finish(play.begin(3), S.FAILED)
    play.finish(play.begin(4), S.CANCELLED)
    play.leave_out("missed", 5, 6)
    play.finish(play.begin(0, by_hand=True))
    again = play.begin(7)
    play.finish(again, S.FAILED, again=True)
    await keep(store, play.history)
    assert await told(store, play) == [
        "1 delivered 1",
        "2 done 1",
        "3 failed 1",
        "4 cancelled 1",
        "5 missed 0",
        "6 missed 0",
        "by hand done 1",
        "7 scheduled 1",
    ]
    kept = len(play.history.recorded)
    waits = play.start(play.planned, play.due(7), attempt=2)
    play.move(play.history.folded.tasks[waits], S.RUNNING)
    play.move(play.history.folded.tasks[waits], S.PARKED, "the folder is gone")
    play.queue(8)
    play.queue(9)
    play.leave_out("paused", 8)
    await store.commit(play.history.recorded[kept:], ())
    assert (await told(store, play))[-3:] == ["7 waiting 2", "8 skipped 0", "9 late 0"]
    run = await store.run(events.due_run(play.schedule_id, play.due(7)))
    assert run is not None
    assert (run.reason, run.task_id) == ("the folder is gone", waits)


async def test_runs_of_a_deleted_conversation_are_not_shown(store: Store) -> None:
    play = Scripted()
    play.finish(play.begin(1))
    chat = play.planned.schedule.conversation_id
    play.add(events.ScheduleRemoved(schedule_id=play.schedule_id), chat)
    await keep(store, play.history)
    assert await told(store, play) == ["1 done 1"]
    kept = len(play.history.recorded)
    gone = events.ConversationDeleted(conversation_id=chat, principal=histories.OWNER)
    play.add(gone, chat)
    await store.commit(play.history.recorded[kept:], ())
    assert await told(store, play) == []
    assert await store.run(events.due_run(play.schedule_id, play.due(1))) is None


async def test_each_time_has_one_row_and_each_principal_its_own(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 3000)
    await keep(store, history, seed)
    deleted = history.deleted()
    due: set[ids.RunId] = set()
    for one in history.recorded:
        if one.conversation_id in deleted:
            continue
        match one.event:
            case events.ScheduleRunQueued() | events.ScheduleRunStarted():
                due.add(one.event.run_id)
            case events.ScheduleRunsLeftOut(schedule_id=schedule_id, due_ms=times):
                due.update(events.due_run(schedule_id, at) for at in times)
            case _:
                pass
    rows = await paged(lambda before: store.runs(7, before))
    assert len(rows) == len(due)
    assert {one.run_id for one in rows} == due
    makers = {
        one.event.schedule.schedule_id: one.event.schedule.principal
        for one in history.recorded
        if isinstance(one.event, events.ScheduleSet)
    }
    for who in set(makers.values()):
        found = (await store.runs(500, None, None, who)).rows
        assert {one.schedule_id for one in found} <= {one for one in makers if makers[one] == who}
        assert len(found) == sum(makers[one.schedule_id] == who for one in rows)


@pytest.mark.parametrize("how", ["started", "queued", "left out"])
def test_no_log_has_a_time_twice(how: str) -> None:
    play = Scripted()
    play.finish(play.begin(1))
    again: dict[str, Callable[[], object]] = {
        "started": lambda: play.begin(1),
        "queued": lambda: play.queue(1),
        "left out": lambda: play.leave_out("missed", 1, 2),
    }
    with pytest.raises(ValueError, match="accounted for"):
        again[how]()


def test_no_run_goes_on_once_it_has_ended() -> None:
    """The table of a run's states holds for every row."""
    play = Scripted()
    task_id = play.begin(1)
    play.finish(task_id)
    ended = play.history.recorded[-1]
    assert isinstance(ended.event, events.ScheduleRunEnded)
    again = ended._replace(seq=ended.seq + 1)
    with pytest.raises(ValueError, match="is done and cannot become done"):
        projections.project(projections.Rows(), [*play.history.recorded, again])
