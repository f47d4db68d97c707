"""What becomes of each time at which a schedule is due."""

import pytest

from daemon.domain import limits, messages, schedules, state
from tests.unit.decide import moves, planned, scenes

S = state.TaskState
Kind = messages.ModelFaultKind
Missed, Policy, Overlap = schedules.Missed, schedules.Policy, schedules.Overlap
How = schedules.WhenMissed
pytestmark = pytest.mark.spec("K-14")

SKIP = Policy(missed=Missed(how=How.SKIP))
ALL_3 = Policy(missed=Missed(how=How.RUN_ALL, most=3))
QUEUE = Policy(overlap=Overlap.QUEUE)


def missed(*clock: str) -> str:
    return f"runs {' '.join(clock)} left out: missed"


class TestWhatIsDue:
    def test_a_time_that_comes_begins_a_run_and_the_next_follows_from_the_rule(self) -> None:
        scene = planned.scene()
        then = scene.when(planned.due("16:00"))
        assert then.events == [
            f"run of {planned.at('16:00')} started 1",
            "submitted",
            "now running",
        ]
        assert planned.timer(then) == "17:00"
        assert planned.when(scene, *planned.answers()) == ["run done"]
        assert planned.when(scene, planned.due("17:00:09")) == ["run of 17:00 started 1"]

    def test_a_timer_that_is_early_or_repeated_begins_nothing(self) -> None:
        scene = planned.scene()
        assert planned.when(scene, planned.due("15:59:59")) == []
        assert planned.when(scene, planned.due("16:00"), planned.rings()) == [
            "run of 16:00 started 1"
        ]
        scene.given(planned.answers())
        assert planned.when(scene, planned.rings(), planned.due("16:59")) == []

    @pytest.mark.parametrize(
        ("policy", "told"),
        [
            (SKIP, [missed("16:00", "17:00", "18:00", "19:00")]),
            (Policy(), [missed("16:00", "17:00", "18:00"), "run of 19:00 started 1"]),
            (
                ALL_3,
                [
                    missed("16:00"),
                    "run of 17:00 started 1",
                    "run of 18:00 queued",
                    "run of 19:00 queued",
                ],
            ),
        ],
    )
    def test_what_was_missed_follows_its_policy(
        self, policy: schedules.Policy, told: list[str]
    ) -> None:
        scene = planned.scene(policy)
        assert planned.when(scene, planned.due("19:01:01")) == told

    def test_within_the_grace_nothing_was_missed(self) -> None:
        scene = planned.scene(SKIP)
        assert planned.when(scene, planned.due("16:01:00")) == ["run of 16:00 started 1"]

    def test_one_that_is_due_just_now_does_for_those_that_were_missed(self) -> None:
        scene = planned.scene()
        assert planned.when(scene, planned.due("18:00:30")) == [
            missed("16:00", "17:00"),
            "run of 18:00 started 1",
        ]

    def test_more_than_one_decision_may_hold_comes_in_parts(self) -> None:
        scene = planned.scene(Policy(missed=Missed(how=How.RUN_ALL, most=2)), "* * * * *")
        told = planned.when(scene, planned.due("20:00:00"), planned.rings(), planned.rings())
        left = [line for line in told if line.endswith("missed")]
        assert [len(line.split()) - 4 for line in left] == [200, 96]
        assert told[2:] == [
            "run of 19:57 started 1",
            "run of 19:58 queued",
            "runs 19:59 20:00 left out: overlap",
        ]

    def test_a_late_run_says_so(self) -> None:
        scene = planned.scene()
        scene.given([planned.due("18:45")])
        assert scene.task().said[0].name.endswith("; it is 45 minutes late")


class TestOverlaps:
    def test_what_comes_due_while_a_run_goes_on_is_left_out(self) -> None:
        scene = planned.scene().given([planned.due("16:00")])
        assert planned.when(scene, planned.due("17:00")) == ["runs 17:00 left out: overlap"]

    def test_or_one_of_them_waits_for_it(self) -> None:
        scene = planned.scene(QUEUE).given([planned.due("16:00")])
        assert planned.when(scene, planned.due("17:00"), planned.due("18:00")) == [
            "run of 17:00 queued",
            "runs 18:00 left out: overlap",
        ]
        assert planned.when(scene, *planned.answers()) == ["run done", "run of 17:00 started 1"]

    def test_what_is_caught_up_waits_in_a_bounded_queue(self) -> None:
        """However often the machine sleeps while a run waits for somebody."""
        scene = planned.scene(ALL_3).given([planned.due("16:00"), *planned.asks()])
        scene.given([planned.due("19:59"), planned.due("23:59"), planned.due("+1 03:59")])
        assert len(planned.planned(scene).queued) == 3
        scene = planned.scene().given([planned.due("16:00"), *planned.asks()])
        scene.given([planned.due("19:59"), planned.due("23:59")])
        assert len(planned.planned(scene).queued) == 1


