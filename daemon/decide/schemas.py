"""The JSON Schema of a directive, for the grammar that a compiler writes under.

Each tool is a variant of its own with its real closed schema, so that what comes out can be called.
A respond directive has no text here: the thinker's words are the answer, and a compiler that wrote
them again would cost their tokens once more and could change them.
"""

import json
from collections.abc import Mapping

from daemon.domain import directives
from tools import contract

_RESPOND = json.dumps({"kind": "respond"}, separators=(",", ":"))
_TEXT = {"type": "string"}


def directive(tools: Mapping[str, contract.ToolSpec], codes: bool) -> str:
    """The schema of what may come next; `codes` when a coder can change files."""
    calls = [
        _object(
            {
                "kind": {"const": "tool"},
                "tool": {"const": spec.name},
                "arguments": _loose(json.loads(spec.parameters)),
            }
        )
        for spec in tools.values()
    ]
    steps = [_step("tool", spec) for spec in tools.values()] + [_step("respond")]
    if codes:
        steps.append(_step("coder"))
    listed = {
        "type": "array",
        "items": {"anyOf": steps},
        "minItems": 1,
        "maxItems": directives.MOST_STEPS,
    }
    return json.dumps(
        {
            "anyOf": [
                _object({"kind": {"const": "respond"}}),
                *calls,
                _object({"kind": {"const": "plan"}, "steps": listed}),
                *([_coder()] if codes else []),
                _object({"kind": {"const": "fail"}, "reason": _TEXT}),
            ]
        },
        separators=(",", ":"),
    )


def without_text(text: str) -> bool:
    """Whether a compiled directive says to answer with the thinker's words."""
    return "".join(text.split()) == _RESPOND


def _coder() -> dict[str, object]:
    files = {"type": "array", "items": _TEXT, "maxItems": 8}
    return _object({"kind": {"const": "coder"}, "instruction": _TEXT, "files": files})


def _step(kind: str, spec: contract.ToolSpec | None = None) -> dict[str, object]:
    names: dict[str, object] = {
        "id": {"type": "string", "minLength": 1, "maxLength": 8},
        "goal": {"type": "string", "maxLength": 200},
        "kind": {"const": kind},
    }
    if spec is not None:
        names |= {"tool": {"const": spec.name}, "arguments": _loose(json.loads(spec.parameters))}
    after = {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 4}
    return _object(names | {"after": after})


def _loose(schema: object) -> object:
    """The shape of a tool's arguments as a grammar can hold it.

    What it cannot (bounds, patterns, kinds that we do not write) is left to the validation of the
    arguments: a grammar that says too little costs a repair, one that cannot be made the turn.
    """
    if not isinstance(schema, dict):
        return {}
    if "enum" in schema or "const" in schema:
        return {key: schema[key] for key in ("enum", "const") if key in schema}
    match schema.get("type"):
        case "object" if isinstance(schema.get("properties"), dict):
            return {
                "type": "object",
                "properties": {k: _loose(v) for k, v in schema["properties"].items()},
                "required": schema.get("required", []),
                "additionalProperties": False,
            }
        case "array":
            return {"type": "array", "items": _loose(schema.get("items"))}
        case "integer" if schema.get("minimum") in (0, 1):
            return {"type": "integer", "minimum": schema["minimum"]}
        case "string" | "integer" | "number" | "boolean" | "null" as kind:
            return {"type": kind}
        case _:
            return {}


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
