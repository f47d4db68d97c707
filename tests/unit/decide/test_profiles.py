"""Profiles and skills: how settings merge, what kits are made, and from when on something holds."""

import json
from collections.abc import Callable
from typing import TypedDict

import pytest

from daemon.decide import profiles, skills, turn
from daemon.domain import decisions, inputs, limits, messages, presets, principals
from tests.unit.decide import moves, scenes

pytestmark = pytest.mark.spec("K-10")
G = presets.Generation
P = presets.Profile
THINKER, CRITIC = messages.Role.THINKER, messages.Role.CRITIC
PLAIN = P(tools=(), skills=False)

MERGED = {
    "nothing": ([], G()),
    "a layer alone": ([G(top_k=3)], G(top_k=3)),
    "a later one goes before": ([G(temperature=0.2), G(temperature=0.9)], G(temperature=0.9)),
    "what is left out stays": (
        [G(temperature=0.2, seed=7), G(top_p=0.5), G(seed=8)],
        G(temperature=0.2, top_p=0.5, seed=8),
    ),
    "zero and no are said": (
        [G(temperature=0.7, thinking=True, top_k=5), G(temperature=0.0, thinking=False, top_k=0)],
        G(temperature=0.0, thinking=False, top_k=0),
    ),
}


@pytest.mark.parametrize(("layers", "found"), MERGED.values(), ids=MERGED)
def test_generation_settings_merge(layers: list[G], found: G) -> None:
    assert presets.merged(layers) == found


MADE = {
    "greedy by default": (G(), turn.Generation()),
    "sampled": (
        G(temperature=0.7, top_p=0.9, top_k=40, min_p=0.1, repeat_penalty=1.1, seed=5),
        turn.Generation(
            sampling=messages.Sampling(
                temperature=0.7, top_p=0.9, top_k=40, min_p=0.1, repeat_penalty=1.1, seed=5
            )
        ),
    ),
    "thinking has a bound": (G(thinking=True), turn.Generation(thinking_tokens=1024)),
    "a bound alone is no thinking": (G(thinking_tokens=9), turn.Generation()),
    "both": (G(thinking=True, thinking_tokens=9), turn.Generation(thinking_tokens=9)),
    "an answer's length": (G(answer_tokens=9), turn.Generation(answer_tokens=9)),
}


@pytest.mark.parametrize(("given", "made"), MADE.values(), ids=MADE)
def test_settings_are_made_whole(given: G, made: turn.Generation) -> None:
    assert profiles.generation(given) == made


def test_a_profile_goes_before_the_role_and_the_slot() -> None:
    basis = turn.Basis(generation={THINKER: G(temperature=0.5, top_k=9), CRITIC: G(seed=3)})
    made = profiles.kit(basis, {}, P(generation={THINKER: G(temperature=0.1)})).generation
    assert made[THINKER].sampling == messages.Sampling(temperature=0.1, top_k=9)
    assert made[CRITIC].sampling == messages.Sampling(seed=3)
    assert messages.Role.CODER not in made


@pytest.mark.parametrize(
    ("tools", "shown", "codes"),
    [
        (None, set(scenes.TOOLS) - {"apply_edits"}, True),
        ((), set(), False),
        (("look",), {"look"}, False),
        (("look", "apply_edits"), {"look"}, True),
        (("look", "frob"), {"look"}, False),
    ],
)
def test_a_profile_has_the_tools_that_it_lists(
    tools: tuple[str, ...] | None, shown: set[str], codes: bool
) -> None:
    basis = turn.Basis(system_prompt="Be brief.")
    kit = profiles.kit(basis, scenes.TOOLS, P(tools=tools, instructions=" Quack. "))
    assert (set(kit.tools), kit.codes) == (shown, codes)
    assert kit.system_prompt.startswith("Be brief.")
    assert kit.system_prompt.endswith("\n\nQuack.")
    assert [name for name in scenes.TOOLS if f"\n{name} " in kit.system_prompt] == [
        name for name in scenes.TOOLS if name in shown
    ]
    if not shown:
        assert (kit.system_prompt, kit.directive_schema) == ("Be brief.\n\nQuack.", "")
    else:
        assert json.loads(kit.directive_schema)


