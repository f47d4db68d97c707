"""A plan as it is carried out: what begins, what is judged, what is left out, and how it ends."""

import json
import random

import pytest

from daemon.decide import scheduler
from daemon.domain import decisions, directives, events, inputs, messages, state, world
from daemon.permission import policy
from tests.unit.decide import moves, scenes
from tools import contract

pytestmark = [pytest.mark.spec("D-09"), pytest.mark.spec("D-10")]

S = state.TaskState
THINKING = [moves.submit("do it"), moves.gathered()]


def step(name: str, kind: str = "tool", tool: str = "look", after: str = "") -> dict[str, object]:
    """A step in few words; each tool step has arguments of its own."""
    made: dict[str, object] = {"id": name, "goal": f"goal {name}", "kind": kind}
    if kind == "tool":
        made |= {"tool": tool, "arguments": {"x": name}}
    return made | {"after": after.split()}


def plans(*steps: dict[str, object]) -> scenes.Move:
    return moves.says(json.dumps({"kind": "plan", "steps": steps}))


def of_step(scene: scenes.Scene, name: str) -> world.ToolCall:
    """The last call of a step."""
    return [call for call in scene.task().calls if call.step_id == name][-1]


def inspected(name: str) -> scenes.Move:
    """A step's call was looked at, and may run."""

    def inputs_of(scene: scenes.Scene) -> list[inputs.Input]:
        call = of_step(scene, name)
        tool = scenes.TOOLS[call.tool]
        return [
            inputs.CallInspected(
                task_id=scene.task().task_id,
                call_id=call.call_id,
                arguments=scene.texts[call.arguments],
                facts=moves.facts(tool.effect),
                judged=policy.of_category(tool.category),
                policy="rules",
                folder=moves.FOLDER,
            )
        ]

    return inputs_of


def ran(name: str, failed: bool = False, exit_code: int = 0) -> scenes.Move:
    """A step's call ended."""
    return lambda scene: [
        inputs.ToolFinished(
            task_id=scene.task().task_id,
            call_id=of_step(scene, name).call_id,
            result=contract.Result(text=f"out {name}", failed=failed, exit_code=exit_code),
            duration_ms=1,
        )
    ]


def criticizes(follows: str, score: int = 8) -> scenes.Move:
    said = {"correctness": score, "usefulness": score, "safety": 10, "follows": follows, "note": ""}
    return moves.says(json.dumps(said))


TWO_THEN_ONE = plans(step("a"), step("b"), step("c", after="a b"))


def test_what_waits_for_nothing_runs_at_once() -> None:
    scene = scenes.Scene().given(THINKING)
    then = scene.when(TWO_THEN_ONE)
    assert then.events[1:] == [
        "directive plan",
        "plan a b c",
        "step a started 1",
        "proposed look",
        "step b started 1",
        "proposed look",
    ]
    assert then.actions == ["inspect call", "inspect call"]
    scene.given([inspected("a"), inspected("b")])
    assert [call.status for call in scene.task().calls] == [world.CallStatus.STARTED] * 2
    assert scene.when(ran("b")).events[-2:] == ["step b judged continue", "step b done"]
    assert scene.when(ran("a")).events[-2:] == ["step c started 1", "proposed look"]


def test_after_the_plan_the_thinker_goes_on_with_its_results() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a")), inspected("a")])
    then = scene.when(ran("a"))
    assert then.actions == ["gather context"]
    (gather,) = then.steps[0].actions
    assert isinstance(gather, decisions.GatherContext)
    assert gather.role is messages.Role.THINKER
    assert [part.speaker for part in gather.turn] == [
        "user",
        "user",
        "assistant",
        "assistant",
        "tool",
    ]
    assert scene.text(gather.turn[-1].content) == "out a"


def test_the_last_words_of_a_plan_are_the_answer() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a"), step("say", "respond", after="a"))])
    scene.given([inspected("a"), ran("a")])
    started = scene.when(moves.gathered())
    assert started.events == ["model started 1 to write"]
    then = scene.when(moves.says("All is well."))
    assert then.events == [
        "model finished",
        "step say judged continue",
        "step say done",
        "answered",
        "now completed",
    ]
    assert scene.answer() == "All is well."


