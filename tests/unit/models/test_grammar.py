"""JSON Schema to GBNF: the subset that is known, and that nothing else passes."""

import json
import re

import pytest

from daemon.models.worker import grammar

REFUSED = {
    "not JSON": "{",
    "not an object": "3",
    "a type that is not known": '{"type":"date"}',
    "no type": '{"minLength":3}',
    "a pattern": '{"type":"string","pattern":"a+"}',
    "a format": '{"type":"string","format":"uri"}',
    "an open object": '{"type":"object","properties":{"a":{}},"additionalProperties":true}',
    "a required name without property": '{"type":"object","properties":{},"required":["a"]}',
    "a remote reference": '{"$ref":"http://example.org/s.json"}',
    "a reference to nothing": '{"$ref":"#/$defs/A"}',
    "a reference with more": '{"$ref":"#/$defs/A","minLength":1,"$defs":{"A":{"type":"null"}}}',
    "an empty choice": '{"anyOf":[]}',
    "an empty enumeration": '{"enum":[]}',
    "bounds that leave nothing": '{"type":"string","minLength":3,"maxLength":2}',
    "a negative bound": '{"type":"array","minItems":-1}',
    "a bound that is no integer": '{"type":"integer","minimum":0.5}',
    "an integer range too wide": '{"type":"integer","minimum":-5,"maximum":100000}',
    "allOf": '{"allOf":[{"type":"string"}]}',
    "not": '{"not":{"type":"string"}}',
    "a lone surrogate": '{"const":"\\ud800"}',
    "a lone surrogate in a name": '{"type":"object","properties":{"\\ud800":{}}}',
    "too deep": '{"type":"array","items":' * 30 + "{}" + "}" * 30,
    "deeper than a parser goes": '{"items":' * 100_000,
    "too large": json.dumps({"const": "x" * grammar.SCHEMA_BYTES}),
    "too many rules": json.dumps({"enum": [1], "$defs": {}, "anyOf": [{"enum": [1]}] * 3000}),
}


@pytest.mark.parametrize("schema", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_known_is_refused_with_a_sentence(schema: str) -> None:
    with pytest.raises(grammar.SchemaError) as caught:
        grammar.from_schema(schema)
    assert str(caught.value)


def root(schema: object) -> str:
    rules = dict(
        line.split(" ::= ", 1) for line in grammar.from_schema(json.dumps(schema)).splitlines()
    )
    expanded, seen = rules["root"], ""
    while expanded != seen:
        seen = expanded
        expanded = re.sub(r"\br\d+\b", lambda name: f"({rules[name[0]]})", seen)
    return expanded


def test_members_come_in_order_and_optional_ones_may_be_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["b"],
    }
    a, b, c = r'("\"a\"" colon null)', r'("\"b\"" colon null)', r'("\"c\"" colon null)'
    after_b = f"(( comma {c} )?)"
    assert root(schema) == f'("{{" ( {a} (comma {b} {after_b}) | {b} {after_b} ) "}}")'


def test_a_small_range_is_listed() -> None:
    assert root({"type": "integer", "minimum": 1, "maximum": 3}) == '("1" | "2" | "3")'


def test_literals_are_escaped_and_keep_their_characters() -> None:
    assert root({"const": 'a"\\\n🦆'}) == r'"\"a\\\"\\\\\\n🦆\""'


def test_annotations_are_ignored() -> None:
    assert root({"type": "null", "title": "T", "description": "D", "default": None}) == "null"
