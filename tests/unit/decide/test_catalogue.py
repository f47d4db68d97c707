"""The fixed part of prompts: the same bytes from the same tools, with their real schemas."""

import itertools
import json

import pytest

from daemon.decide import catalogue
from tests.unit.decide import scenes
from tools import contract

pytestmark = [pytest.mark.spec("D-06"), pytest.mark.spec("L-08")]


def spec(name: str) -> contract.ToolSpec:
    parameters = {"type": "object", "properties": {"ü": {"type": "string"}}, "required": []}
    return scenes.TOOLS["look"].model_copy(
        update={
            "name": name,
            "description": f"does {name}.",
            "parameters": json.dumps(parameters, indent=2),
        }
    )


def test_the_order_of_tools_does_not_matter() -> None:
    orders = itertools.permutations([spec("a"), spec("b"), spec("c")])
    assert len({catalogue.fixed_part("Be kind.", tools, codes=True) for tools in orders}) == 1


def test_each_tool_stands_with_its_schema_on_a_line_of_its_own() -> None:
    text = catalogue.fixed_part("Be kind.", [spec("b"), spec("a")], codes=False)
    assert text.startswith("Be kind.")
    schema = '{"type":"object","properties":{"ü":{"type":"string"}},"required":[]}'
    assert text.splitlines()[-2:] == [f"a {schema} does a.", f"b {schema} does b."]


def test_only_what_can_be_done_is_offered() -> None:
    assert catalogue.fixed_part("Be kind.", [], codes=False) == "Be kind."
    tools = [spec("a")]
    assert '"kind":"coder"' in catalogue.fixed_part("", tools, codes=True)
    assert '"kind":"coder"' not in catalogue.fixed_part("", tools, codes=False)
