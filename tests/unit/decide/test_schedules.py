"""What people ask of schedules, and who may."""

import pytest

from daemon.domain import events, inputs, limits, principals, schedules, state, verdicts
from tests.unit.decide import moves, planned, scenes

pytestmark = pytest.mark.spec("K-14")
OTHER = principals.Principal("telegram:77:6")
OWNER = principals.Principal("telegram:77:1")
SKIP = schedules.Policy(missed=schedules.Missed(how=schedules.WhenMissed.SKIP))


def owned(policy: schedules.Policy | None = None) -> scenes.Scene:
    """A scene with an owner of the chat platform, and a schedule of another person's."""
    scene = planned.empty()
    owners = principals.Owners(telegram=frozenset({"1"}))
    people = principals.People(telegram=frozenset({"5", "6"}))
    scene.rules = scene.rules.but({"owners": owners, "people": people})
    return scene.given([planned.create(policy, by=planned.PERSON)])


class TestCreate:
    def test_it_has_a_conversation_of_its_own(self) -> None:
        scene = planned.empty()
        work = schedules.Work(mode=verdicts.Mode.PLAN, project="/project")
        then = scene.when(planned.create(work=work, text="look\nat   the weather " * 9))
        assert then.events == ["conversation created", "schedule set"]
        assert (then.reply, planned.timer(then)) == ("schedule", "16:00")
        kept = planned.planned(scene).schedule
        setting = scene.world.setting(kept.conversation_id)
        assert (setting.mode, setting.folder) == (verdicts.Mode.PLAN, "/project")
        assert len(scene.text(kept.name)) <= 60
        assert scene.text(kept.name).startswith("look at the weather look")

    @pytest.mark.parametrize(
        ("move", "reply"),
        [
            (planned.create(text=" "), "refused invalid"),
            (planned.create(text="x" * 2_000_000), "refused exhausted"),
            (planned.create(when="at 2025-06-15 14:00"), "refused invalid"),
            (planned.create(zone_name="Nowhere/At_All"), "refused invalid"),
            (planned.create(work=schedules.Work(profile="none")), "refused not_found"),
        ],
    )
    def test_what_cannot_be(self, move: scenes.Move, reply: str) -> None:
        scene = planned.empty()
        then = scene.when(move)
        assert (then.reply, then.events) == (reply, [])

    def test_so_many(self) -> None:
        scene = planned.empty(limits.Limits(schedules=1)).given([planned.create()])
        assert scene.when(planned.create()).reply == "refused exhausted"
        scene.given([planned.delete()])
        assert scene.when(planned.create()).reply == "schedule"

    def test_only_an_owner_has_commands_run_unasked(self) -> None:
        yolo = schedules.Work(mode=verdicts.Mode.YOLO)
        scene = owned()
        assert scene.when(planned.create(work=yolo, by=OTHER)).reply == "refused forbidden"
        assert scene.when(planned.create(work=yolo, by=OWNER)).reply == "schedule"

    def test_results_go_to_the_own_chat(self) -> None:
        scene = owned()
        policy = schedules.Policy(delivery=planned.TOLD)
        assert scene.when(planned.create(policy, by=OTHER)).reply == "refused forbidden"
        assert scene.when(planned.create(policy, by=planned.PERSON)).reply == "schedule"


@pytest.mark.parametrize(
    ("who", "may"), [(planned.PERSON, True), (OWNER, True), (scenes.OWNER, True), (OTHER, False)]
)
@pytest.mark.parametrize("what", ["update", "delete", "pause", "run", "stop"])
def test_a_schedule_is_its_makers_and_the_owners(
    what: str, who: principals.Principal, may: bool
) -> None:
    asked = {
        "update": planned.update(text="look again", by=who),
        "delete": planned.delete(by=who),
        "pause": planned.pause(by=who),
        "run": planned.run_now(by=who),
        "stop": planned.stop(by=who),
    }
    assert owned().when(asked[what]).reply == ("schedule" if may else "refused not_found")


def test_pausing_all_is_of_those_that_one_may_change() -> None:
    scene = owned().given([planned.create(by=OTHER)])
    scene.given([planned.pause_all(by=OTHER)])
    assert [planned.planned(scene, of).schedule.paused for of in (0, 1)] == [False, True]
    scene.given([planned.pause_all(by=OWNER)])
    assert [planned.planned(scene, of).schedule.paused for of in (0, 1)] == [True, True]
    assert scene.when(planned.pause_all(by=OWNER)).events == []
    scene.given([planned.pause_all(False)])
    assert [planned.planned(scene, of).schedule.paused for of in (0, 1)] == [False, False]


class TestUpdate:
    def test_other_times_count_from_now_on(self) -> None:
        scene = planned.scene(SKIP).given([planned.clock("15:50")])
        then = scene.when(planned.update(when="45 * * * *"))
        assert (then.events, planned.timer(then)) == (["schedule set"], "16:45")
        assert planned.when(scene, planned.due("16:00")) == []
        assert planned.when(scene, planned.due("16:45")) == ["run of 16:45 started 1"]

    def test_another_zone_too(self) -> None:
        scene = planned.scene(when="every day at 16:00")
        then = scene.when(planned.update(zone_name="America/New_York"))
        assert planned.timer(then) == "20:00"

    def test_what_goes_on_goes_on_as_it_began(self) -> None:
        scene = planned.scene(schedules.Policy(overlap=schedules.Overlap.QUEUE))
        scene.given([planned.due("16:00"), planned.due("17:00"), planned.clock("17:10")])
        scene.given([planned.update(when="every day at 20:00", text="another")])
        assert planned.when(scene, *planned.answers()) == ["run done", "run of 17:00 started 1"]
        assert scene.text(scene.task().text) == "another"

    def test_its_project_stays_while_a_run_goes_on(self) -> None:
        scene = planned.scene().given([planned.due("16:00")])
        moved = planned.update(work=schedules.Work(project="/other"))
        assert scene.when(moved).reply == "refused state"
        scene.given(planned.answers())
        assert scene.when(moved).events == ["conversation updated", "schedule set"]

    def test_another_command_is_asked_for_anew(self) -> None:
        scene = planned.scene(work=planned.COMMAND).given([planned.run_now(rehearses=True)])
        scene.given([moves.inspected(), moves.always(), moves.inspected()])
        assert len(scene.world.grants) == 1
        assert scene.when(planned.update(text="df")).events == ["grant revoked", "schedule set"]

    def test_a_command_is_told_as_one(self) -> None:
        scene = planned.scene()
        changed = scene.when(planned.update(work=planned.COMMAND))
        assert changed.reply == "refused invalid"
        assert scene.when(planned.update(work=planned.COMMAND, text="df")).reply == "schedule"


