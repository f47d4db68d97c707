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


def directive(tools: Mapping[str, contract.ToolSpec]) -> str:
    """The schema of what may come next."""
    calls = [
        _object(
            {
                "kind": {"const": "tool"},
                "tool": {"const": spec.name},
                "arguments": json.loads(spec.parameters),
            }
        )
        for spec in tools.values()
    ]
    steps = [_step("tool", spec) for spec in tools.values()] + [_step("coder"), _step("respond")]
    listed = {
        "type": "array",
        "items": {"anyOf": steps},
        "minItems": 1,
        "maxItems": directives.MOST_STEPS,
    }
    text = {"type": "string"}
    return json.dumps(
        {
            "anyOf": [
                _object({"kind": {"const": "respond"}}),
                *calls,
                _object({"kind": {"const": "plan"}, "steps": listed}),
                _object(
                    {
                        "kind": {"const": "coder"},
                        "instruction": text,
                        "files": {"type": "array", "items": text, "maxItems": 8},
                    }
                ),
                _object({"kind": {"const": "fail"}, "reason": text}),
            ]
        },
        separators=(",", ":"),
    )


def without_text(text: str) -> bool:
    """Whether a compiled directive says to answer with the thinker's words."""
    return "".join(text.split()) == _RESPOND


def _step(kind: str, spec: contract.ToolSpec | None = None) -> dict[str, object]:
    names: dict[str, object] = {
        "id": {"type": "string", "minLength": 1, "maxLength": 8},
        "goal": {"type": "string", "maxLength": 200},
        "kind": {"const": kind},
    }
    if spec is not None:
        names |= {"tool": {"const": spec.name}, "arguments": json.loads(spec.parameters)}
    after = {"type": "array", "items": {"type": "string", "maxLength": 8}, "maxItems": 4}
    return _object(names | {"after": after})


def _object(properties: dict[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
