"""Which results of runs are told to a chat, and what follows when runs fail one after the other."""

import pytest

from daemon.domain import decisions, events, inputs, messages, schedules
from tests.unit.decide import moves, planned, scenes

Tell = schedules.Tell
pytestmark = pytest.mark.spec("C-05")


def telling(tell: Tell) -> schedules.Policy:
    return schedules.Policy(delivery=schedules.Delivery(to=planned.TARGET, tell=tell))


ON_CHANGE = telling(Tell.ON_CHANGE)
READ = "read answer"


@pytest.mark.parametrize(
    ("tell", "done", "failed"),
    [
        (Tell.ALWAYS, "run done, told", "run failed, told"),
        (Tell.ON_FAILURE, "run done", "run failed, told"),
        (Tell.NEVER, "run done", "run failed"),
    ],
)
def test_results_are_told_as_the_schedule_says(tell: Tell, done: str, failed: str) -> None:
    scene = planned.scene(telling(tell)).given([planned.due("16:00")])
    assert planned.when(scene, *planned.answers()) == [done]
    scene.given([planned.due("17:00")])
    assert planned.when(scene, *planned.breaks()) == [failed]
    scene.given([planned.due("18:00")])
    assert planned.when(scene, planned.stop()) == ["run cancelled"]


def test_without_a_chat_nothing_is_told() -> None:
    scene = planned.scene().given([planned.due("16:00")])
    assert planned.when(scene, *planned.answers()) == ["run done"]


class TestOnChange:
    def ran(self, scene: scenes.Scene, time: str, digest: str) -> list[str]:
        scene.given([planned.due(time), moves.gathered()])
        then = scene.when(moves.says("sunny"))
        assert (planned.told(then), then.actions[-1]) == ([], READ)
        return planned.when(scene, planned.answer_read(digest))

    def test_another_answer_is_told(self) -> None:
        scene = planned.scene(ON_CHANGE)
        assert self.ran(scene, "16:00", "a") == ["run done, told"]
        assert self.ran(scene, "17:00", "a") == ["run done"]
        assert self.ran(scene, "18:00", "b") == ["run done, told"]

    def test_and_another_outcome(self) -> None:
        scene = planned.scene(ON_CHANGE)
        assert self.ran(scene, "16:00", "a") == ["run done, told"]
        scene.given([planned.due("17:00"), moves.gathered()])
        rejected = moves.faults(messages.ModelFaultKind.REJECTED)
        assert planned.when(scene, rejected) == ["run failed, told"]
        assert self.ran(scene, "18:00", "a") == ["run done, told"]

    def test_what_a_stop_lost_is_read_again(self) -> None:
        """The task had ended, and the answer had not been read when the daemon was killed."""
        scene = planned.scene(ON_CHANGE).given([planned.due("16:00"), *planned.answers()])
        then = scene.when(moves.restart())
        assert READ in then.actions
        assert planned.when(scene, planned.answer_read("a")) == ["run done, told"]

    def test_what_is_due_meanwhile_begins_after_it(self) -> None:
        policy = ON_CHANGE.but({"overlap": schedules.Overlap.QUEUE})
        scene = planned.scene(policy).given([planned.due("16:00"), *planned.answers()])
        assert planned.when(scene, planned.due("17:00")) == ["run of 17:00 queued"]
        assert planned.when(scene, planned.answer_read("a")) == [
            "run done, told",
            "run of 17:00 started 1",
        ]

    def test_a_stop_does_not_undo_what_was_done(self) -> None:
        scene = planned.scene(ON_CHANGE).given([planned.due("16:00"), *planned.answers()])
        assert planned.when(scene, planned.stop()) == ["run done"]
        assert scene.when(self._late).events == []

    def _late(self, scene: scenes.Scene) -> list[inputs.Input]:
        run_id = events.due_run(planned.name_of(scene), planned.at("16:00"))
        schedule_id = planned.name_of(scene)
        return [inputs.AnswerRead(schedule_id=schedule_id, run_id=run_id, digest="late")]

    def test_a_reading_after_its_schedule_was_deleted_changes_nothing(self) -> None:
        scene = planned.scene(ON_CHANGE).given([planned.due("16:00"), *planned.answers()])
        assert planned.when(scene, planned.delete()) == ["run done", "schedule deleted"]
        assert scene.when(self._late).events == []


