"""The digest that ties an approval, a permit and a run to the same call and the same facts."""

import hashlib
import json

from daemon.domain import ids, principals
from tools import contract


def digest(
    spec: contract.ToolSpec,
    arguments_json: str,
    facts: contract.Facts,
    policy_revision: str,
    task_id: ids.TaskId,
    requester: principals.Principal,
) -> str:
    """SHA-256, in hexadecimal, over everything that must not change between yes and run."""
    parts = _parts(spec, arguments_json, facts, policy_revision, requester)
    return _hash({**parts, "task": task_id})


def key(
    spec: contract.ToolSpec,
    arguments_json: str,
    facts: contract.Facts,
    policy_revision: str,
    requester: principals.Principal,
) -> str:
    """The digest less the task: the same call by the same principal, whenever it is proposed."""
    return _hash(_parts(spec, arguments_json, facts, policy_revision, requester))


def _parts(
    spec: contract.ToolSpec,
    arguments_json: str,
    facts: contract.Facts,
    policy_revision: str,
    requester: principals.Principal,
) -> dict[str, object]:
    return {
        "tool": spec.name,
        "version": spec.version,
        "arguments": arguments_json,
        "effect": facts.effect.value,
        "bound": facts.bound,
        "policy": policy_revision,
        "requester": requester,
    }


def _hash(parts: dict[str, object]) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
