"""Profiles of files: packaged, and the owner's own in their place or beside them.

One of an owner's replaces ours of that name whole: half of one preset and half of another would be
a third that nobody wrote.
"""

from collections.abc import Sequence

import pydantic

from daemon.config import layers
from daemon.domain import base, presets

FILE = "profiles.toml"


class ProfilesFile(base.Value):
    """profiles.toml."""

    version: int
    profiles: dict[str, presets.Profile]

    @pydantic.model_validator(mode="after")
    def _are_named(self) -> "ProfilesFile":
        for name in self.profiles:
            if not presets.NAME.fullmatch(name):
                raise ValueError(f"profiles.{name}: a name is {presets.NAME_TOLD}")
        return self


def replaced(found: Sequence[layers.Layer]) -> list[layers.Layer]:
    """The layers, each without the profiles that a later one has under the same name."""
    kept: list[layers.Layer] = []
    taken: set[str] = set()
    for layer in reversed(found):
        named = layer.table.get("profiles")
        table = dict(layer.table)
        if isinstance(named, dict):
            table["profiles"] = {name: one for name, one in named.items() if name not in taken}
            taken.update(named)
        kept.insert(0, layers.Layer(layer.source, table, layer.folder))
    return kept
