"""Generation settings and profiles of files: how they merge, and what is refused by which line."""

from pathlib import Path

import pytest

from daemon import kits
from daemon.config import settings
from daemon.domain import errors, messages, presets

pytestmark = pytest.mark.spec("K-10")
Role = messages.Role
GGUF = '[slots.mine]\nkind = "gguf"\npath = "/m.gguf"\n'
MINE = GGUF + '[roles]\nthinker = ["mine"]\n'


def load(
    folder: Path, models: str = "", profiles: str = "", over: str = "", variable: str = ""
) -> settings.Settings:
    xdg, config = folder / "xdg", folder / "config"
    for place, name, text in (
        (xdg, "models.toml", models),
        (xdg, "profiles.toml", profiles),
        (config, "profiles.toml", over),
    ):
        place.mkdir(exist_ok=True)
        (place / name).write_text(f"version = 1\n{text}")
    variables = {"DUCKLM_GENERATION__THINKER": variable} if variable else {}
    return settings.load(settings.Places(xdg, config), variables)


def thinker(loaded: settings.Settings, profile: str = "") -> messages.Sampling:
    """How the thinker of a profile chooses, in the end."""
    rules = kits.rules(loaded, {}, presets.Kept())
    found = rules.kits[profile].generation.get(Role.THINKER)
    return found.sampling if found is not None else messages.Sampling()


SLOT = GGUF + "[slots.mine.generation]\ntemperature = 0.7\ntop_k = 40\n"
ROLES = '[roles]\nthinker = ["mine"]\n'
MERGES = {
    "nothing said": (MINE, "", 0.0, 0),
    "the slot's": (SLOT + ROLES, "", 0.7, 40),
    "the role's over the slot's": (
        SLOT + ROLES + "[generation.thinker]\ntemperature = 0.4\n",
        "",
        0.4,
        40,
    ),
    "the profile's over both": (
        SLOT + ROLES + "[generation.thinker]\ntemperature = 0.4\n",
        "[profiles.x.generation.thinker]\ntemperature = 0.1\n",
        0.1,
        40,
    ),
    "of another slot": (SLOT, "", 0.0, 0),
    "of another role": (
        MINE + "[generation.coder]\ntemperature = 0.4\n",
        "[profiles.x.generation.critic]\ntemperature = 0.1\n",
        0.0,
        0,
    ),
}


@pytest.mark.parametrize(
    ("models", "profiles", "temperature", "top_k"), MERGES.values(), ids=MERGES
)
def test_slot_role_and_profile(
    tmp_path: Path, models: str, profiles: str, temperature: float, top_k: int
) -> None:
    loaded = load(tmp_path, models, profiles)
    found = thinker(loaded, "x" if profiles else "")
    assert (found.temperature, found.top_k) == (temperature, top_k)


def test_a_role_can_be_set_by_the_environment(tmp_path: Path) -> None:
    assert thinker(load(tmp_path, MINE, variable="{temperature = 0.5}")).temperature == 0.5


def test_the_embedded_model_and_what_serves_the_daemon_alone_are_greedy(tmp_path: Path) -> None:
    assert thinker(load(tmp_path)) == messages.Sampling()
    hot = GGUF + "[slots.mine.generation]\ntemperature = 1.5\n" + ROLES
    kit = kits.rules(load(tmp_path, hot), {}, presets.Kept()).kits[""]
    greedy = {Role.JSON_COMPILER, Role.CRITIC, Role.SYS_UTIL}
    assert {r for r in greedy if kit.generation[r].sampling.temperature == 0} == greedy
    assert kit.generation[Role.CODER].sampling.temperature == 1.5