class Keyed(TypedDict):
    credential: str
    principal: principals.Principal
    correlation_id: str


def keyed() -> Keyed:
    """What every write says of itself."""
    return Keyed(credential="owner", principal=scenes.OWNER, correlation_id="c")


def test_profiles_with_the_same_tools_begin_alike() -> None:
    """So that a slot reads the catalogue once."""
    basis = turn.Basis(system_prompt="Be brief.")
    bare = profiles.kit(basis, scenes.TOOLS, P()).system_prompt
    said = profiles.kit(basis, scenes.TOOLS, P(instructions="Quack.")).system_prompt
    assert said == f"{bare}\n\nQuack."


def sets(scene: scenes.Scene, name: str, profile: P | None) -> str:
    """Set a profile as the loop does; the reply."""
    given = inputs.SetProfile(**keyed(), name=name, profile=profile)
    return takes(scene, lambda _: [given])


def takes(scene: scenes.Scene, move: scenes.Move) -> str:
    then = scene.when(move)
    for step in then.steps:
        scene.rules = profiles.after(scene.rules, step.records, scene.world.tasks)
    return then.reply


def chat_with(profile: str) -> scenes.Move:
    return lambda scene: [moves.submission("hi", None).but({"profile": profile})]


def kit(scene: scenes.Scene, of: int = -1) -> turn.Kit:
    return scene.rules.kit(scene.task(of))


def test_what_is_set_holds_for_the_next_task_and_not_for_a_running_one() -> None:
    scene = scenes.Scene()
    assert sets(scene, "duck", P(instructions="Quack.")) == "profile"
    scene.given([chat_with("duck"), moves.submit("next", chat=0)])
    assert "Quack." in kit(scene, 0).system_prompt
    assert sets(scene, "duck", P(instructions="Honk.")) == "profile"
    assert "Quack." in kit(scene, 0).system_prompt
    assert "Honk." in kit(scene, 1).system_prompt
    scene.given([chat_with("duck")])
    assert "Honk." in kit(scene).system_prompt
    assert sets(scene, "goose", PLAIN) == "profile"
    assert "Quack." in kit(scene, 0).system_prompt
    assert [one for one in scene.rules.pinned if one not in scene.world.tasks] == []


def test_what_is_set_goes_before_files_until_it_is_taken_back() -> None:
    scene = scenes.Scene()
    basis = scene.rules.basis.but({"profiles": {"duck": P(instructions="Swim.")}})
    scene.rules = profiles.made(scene.rules.but({"basis": basis}))
    for profile, says in ((P(instructions="Fly."), "Fly."), (None, "Swim.")):
        assert sets(scene, "duck", profile) == "profile"
        scene.given([chat_with("duck")])
        assert says in kit(scene).system_prompt
    assert sets(scene, "duck", None) == "refused not_found"


def test_a_profile_that_is_gone_is_the_default_and_is_told() -> None:
    scene = scenes.Scene()
    sets(scene, "duck", PLAIN)
    scene.given([chat_with("duck"), moves.submit("hi", chat=0)])
    assert profiles.lost(scene.rules, scene.world.settings) == []
    sets(scene, "duck", None)
    assert profiles.lost(scene.rules, scene.world.settings) == [
        "the profile duck of 1 conversation is gone: tasks there work with the default one"
    ]
    assert kit(scene, 0).tools == {}
    assert "look" in kit(scene, 1).tools
    scene.given([moves.submit("hi", chat=0)])
    assert (scene.task().profile, "look" in kit(scene).tools) == ("", True)


def limited() -> scenes.Scene:
    scene = scenes.Scene(limits.Limits(profiles=1, skills=1))
    sets(scene, "one", P())
    takes(scene, skill("one", "duck"))
    return scene


def skill(name: str, *keywords: str) -> scenes.Move:
    given = presets.Skill(text="Swim.", keywords=keywords) if keywords else None
    return lambda _: [inputs.SetSkill(**keyed(), name=name, skill=given)]


