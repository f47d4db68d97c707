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
    parts = {
        "tool": spec.name,
        "version": spec.version,
        "arguments": arguments_json,
        "effect": facts.effect.value,
        "bound": facts.bound,
        "policy": policy_revision,
        "task": task_id,
        "requester": requester,
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
