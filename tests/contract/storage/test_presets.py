"""Profiles and skills that were set: the last word stands, until it is taken back."""

import pytest

from daemon.domain import decisions, messages, presets
from tests.contract.storage.conftest import Store

pytestmark = pytest.mark.spec("K-10")
WHOLE = presets.Profile(
    description="ä 🦆",
    instructions='"quoted"\n{braces}',
    tools=(),
    generation={messages.Role.THINKER: presets.Generation(temperature=0.1, thinking=False)},
    skills=False,
    critic=False,
)
PROFILES = {"duck": WHOLE, "goose": presets.Profile()}
SKILL = presets.Skill(text="Swim.", keywords=("pond", "duck pond"))


def profile(name: str, one: presets.Profile | None) -> decisions.ProfileRecord:
    return decisions.ProfileRecord(name=name, profile=one)


async def test_what_is_set_is_read_back(store: Store) -> None:
    assert await store.presets() == presets.Kept()
    set_skill = decisions.SkillRecord(name="duck", skill=SKILL)
    await store.commit([], [*(profile(*one) for one in PROFILES.items()), set_skill])
    assert await store.presets() == presets.Kept(profiles=PROFILES, skills={"duck": SKILL})


async def test_the_last_word_stands(store: Store) -> None:
    await store.commit([], [profile("duck", presets.Profile()), profile("duck", WHOLE)])
    assert (await store.presets()).profiles == {"duck": WHOLE}
    await store.commit([], [profile("duck", presets.Profile(critic=True))])
    assert (await store.presets()).profiles == {"duck": presets.Profile(critic=True)}


async def test_what_is_taken_back_is_gone_and_the_rest_stays(store: Store) -> None:
    set_skill = decisions.SkillRecord(name="duck", skill=SKILL)
    await store.commit([], [*(profile(*one) for one in PROFILES.items()), set_skill])
    await store.commit([], [profile("duck", None), profile("never", None)])
    kept = await store.presets()
    assert (set(kept.profiles), set(kept.skills)) == ({"goose"}, {"duck"})
    await store.commit([], [decisions.SkillRecord(name="duck", skill=None)])
    assert (await store.presets()).skills == {}
