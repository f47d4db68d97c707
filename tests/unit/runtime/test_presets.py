"""What is set while the loop runs: durable first, then for the next input, and after a start."""

import asyncio

import pytest

from daemon.decide import profiles
from daemon.domain import decisions, errors, inputs, presets, principals
from daemon.storage import in_memory
from tests.unit.runtime import rig

pytestmark = pytest.mark.spec("K-10")
DUCK = presets.Profile(instructions="Quack.")


def sets(profile: presets.Profile | None) -> inputs.SetProfile:
    return inputs.SetProfile(
        credential="owner",
        principal=principals.LOCAL_OWNER,
        correlation_id="c",
        name="duck",
        profile=profile,
    )


def asks() -> inputs.SubmitTask:
    return rig.submission("hi").but({"profile": "duck"})


async def test_the_next_input_of_the_same_round_sees_it() -> None:
    async with rig.started(replies=["Quack?"]) as runtime:
        kept, submitted = await asyncio.gather(runtime.box.ask(sets(DUCK)), runtime.box.ask(asks()))
        assert kept == decisions.ProfileKept(name="duck")
        assert isinstance(submitted, decisions.Submitted)
        await rig.until(lambda: len(runtime.model.requests) == 1)
    assert "Quack." in runtime.model.requests[0].messages[0].content
    assert (await runtime.store.presets()).profiles == {"duck": DUCK}


async def test_what_was_not_kept_was_never_set() -> None:
    store = in_memory.InMemoryStore()
    async with rig.started(store=store) as runtime:
        store.failing_commits = 1
        found = await asyncio.gather(
            runtime.box.ask(sets(DUCK)), runtime.box.ask(asks()), return_exceptions=True
        )
        assert [type(one) for one in found] == [errors.Refusal] * 2
        assert "duck" not in runtime.loop.rules.kits
        with pytest.raises(errors.Refusal, match="There is no profile duck"):
            await runtime.box.ask(asks())
    assert (await store.presets()) == presets.Kept()


async def test_a_start_makes_the_rules_of_what_is_kept() -> None:
    store = in_memory.InMemoryStore()
    async with rig.started(store=store) as runtime:
        await runtime.box.ask(sets(DUCK))
        rules = runtime.loop.rules
    again = profiles.made(runtime.rules.but({"kept": await store.presets()}))
    assert again.kits["duck"] == rules.kits["duck"]
    assert "Quack." in again.kits["duck"].system_prompt