class TestClockSteps:
    """No time is had twice, whatever the clock does."""

    @pytest.mark.parametrize("back", ["15:30", "-1 15:30"])
    def test_a_clock_that_is_set_back_repeats_nothing(self, back: str) -> None:
        scene = planned.scene(SKIP).given([planned.due("16:00"), *planned.answers()])
        assert planned.when(scene, planned.due(back), planned.due("16:00")) == []
        assert planned.when(scene, planned.due("17:00")) == ["run of 17:00 started 1"]

    @pytest.mark.parametrize("change", ["edit", "zone", "pause"])
    def test_nor_does_a_change_after_that(self, change: str) -> None:
        scene = planned.scene().given([planned.due("16:00"), *planned.answers()])
        scene.given([planned.clock("15:30")])
        if change == "edit":
            scene.given([planned.update(when="0 0-23 * * *")])
        elif change == "zone":
            scene.given([planned.update(zone_name="Europe/Berlin")])
        else:
            scene.given([planned.pause(), planned.pause(False)])
        assert planned.when(scene, planned.due("16:00"), planned.due("17:00")) == [
            "run of 17:00 started 1"
        ]

    def test_what_would_never_come_after_it_is_refused(self) -> None:
        scene = planned.scene().given([planned.due("16:00"), *planned.answers()])
        scene.given([planned.clock("15:30")])
        assert scene.when(planned.update(when="at 2025-06-15 15:45")).reply == "refused invalid"
        assert scene.when(planned.update(when="at 2025-06-15 16:45")).reply == "schedule"

    def test_a_clock_that_jumps_ahead_misses_what_it_leaves_out(self) -> None:
        scene = planned.scene(SKIP)
        assert planned.when(scene, planned.due("+1 15:30")) == [
            missed(*(f"{hour}:00" for hour in range(16, 24)), *(f"+1 {h:02}:00" for h in range(16)))
        ]


class TestChangesMeanwhile:
    """A time that had come before a change is accounted for, though its timer had not fired."""

    def test_a_pause(self) -> None:
        scene = planned.scene()
        assert planned.when(scene, planned.clock("16:00:01"), planned.pause()) == [
            "runs 16:00 left out: paused",
            "schedule paused",
        ]

    def test_a_deletion(self) -> None:
        scene = planned.scene()
        assert planned.when(scene, planned.clock("16:00:01"), planned.delete()) == [
            "runs 16:00 left out: removed",
            "schedule deleted",
        ]

    def test_other_times(self) -> None:
        scene = planned.scene()
        assert planned.when(
            scene, planned.clock("16:00:01"), planned.update(when="30 * * * *")
        ) == ["run of 16:00 started 1", "schedule set"]

    def test_many_failures(self) -> None:
        scene = planned.scene(Policy(pause_after_failures=1)).given([planned.due("16:00")])
        assert planned.when(scene, planned.clock("17:00:01"), *planned.breaks()) == [
            "run failed",
            "runs 17:00 left out: paused",
            "schedule paused",
        ]

    def test_what_waits_is_left_out_by_a_pause_and_what_goes_on_is_not(self) -> None:
        scene = planned.scene(QUEUE).given([planned.due("16:00"), planned.due("17:00")])
        assert planned.when(scene, planned.pause()) == [
            "runs 17:00 left out: paused",
            "schedule paused",
        ]
        assert planned.when(scene, *planned.answers()) == ["run done"]
        assert planned.when(scene, planned.due("18:00")) == []
        assert planned.when(scene, planned.pause(False), planned.due("19:00")) == [
            "schedule set",
            "run of 19:00 started 1",
        ]