REFUSED: dict[str, tuple[Callable[[scenes.Scene], str], str]] = {
    "a tool that is none": (lambda one: sets(one, "one", P(tools=("frob",))), "refused invalid"),
    "one too many": (lambda one: sets(one, "two", P()), "refused exhausted"),
    "in the place of another": (lambda one: sets(one, "one", P(critic=True)), "profile"),
    "nothing to take back": (lambda one: sets(one, "two", None), "refused not_found"),
    "a skill too many": (lambda one: takes(one, skill("two", "goose")), "refused exhausted"),
    "a skill in the place of another": (lambda one: takes(one, skill("one", "goose")), "skill"),
    "no skill to take back": (lambda one: takes(one, skill("two")), "refused not_found"),
    "a message with a profile that is none": (
        lambda one: takes(one, chat_with("two")),
        "refused not_found",
    ),
}


@pytest.mark.parametrize(("act", "reply"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(act: Callable[[scenes.Scene], str], reply: str) -> None:
    scene = limited()
    before = scene.rules
    assert act(scene) == reply
    assert (scene.rules == before) is reply.startswith("refused")


def test_without_tools_nothing_is_compiled_and_no_command_runs() -> None:
    scene = scenes.Scene(compiles=True)
    sets(scene, "plain", PLAIN)
    scene.given([chat_with("plain"), moves.gathered()])
    then = scene.when(moves.says("Hello."))
    assert then.events[-2:] == ["answered", "now completed"]
    asked = moves.submission("run `ls`", None).but({"profile": "plain"})
    assert "proposed shell_exec" not in scene.when(lambda _: [asked]).events


@pytest.mark.parametrize("setting", [True, False])
@pytest.mark.parametrize("own", [None, True, False])
def test_a_profile_says_whether_steps_are_judged(setting: bool, own: bool | None) -> None:
    scene = scenes.Scene(criticizes=setting)
    sets(scene, "duck", P(critic=own))
    step = {"id": "a", "goal": "g", "kind": "tool", "tool": "look", "arguments": {}, "after": []}
    plan = json.dumps({"kind": "plan", "steps": [step]})
    scene.given([chat_with("duck"), moves.gathered(), moves.says(plan)])
    scene.given([moves.inspected(), moves.ran()])
    judged = [one for one in scene.recorded if one.event.type == "step_judged"]
    wanted = setting if own is None else own
    assert (judged == []) is wanted


@pytest.mark.spec("K-07")
class TestSkills:
    KNOWN = {
        "swim": presets.Skill(text="Swim.", keywords=("pond", "duck pond")),
        "fly": presets.Skill(text="Fly.", keywords=("sky", "high up")),
        "run": presets.Skill(text="Run.", keywords=("c++",)),
    }

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("to the POND", "swim"),
            ("ponder", ""),
            ("the sky over the pond", ""),
            ("the sky over the duck pond", "swim"),
            ("high, up and pond", "fly"),
            ("nothing of it", ""),
            ("", ""),
            ("x" * 4000 + " pond", ""),
        ],
    )
    def test_at_most_one_is_chosen(self, text: str, name: str) -> None:
        assert skills.chosen(text, self.KNOWN) == name

    def test_why_one_is_chosen(self) -> None:
        found = skills.hits("sky, and the duck pond", self.KNOWN)
        assert found == (
            skills.Hit("swim", 3, ("pond", "duck pond")),
            skills.Hit("fly", 1, ("sky",)),
        )

    def test_one_that_is_set_is_for_the_next_message(self) -> None:
        scene = scenes.Scene()
        scene.given([moves.submit("at the duck pond")])
        assert scene.task().skill == ""
        assert takes(scene, skill("swim", "duck pond")) == "skill"
        scene.given([moves.submit("at the duck pond")])
        assert scene.task().skill == "swim"
        sets(scene, "plain", PLAIN)
        asked = moves.submission("at the duck pond", None).but({"profile": "plain"})
        scene.given([lambda _: [asked]])
        assert scene.task().skill == ""


def test_a_decision_changes_no_rules_by_itself() -> None:
    record = decisions.ProfileRecord(name="duck", profile=PLAIN)
    rules = scenes.Scene().rules
    before = dict(rules)
    after = profiles.after(rules, (record,), {})
    assert "duck" in after.kits
    assert dict(rules) == before
    assert profiles.after(rules, (), {}) is rules
