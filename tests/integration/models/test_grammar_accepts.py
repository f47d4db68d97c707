"""What the grammars that we write let through, judged by native code."""

import json
import pathlib

import numpy as np
import pytest
from llama_cpp import llama_cpp

from daemon.models.worker import engine, grammar, vocabulary

NULL = {"type": "null"}
OBJECT = {
    "type": "object",
    "properties": {"a": NULL, "b": {"type": "integer", "minimum": 0}, "c": NULL},
    "required": ["b"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"sub": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
            "required": ["sub"],
        }
    },
}
CASES: dict[str, tuple[object, list[str], list[str]]] = {
    "object": (
        OBJECT,
        ['{"b":0}', '{"a":null,"b":12}', '{"b": 3, "c": null}', '{"a":null,"b":1,"c":null}'],
        ["{}", '{"a":null}', '{"b":-1}', '{"b":01}', '{"c":null,"b":1}', '{"b":1,}', '{"d":1}'],
    ),
    "string": (
        {"type": "string"},
        ['""', '"a\\n\\"\\u00e9\\\\"', '"日本🦆"', '"\\/"'],
        ['"\n"', '"\\x"', '"\\ud800"', '"a', "'a'"],
    ),
    "bounded string": (
        {"type": "string", "minLength": 2, "maxLength": 3},
        ['"ab"', '"日本🦆"', '"\\n\\n"'],
        ['"a"', '"abcd"'],
    ),
    "array": (
        {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
        ["[true]", "[true, false]"],
        ["[]", "[true,true,true]", "[1]", "[true,]"],
    ),
    "number": ({"type": "number"}, ["0", "-1.5e-3", "10"], ["01", ".5", "+1", "NaN", "1."]),
    "recursion": (TREE, ['{"sub":[]}', '{"sub":[{"sub":[]},{"sub":[]}]}'], ['{"sub":[1]}']),
    "anything": ({}, ["1", '[{"a":[null]}]', '{"a":{"b":"c"}}'], ["[1", "nul", "{a:1}"]),
    "a map": (
        {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
        ["{}", '{"x":"y","z":null}'],
        ['{"x":1}'],
    ),
    "choices": ({"enum": ["a", 1, None]}, ['"a"', "1", "null"], ['"b"', "2"]),
}


@pytest.fixture(scope="module")
def native(tiny_path: pathlib.Path) -> engine.Engine:
    return engine.Engine(engine.Shape(str(tiny_path), 256, 1, 0, 1), lambda _: None)


class Judge:
    """Feeds a text, token by token, to a native grammar."""

    def __init__(self, native: engine.Engine) -> None:
        self._native = native
        self._words = vocabulary.Vocabulary(native.vocabulary)
        self._end = next(token for token in range(self._words.size()) if self._words.ends(token))

    def accepts(self, schema: object, text: str) -> bool:
        rules = grammar.from_schema(json.dumps(schema)).encode()
        sampler = llama_cpp.llama_sampler_init_grammar(self._native.vocabulary, rules, b"root")
        assert sampler
        try:
            for token in [*self._words.content(text), self._end]:
                if not self._allows(sampler, token):
                    return False
                llama_cpp.llama_sampler_accept(sampler, token)
        finally:
            llama_cpp.llama_sampler_free(sampler)
        return True

    def _allows(self, sampler: int, token: int) -> bool:
        data = llama_cpp.llama_token_data(token, 1.0, 0.0)
        array = llama_cpp.llama_token_data_array(llama_cpp.llama_token_data_p(data), 1, -1, False)
        llama_cpp.llama_sampler_apply(sampler, llama_cpp.llama_token_data_array_p(array))
        return bool(np.isfinite(data.logit))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_grammar_lets_through_what_its_schema_says(
    native: engine.Engine, case: tuple[object, list[str], list[str]]
) -> None:
    schema, accepted, refused = case
    judge = Judge(native)
    assert [text for text in accepted if not judge.accepts(schema, text)] == []
    assert [text for text in refused if judge.accepts(schema, text)] == []