class TestItsConversation:
    def chat(self, scene: scenes.Scene) -> inputs.UpdateConversation:
        return inputs.UpdateConversation(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            conversation_id=planned.planned(scene).schedule.conversation_id,
        )

    @pytest.mark.parametrize(
        "change", [{"mode": verdicts.Mode.YOLO}, {"folder": "/other"}, {"profile": ""}]
    )
    def test_works_as_the_schedule_says(self, change: dict[str, object]) -> None:
        scene = planned.scene()
        then = scene.when(lambda scene: [self.chat(scene).but(change)])
        assert (then.reply, then.events) == ("refused state", [])

    def test_a_person_may_steer_and_name_it(self) -> None:
        scene = planned.scene()
        then = scene.when(lambda scene: [self.chat(scene).but({"steers": True, "title": "so"})])
        assert then.events == ["conversation updated"]

    def test_is_deleted_only_after_the_schedule(self) -> None:
        scene = planned.scene()
        chat = planned.planned(scene).schedule.conversation_id
        gone = inputs.DeleteConversation(
            credential="owner",
            principal=scenes.OWNER,
            correlation_id="other",
            conversation_id=chat,
        )
        assert scene.when(lambda scene: [gone]).reply == "refused state"
        scene.given([planned.delete()])
        assert scene.when(lambda scene: [gone]).events == ["conversation deleted"]

    def test_a_message_there_waits_for_the_run_and_a_run_for_it(self) -> None:
        scene = planned.scene().given([planned.due("16:00"), moves.submit(chat=0)])
        assert planned.when(scene, *planned.answers(of=0)) == ["run done"]
        assert planned.when(scene, planned.due("17:00")) == ["run of 17:00 started 1"]
        assert scene.state() is state.TaskState.QUEUED
        scene.given(planned.answers(of=1))
        assert planned.when(scene, *planned.answers()) == ["run done"]


class TestByHand:
    def test_a_run_now_leaves_the_times_as_they_are(self) -> None:
        scene = planned.scene().given([planned.clock("15:20")])
        then = scene.when(planned.run_now())
        assert planned.told(then) == ["run by hand started 1"]
        assert planned.timer(then) == "16:00"
        assert scene.when(planned.run_now()).reply == "refused state"
        assert planned.when(scene, *planned.answers(), planned.due("16:00")) == [
            "run done",
            "run of 16:00 started 1",
        ]

    def test_what_comes_due_meanwhile_overlaps(self) -> None:
        scene = planned.scene().given([planned.run_now()])
        assert planned.when(scene, planned.due("16:00")) == ["runs 16:00 left out: overlap"]

    def test_also_while_it_is_paused(self) -> None:
        scene = planned.scene().given([planned.pause(), planned.run_now()])
        assert planned.when(scene, *planned.answers()) == ["run done"]
        assert planned.planned(scene).schedule.paused


class TestStopAndDelete:
    def test_a_stop_ends_what_goes_on_and_what_waits(self) -> None:
        scene = planned.scene(schedules.Policy(overlap=schedules.Overlap.QUEUE))
        scene.given([planned.due("16:00"), planned.due("17:00")])
        then = scene.when(planned.stop())
        assert planned.told(then) == ["runs 17:00 left out: removed", "run cancelled"]
        assert scene.state() is state.TaskState.CANCELLED
        assert planned.timer(then) == "18:00"

    def test_a_stop_of_nothing(self) -> None:
        assert planned.scene().when(planned.stop()).events == []

    def test_a_deletion_leaves_nothing_to_ask_or_to_run(self) -> None:
        scene = planned.scene(work=planned.COMMAND).given([planned.run_now(rehearses=True)])
        scene.given([moves.inspected(), planned.due("16:00"), moves.inspected()])
        then = scene.when(planned.delete())
        assert planned.told(then) == ["run cancelled", "schedule deleted"]
        assert not scene.world.tasks
        assert not scene.world.approvals
        assert planned.when(scene, planned.due("17:00"), moves.restart()) == []
        assert scene.when(planned.delete()).reply == "refused not_found"

    def test_its_grants_go_with_it(self) -> None:
        scene = planned.scene(work=planned.COMMAND).given([planned.run_now(rehearses=True)])
        scene.given([moves.inspected(), moves.always(), moves.inspected()])
        assert [one.schedule_id for one in scene.world.grants.values()] == planned.names(scene)
        scene.given([planned.delete()])
        assert not scene.world.grants


def test_the_log_tells_who_changed_it() -> None:
    scene = owned().given([planned.pause(by=OWNER), planned.pause(False, by=planned.PERSON)])
    told = [one.event for one in scene.recorded if isinstance(one.event, events.ScheduleSet)]
    assert [one.by for one in told] == [planned.PERSON, OWNER, planned.PERSON]
