"""A closed subset of JSON Schema to GBNF, llama.cpp's grammar language.

Pure. A bad grammar crashes native code, so nothing is passed through: each keyword is either known
here or refused, and the grammar is made of rules that this module writes. The output is compact
JSON, at most one space after a colon or a comma; members come in the order of the schema.
Length bounds above BOUND are left to whoever validates the result: native code unrolls them.
"""

import json
import re
from collections.abc import Mapping

SCHEMA_BYTES = 64 * 1024
DEPTH = 24
RULES = 2000
BOUND = 256

_ANNOTATIONS = frozenset(
    ["title", "description", "default", "examples", "discriminator", "$schema", "$id", "$comment"]
)
_KEYWORDS = {
    "object": frozenset(["properties", "required", "additionalProperties"]),
    "array": frozenset(["items", "minItems", "maxItems"]),
    "string": frozenset(["minLength", "maxLength"]),
    "integer": frozenset(["minimum", "maximum"]),
    "number": frozenset(),
    "boolean": frozenset(),
    "null": frozenset(),
}
_BASE_RULES = {
    "colon": '":" " "?',
    "comma": '"," " "?',
    "hex": "[0-9a-fA-F]",
    "escape": '["\\\\/bfnrt] | "u" ( [0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex )',
    "char": '[^"\\\\\\x00-\\x1F\\x7F] | "\\\\" escape',
    "string": '"\\"" char* "\\""',
    "natural": '"0" | [1-9] [0-9]{0,15}',
    "integer": '"-"? natural',
    "number": 'integer ( "." [0-9]{1,16} )? ( [eE] [-+]? [0-9]{1,3} )?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "value": "object | array | string | number | boolean | null",
    "member": "string colon value",
    "object": '"{" ( member ( comma member )* )? "}"',
    "array": '"[" ( value ( comma value )* )? "]"',
}


class SchemaError(ValueError):
    """The schema is not one that a grammar can be made of; says where and why."""


def from_schema(text: str) -> str:
    """The grammar, with start rule `root`, whose every sentence is JSON of this schema.

    Raises:
        SchemaError: the text is no JSON Schema of the known subset.
    """
    if len(text.encode("utf-8", "replace")) > SCHEMA_BYTES:
        raise SchemaError(f"the schema is larger than {SCHEMA_BYTES} bytes")
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the schema is not JSON: {error}") from error
    return _Writer(schema).grammar()


