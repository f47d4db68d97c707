"""file_write on a real file system: what is written, what is shown, what an approval is tied to."""

import asyncio
import contextlib
import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import atomic, confine, contract

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]


@pytest.mark.parametrize(
    ("old", "mode", "text", "new"),
    [
        (None, "create", "a\n", "a\n"),
        (None, "create", "", ""),
        (None, "overwrite", "a", "a"),
        (None, "append", "a", "a"),
        ("a\n", "overwrite", "b\r\n", "b\r\n"),
        ("a\n", "overwrite", "a\n", "a\n"),
        ("a\n", "append", "b\n", "a\nb\n"),
        ("a", "append", "b", "ab"),
        ("", "append", "ä日", "ä日"),
        ("a" * 3_000_000, "overwrite", "b" * 1_000_000, "b" * 1_000_000),
    ],
)
async def test_what_is_written(
    tmp_path: Path, old: str | None, mode: str, text: str, new: str
) -> None:
    path = tmp_path / "x"
    if old is not None:
        path.write_bytes(old.encode())
    result = await file_calls.write(tmp_path, "x", text, mode)
    size = len(new.encode())
    assert result.text == f"x: written, {size} byte{'' if size == 1 else 's'} now."
    assert path.read_bytes() == new.encode()
    assert file_calls.names(tmp_path) == ["x"]


async def test_folders_are_made_on_the_way(tmp_path: Path) -> None:
    await file_calls.write(tmp_path, "a/b/c.txt", "x")
    assert file_calls.names(tmp_path) == ["a", "a/b", "a/b/c.txt"]


async def test_no_folder_is_made_outside(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with pytest.raises(contract.ToolFault, match="none is made outside"):
        await file_calls.write(tmp_path / "work", "../other/x", "a")
    await file_calls.write(tmp_path / "work", "../x", "a")
    assert file_calls.names(tmp_path) == ["work", "x"]


async def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "far").symlink_to("near")
    (tmp_path / "near").symlink_to("real")
    await file_calls.write(tmp_path, "far", "new", "overwrite")
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "far").is_symlink()
    assert (tmp_path / "near").is_symlink()


async def test_another_name_keeps_what_it_held(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    os.link(tmp_path / "x", tmp_path / "y")
    await file_calls.write(tmp_path, "x", "new", "overwrite")
    assert (tmp_path / "y").read_text() == "old"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o640, 0o4755])
async def test_the_mode_is_kept_without_what_lends_rights(tmp_path: Path, mode: int) -> None:
    (tmp_path / "x").write_text("old")
    (tmp_path / "x").chmod(mode)
    await file_calls.write(tmp_path, "x", "new", "overwrite")
    assert (tmp_path / "x").stat().st_mode & 0o7777 == mode & 0o777


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o027])
async def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        await file_calls.write(tmp_path, "a/x", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "x").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o777 & ~mask


def folder(path: Path) -> None:
    path.mkdir()


def fifo(path: Path) -> None:
    os.mkfifo(path)


def file(path: Path) -> None:
    path.write_text("old")


def read_only(path: Path) -> None:
    path.write_text("old")
    path.chmod(0o444)


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, atomic.MOST_BYTES + 1)


@pytest.mark.parametrize(
    ("make", "mode", "reason"),
    [
        (file, "create", "x is there already, a file; mode overwrite or append changes it"),
        (folder, "create", "x is there already, a folder"),
        (folder, "overwrite", "x is a folder"),
        (fifo, "overwrite", "x is a named pipe"),
        (fifo, "append", "x is a named pipe"),
        (read_only, "overwrite", "x is read-only"),
        (large, "append", "more than 67108864 bytes"),
    ],
)
async def test_what_is_not_written_over(
    tmp_path: Path, make: Callable[[Path], None], mode: str, reason: str
) -> None:
    make(tmp_path / "x")
    with pytest.raises(contract.ToolFault, match=reason):
        await file_calls.write(tmp_path, "x", "new", mode)
    assert file_calls.names(tmp_path) == ["x"]


async def test_plan_mode_writes_nothing(tmp_path: Path) -> None:
    wanted = {"path": "x", "text": "a"}
    plan = contract.Confinement(read_only=True)
    tool = file_calls.WRITE
    one = file_calls.call(tool, tmp_path, wanted, plan)
    with pytest.raises(contract.ToolFault, match="plan mode"):
        await tool.inspect(one)
    inspection = await tool.inspect(file_calls.call(tool, tmp_path, wanted))
    with pytest.raises(contract.ToolFault, match="plan mode"):
        await tool.run(one, inspection, lambda _: None)
    inspection.close()
    assert file_calls.names(tmp_path) == []


