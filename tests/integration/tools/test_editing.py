"""file_edit and apply_edits on a real file system: what changes, what is shown, what is refused."""

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import atomic, atomic_set, confine, contract

pytestmark = [pytest.mark.spec("K-11"), pytest.mark.timeout(120)]

ROOT = Path(__file__).resolve().parents[3]
Reconciled = contract.Reconciled


def child(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.spec("D-13")
@pytest.mark.parametrize(
    ("old", "search", "replace", "new", "said"),
    [
        (b"a\nb\n", "b", "c", b"a\nc\n", "x: edited, 4 bytes now.\n@@ -1,2 +1,2 @@\n a\n-b\n+c"),
        (b"a\r\nb\r\n", "a\nb\n", "c\nd\n", b"c\r\nd\r\n", "edited, 6 bytes now"),
        (b"\xef\xbb\xbfa", "a", "b", b"\xef\xbb\xbfb", "edited, 4 bytes now"),
        (b"", "", "a\n", b"a\n", "edited, 2 bytes now"),
        (None, "", "a\n", b"a\n", "x: created, 2 bytes now."),
        (b"  a\n  b\n", "a\nb\n", "c\nb\n", b"  c\n  b\n", "-  a\n+  c"),
    ],
)
async def test_what_changes(
    tmp_path: Path, old: bytes | None, search: str, replace: str, new: bytes, said: str
) -> None:
    if old is not None:
        (tmp_path / "x").write_bytes(old)
    result = await file_calls.edit(tmp_path, "x", search, replace)
    assert said in result.text
    assert (tmp_path / "x").read_bytes() == new
    assert file_calls.names(tmp_path) == ["x"]


async def test_everywhere(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a b a\n")
    await file_calls.edit(tmp_path, "x", "a", "c", everywhere=True)
    assert (tmp_path / "x").read_text() == "c b c\n"


@pytest.mark.parametrize(
    ("old", "search", "replace", "said"),
    [
        (b"a\na\n", "a", "b", "x: the search is found 2 times, at lines 1, 2"),
        (b"a\n", "b", "c", "x: the search is not found"),
        (b"a\n", "a", "a", "x: .* nothing would change"),
        (b"a\n", "", "b", "x: the search is empty"),
        (b"\xe4", "a", "b", "x: it is not text in UTF-8"),
        (b"a\0", "a", "b", "x: it is a binary file"),
        (b"a", "a", "b\0", "may hold no NUL"),
        (b"a" * 4_194_305, "b", "c", "x has more than 4194304 bytes"),
        (None, "a", "b", "x is not there; an empty search makes a new file"),
    ],
)
async def test_what_is_refused(
    tmp_path: Path, old: bytes | None, search: str, replace: str, said: str
) -> None:
    if old is not None:
        (tmp_path / "x").write_bytes(old)
    with pytest.raises(contract.ToolFault, match=said):
        await file_calls.edit(tmp_path, "x", search, replace)
    assert (tmp_path / "x").exists() == (old is not None)


@pytest.mark.parametrize("tool", [file_calls.EDIT, file_calls.APPLY], ids=lambda one: one.spec.name)
async def test_what_a_call_may_not_reach(tmp_path: Path, tool: contract.Tool) -> None:
    """The same bounds as file_write's: hidden, plan mode, folders outside, what is no file."""
    work = tmp_path / "work"
    for folder in (work / "folder", tmp_path / "state"):
        folder.mkdir(parents=True)
    (tmp_path / "state" / "x").write_text("a\n")
    (work / "link").symlink_to(tmp_path / "state" / "x")
    os.link(tmp_path / "state" / "x", work / "name")
    (work / "x").write_text("a\n")
    hidden = contract.Confinement(hidden=(str(tmp_path / "state"),))
    cases = [
        ("../state/x", "a\n", hidden, "kept from this call"),
        ("link", "a\n", hidden, "kept from this call"),
        ("name", "a\n", hidden, "kept from this call"),
        ("x", "a\n", contract.Confinement(read_only=True), "plan mode"),
        ("../far/x", "", contract.Confinement(), "none is made outside"),
        ("folder", "a\n", contract.Confinement(), "is a folder"),
    ]
    for path, search, confinement, said in cases:
        wanted: dict[str, str] = {"path": path, "search": search, "replace": "b\n"}
        if tool is file_calls.APPLY:
            wanted = {"blocks": file_calls.block(path, search, "b\n")}
        with pytest.raises(contract.ToolFault, match=said):
            await tool.inspect(file_calls.call(tool, work, wanted, confinement))
    assert (tmp_path / "state" / "x").read_text() == "a\n"


@pytest.mark.spec("D-11")
class TestManyFiles:
    async def test_all_change_together(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("a\nb\n")
        result = await file_calls.apply(
            tmp_path,
            file_calls.block("x", "a\n", "c\n"),
            file_calls.block("n/y", "", "new\n"),
            file_calls.block("n/z", "", "new\n"),
            file_calls.block("x", "b\n", "d\n"),
        )
        assert (tmp_path / "x").read_text() == "c\nd\n"
        assert file_calls.names(tmp_path) == ["n", "n/y", "n/z", "x"]
        assert result.text.splitlines()[0] == "x: edited, 4 bytes now."
        assert result.text.splitlines()[-2:] == [
            "n/y: created, 4 bytes now.",
            "n/z: created, 4 bytes now.",
        ]

    @pytest.mark.parametrize(
        ("blocks", "said"),
        [
            ([("x", "a\n", "b\n"), ("y", "zz\n", "b\n")], "y: the search is not found"),
            ([("x", "a\n", "b\n"), ("x", "a\n", "b\n")], "x: edit 2 of 2: the search is not found"),
            ([("x", "a\n", "b\n"), ("link", "a\n", "c\n")], "link and x are the same file"),
            ([("x", "a\n", "b\n"), ("none", "a\n", "c\n")], "none is not there"),
        ],
    )
    async def test_one_that_does_not_fit_refuses_all(
        self, tmp_path: Path, blocks: list[tuple[str, str, str]], said: str
    ) -> None:
        for name in "xy":
            (tmp_path / name).write_text("a\n")
        (tmp_path / "link").symlink_to("x")
        with pytest.raises(contract.ToolFault, match=said):
            await file_calls.apply(tmp_path, *(file_calls.block(*one) for one in blocks))
        assert [(tmp_path / name).read_text() for name in "xy"] == ["a\n", "a\n"]

    async def test_one_that_changed_meanwhile_refuses_all(self, tmp_path: Path) -> None:
        """The last is found changed when the others are in their places: they are put back."""
        for name in ("w", "x", "y"):
            (tmp_path / name).write_text("a\n")
        inode = (tmp_path / "w").stat().st_ino
        blocks = [file_calls.block(name, "a\n", "b\n") for name in ("w", "x", "y")]
        new = file_calls.block("n/new", "", "new\n")
        tool = file_calls.APPLY
        one = file_calls.call(tool, tmp_path, {"blocks": "".join([new, *blocks])})
        inspection = await tool.inspect(one)
        (tmp_path / "y").write_text("other\n")
        with pytest.raises(contract.ToolFault, match="y has changed since"):
            await tool.run(one, inspection, lambda _: None)
        inspection.close()
        assert file_calls.names(tmp_path) == ["w", "x", "y"]
        texts = [(tmp_path / name).read_text() for name in ("w", "x", "y")]
        assert texts == ["a\n", "a\n", "other\n"]
        assert (tmp_path / "w").stat().st_ino == inode
        assert (tmp_path / "w").stat().st_nlink == 1

    async def test_told_to_stop_it_leaves_nothing(self, tmp_path: Path) -> None:
        stopped = threading.Event()
        stopped.set()
        one = file_calls.call(file_calls.APPLY, tmp_path, {})
        spots = [confine.locate(one, path) for path in ("n/x", "n/y")]
        changes = [atomic.change(spot, None, None, b"new") for spot in spots]
        with pytest.raises(contract.ToolFault, match="Stopped"):
            atomic_set.write(changes, atomic_set.intent(changes), stopped)
        for spot in spots:
            spot.close()
        assert file_calls.names(tmp_path) == []


class TestCard:
    async def shown(self, folder: Path, *blocks: str) -> list[tuple[str, str]]:
        tool = file_calls.APPLY
        one = file_calls.call(tool, folder, {"blocks": "".join(blocks)})
        facts = await file_calls.facts(tool, one)
        assert [one.writes for one in facts.touched] == [True] * len(blocks)
        return list(facts.shown)

    async def test_it_shows_the_difference_of_each_file(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("a\nb\n")
        shown = await self.shown(
            tmp_path, file_calls.block("x", "b\n", "c\n"), file_calls.block("y", "", "new\n")
        )
        assert shown == [
            ("file", str(tmp_path / "x")),
            ("does", "changes a file of 4 bytes to 4 bytes"),
            ("changes", "--- before\n+++ after\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"),
            ("file", str(tmp_path / "y")),
            ("does", "creates a file of 4 bytes"),
            ("text", "new\n"),
        ]

    async def test_of_a_large_file_only_what_changes(self, tmp_path: Path) -> None:
        lines = [f"line {number}\n" for number in range(20_000)]
        (tmp_path / "x").write_text("".join(lines))
        shown = dict(await self.shown(tmp_path, file_calls.block("x", "line 9000\n", "new\n")))
        assert shown["changes"].splitlines()[2:] == [
            "@@ -8998,7 +8998,7 @@",
            *(f" line {number}" for number in (8997, 8998, 8999)),
            "-line 9000",
            "+new",
            *(f" line {number}" for number in (9001, 9002, 9003)),
        ]

    async def test_what_differs_too_much_is_shown_whole(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("a\n" + "-\n" * 2000 + "b\n")
        first, last = file_calls.block("x", "a\n", "c\n"), file_calls.block("x", "b\n", "d\n")
        tool = file_calls.APPLY
        one = file_calls.call(tool, tmp_path, {"blocks": first + last})
        shown = dict((await file_calls.facts(tool, one)).shown)
        assert shown["text"] == "c\n" + "-\n" * 2000 + "d\n"

    async def test_another_name_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("a\n")
        os.link(tmp_path / "x", tmp_path / "y")
        shown = dict(await self.shown(tmp_path, file_calls.block("x", "a\n", "b\n")))
        assert "another name" in shown["note"]


async def test_what_an_approval_is_tied_to(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a\n")
    blocks = file_calls.block("x", "a\n", "b\n") + file_calls.block("y", "", "c\n")
    one = file_calls.call(file_calls.APPLY, tmp_path, {"blocks": blocks})
    first = (await file_calls.facts(file_calls.APPLY, one)).bound
    assert first == (await file_calls.facts(file_calls.APPLY, one)).bound
    assert ("before", hashlib.sha256(b"a\n").hexdigest()) in first
    assert ("after", hashlib.sha256(b"c\n").hexdigest()) in first
    (tmp_path / "x").write_text("a\nmore\n")
    assert (await file_calls.facts(file_calls.APPLY, one)).bound != first


class TestCrash:
    """At every step of the change of the file system: all old or all new after a look."""

    STEPS = 18

    def blocks(self) -> str:
        files = (("x", "a\n", "b\n"), ("n/new", "", "new\n"), ("y", "a\n", "b\n"))
        return "".join(file_calls.block(*one) for one in files)

    async def test_all_or_none(self, tmp_path: Path) -> None:
        wanted = {"blocks": self.blocks()}
        for step in range(1, self.STEPS + 1):
            (tmp_path / str(step)).mkdir()
            for name in "xy":
                (tmp_path / str(step) / name).write_text("a\n")
        command = (sys.executable, "-m", "tests.integration.tools.writer", str(tmp_path))
        more = (json.dumps(wanted), str(self.STEPS))
        done = await asyncio.to_thread(child, *command, *more)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        intents = {one["step"]: one["intent"] for one in lines if "intent" in one}
        ended = {one["step"] for one in lines if "ended" in one}
        assert set(intents) == set(range(1, self.STEPS + 1)), done.stderr
        assert self.STEPS in ended, "there are more steps than the test knows"
        found: list[Reconciled] = []
        mixed = 0
        for step, intent in intents.items():
            folder = tmp_path / str(step)
            mixed += len({self.state(folder / name) for name in ("x", "y", "n/new")}) > 1
            one = file_calls.call(file_calls.APPLY, folder, wanted)
            found.append(await file_calls.APPLY.reconcile(one, intent))
            if found[-1] is Reconciled.NOT_DONE:
                assert step not in ended
                assert file_calls.names(folder) == ["x", "y"]
                assert [(folder / name).read_text() for name in "xy"] == ["a\n", "a\n"]
                await file_calls.run(file_calls.APPLY, one)
            assert file_calls.names(folder) == ["n", "n/new", "x", "y"]
            assert [(folder / name).read_text() for name in "xy"] == ["b\n", "b\n"]
        assert {*found} == {Reconciled.DONE, Reconciled.NOT_DONE}
        assert mixed >= 2

    def state(self, path: Path) -> bool:
        return path.exists() and path.read_text() != "a\n"

    async def test_what_somebody_changed_meanwhile_is_nobodys_to_undo(self, tmp_path: Path) -> None:
        for name in "xy":
            (tmp_path / name).write_text("a\n")
        one = file_calls.call(file_calls.APPLY, tmp_path, {"blocks": self.blocks()})
        intent = (await file_calls.facts(file_calls.APPLY, one)).intent
        (tmp_path / "x").write_text("b\n")
        (tmp_path / "y").write_text("other\n")
        assert await file_calls.APPLY.reconcile(one, intent) is Reconciled.UNKNOWN
        (tmp_path / "y").write_text("a\n")
        assert await file_calls.APPLY.reconcile(one, intent) is Reconciled.UNKNOWN
        assert (tmp_path / "x").read_text() == "b\n", "there is nothing to put back"


class TestSyntax:
    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("x.py", "a = (\n", "\nWrong syntax: x.py:1:5: '(' was never closed"),
            ("x.json", '{"a": 1\n', "\nWrong syntax: x.json:2:1: Expecting ',' delimiter"),
            ("x.py", "a = 1\n", ""),
            ("x.txt", "a = (\n", ""),
        ],
    )
    async def test_a_fault_is_told_and_hinders_nothing(
        self, tmp_path: Path, name: str, text: str, said: str
    ) -> None:
        result = await file_calls.write(tmp_path, name, text)
        assert result.text.endswith(said)
        assert ("Wrong syntax" in result.text) == bool(said)
        assert (tmp_path / name).read_text() == text

    async def test_of_several_files_each_is_told(self, tmp_path: Path) -> None:
        result = await file_calls.apply(
            tmp_path,
            file_calls.block("x.py", "", "a = (\n"),
            file_calls.block("y.toml", "", "a =\n"),
            file_calls.block("z.py", "", "a = 1\n"),
        )
        assert result.text.splitlines()[3:] == [
            "Wrong syntax: x.py:1:5: '(' was never closed",
            "Wrong syntax: y.toml:1:4: Invalid value",
        ]
