"""Plain words are an answer; what claims to be a directive must be one, wholly."""

import json

import pytest

from daemon.decide import parse
from daemon.domain import directives

VALID: dict[str, directives.Directive] = {
    "Paris.": directives.Respond(kind="respond", text="Paris."),
    "  Paris.\n": directives.Respond(kind="respond", text="Paris."),
    "": directives.Respond(kind="respond", text=""),
    '{"a": 1}': directives.Respond(kind="respond", text='{"a": 1}'),
    'Use {"kind":"respond"}': directives.Respond(kind="respond", text='Use {"kind":"respond"}'),
    '{"kind":"respond","text":"ä"}': directives.Respond(kind="respond", text="ä"),
    '\n {"kind":"fail","reason":"no"} ': directives.Fail(kind="fail", reason="no"),
    '{"kind":"tool","tool":"t","arguments":{"a":[1,2.5,null,"x"]}}': directives.UseTool(
        kind="tool", tool="t", arguments={"a": [1, 2.5, None, "x"]}
    ),
    '{"kind":"coder","instruction":"i","files":["f"]}': directives.Coder(
        kind="coder", instruction="i", files=("f",)
    ),
}
ANSWERS_IN_JSON = ('{"kind":"sing"}', '{"kind": "Pod", "spec": {}}', '{"kind":1}', '{"a": 1}')
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


@pytest.mark.parametrize("text", ANSWERS_IN_JSON)
def test_json_that_is_no_directive_is_an_answer(text: str) -> None:
    assert parse.reply(text) == directives.Respond(kind="respond", text=text)


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