async def test_a_cancelled_write_is_over_when_it_says_so(tmp_path: Path) -> None:
    """Whole or not at all, with nothing beside it, and nothing comes later."""
    tool, seen = file_calls.WRITE, set[int]()
    for turns in range(0, 2000, 50):
        folder = tmp_path / str(turns)
        folder.mkdir()
        one = file_calls.call(tool, folder, {"path": "a/x", "text": "a" * 1_000_000})
        inspection = await tool.inspect(one)
        running = asyncio.create_task(tool.run(one, inspection, lambda _: None))
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.wait((running,))
        inspection.close()
        assert file_calls.names(folder) in ([], ["a", "a/x"])
        seen.add(len(file_calls.names(folder)))
    assert 0 in seen


def test_a_write_that_is_told_to_stop_leaves_nothing(tmp_path: Path) -> None:
    one = file_calls.call(file_calls.WRITE, tmp_path, {})
    stopped = threading.Event()
    stopped.set()
    for path in ("x", "a/b/x"):
        with contextlib.closing(confine.locate(one, path)) as spot:
            change = atomic.change(spot, None, None, b"new")
            with pytest.raises(contract.ToolFault, match="Stopped"):
                atomic.write(change, stopped)
    assert file_calls.names(tmp_path) == []


class TestCard:
    async def shown(self, folder: Path, text: str, mode: str = "create") -> dict[str, str]:
        wanted = {"path": "x", "text": text, "mode": mode}
        one = file_calls.call(file_calls.WRITE, folder, wanted)
        facts = await file_calls.facts(file_calls.WRITE, one)
        assert facts.touched[0].writes
        return dict(facts.shown)

    async def test_a_new_file_is_shown_whole(self, tmp_path: Path) -> None:
        text = "a\r\n\u202eb\t" * 5000
        assert await self.shown(tmp_path, text) == {
            "file": str(tmp_path / "x"),
            "does": "creates a file of 40000 bytes",
            "text": text,
        }

    async def test_of_a_replaced_file_the_changes(self, tmp_path: Path) -> None:
        lines = [f"line {number}\n" for number in range(100)]
        (tmp_path / "x").write_text("".join(lines))
        lines[50] = "other"
        assert await self.shown(tmp_path, "".join(lines), "overwrite") == {
            "file": str(tmp_path / "x"),
            "does": "replaces a file of 790 bytes by 787 bytes",
            "changes": "--- before\n+++ after\n@@ -48,8 +48,7 @@\n line 47\n line 48\n line 49\n"
            "-line 50\n-line 51\n+otherline 51\n line 52\n line 53\n line 54\n",
        }

    async def test_of_a_file_that_is_no_text_the_whole(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_bytes(b"\0\xff")
        shown = await self.shown(tmp_path, "new", "overwrite")
        assert (shown["does"], shown["text"]) == ("replaces a file of 2 bytes by 3 bytes", "new")

    async def test_what_is_added(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("old")
        shown = await self.shown(tmp_path, "new", "append")
        does = "adds 3 bytes to the end of a file of 3 bytes, whose last line has no newline"
        assert (shown["does"], shown["text"]) == (does, "new")

    async def test_folders_links_and_other_names(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "x").symlink_to("real/deep/file")
        shown = await self.shown(tmp_path, "a")
        assert shown["file"] == str(tmp_path / "real/deep/file")
        assert shown["makes the folders"] == str(tmp_path / "real/deep")
        (tmp_path / "x").unlink()
        (tmp_path / "x").touch()
        os.link(tmp_path / "x", tmp_path / "y")
        assert "another name" in (await self.shown(tmp_path, "a", "append"))["note"]


async def test_what_an_approval_is_tied_to(tmp_path: Path) -> None:
    """Every change of what matters is a change of what is bound; looking again is none."""
    tool, path = file_calls.WRITE, tmp_path / "sub" / "x"

    async def bound(text: str = "new") -> tuple[tuple[str, str], ...]:
        wanted = {"path": "sub/x", "text": text, "mode": "overwrite"}
        return (await file_calls.facts(tool, file_calls.call(tool, tmp_path, wanted))).bound

    absent = await bound()
    assert absent == await bound()
    path.parent.mkdir()
    no_file = await bound()
    path.write_text("old")
    there = await bound()
    assert ("before", hashlib.sha256(b"old").hexdigest()) in there
    assert ("after", hashlib.sha256(b"new").hexdigest()) in there
    other_text = await bound("newer")
    path.write_text("other")
    changed = await bound()
    path.chmod(0o600)
    other_mode = await bound()
    path.parent.rename(tmp_path / "real")
    (tmp_path / "sub").symlink_to("real")
    linked = await bound()
    states = [absent, no_file, there, other_text, changed, other_mode, linked]
    assert len(set(states)) == len(states)