BAD_MODELS = {
    "too hot": (
        GGUF + "[slots.mine.generation]\ntemperature = 9\n",
        "slots.mine.generation.temperature",
        "less than or equal to 5",
    ),
    "a word": (
        '[generation.thinker]\ntop_k = "many"\n',
        "generation.thinker.top_k",
        "valid integer",
    ),
    "no thought": (
        "[generation.thinker]\nthinking_tokens = 0\n",
        "generation.thinker.thinking_tokens",
        "greater than or equal to 1",
    ),
    "a number for yes": (
        "[generation.thinker]\nthinking = 1\n",
        "generation.thinker.thinking",
        "valid boolean",
    ),
    "another key": (
        "[generation.thinker]\ncreativity = 1\n",
        "generation.thinker.creativity",
        "there is no such setting",
    ),
    "another role": ("[generation.singer]\ntop_k = 1\n", "generation.singer", "'thinker'"),
    "a role that generates nothing": (
        "[generation.embeddings]\ntop_k = 1\n",
        "generation.embeddings",
        "this role generates no text",
    ),
}


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(("text", "key", "reason"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_a_bad_value_of_models_toml(tmp_path: Path, text: str, key: str, reason: str) -> None:
    with pytest.raises(errors.ConfigFault) as caught:
        load(tmp_path, text)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{tmp_path / 'xdg' / 'models.toml'}: {key}: ")
    assert reason in fault


BAD_PROFILES = {
    "another key": ("[profiles.x]\ncolour = 1\n", "profiles.x.colour", "there is no such setting"),
    "a name": ("[profiles.X]\n", "profiles.X", "a name is 1 to 41 small letters"),
    "tools as a word": ('[profiles.x]\ntools = "all"\n', "profiles.x.tools", "valid array"),
    "a memory that is not there": (
        '[profiles.x]\nmemory = "read"\n',
        "profiles.x.memory",
        'there is no memory yet: write "off", or leave it out',
    ),
    "to keep a model loaded": (
        "[profiles.x]\nkeep_loaded = 5\n",
        "profiles.x.keep_loaded",
        "there is no such setting",
    ),
    "long instructions": (
        f'[profiles.x]\ninstructions = "{"x" * 4001}"\n',
        "profiles.x.instructions",
        "at most 4000 characters",
    ),
    "too hot": (
        "[profiles.x.generation.thinker]\ntemperature = 6\n",
        "profiles.x.generation.thinker.temperature",
        "less than or equal to 5",
    ),
    "a role that generates nothing": (
        "[profiles.x.generation.embeddings]\n",
        "profiles.x.generation",
        "this role generates no text",
    ),
}


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(("text", "key", "reason"), BAD_PROFILES.values(), ids=BAD_PROFILES)
def test_a_bad_value_of_profiles_toml(tmp_path: Path, text: str, key: str, reason: str) -> None:
    with pytest.raises(errors.ConfigFault) as caught:
        load(tmp_path, profiles=text)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{tmp_path / 'xdg' / 'profiles.toml'}: {key}: ")
    assert reason in fault


def test_the_packaged_profiles(tmp_path: Path) -> None:
    found = load(tmp_path).profiles
    assert set(found) == {"careful", "creative", "plain"}
    assert all(one.description and one.instructions for one in found.values())
    assert (found["plain"].tools, found["plain"].skills) == ((), False)
    assert found["careful"].critic
    hot, cold = (thinker(load(tmp_path), name).temperature for name in ("creative", "careful"))
    assert 0 < cold < hot


def test_an_owners_profile_replaces_one_whole_or_is_added(tmp_path: Path) -> None:
    first = '[profiles.careful]\ninstructions = "A"\n[profiles.mine]\ninstructions = "B"\n'
    second = "[profiles.mine]\nskills = false\n"
    found = load(tmp_path, profiles=first, over=second).profiles
    assert set(found) == {"careful", "creative", "plain", "mine"}
    assert found["careful"] == presets.Profile(instructions="A")
    assert found["mine"] == presets.Profile(skills=False)


def test_a_tool_that_no_profile_can_have_is_told(tmp_path: Path) -> None:
    text = '[profiles.mine]\ntools = ["file_read", "frob"]\n'
    rules = kits.rules(load(tmp_path, profiles=text), {}, presets.Kept())
    assert kits.notices(rules) == ("profiles.mine.tools: there is no frob",)