class TestFailures:
    def failing(self, times: int, policy: schedules.Policy) -> scenes.Scene:
        scene = planned.scene(policy)
        for hour in range(times):
            scene.given([planned.due(f"{16 + hour}:00"), *planned.breaks()])
        return scene

    def test_what_fails_again_and_again_is_paused_and_its_chat_is_told(self) -> None:
        policy = telling(Tell.NEVER).but({"pause_after_failures": 3})
        scene = self.failing(3, policy)
        assert planned.planned(scene).schedule.paused
        posted = [one.event for one in scene.recorded if isinstance(one.event, events.NoticePosted)]
        assert [one.target for one in posted] == [planned.TARGET]
        assert scene.text(posted[0].text) == (
            "A scheduled task is paused: it failed 3 times in a row. "
            "/schedule shows it and lets it go on."
        )
        assert planned.when(scene, planned.due("21:00")) == []

    def test_it_goes_on_with_a_clean_slate(self) -> None:
        scene = self.failing(2, schedules.Policy(pause_after_failures=2))
        scene.given([planned.pause(False)])
        assert planned.planned(scene).failures == 0
        assert planned.when(scene, planned.due("18:00")) == ["run of 18:00 started 1"]

    def test_a_run_that_was_done_or_stopped_between(self) -> None:
        scene = self.failing(1, schedules.Policy(pause_after_failures=2))
        scene.given([planned.due("17:00"), planned.stop()])
        assert planned.planned(scene).failures == 1
        scene.given([planned.due("18:00"), *planned.answers()])
        assert planned.planned(scene).failures == 0

    @pytest.mark.parametrize("exit_code", [0, 1])
    def test_a_command_fails_by_its_exit_code(self, exit_code: int) -> None:
        scene = planned.scene(work=planned.COMMAND).given([planned.due("16:00")])
        scene.given([moves.inspected(), moves.allow(), moves.inspected()])
        ended = planned.when(scene, planned.ran(exit_code))
        assert ended == ["run failed" if exit_code else "run done"]


def test_a_timer_is_set_before_and_after_every_run() -> None:
    """So that a schedule that nobody touches is never forgotten."""
    scene = planned.scene()
    for hour in range(16, 24):
        assert planned.timer(scene.when(planned.due(f"{hour}:00")))
        then = scenes.Then(tuple(s for m in planned.answers() for s in scene.when(m).steps))
        assert planned.timer(then)
        assert all(not isinstance(one, decisions.ReadAnswer) for one in then.steps[-1].actions)


class TestAnotherChat:
    """A run tells the chat that it began with, and no other one that was named meanwhile."""

    def test_none_at_its_begin(self) -> None:
        scene = planned.scene().given([planned.due("16:00"), planned.update(telling(Tell.ALWAYS))])
        assert planned.when(scene, *planned.answers()) == ["run done"]
        scene.given([planned.due("17:00")])
        assert planned.when(scene, *planned.answers()) == ["run done, told"]

    def test_none_at_its_end(self) -> None:
        scene = planned.scene(telling(Tell.ALWAYS)).given([planned.due("16:00")])
        scene.given([planned.update(schedules.Policy())])
        assert planned.when(scene, *planned.answers()) == ["run done"]

    def test_one_that_is_tried_again(self) -> None:
        policy = schedules.Policy(retries=schedules.Retries(most=1))
        scene = planned.scene(policy).given([planned.due("16:00"), *planned.breaks()])
        told = telling(Tell.ALWAYS).but({"retries": policy.retries})
        scene.given([planned.update(told), planned.due("16:01")])
        assert planned.when(scene, *planned.breaks()) == ["run failed, told"]
