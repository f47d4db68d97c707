"""A call's arguments before anything else looks at them: known aliases, the closed schema, and
what tells the same call from another."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping

import fastjsonschema
import pydantic

from daemon.domain import directives
from tools import contract

ALIASES: Mapping[str, str] = {
    "file_path": "path",
    "filepath": "path",
    "filename": "path",
    "file_name": "path",
    "file": "path",
    "dir": "path",
    "directory": "path",
    "folder": "path",
    "cmd": "command",
    "commands": "command",
    "shell_command": "command",
    "content": "text",
    "contents": "text",
    "old_string": "search",
    "old_text": "search",
    "new_string": "replace",
    "new_text": "replace",
    "regex": "pattern",
    "link": "url",
    "uri": "url",
    "q": "query",
}
"""What models that learned other tools write, and the name that ours have for it."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def named(
    spec: contract.ToolSpec, given: Mapping[str, pydantic.JsonValue]
) -> dict[str, pydantic.JsonValue]:
    """The arguments under the tool's own names; an alias never overwrites what is there."""
    known = _properties(spec.parameters)
    found: dict[str, pydantic.JsonValue] = {}
    for name, value in given.items():
        own = ALIASES.get(name, name)
        maps = name not in known and own in known and own not in given and own not in found
        found[own if maps else name] = value
    return found


def fault(spec: contract.ToolSpec, given: Mapping[str, pydantic.JsonValue]) -> str:
    """What is wrong with a call's arguments, in a clause; empty when they fit the schema."""
    try:
        _validator(spec.parameters)(dict(given))
    except fastjsonschema.JsonSchemaValueException as error:
        return f"{spec.name}: {error.message.replace('data', 'arguments', 1)}"
    return ""


def fingerprint(tool: str, given: Mapping[str, pydantic.JsonValue]) -> str:
    """The same for the same call of the same tool, whatever the order of its arguments."""
    text = _ENCODER.encode([tool, given])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@functools.cache
def _properties(parameters: str) -> frozenset[str]:
    return frozenset(json.loads(parameters).get("properties", {}))


@functools.cache
def _validator(parameters: str) -> Callable[[object], object]:
    compiled: Callable[[object], object] = fastjsonschema.compile(json.loads(parameters))
    return compiled


def tool_fault(tools: Mapping[str, contract.ToolSpec], wanted: directives.UseTool) -> str:
    """Why a directive's call cannot even be looked at; empty when it can."""
    spec = tools.get(wanted.tool)
    if spec is None:
        known = ", ".join(sorted(tools)) or "none"
        return f"there is no tool {wanted.tool[:100]}; the tools are: {known}"
    return fault(spec, named(spec, wanted.arguments))
