"""Reads TOML files and the environment, and merges them by key. Knows no setting by name."""

import datetime
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from daemon.domain import errors

Table = dict[str, object]
ENVIRONMENT_PREFIX = "DUCKLM_"
PACKAGED = "config"
PERMISSIONS = "permissions.toml"
_KEY_ITSELF = "[key]"
"""How pydantic says that a key is wrong, and not its value."""


@dataclass(frozen=True)
class Layer:
    """Settings from one place; `source` names it for a person, `folder` is where paths start."""

    source: str
    table: Table
    folder: Path | None = None


def packaged(name: str) -> Layer:
    """The defaults that come with the program."""
    text = (resources.files(PACKAGED) / name).read_text(encoding="utf-8")
    return Layer(f"packaged {name}", tomllib.loads(text))


def own_files(name: str, folders: Iterable[Path]) -> list[Path]:
    """The owner's files of a name, from the one that counts least to the one that counts most."""
    return [folder / name for folder in folders if (folder / name).exists()]


def file(path: Path) -> Layer | None:
    """A file of the owner's; None when there is none.

    Raises:
        errors.ConfigFault: it cannot be read, or is not TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise errors.ConfigFault([f"{path}: it cannot be read: {error}"]) from error
    try:
        return Layer(str(path), tomllib.loads(text), path.parent)
    except tomllib.TOMLDecodeError as error:
        raise errors.ConfigFault([f"{path}: it is not valid TOML: {error}"]) from error


def environment(variables: Mapping[str, str], sections: frozenset[str]) -> Layer:
    """`DUCKLM_SECTION__KEY=value` for the sections of one file; the value as TOML, else as text."""
    table: Table = {}
    for name, value in sorted(variables.items()):
        section, found, key = name.removeprefix(ENVIRONMENT_PREFIX).lower().partition("__")
        if not name.startswith(ENVIRONMENT_PREFIX) or not found or section not in sections:
            continue
        place = table.setdefault(section, {})
        if isinstance(place, dict):
            place[key] = _value(value)
    return Layer("the environment", table)


def _value(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def merge(layers: Sequence[Layer]) -> Table:
    """All layers as one table; a later layer goes before an earlier one."""
    merged: Table = {}
    for layer in layers:
        _lay_over(merged, layer.table)
    return merged


def _lay_over(under: Table, over: Mapping[str, object]) -> None:
    for key, value in over.items():
        below = under.get(key)
        if isinstance(value, dict) and isinstance(below, dict):
            copy: Table = dict(below)
            _lay_over(copy, value)
            under[key] = copy
        else:
            under[key] = value


def times(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where dates and times stand: TOML has them, no setting is one."""
    if isinstance(value, datetime.date | datetime.time):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from times(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from times(inner, (*path, index))


def keys(table: object, place: Sequence[str | int]) -> tuple[str | int, ...]:
    """The keys of a fault's place as a file has them, without what names a kind of table."""
    found: list[str | int] = []
    for index, part in enumerate(place):
        if _has(table, (part,)):
            found.append(part)
            table = _inner(table, part)
        elif isinstance(table, dict) and index == len(place) - 1 and part != _KEY_ITSELF:
            found.append(part)  # one that is missing
    return tuple(found)


def _inner(table: object, part: str | int) -> object:
    if isinstance(table, dict):
        return table[str(part)]
    return table[part] if isinstance(table, list) and isinstance(part, int) else None


def owner_of(layers: Sequence[Layer], path: Sequence[str | int]) -> Layer:
    """The layer that has set a key last, or the nearest thing above it."""
    for depth in range(len(path), 0, -1):
        for layer in reversed(layers):
            if _has(layer.table, path[:depth]):
                return layer
    return layers[-1]


def _has(table: object, path: Sequence[str | int]) -> bool:
    for part in path:
        if isinstance(table, dict) and part in table:
            table = table[str(part)]
        elif isinstance(table, list) and isinstance(part, int) and part < len(table):
            table = table[part]
        else:
            return False
    return True
