"""The file tools' catalogue entries and arguments, and what a person reads of a change."""

import asyncio
import json
import threading

import pytest

from tools import (
    check_code,
    contract,
    file_diff,
    file_edit,
    file_list,
    file_read,
    file_write,
    files,
    grep,
    registry,
)

pytestmark = pytest.mark.spec("D-13")

TOOLS = registry.build(registry.Switches(files=True))
FORMS: dict[str, type[contract.Value]] = {
    "file_read": file_read.Arguments,
    "file_write": file_write.Arguments,
    "file_list": file_list.Arguments,
    "file_edit": file_edit.PlaceArguments,
    "apply_edits": file_edit.BlocksArguments,
    "grep": grep.Arguments,
    "check_code": check_code.Arguments,
}
E, C = contract.Effect, contract.Category


def test_they_are_offered_when_they_are_turned_on_behind_the_shell() -> None:
    switches = registry.Switches(shell=True, files=True)
    assert list(registry.build(switches)) == ["shell_exec", *FORMS]
    assert set(TOOLS) == set(FORMS)


@pytest.mark.parametrize(
    ("name", "effect", "category"),
    [
        ("file_read", E.PURE, C.READ_ONLY),
        ("file_list", E.PURE, C.READ_ONLY),
        ("grep", E.PURE, C.READ_ONLY),
        ("check_code", E.PURE, C.READ_ONLY),
        ("file_write", E.RECONCILABLE, C.NORMAL),
        ("file_edit", E.RECONCILABLE, C.NORMAL),
        ("apply_edits", E.RECONCILABLE, C.NORMAL),
    ],
)
def test_what_they_do_to_the_world(
    name: str, effect: contract.Effect, category: contract.Category
) -> None:
    spec = TOOLS[name].spec
    assert (spec.name, spec.effect, spec.category) == (name, effect, category)
    assert TOOLS[name].command("{}") is None


@pytest.mark.spec("L-08")
@pytest.mark.parametrize("name", FORMS)
def test_the_catalogue_says_what_is_checked(name: str) -> None:
    said = json.loads(TOOLS[name].spec.parameters)
    checked = FORMS[name].model_json_schema()
    assert said["additionalProperties"] is False
    assert set(said["properties"]) == set(checked["properties"])
    assert set(said["required"]) == set(checked.get("required", []))
    for field, form in said["properties"].items():
        known = checked["properties"][field]
        known = {**known, **known.get("anyOf", [{}])[0]}  # what may be left out
        known = {**known, **checked.get("$defs", {}).get(known.get("$ref", "")[8:], {})}
        for key in ("type", "minimum", "maximum", "enum"):
            assert form.get(key) == known.get(key), (field, key)


def call(name: str, text: str) -> contract.Call:
    return contract.Call(call_id="c", tool=name, arguments_json=text, key="c", folder="/")


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("file_read", "", "file_read: arguments: Invalid JSON"),
        ("file_read", "[]", "file_read: arguments"),
        ("file_read", "{}", "file_read: path: Field required"),
        ("file_read", '{"path": 1}', "file_read: path"),
        ("file_read", '{"path": "a", "start_line": 0}', "file_read: start_line"),
        ("file_read", '{"path": "a", "lines": 2001}', "file_read: lines"),
        ("file_read", '{"path": "a", "lines": "2"}', "file_read: lines"),
        ("file_read", '{"path": "a", "text": "x"}', "file_read: text"),
        ("file_read", '{"path": "\\ud800"}', "file_read"),
        ("file_list", '{"depth": 6}', "file_list: depth"),
        ("file_list", '{"folder": "a"}', "file_list: folder"),
        ("file_write", '{"path": "a"}', "file_write: text"),
        ("file_write", '{"path": "a", "text": "x", "mode": "replace"}', "file_write: mode"),
        ("file_write", '{"path": "a", "text": "x", "overwrite": true}', "file_write: overwrite"),
        ("file_write", '{"path": "a", "text": "x\\u0000"}', "may hold no NUL"),
        ("file_write", json.dumps({"path": "a", "text": "ä" * 600_000}), "at most 1048576 bytes"),
        ("file_edit", '{"path": "a", "search": "x"}', "file_edit: replace: Field required"),
        ("file_edit", '{"path": "a", "search": "x", "replace": "y", "all": 1}', "file_edit: all"),
        ("file_edit", '{"path": "a", "edits": []}', "file_edit: (search|edits)"),
        ("apply_edits", '{"blocks": ""}', "apply_edits: blocks"),
        ("apply_edits", '{"blocks": "a"}', "apply_edits: there is no block"),
        (
            "file_edit",
            json.dumps({"path": "a", "search": "x" * 600_000, "replace": "y" * 600_000}),
            "at most 1048576 characters",
        ),
    ],
)
async def test_arguments_that_are_refused(name: str, arguments: str, reason: str) -> None:
    with pytest.raises(contract.ToolFault, match=reason):
        await TOOLS[name].inspect(call(name, arguments))


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
async def test_another_tools_inspection_is_not_run(tool: contract.Tool) -> None:
    held = contract.Held(contract.Facts(effect=E.PURE, bound=(), shown=()))
    with pytest.raises(contract.ToolFault, match="only what it has inspected"):
        await tool.run(call(tool.spec.name, "{}"), held, lambda _: None)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a b.txt", "a b.txt"),
        ("größe-日本", "größe-日本"),
        ("a\nb\t\x1b[31m", "a\\u{a}b\\u{9}\\u{1b}[31m"),
        ("a\u202eb\u200b", "a\\u{202e}b\\u{200b}"),
        ("g\udcff", "g�"),
        ("x" * 300, "…" + "x" * 200),
    ],
)
def test_how_a_name_is_told(name: str, told: str) -> None:
    assert files.named(name) == told


@pytest.mark.timeout(20)
async def test_cancelled_work_is_told_to_stop_and_has_ended() -> None:
    begun, stop, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        stop.wait(10)
        ended.set()

    task = asyncio.create_task(files.done(work, stop.set))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stop.is_set()
    assert ended.is_set()


class TestDiff:
    @pytest.mark.parametrize(
        ("old", "new", "diff"),
        [
            ("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n"),
            ("a", "b", "@@ -1 +1 @@\n-a\n\\ No newline at the end\n+b\n\\ No newline at the end\n"),
            ("a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at the end\n"),
            ("a\n", "a\r\n", "@@ -1 +1 @@\n-a\n+a\r\n"),
            ("a\u2028b\n", "a\u2028c\n", "@@ -1 +1 @@\n-a\u2028b\n+a\u2028c\n"),
            ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ],
    )
    def test_what_it_says(self, old: str, new: str, diff: str) -> None:
        assert file_diff.between(old.encode(), new) == f"--- before\n+++ after\n{diff}"

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (b"a\n", "a\n"),
            (b"\xff\n", "a\n"),
            (b"a\0\n", "a\n"),
            (b"a" * 70_000, "a\n"),
            (b"a\n", "ä" * 40_000),
            (b"a\n" * 1001, "b\n"),
        ],
    )
    def test_when_there_is_none(self, old: bytes, new: str) -> None:
        assert file_diff.between(old, new) is None