class _Writer:
    def __init__(self, schema: object) -> None:
        self._schema = schema
        self._rules = dict(_BASE_RULES)
        self._references: dict[str, str] = {}

    def grammar(self) -> str:
        self._rules["root"] = self._visit(self._schema, "#", 0, top=True)
        return "\n".join(f"{name} ::= {body}" for name, body in self._rules.items()) + "\n"

    def _rule(self, body: str) -> str:
        if len(self._rules) >= RULES:
            raise SchemaError(f"the schema needs more than {RULES} rules")
        name = f"r{len(self._rules)}"
        self._rules[name] = body
        return name

    def _visit(self, schema: object, at: str, depth: int, top: bool = False) -> str:
        """An expression that may stand in a sequence: a rule's name or one in parentheses."""
        if depth > DEPTH:
            raise SchemaError(f"{at}: the schema is nested deeper than {DEPTH}")
        if schema is True or schema == {}:
            return "value"
        if not isinstance(schema, dict):
            raise SchemaError(f"{at}: a schema is an object")
        known = {k: v for k, v in schema.items() if k not in _ANNOTATIONS}
        if top:
            known.pop("$defs", None)
        if "$ref" in known:
            return self._reference(known, at, depth)
        for choice in ("anyOf", "oneOf"):
            if choice in known:
                return self._choice(known, choice, at, depth)
        if "const" in known:
            _only(known, frozenset(["const", "type"]), at)
            return _literal(known["const"], at)
        if "enum" in known:
            return self._enumeration(known, at)
        return self._typed(known, at, depth)

    def _reference(self, schema: Mapping[str, object], at: str, depth: int) -> str:
        _only(schema, frozenset(["$ref"]), at)
        target = schema["$ref"]
        match = re.fullmatch(r"#/\$defs/([A-Za-z0-9_.-]+)", str(target))
        definitions = self._schema.get("$defs", {}) if isinstance(self._schema, dict) else {}
        if match is None or not isinstance(definitions, dict) or match[1] not in definitions:
            raise SchemaError(f"{at}: {target!r} names no definition of this schema")
        if match[1] not in self._references:
            name = self._references[match[1]] = self._rule("")
            self._rules[name] = self._visit(definitions[match[1]], f"#/$defs/{match[1]}", depth + 1)
        return self._references[match[1]]

    def _choice(self, schema: Mapping[str, object], key: str, at: str, depth: int) -> str:
        _only(schema, frozenset([key]), at)
        options = schema[key]
        if not isinstance(options, list) or not options:
            raise SchemaError(f"{at}/{key}: a list of schemas is wanted")
        visited = [
            self._visit(option, f"{at}/{key}/{index}", depth + 1)
            for index, option in enumerate(options)
        ]
        return self._rule(" | ".join(visited))

    def _enumeration(self, schema: Mapping[str, object], at: str) -> str:
        _only(schema, frozenset(["enum", "type"]), at)
        values = schema["enum"]
        if not isinstance(values, list) or not values:
            raise SchemaError(f"{at}/enum: a list of values is wanted")
        literals = [_literal(value, at) for value in values]
        return self._rule(" | ".join(literals))

    def _typed(self, schema: Mapping[str, object], at: str, depth: int) -> str:
        kind = schema.get("type")
        if isinstance(kind, list):
            options = [{**schema, "type": one} for one in kind]
            return self._choice({"anyOf": options}, "anyOf", at, depth)
        if not isinstance(kind, str) or kind not in _KEYWORDS:
            raise SchemaError(f"{at}: the type {kind!r} is not known here")
        _only(schema, _KEYWORDS[kind] | {"type"}, at)
        if kind == "object":
            return self._object(schema, at, depth)
        if kind == "array":
            return self._array(schema, at, depth)
        if kind == "string":
            bounds = _bounds(schema, "minLength", "maxLength", at)
            if bounds == "*":
                return "string"
            return self._rule(f'"\\"" char{bounds} "\\""')
        if kind == "integer":
            return self._integer(schema, at)
        return kind

    def _object(self, schema: Mapping[str, object], at: str, depth: int) -> str:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            raise SchemaError(f"{at}: properties is an object and required a list")
        if any(name not in properties for name in required):
            raise SchemaError(f"{at}/required: names what is no property")
        extra = schema.get("additionalProperties", not properties)
        if not properties:
            return self._map(extra, at, depth)
        if extra is not False and "additionalProperties" in schema:
            raise SchemaError(f"{at}: additionalProperties beside properties must be false")
        members = []
        for name, value in properties.items():
            inner = self._visit(value, f"{at}/properties/{name}", depth + 1)
            key = _literal(name, at)
            members.append((self._rule(f"{key} colon {inner}"), name in required))
        return self._rule(f'"{{" {self._members(members)} "}}"')

    def _map(self, extra: object, at: str, depth: int) -> str:
        if extra is False:
            return '"{}"'
        if extra is True:
            return "object"
        inner = self._visit(extra, f"{at}/additionalProperties", depth + 1)
        member = self._rule(f"string colon {inner}")
        return self._rule(f'"{{" ( {member} ( comma {member} )* )? "}}"')

    def _members(self, members: list[tuple[str, bool]]) -> str:
        """The members in order. Before the first that is present there is no comma."""
        rest = [f"comma {rule}" if required else f"( comma {rule} )?" for rule, required in members]
        tails = [""] * (len(members) + 1)
        for index in range(len(members) - 1, 0, -1):
            tails[index] = self._rule(f"{rest[index]} {tails[index + 1]}".strip())
        options = []
        for index, (rule, required) in enumerate(members):
            options.append(f"{rule} {tails[index + 1]}".strip())
            if required:
                return f"( {' | '.join(options)} )"
        return f"( {' | '.join(options)} )?"

    def _array(self, schema: Mapping[str, object], at: str, depth: int) -> str:
        item = self._visit(schema.get("items", True), f"{at}/items", depth + 1)
        least, most = _limits(schema, "minItems", "maxItems", at)
        if most == 0:
            return '"[]"'
        after = "*" if most is None else f"{{0,{most - 1}}}"
        if least > 1:
            after = f"{{{least - 1},{'' if most is None else most - 1}}}"
        body = f"{item} ( comma {item} ){after}"
        return self._rule(f'"[" {body} "]"' if least else f'"[" ( {body} )? "]"')

    def _integer(self, schema: Mapping[str, object], at: str) -> str:
        least, most = schema.get("minimum"), schema.get("maximum")
        for bound in (least, most):
            if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
                raise SchemaError(f"{at}: bounds of an integer are integers")
        if isinstance(least, int) and isinstance(most, int):
            if least > most:
                raise SchemaError(f"{at}: minimum is above maximum")
            if most - least < BOUND:
                return self._rule(" | ".join(f'"{n}"' for n in range(least, most + 1)))
        if most is None and least in (None, 0, 1):
            return {None: "integer", 0: "natural"}.get(least) or self._rule("[1-9] [0-9]{0,15}")
        raise SchemaError(
            f"{at}: an integer is bounded by minimum 0 or 1, or to fewer than {BOUND} values"
        )


def _only(schema: Mapping[str, object], allowed: frozenset[str], at: str) -> None:
    unknown = sorted(set(schema) - allowed)
    if unknown:
        raise SchemaError(f"{at}: {', '.join(unknown)} cannot be used here")


def _limits(schema: Mapping[str, object], least: str, most: str, at: str) -> tuple[int, int | None]:
    """Both bounds; one above BOUND counts as not given."""
    low, high = schema.get(least, 0), schema.get(most)
    for value in (low, high):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise SchemaError(f"{at}: {least} and {most} are integers")
    assert isinstance(low, int)
    assert high is None or isinstance(high, int)
    if low < 0 or (high is not None and high < low):
        raise SchemaError(f"{at}: {least} and {most} leave nothing")
    return min(low, BOUND), high if high is None or high <= BOUND else None


def _bounds(schema: Mapping[str, object], least: str, most: str, at: str) -> str:
    low, high = _limits(schema, least, most, at)
    if high is None:
        return "*" if not low else f"{{{low},}}"
    return f"{{{low},{high}}}"


def _literal(value: object, at: str) -> str:
    """A GBNF string of the value as JSON; its controls are escaped by JSON already."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise SchemaError(f"{at}: half of a character cannot be used")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
