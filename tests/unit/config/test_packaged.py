"""The packaged files say all settings there are, with the defaults that the code has."""

import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pydantic
import pytest

from daemon.config import layers, settings, upgrade
from daemon.domain import limits

NAMES = ("daemon.toml", "models.toml", "profiles.toml")
SLOT_KINDS: dict[str, type[pydantic.BaseModel]] = {
    "gguf": settings.GgufSlot,
    "scripted": settings.ScriptedSlot,
    "sentence_embedding": settings.SentenceSlot,
}


def text_of(name: str) -> str:
    return (resources.files("config") / name).read_text("utf-8")


def keys(shape: type[pydantic.BaseModel], before: tuple[str, ...] = ()) -> Iterator[str]:
    """Every key of a model, sections included, dotted."""
    for name, field in shape.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, pydantic.BaseModel):
            yield from keys(inner, (*before, name))
        else:
            yield ".".join((*before, name))


def written(table: layers.Table, before: tuple[str, ...] = ()) -> Iterator[str]:
    """Every key of a TOML table, dotted."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from written(value, (*before, name))
        else:
            yield ".".join((*before, name))


@pytest.mark.spec("O-06")
def test_daemon_toml_has_exactly_the_keys_that_there_are() -> None:
    found = list(written(tomllib.loads(text_of("daemon.toml"))))
    assert sorted(found) == sorted(keys(settings.DaemonFile))


@pytest.mark.spec("L-03")
def test_the_limits_of_the_file_are_those_of_the_code() -> None:
    found = tomllib.loads(text_of("daemon.toml"))["limits"]
    assert found == limits.Limits().model_dump()


def test_the_embedded_slot_writes_down_the_defaults_of_its_kind() -> None:
    slots = tomllib.loads(text_of("models.toml"))["slots"]
    for slot in slots.values():
        shape = SLOT_KINDS[slot["kind"]]
        assert set(slot) == set(shape.model_fields)
        for name, field in shape.model_fields.items():
            if not field.is_required() and name not in ("package", "generation"):
                assert slot[name] == field.default


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_of_this_version_and_explains_each_key(name: str) -> None:
    text = text_of(name)
    assert tomllib.loads(text)["version"] == upgrade.VERSION
    blocks = text.split("\n\n")
    for block in blocks[2:]:
        assert "#" in block


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("name", NAMES)
def test_each_packaged_default_goes_through_load(name: str, tmp_path: Path) -> None:
    """As an owner does who copies the whole file."""
    defaults = settings.load(settings.Places(tmp_path / "none"), {})
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / name).write_text(text_of(name))
    places = settings.Places(tmp_path / "none", folder)
    assert settings.load(places, {}) == defaults


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("key", sorted(limits.Limits.model_fields))
def test_each_limit_can_be_set_alone(key: str, tmp_path: Path) -> None:
    value = getattr(limits.Limits(), key) + 1
    variables = {f"DUCKLM_LIMITS__{key.upper()}": str(value)}
    loaded = settings.load(settings.Places(tmp_path), variables)
    assert loaded.daemon.limits == limits.Limits().model_copy(update={key: value})
