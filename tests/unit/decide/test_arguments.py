"""A call's arguments: aliases are mapped once, the schema is closed, the same call is the same."""

import json
from collections.abc import Mapping

import pydantic
import pytest

from daemon.decide import arguments
from daemon.domain import directives
from tools import contract

pytestmark = [pytest.mark.spec("L-01"), pytest.mark.spec("L-08")]

SPEC = contract.ToolSpec(
    name="file_edit",
    version=1,
    description="",
    parameters=json.dumps(
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "search": {"type": "string"},
                "count": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
            "additionalProperties": False,
        }
    ),
    effect=contract.Effect.RECONCILABLE,
    category=contract.Category.NORMAL,
)
Given = Mapping[str, pydantic.JsonValue]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"path": "a"}, {"path": "a"}),
        ({"file_path": "a"}, {"path": "a"}),
        ({"filename": "a", "old_string": "b"}, {"path": "a", "search": "b"}),
        ({"file_path": "a", "path": "b"}, {"file_path": "a", "path": "b"}),
        ({"file": "a", "filename": "b"}, {"path": "a", "filename": "b"}),
        ({"cmd": "ls"}, {"cmd": "ls"}),
        ({"other": 1}, {"other": 1}),
    ],
)
def test_an_alias_is_mapped_where_nothing_is_lost_by_it(given: Given, named: Given) -> None:
    assert arguments.named(SPEC, given) == named


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"path": "a"}, ""),
        ({"file_path": "a", "count": 1}, ""),
        ({}, "file_edit: arguments must contain ['path'] properties"),
        ({"path": 1}, "file_edit: arguments.path must be string"),
        ({"path": "a", "count": 0}, "file_edit: arguments.count must be bigger than or equal to 1"),
        ({"path": "a", "mode": "yolo"}, "must not contain {'mode'} properties"),
        ({"path": "a", "approved": True}, "must not contain {'approved'} properties"),
    ],
)
def test_a_call_fits_the_closed_schema_or_is_told_why_not(given: Given, fault: str) -> None:
    wanted = directives.UseTool(kind="tool", tool="file_edit", arguments=dict(given))
    said = arguments.tool_fault({SPEC.name: SPEC}, wanted)
    assert fault in said
    assert bool(said) == bool(fault)


def test_an_unknown_tool_is_told_with_those_that_there_are() -> None:
    wanted = directives.UseTool(kind="tool", tool="sudo" * 100, arguments={})
    said = arguments.tool_fault({SPEC.name: SPEC}, wanted)
    assert said.endswith("the tools are: file_edit")
    assert len(said) < 200


def test_the_same_call_has_the_same_fingerprint() -> None:
    one = arguments.fingerprint("t", {"a": 1, "b": [1, 2]})
    assert one == arguments.fingerprint("t", {"b": [1, 2], "a": 1})
    others: list[tuple[str, Given]] = [
        ("u", {"a": 1, "b": [1, 2]}),
        ("t", {"a": 1, "b": [2, 1]}),
        ("t", {"a": "1"}),
    ]
    assert one not in {arguments.fingerprint(tool, given) for tool, given in others}
