"""Plain words are an answer; what claims to be a directive must be one, wholly."""

import json

import pytest

from daemon.decide import parse
from daemon.domain import directives

VALID: dict[str, directives.Directive] = {
    '{"kind":"respond","text":"ä"}': directives.Respond(kind="respond", text="ä"),
    '\n {"kind":"fail","reason":"no"} ': directives.Fail(kind="fail", reason="no"),
    '{"kind":"tool","tool":"t","arguments":{"a":[1,2.5,null,"x"]}}': directives.UseTool(
        kind="tool", tool="t", arguments={"a": [1, 2.5, None, "x"]}
    ),
    '{"kind":"coder","instruction":"i","files":["f"]}': directives.Coder(
        kind="coder", instruction="i", files=("f",)
    ),
}
WORDS = (
    "Paris.",
    "  Paris.\n",
    "",
    '{"kind":"sing"}',
    '{"kind": "Pod", "spec": {}}',
    '{"kind":1}',
    '{"a": 1}',
    'The field is "kind":"tool" there.',
)
AROUND = (
    'Use {"kind":"respond","text":"x"}',
    'Sure:\n```json\n{"kind": "tool", "tool": "t", "arguments": {}}\n```',
    '{"kind":"respond","text":"x"} Done.',
    '<tool>{ "kind":"tool","tool":"t"',
)
MALFORMED = {
    '{"kind":"respond"}': "respond.text: Field required",
    '{"kind":"respond","text":1}': "respond.text: Input should be a valid string",
    '{"kind":"respond","text":"a","x":1}': "respond.x: Extra inputs are not permitted",
    '{"kind":"respond","kind":"respond","text":"a"}': "a key stands twice in one object",
    '{"kind":"tool","tool":"t","arguments":{"a":1,"a":2}}': "a key stands twice in one object",
    '{"kind":"respond",}': "it is not valid JSON",
    '{"kind":"plan","steps":[]}': "plan.steps: Tuple should have at least 1 item",
    '{"kind":"tool","tool":"t","arguments":{"a":NaN}}': "NaN is no number that can be kept",
    '{"kind":"tool","tool":"t","arguments":{"a":1e999}}': "1e999 is no number that can be kept",
    '{"kind":"tool","tool":"t","arguments":{"a":-Infinity}}': "-Infinity is no number",
    '{"kind":"tool","tool":"t","arguments":{"a":'
    + "1" * 5000
    + "}}": "a number has more than 300 digits",
    '{"kind":"tool","x":' + "[" * 100_000 + "]" * 100_000 + "}": "it is nested too deeply",
    '{"kind":"respond","text":"\\ud800"}': "Invalid JSON",
}


@pytest.mark.parametrize(("text", "wanted"), VALID.items())
def test_what_the_model_wants(text: str, wanted: directives.Directive) -> None:
    assert parse.reply(text) == wanted


@pytest.mark.parametrize("text", WORDS)
def test_what_claims_no_directive_are_words(text: str) -> None:
    assert parse.reply(text) is None


@pytest.mark.spec("L-01")
@pytest.mark.parametrize("text", AROUND)
def test_a_directive_stands_alone(text: str) -> None:
    assert parse.reply(text) == parse.Malformed("there is text around the JSON object")


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(("text", "reason"), MALFORMED.items(), ids=range(len(MALFORMED)))
def test_a_malformed_directive_says_where(text: str, reason: str) -> None:
    found = parse.reply(text)
    assert isinstance(found, parse.Malformed)
    assert reason in found.reason


def test_arguments_are_kept_as_they_were_written() -> None:
    text = directives.arguments_json({"b": "ä\n", "a": [1]})
    assert text == '{"b":"ä\\n","a":[1]}'
    assert json.loads(text) == {"b": "ä\n", "a": [1]}
