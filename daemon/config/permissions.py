"""The rules for calls: the packaged `permissions.toml`, and the owner's own over it.

The owner's rules and programs are added to ours, so that who writes one rule keeps all others; one
of the same id, or for the same program, goes in the place of ours. All else is merged by key.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeGuard

from daemon.config import layers
from daemon.domain import errors
from daemon.permission import command, policy, rules
from daemon.runtime import judge

FILE = layers.PERMISSIONS
_Entry = dict[str, object]


def load(folders: Sequence[Path]) -> judge.Loaded:
    """The rules with every example confirmed.

    Raises:
        errors.ConfigFault: a file cannot be read, or its rules are not well formed or fail an
            example; one line each.
    """
    found = [layers.packaged(FILE)]
    files = layers.own_files(FILE, folders)
    found += [layer for path in files if (layer := layers.file(path)) is not None]
    table = _merge(found)
    try:
        known = command.load(table)
    except rules.PermissionsFault as fault:
        named = files[-1] if files else FILE
        raise errors.ConfigFault([f"{named}: {one}" for one in fault.faults]) from fault
    text = json.dumps(table, sort_keys=True, default=str)
    revision = hashlib.sha256(f"{policy.REVISION} {text}".encode()).hexdigest()[:16]
    return judge.Loaded(known, revision)


def _merge(found: Sequence[layers.Layer]) -> layers.Table:
    table = layers.merge(found)
    for key, without in (("rules", _without_rules), ("programs", _without_programs)):
        below: list[_Entry] = []
        for layer in found:
            own = layer.table.get(key, [])
            if not _are_tables(own):
                below = []
                break  # what it is stands in the merged table, and is a fault there
            below = [*without(below, own), *own]
        if below:
            table[key] = below
    return table


def _are_tables(given: object) -> TypeGuard[list[_Entry]]:
    return isinstance(given, list) and all(isinstance(one, dict) for one in given)


def _without_rules(below: Sequence[_Entry], own: Sequence[_Entry]) -> list[_Entry]:
    replaced = [one.get("id") for one in own]
    return [one for one in below if one.get("id") not in replaced]


def _without_programs(below: Sequence[_Entry], own: Sequence[_Entry]) -> list[_Entry]:
    """The entries less each program, with the same first word, that one of one's own speaks of."""
    replaced = [(name, one.get("first", "")) for one in own for name in _names(one)]
    kept: list[_Entry] = []
    for one in below:
        first = one.get("first", "")
        names = [name for name in _names(one) if (name, first) not in replaced]
        if names:
            kept.append({**one, "programs": names})
    return kept


def _names(entry: _Entry) -> list[object]:
    names = entry.get("programs")
    return names if isinstance(names, list) else []
