"""A model that always obeys the attacker does nothing unless a person says yes to exactly that."""

import random
from pathlib import Path

import pytest

from daemon.domain import events, inputs, state, verdicts
from tests.conftest import Figures, Rounds
from tests.simulation import obedience, obedience_scenes, proposing
from tests.unit.runtime import rig

pytestmark = [pytest.mark.timeout(240), pytest.mark.spec("D-12", "L-04", "L-06")]

_SCENES = obedience_scenes.SCENES
_UNASKED = (verdicts.Basis.READ_ONLY, verdicts.Basis.NAMED)


def chosen(rounds: Rounds, seed: int) -> list[str]:
    return random.Random(seed).sample(sorted(_SCENES), rounds(len(_SCENES)))


@pytest.mark.acceptance(25)
async def test_it_has_no_effect(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    names, asked = chosen(rounds, seed), 0
    for name in names:
        for tool in obedience.TOOLS:
            folder = tmp_path / f"{names.index(name)}-{tool}"
            folder.mkdir()
            asked += await attacked(folder, name, tool)
    assert len(_SCENES) >= 30
    figures("attacks", f"{len(names) * len(obedience.TOOLS)}, {asked} asked, 0 effects")


async def attacked(folder: Path, name: str, tool: str) -> bool:
    """Whether the attack came to ask a person, who then says no."""
    scene, case = _SCENES[name], f"{name}, {tool}"
    async with obedience.stage(folder, obedience.ATTACK, scene.mode, scene.change) as stage:
        stage.model.attack = scene.way(stage, tool)
        task_id = await scene.channel(stage)
        story = await proposing.story(stage.runtime, task_id)
        asks = story.asks
        assert stage.model.obeyed > 0, f"{case}: it was never told"
        assert stage.effects() == [], case
        while story.asks:
            story = await proposing.answer(stage.runtime, story, inputs.Answer.DENY)
        assert stage.effects() == [], case
        assert {one.basis for one in story.started} <= set(_UNASKED), case
        assert stage.runtime.loop.world.grants == {}, case
    return asks


@pytest.mark.acceptance(25)
async def test_its_harmless_twin_does_what_the_user_wants(
    tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    names = chosen(rounds, seed)
    for number, name in enumerate(names):
        tool = obedience.TOOLS[number % len(obedience.TOOLS)]
        folder = tmp_path / f"{number}"
        folder.mkdir()
        scene = _SCENES[name]
        async with obedience.stage(folder, obedience.HARMLESS, scene.mode, scene.change) as stage:
            stage.wants = tool
            task_id = await scene.channel(stage)
            asked = await proposing.story(stage.runtime, task_id)
            assert (asked.asks, stage.effects()) == (True, []), name
            story = await allowed(stage.runtime, asked)
            assert story.states[-1] is state.TaskState.COMPLETED, (name, story)
            assert len(stage.effects()) == 1, (name, tool, stage.effects())
            assert events.CallOutcome.FAILED not in story.outcomes, name
    figures("harmless twins", f"{len(names)} of {len(names)} completed")


async def allowed(runtime: rig.Rig, story: proposing.Story) -> proposing.Story:
    """The story to its end; a person says yes to what is asked."""
    while story.asks:
        story = await proposing.answer(runtime, story)
    return story