def test_a_failed_step_is_tried_again_and_then_left_with_what_needs_it() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a"), step("b", after="a"), step("c"))])
    scene.given([inspected("a"), inspected("c"), ran("c")])
    again = scene.when(ran("a", failed=True))
    assert again.events[1:] == ["step a judged retry", "step a started 2", "proposed look"]
    scene.given([inspected("a")])
    then = scene.when(ran("a", failed=True))
    assert then.events[1:] == ["step a judged continue", "step a failed", "step b skipped"]
    assert then.actions == ["gather context"]


@pytest.mark.parametrize(
    ("criticizes_it", "led_to"),
    [
        (False, ["step a judged retry", "step a started 2"]),
        (True, ["step a judged continue", "step a done"]),
    ],
)
def test_a_commands_exit_code_is_a_hint_that_the_critic_may_overrule(
    criticizes_it: bool, led_to: list[str]
) -> None:
    scene = scenes.Scene(criticizes=criticizes_it).given([*THINKING, plans(step("a"))])
    scene.given([inspected("a")])
    then = scene.when(ran("a", exit_code=1))
    if criticizes_it:
        then = scene.given([moves.gathered()]).when(criticizes("continue"))
    assert [line for line in then.events if line.startswith("step")] == led_to


def test_a_command_that_fails_twice_has_failed() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a"), step("b", after="a"))])
    scene.given([inspected("a"), ran("a", exit_code=1), inspected("a")])
    then = scene.when(ran("a", exit_code=1))
    assert then.events[-2:] == ["step a failed", "step b skipped"]


@pytest.mark.parametrize(
    ("follows", "led_to"),
    [
        ("continue", ["step a judged continue", "step a done", "step b started 1"]),
        ("retry", ["step a judged retry", "step a started 2"]),
        ("respond", ["step a judged respond", "step a done", "step b skipped"]),
        ("fail", ["step a judged fail", "step a failed", "now failed"]),
    ],
)
def test_what_follows_is_the_critics_to_say(follows: str, led_to: list[str]) -> None:
    scene = scenes.Scene(criticizes=True)
    scene.given([*THINKING, plans(step("a"), step("b", after="a")), inspected("a"), ran("a")])
    assert scene.when(moves.gathered()).events == ["model started 1 to criticize"]
    then = scene.when(criticizes(follows))
    assert [line for line in then.events if line.startswith(("step", "now"))] == led_to


def test_a_critic_that_says_nothing_of_use_judges_nothing() -> None:
    scene = scenes.Scene(criticizes=True)
    scene.given([*THINKING, plans(step("a")), inspected("a"), ran("a"), moves.gathered()])
    then = scene.when(moves.says("fine"))
    assert then.events == ["model finished", "step a judged continue", "step a done"]
    judged = [one.event for one in scene.recorded if isinstance(one.event, events.StepJudged)]
    assert judged[0].correctness is None


def test_a_refused_call_is_not_criticized() -> None:
    scene = scenes.Scene(criticizes=True).given([*THINKING, plans(step("a", tool="explode"))])
    then = scene.when(inspected("a"))
    assert then.events[-2:] == ["step a judged continue", "step a failed"]


class TestWaiting:
    """A step that asks does not hold up the others; the task waits when nothing else is left."""

    def scene(self) -> scenes.Scene:
        scene = scenes.Scene().given([*THINKING, plans(step("a", tool="erase"), step("b"))])
        then = scene.given([inspected("b")]).when(inspected("a"))
        assert then.events[-1] == "approval requested"
        assert scene.state() is S.RUNNING
        return scene

    def test_the_task_waits_when_the_others_have_ended(self) -> None:
        scene = self.scene()
        assert scene.when(ran("b")).events[-1] == "now awaiting_approval"
        assert scene.when(moves.allow()).events[-1] == "now running"
        assert scene.when(inspected("a")).events == ["tool started 1"]

    def test_an_answer_meanwhile_starts_it_at_once(self) -> None:
        scene = self.scene()
        then = scene.when(moves.allow())
        assert then.events == ["approval allowed"]
        assert then.actions == ["inspect call"]
        scene.given([inspected("a")])
        assert of_step(scene, "a").status is world.CallStatus.STARTED

    def test_a_no_meanwhile_ends_all_of_it(self) -> None:
        scene = self.scene()
        then = scene.when(moves.deny())
        assert then.events == ["approval denied", "tool ended denied", "now failed"]
        assert then.actions == ["cancel call"]

    def test_a_no_with_a_reason_fails_the_step(self) -> None:
        scene = self.scene()
        then = scene.when(moves.deny("not that file"))
        assert then.events[-2:] == ["step a judged continue", "step a failed"]
        assert scene.state() is S.RUNNING

    def test_a_restart_finds_all_of_them(self) -> None:
        scene = self.scene()
        then = scene.when(moves.restart())
        assert then.actions == ["timer approval_expiry", "timer task_budget", "inspect call"]


