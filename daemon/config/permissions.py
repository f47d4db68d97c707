"""The rules for calls: the packaged `permissions.toml`, and the owner's own over it."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from daemon.config import layers
from daemon.domain import errors
from daemon.permission import command, policy, rules
from daemon.runtime import judge

FILE = "permissions.toml"


def own_files(folders: Sequence[Path]) -> list[Path]:
    """The owner's files, from the one that counts least to the one that counts most."""
    return [folder / FILE for folder in folders if (folder / FILE).exists()]


def load(folders: Sequence[Path]) -> judge.Loaded:
    """The rules with every example confirmed.

    Raises:
        errors.ConfigFault: a file cannot be read, or its rules are not well formed or fail an
            example; one line each.
    """
    found = [layers.packaged(FILE)]
    files = own_files(folders)
    found += [layer for path in files if (layer := layers.file(path)) is not None]
    table = layers.merge(found)
    try:
        known = command.load(table)
    except rules.PermissionsFault as fault:
        named = files[-1] if files else FILE
        raise errors.ConfigFault([f"{named}: {one}" for one in fault.faults]) from fault
    text = json.dumps(table, sort_keys=True, default=str)
    revision = hashlib.sha256(f"{policy.REVISION} {text}".encode()).hexdigest()[:16]
    return judge.Loaded(known, revision)