class TestTheEnd:
    """A schedule that is over goes, however its last time passed."""

    def test_after_its_only_run(self) -> None:
        scene = planned.scene(when="at 2025-06-15 16:00").given([planned.due("16:00")])
        assert planned.when(scene, *planned.answers()) == ["run done", "schedule over"]

    def test_after_its_only_time_was_missed(self) -> None:
        scene = planned.scene(SKIP, "at 2025-06-15 16:00")
        assert planned.when(scene, planned.due("17:00")) == [missed("16:00"), "schedule over"]

    def test_after_as_many_runs_as_it_may(self) -> None:
        scene = planned.scene(Policy(most_runs=2)).given([planned.due("16:00"), *planned.answers()])
        scene.given([planned.due("17:00")])
        assert planned.when(scene, *planned.answers()) == ["run done", "schedule over"]

    def test_fewer_runs_than_it_had_are_refused(self) -> None:
        scene = planned.scene().given([planned.due("16:00"), *planned.answers()])
        then = scene.when(planned.update(Policy(most_runs=1)))
        assert then.reply == "refused invalid"
        assert scene.when(planned.update(Policy(most_runs=2))).reply == "schedule"

    def test_runs_by_hand_do_not_count(self) -> None:
        scene = planned.scene(Policy(most_runs=1)).given([planned.run_now()])
        assert planned.when(scene, *planned.answers()) == ["run done"]
        assert planned.when(scene, planned.due("16:00")) == ["run of 16:00 started 1"]


class TestDeadlines:
    def test_a_run_that_takes_longer_has_failed(self) -> None:
        scene = planned.scene(Policy(deadline_seconds=60))
        assert planned.timer(scene.when(planned.due("16:00"))) == "16:01"
        assert planned.when(scene, planned.due("16:01")) == ["run failed"]
        assert scene.state() is S.FAILED

    def test_also_one_that_waits_for_an_approval(self) -> None:
        scene = planned.scene(Policy(deadline_seconds=60))
        scene.given([planned.due("16:00"), *planned.asks()])
        then = scene.when(planned.due("16:01"))
        assert "approval withdrawn" in then.events
        assert planned.told(then) == ["run failed"]

    def test_also_one_whose_task_still_waits_for_a_place(self) -> None:
        scene = planned.scene(Policy(deadline_seconds=60), bounds=limits.Limits(running_tasks=1))
        scene.given([moves.submit(), planned.due("16:00")])
        assert scene.state() is S.QUEUED
        assert planned.when(scene, planned.due("16:01")) == ["run failed"]
        assert scene.state() is S.CANCELLED
        assert planned.when(scene, moves.cancel(0), planned.due("17:00")) == [
            "run of 17:00 started 1"
        ]

    def test_what_is_due_when_it_ends_so_begins(self) -> None:
        scene = planned.scene(Policy(deadline_seconds=3600)).given([planned.due("16:00")])
        assert planned.when(scene, planned.due("17:00")) == [
            "run failed",
            "run of 17:00 started 1",
        ]

    def test_a_run_is_not_tried_again_beyond_it(self) -> None:
        retries = schedules.Retries(most=5, backoff_seconds=40)
        scene = planned.scene(Policy(deadline_seconds=60, retries=retries))
        scene.given([planned.due("16:00")])
        assert planned.when(scene, *planned.breaks()) == ["run failed, again at 16:00:40"]
        scene.given([planned.due("16:00:40")])
        assert planned.when(scene, *planned.breaks()) == ["run failed"]


class TestRetries:
    TWICE = Policy(retries=schedules.Retries(most=2, backoff_seconds=60))

    def test_a_run_that_failed_is_tried_again_later_each_time(self) -> None:
        scene = planned.scene(self.TWICE).given([planned.due("16:00")])
        assert planned.when(scene, *planned.breaks()) == ["run failed, again at 16:01"]
        assert planned.when(scene, planned.due("16:01"), *planned.breaks()) == [
            "run of 16:00 started 2",
            "run failed, again at 16:03",
        ]
        assert planned.when(scene, planned.due("16:03"), *planned.breaks()) == [
            "run of 16:00 started 3",
            "run failed",
        ]
        assert planned.planned(scene).failures == 1

    def test_over_a_restart(self) -> None:
        scene = planned.scene(self.TWICE).given([planned.due("16:00"), *planned.breaks()])
        then = scene.when(moves.restart())
        assert (planned.told(then), planned.timer(then)) == ([], "16:01")
        scene.given([planned.clock("16:20")])
        assert planned.when(scene, moves.restart()) == ["run of 16:00 started 2"]

    def test_what_is_due_meanwhile_overlaps(self) -> None:
        scene = planned.scene(self.TWICE).given([planned.due("16:59:50"), *planned.breaks()])
        assert planned.when(scene, planned.due("17:00")) == ["runs 17:00 left out: overlap"]

    @pytest.mark.parametrize("how", ["stop", "delete"])
    def test_a_person_ends_it(self, how: str) -> None:
        scene = planned.scene(self.TWICE).given([planned.due("16:00"), *planned.breaks()])
        ended = planned.when(scene, planned.stop() if how == "stop" else planned.delete())
        assert ended[0] == "run cancelled"