def test_an_unknown_outcome_waits_for_a_person_and_the_step_goes_on_after_it() -> None:
    scene = scenes.Scene().given([*THINKING, plans(step("a", tool="fire"), step("b", after="a"))])
    scene.given([inspected("a")])
    assert scene.when(moves.restart()).events[-1] == "now awaiting_decision"
    then = scene.when(moves.decide(events.Decision.MARK_DONE))
    assert then.events[-4:] == [
        "step a judged continue",
        "step a done",
        "step b started 1",
        "proposed look",
    ]


CODE = moves.says(json.dumps({"kind": "coder", "instruction": "mend x", "files": ["x.py"]}))


class TestCoder:
    """A coder reads, writes edits, and a tool carries them out."""

    def scene(self) -> scenes.Scene:
        return scenes.Scene().given([*THINKING, CODE])

    def test_it_reads_then_writes_then_edits(self) -> None:
        scene = self.scene()
        assert of_step(scene, "edit").tool == "file_read"
        assert scene.texts[of_step(scene, "edit").arguments] == '{"path":"x.py"}'
        scene.given([inspected("edit")])
        assert scene.when(ran("edit")).actions == ["gather context"]
        assert scene.when(moves.gathered()).events == ["model started 1 to code"]
        then = scene.when(moves.says("the blocks"))
        assert then.events == ["model finished", "proposed apply_edits"]
        assert scene.texts[of_step(scene, "edit").arguments] == '{"blocks":"the blocks"}'
        asked = scene.when(inspected("edit"))
        assert asked.events[-1] == "now awaiting_approval"

    def test_edits_that_do_not_fit_are_written_once_more(self) -> None:
        scene = self.scene().given([inspected("edit"), ran("edit"), moves.gathered()])
        scene.given([moves.says("blocks")])
        then = scene.when(moves.not_inspected())
        assert then.events == [
            "tool ended refused",
            "step edit judged retry",
            "step edit started 2",
            "proposed file_read",
        ]


FAULTS = [
    ([step("a", after="b"), step("b", after="a")], "the steps wait for each other: a → b → a"),
    ([step("a", after="a")], "the steps wait for each other: a → a"),
    ([step("a"), step("a")], "two steps have the id a"),
    ([step("a", after="z")], "step a comes after z, which is no step"),
    ([step("a", tool="dance")], "step a: there is no tool dance"),
    ([step("a", "respond") | {"tool": "look"}], "step a is of kind respond and can have no tool"),
    (
        [{"id": "a", "goal": "", "kind": "tool"}],
        "step a is of kind tool and needs tool and arguments",
    ),
]


@pytest.mark.parametrize(("steps", "reason"), FAULTS)
def test_a_plan_that_cannot_be_followed_is_refused_with_the_reason(
    steps: list[dict[str, object]], reason: str
) -> None:
    scene = scenes.Scene().given(THINKING)
    then = scene.when(plans(*steps))
    assert then.events == ["model finished", "reply refused"]
    (gather,) = then.steps[0].actions
    assert isinstance(gather, decisions.GatherContext)
    assert reason in gather.turn[-1].before


def test_no_more_than_the_limit_runs_at_once() -> None:
    scene = scenes.Scene().given([*THINKING, plans(*(step(name) for name in "abcdef"))])
    assert len(scene.task().calls) == 4
    scene.given([inspected("a")])
    assert scene.when(ran("a")).events[-1] == "proposed look"
    assert len(scene.task().calls) == 5


def test_cycles_are_found_wherever_they_are(seed: int) -> None:
    """A graph has an order exactly when no circle is found in it."""
    dice = random.Random(seed)
    for _ in range(300):
        names = "abcdefgh"[: dice.randint(1, 8)]
        after = {name: [other for other in names if dice.random() < 0.2] for name in names}
        left = dict(after)
        while free := [name for name, needs in left.items() if not set(needs) & set(left)]:
            for name in free:
                del left[name]
        circle = scheduler.cycle(after)
        assert bool(circle) == bool(left)
        for before, name in zip(circle[1:], circle, strict=False):
            assert before in after[name]


def test_every_kind_of_recovery_has_a_row() -> None:
    assert {one.value for one in directives.Recovery} == {"continue", "retry", "respond", "fail"}
