"""What is turned elsewhere between the inspection and the run: refused, or not met at all."""

import ctypes
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.tools import file_calls
from tools import contract

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

ROUNDS = 200
MOST_MISSES = 100 * ROUNDS
LIBC = ctypes.CDLL(None, use_errno=True)
HERE, EXCHANGE = -100, 2


class Stage:
    """A working folder with a file in it, and beside it what a call must not reach."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.sub = self.work / "sub"
        self.file = self.sub / "x"
        self.outside = folder / "outside"
        self.held = folder / "held"
        self.sub.mkdir(parents=True)
        self.outside.mkdir()
        self.file.write_text("old")
        (self.outside / "x").write_text("precious")

    def is_outside_untouched(self) -> bool:
        names = os.listdir(self.outside)
        return names == ["x"] and (self.outside / "x").read_text() == "precious"

    def replace_folder(self) -> None:
        self.sub.rename(self.held)
        self.sub.symlink_to(self.outside)

    def replace_folder_by_another(self) -> None:
        self.sub.rename(self.held)
        shutil.copytree(self.held, self.sub)

    def move_folder(self) -> None:
        self.sub.rename(self.outside / "moved")

    def replace_file_by_link(self) -> None:
        self.file.unlink()
        self.file.symlink_to(self.outside / "x")

    def replace_file_by_hard_link(self) -> None:
        self.file.unlink()
        os.link(self.outside / "x", self.file)

    def replace_file_by_its_like(self) -> None:
        (self.sub / "y").write_text("old")
        (self.sub / "y").replace(self.file)

    def replace_file_by_pipe(self) -> None:
        self.file.unlink()
        os.mkfifo(self.file)

    def change_file(self) -> None:
        self.file.write_text("mine")

    def remove_file(self) -> None:
        self.file.unlink()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


CHANGES: list[Callable[[Stage], None]] = [
    Stage.replace_folder,
    Stage.replace_folder_by_another,
    Stage.move_folder,
    Stage.replace_file_by_link,
    Stage.replace_file_by_hard_link,
    Stage.replace_file_by_its_like,
    Stage.replace_file_by_pipe,
    Stage.change_file,
    Stage.remove_file,
]
ALIKE = (Stage.replace_file_by_its_like,)
"""No change of what an approval is about: the same text in the same place."""


@pytest.mark.parametrize("mode", ["overwrite", "append"])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
async def test_what_changed_after_the_inspection_is_not_written(
    stage: Stage, change: Callable[[Stage], None], mode: str
) -> None:
    tool = file_calls.WRITE
    one = file_calls.call(tool, stage.work, {"path": "sub/x", "text": "new", "mode": mode})
    inspection = await tool.inspect(one)
    change(stage)
    with pytest.raises(contract.ToolFault, match="sub/x"):
        await tool.run(one, inspection, lambda _: None)
    inspection.close()
    (stage.outside / "moved" / "x").unlink(missing_ok=True)
    if (stage.outside / "moved").exists():
        (stage.outside / "moved").rmdir()  # nothing else is left in it
    assert stage.is_outside_untouched()


@pytest.mark.parametrize(
    "change", [one for one in CHANGES if one not in ALIKE], ids=lambda change: change.__name__
)
async def test_what_changed_voids_an_approval(
    stage: Stage, change: Callable[[Stage], None]
) -> None:
    tool = file_calls.WRITE
    wanted = {"path": "sub/x", "text": "new", "mode": "overwrite"}
    one = file_calls.call(tool, stage.work, wanted)
    before = await file_calls.facts(tool, one)
    change(stage)
    try:
        assert (await file_calls.facts(tool, one)).bound != before.bound
    except contract.ToolFault:
        assert change in (Stage.replace_file_by_pipe, Stage.move_folder)


@pytest.mark.parametrize("kind", ["file", "link", "folder", "pipe"])
@pytest.mark.parametrize("at", ["new", "made"])
async def test_what_appeared_after_the_inspection_is_kept(stage: Stage, at: str, kind: str) -> None:
    """A name that was free, of the file or of a folder that it needs."""
    tool = file_calls.WRITE
    path = "new" if at == "new" else "made/on/the/way"
    one = file_calls.call(tool, stage.work, {"path": path, "text": "new"})
    inspection = await tool.inspect(one)
    place = stage.work / at
    if kind == "file":
        place.write_text("mine")
    elif kind == "link":
        place.symlink_to(stage.outside)
    elif kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)
    with pytest.raises(contract.ToolFault, match="changed"):
        await tool.run(one, inspection, lambda _: None)
    inspection.close()
    assert stage.is_outside_untouched()
    assert sorted(os.listdir(stage.work)) == sorted(["sub", at])
    assert kind != "file" or place.read_text() == "mine"
    assert kind != "folder" or os.listdir(place) == []


def exchange(one: Path, other: Path) -> None:
    """Let two names change places at once."""
    answer = LIBC.renameat2(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)
    assert answer == 0, os.strerror(ctypes.get_errno())


@contextmanager
def swapping(stage: Stage) -> Iterator[None]:
    """Meanwhile the folder is by turns itself and a link to another, as fast as it goes."""
    over = threading.Event()

    stage.held.symlink_to(stage.outside)

    def swap() -> None:
        while not over.is_set() or stage.sub.is_symlink():
            exchange(stage.sub, stage.held)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("tool", [file_calls.READ, file_calls.LIST, file_calls.WRITE])
async def test_a_race_is_never_won(
    stage: Stage, tool: contract.Tool, figures: Callable[[str, object], None]
) -> None:
    """Whatever was inspected as inside is inside: nothing outside is read, listed or written."""
    more: dict[contract.Tool, dict[str, object]] = {
        file_calls.READ: {"path": "sub/x"},
        file_calls.LIST: {"path": "sub"},
        file_calls.WRITE: {"path": "sub/x", "text": "new", "mode": "overwrite"},
    }
    (stage.outside / "theirs").touch()
    one = file_calls.call(tool, stage.work, more[tool])
    inside = str(stage.work)
    met = refused = outside = 0
    with swapping(stage):
        while met < ROUNDS:
            assert refused + outside < MOST_MISSES
            try:
                inspection = await tool.inspect(one)
            except contract.ToolFault:
                refused += 1
                continue
            is_inside = inspection.facts.touched[0].real.startswith(inside)
            try:
                if is_inside:
                    text = (await tool.run(one, inspection, lambda _: None)).text
                    assert "precious" not in text
                    assert "theirs" not in text
                    met += 1
                else:
                    outside += 1
            except contract.ToolFault:
                refused += 1
            finally:
                inspection.close()

    (stage.outside / "theirs").unlink()
    assert stage.is_outside_untouched()
    figures(f"{tool.spec.name}: runs inside, of which outside was met", f"{met}, 0")
    figures(f"{tool.spec.name}: refused, seen as outside", f"{refused}, {outside}")
