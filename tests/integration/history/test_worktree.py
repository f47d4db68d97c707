"""Single files of a folder: nothing is read, written or removed through a link."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from daemon.history import objects, walk, worktree

pytestmark = [pytest.mark.spec("K-04")]
BESIDE = b".ducklm-beside"
Act = Callable[[int, bytes], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose `link` leads to one outside that holds `x`."""
    for name in ("work", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "outside/x").write_text("private")
    (tmp_path / "work/link").symlink_to(tmp_path / "outside")
    (tmp_path / "work/file").write_text("")
    return tmp_path / "work"


@pytest.fixture
def opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, walk.FOLDER_FLAGS)
    yield fd
    os.close(fd)


def _put(fd: int, path: bytes) -> None:
    worktree.put(fd, path, objects.FILE, b"other", BESIDE)


@pytest.mark.parametrize("act", [worktree.read, worktree.holds, worktree.remove, _put])
@pytest.mark.parametrize("path", [b"link/x", b"link/sub/x", b"file/x"])
def test_nothing_goes_through_a_link(folder: Path, opened: int, act: Act, path: bytes) -> None:
    with pytest.raises(worktree.Unreadable):
        act(opened, path)
    assert (folder / "../outside/x").read_text() == "private"
    assert os.listdir(folder / "../outside") == ["x"]


def test_a_link_itself_is_read_replaced_and_removed(folder: Path, opened: int) -> None:
    (folder / "soft").symlink_to("../outside/x")
    found = worktree.read(opened, b"soft")
    assert found is not None
    assert found[1:] == (objects.LINK, b"../outside/x")
    _put(opened, b"soft")
    assert not (folder / "soft").is_symlink()
    assert (folder / "soft").read_text() == "other"
    worktree.remove(opened, b"link")
    assert (folder / "../outside/x").read_text() == "private"


def test_what_a_kill_left_is_written_over(folder: Path, opened: int) -> None:
    (folder / os.fsdecode(BESIDE)).symlink_to("../outside/x")
    _put(opened, b"file")
    assert (folder / "file").read_text() == "other"
    assert (folder / "../outside/x").read_text() == "private"
    assert sorted(os.listdir(folder)) == ["file", "link"]


def test_removing_leaves_folders_that_hold_more(folder: Path, opened: int) -> None:
    for name in ("a/b/c/x", "a/y"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    worktree.remove(opened, b"a/b/c/x")
    assert sorted(os.listdir(folder / "a")) == ["y"]
    worktree.remove(opened, b"a/b/c/x")
    worktree.remove(opened, b"nothing/x")
