"""Changes an owner's TOML text step by step; comments and all else stay as they wrote them.

Apart from `upgrade` because its library takes its time to load, and few starts need it.
"""

from collections.abc import Sequence

import tomlkit
from tomlkit import items

from daemon.config import upgrade


def apply(
    text: str, steps: Sequence[upgrade.Step], version: int
) -> tuple[str, dict[str, object], list[str]]:
    """The text after the steps, its table, and one line for each thing that was done."""
    document = tomlkit.parse(text)
    said = [line for step in steps for line in _apply(document, step)]
    document["version"] = version
    changed = tomlkit.dumps(document)
    return changed, tomlkit.parse(changed).unwrap(), said


def _apply(document: tomlkit.TOMLDocument, step: upgrade.Step) -> list[str]:
    section = document.get(step.section)
    if not isinstance(section, items.Table | items.InlineTable):
        return []
    match step:
        case upgrade.Rename() if step.old in section:
            _rename(section, step)
            return [f"{step.section}.{step.old} is now called {step.new}"]
        case upgrade.Add() if step.key not in section:
            section[step.key] = step.default
            return [f"{step.section}.{step.key} is new, with its default {step.default!r}"]
        case upgrade.NewDefault() if step.key in section and section[step.key] == step.old:
            section[step.key] = step.new
            return [f"{step.section}.{step.key} was at its old default and is now {step.new!r}"]
        case _:
            return []


def _rename(section: items.Table | items.InlineTable, step: upgrade.Rename) -> None:
    value = section[step.old]
    section.remove(step.old)
    if step.new not in section:
        section.add(step.new, value)
