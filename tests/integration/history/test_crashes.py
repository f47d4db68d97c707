"""Killed at any step, a history can be used again, and what was begun is there whole or not."""

import subprocess
import sys
from pathlib import Path

import pytest

from daemon.history import store
from tests.integration.history import folders, keeper

pytestmark = [pytest.mark.spec("K-04"), pytest.mark.timeout(240)]
ROOT = Path(__file__).resolve().parents[3]
KEEPER = (sys.executable, "-m", "tests.integration.history.keeper")


def killed(what: str, root: Path, first: int = 1, every: int = 1) -> list[Path]:
    """A folder for each step at which the work was killed, and one where it came through."""
    done = subprocess.run(
        (*KEEPER, what, str(root), str(first), str(every)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    steps = done.stdout.split()
    assert len(steps) > 5
    return [root / step for step in steps]


def holds(project: folders.Project) -> dict[str, bytes]:
    """What the folder holds, without modes."""
    return {path: data for path, (_, data) in folders.snapshot(project.folder).items()}


async def test_the_first_look(tmp_path: Path) -> None:
    for root in killed("keep", tmp_path):
        project = folders.Project(root)
        await project.before()
        assert project.history.notices() == (), root
        assert project.subjects() == [store.FOUND]
        assert len(project.kept()) == 5
        project.check()
        project.history.close()


async def test_a_calls_changes(tmp_path: Path) -> None:
    whole = 0
    for root in killed("call", tmp_path):
        project = folders.Project(root)
        await project.before()
        assert project.history.notices() == (), root
        (newest, first) = project.subjects()
        assert first == store.FOUND
        assert newest in ("call call-1", store.OUTSIDE)
        whole += newest == "call call-1"
        assert sorted(project.kept()) == [
            "changed",
            "file-then-folder/y",
            "folder-then-file",
            "link",
            "made/m",
        ]
        project.write("changed", "again")
        await project.changed("call-2")
        project.check()
        project.history.close()
    assert whole >= 1


async def test_taking_back(tmp_path: Path, seed: int) -> None:
    """Begun, it is finished by whoever comes next; not begun, nothing has changed."""
    began = 0
    roots = killed("revert", tmp_path, 1 + seed % 2, every=2)
    for root in roots:
        project = folders.Project(root)
        commit = (root / "commit").read_text()
        await project.before()
        assert project.history.notices() == (), root
        finished = holds(project).get("removed/deep/r") == b"r\n"
        began += finished
        log = await project.history.log(project.path, 1)
        assert (log[0].reverts == (commit,)) == finished, root
        made = await project.history.revert(project.path, [commit], folders.TASK)
        if finished:
            assert made == log[0].commit
        assert holds(project) == {
            "changed": keeper.FIFTEEN.encode(),
            "removed": b"",
            "removed/deep": b"",
            "removed/deep/r": b"r\n",
            "file-then-folder": b"f\n",
            "folder-then-file": b"",
            "folder-then-file/x": b"x\n",
            "link": b"changed",
        }, root
        assert project.subjects().count("Take back 1 change") == 1
        assert not (project.store / "refs/ducklm/reverting").exists()
        project.check()
        project.history.close()
    assert 2 < began < len(roots)


async def test_what_is_in_the_way_of_finishing_stays(tmp_path: Path, seed: int) -> None:
    """A person changed a file between the kill and the next look."""
    for root in killed("revert", tmp_path, 1 + seed % 5, every=5):
        project = folders.Project(root)
        (project.folder / "changed").write_text("mine")
        await project.before()
        assert (project.folder / "changed").read_text() == "mine"
        assert project.content("changed") == "mine"
        assert not list(project.folder.rglob(".ducklm-*")), root
        project.check()
        project.history.close()


async def test_locks_that_somebody_left(project: folders.Project) -> None:
    await project.before()
    for name in (
        "refs/heads/main.lock",
        "HEAD.lock",
        "index.lock",
        "packed-refs.lock",
        "config.lock",
    ):
        (project.store / name).write_text("")
    beside = project.store.with_suffix(".new")
    (beside / "objects").mkdir(parents=True)
    project.write("a", "1")
    await project.changed()
    assert project.history.notices() == ()
