"""Brings an owner's file of an older version to this one, keeps the old file, and says what it did.

A step renames a key, adds a new one, or moves a value that was left at an old default. Comments
and everything else stay as the owner wrote them. A file of a newer version is refused.
"""

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from daemon.config import layers
from daemon.domain import errors

VERSION = 1
"""The version of the packaged files."""


@dataclass(frozen=True)
class Rename:
    """From this version on, a key has another name in the same section."""

    version: int
    section: str
    old: str
    new: str


@dataclass(frozen=True)
class Add:
    """From this version on, there is a new key."""

    version: int
    section: str
    key: str
    default: bool | int | str


@dataclass(frozen=True)
class NewDefault:
    """From this version on, a key has another default; a value left at the old one moves."""

    version: int
    section: str
    key: str
    old: bool | int | str
    new: bool | int | str


Step = Rename | Add | NewDefault
STEPS: Mapping[str, Sequence[Step]] = {"daemon.toml": (), "models.toml": (), "profiles.toml": ()}


def bring_up(
    layer: layers.Layer, path: Path, steps: Sequence[Step], version: int
) -> tuple[layers.Layer, list[str]]:
    """The layer as this version reads it, and one line for each thing that was done to its file.

    Raises:
        errors.ConfigFault: the file has no version, or a newer one.
    """
    found = layer.table.get("version")
    if not isinstance(found, int) or isinstance(found, bool):
        raise errors.ConfigFault([f"{path}: version: write version = {version} at the top"])
    if found > version:
        raise errors.ConfigFault(
            [f"{path}: version: it is of version {found}, this program knows {version}: upgrade it"]
        )
    if found == version:
        return layer, []
    from daemon.config import rewrite

    newer = [step for step in steps if step.version > found]
    text, table, said = rewrite.apply(path.read_text(encoding="utf-8"), newer, version)
    said.insert(0, _write(path, text, found, version))
    return layers.Layer(layer.source, table, layer.folder), [f"{path}: {line}" for line in said]


def _drop(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink()


def _write(path: Path, text: str, old: int, new: int) -> str:
    """Replace the file, with the old one beside it; a file that cannot be written stays."""
    backup = path.with_name(f"{path.name}.v{old}")
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        mode = path.stat().st_mode & 0o777
        temporary.write_text(text, encoding="utf-8")
        temporary.chmod(mode)
        if not backup.exists():
            os.link(path, backup)
        temporary.replace(path)
    except OSError as error:
        _drop(temporary)
        return f"version {old} is read as version {new}; the file stays: {error.strerror}"
    return f"brought from version {old} to {new}; the old file is {backup.name}"
