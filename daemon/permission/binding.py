"""The digest that ties an approval, a permit and a run to the same call and the same facts."""

import hashlib
import json

from daemon.domain import ids, principals
from tools import contract

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def key(
    spec: contract.ToolSpec,
    arguments_json: str,
    facts: contract.Facts,
    policy_revision: str,
    requester: principals.Principal,
) -> str:
    """SHA-256, in hexadecimal, over everything that makes a call this one, whatever its task."""
    parts = {
        "tool": spec.name,
        "version": spec.version,
        "arguments": arguments_json,
        "effect": facts.effect.value,
        "bound": facts.bound,
        "policy": policy_revision,
        "requester": requester,
    }
    return _hash(_ENCODER.encode(parts))


def digest(call_key: str, task_id: ids.TaskId) -> str:
    """SHA-256, in hexadecimal, over everything that must not change between yes and run: the key
    of the call, and its task."""
    return _hash(f"{call_key} {task_id}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