class TestModels:
    """A model that is not ready keeps the run due."""

    def waiting(self, policy: schedules.Policy | None = None) -> scenes.Scene:
        scene = planned.scene(policy).given([planned.due("16:00"), moves.gathered()])
        scene.given([moves.faults(Kind.UNAVAILABLE)])
        assert scene.state() is S.MODEL_UNAVAILABLE
        return scene

    def test_it_is_tried_again_until_the_model_is_back(self) -> None:
        scene = planned.scene().given([planned.due("16:00"), moves.gathered()])
        then = scene.when(moves.faults(Kind.UNAVAILABLE))
        assert planned.timer(then) == "16:05"
        assert scene.when(planned.due("16:04:59")).events == []
        assert scene.when(planned.due("16:05")).events == ["decided retry", "now running"]
        scene.given([moves.gathered(), moves.faults(Kind.UNAVAILABLE), planned.due("16:10")])
        assert planned.when(scene, *planned.answers()) == ["run done"]

    def test_over_a_restart(self) -> None:
        scene = self.waiting()
        scene.given([planned.clock("16:02")])
        assert planned.timer(scene.when(moves.restart())) == "16:05"

    def test_within_its_deadline(self) -> None:
        scene = self.waiting(Policy(deadline_seconds=240))
        assert planned.when(scene, planned.due("16:04")) == ["run failed"]

    def test_what_a_person_asked_for_waits_for_that_person(self) -> None:
        scene = planned.empty().given([moves.submit(), moves.gathered()])
        then = scene.when(moves.faults(Kind.UNAVAILABLE))
        assert planned.timer(then) == ""


class TestLanes:
    def test_no_run_begins_while_the_command_of_the_one_before_it_dies(self) -> None:
        scene = planned.scene(QUEUE).given([planned.due("16:00"), moves.gathered()])
        scene.given([moves.wants("fire"), moves.inspected(), planned.due("17:00")])
        assert planned.when(scene, planned.stop(), planned.due("18:00")) == [
            "runs 17:00 left out: removed",
            "run cancelled",
            "run of 18:00 started 1",
        ]
        assert scene.state() is S.QUEUED
        scene.given([moves.ran(of=0)])
        assert scene.state() is S.RUNNING

    def test_a_run_that_ends_as_soon_as_its_lane_is_free_has_ended(self) -> None:
        scene = planned.scene(work=planned.COMMAND).given([planned.due("16:00")])
        scene.given([moves.inspected(), moves.submit(chat=0), moves.deny("no", of=0)])
        assert scene.state(0) is S.AWAITING_APPROVAL
        assert planned.when(scene, moves.cancel()) == ["run failed"]
        assert planned.when(scene, planned.due("17:00")) == ["run of 17:00 started 1"]

    def test_runs_that_wait_for_a_place_keep_no_message_out(self) -> None:
        scene = planned.empty(limits.Limits(running_tasks=1, queued_tasks=1))
        scene.given([moves.submit(), *[planned.create()] * 3, planned.clock("16:00")])
        scene.given([planned.rings(0), planned.rings(1), planned.rings(2)])
        assert scene.when(moves.submit()).reply == "submitted"
        assert scene.when(moves.submit()).reply == "refused exhausted"
        scene.given([moves.cancel(0)])
        assert scene.state(4) is S.RUNNING, "people go before schedules"


class TestZones:
    def test_without_its_zone_a_schedule_stays_and_does_nothing(self) -> None:
        scene = planned.scene(when="at 2025-06-15 16:00")
        scene.rules = scene.rules.but({"zones": lambda name: None})
        assert planned.when(scene, planned.due("17:00"), moves.restart()) == []
        scene.rules = scene.rules.but({"zones": planned.zone})
        assert planned.when(scene, moves.restart()) == ["run of 16:00 started 1"]
