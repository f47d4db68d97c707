"""Where a path leads, what is held of it, and what is hidden under every name."""

import os
from pathlib import Path

import pytest

from tools import confine, contract

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.spec("D-14")]


def call(folder: Path, *hidden: Path) -> contract.Call:
    return contract.Call(
        call_id="c",
        tool="t",
        arguments_json="{}",
        key="c",
        folder=str(folder),
        confinement=contract.Confinement(hidden=tuple(map(str, hidden))),
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a file, links of every kind, and a neighbour."""
    folder = tmp_path / "work"
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "file").write_text("a")
    (folder / "near").symlink_to("file")
    (folder / "far").symlink_to("near")
    (folder / "over").symlink_to("sub/deep")
    (folder / "out").symlink_to("../other")
    (folder / "nowhere").symlink_to("absent/x")
    (folder / "loop").symlink_to("loop")
    (folder / "root").symlink_to("/")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x").write_text("b")
    return folder


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("file", "work/file"),
        ("./file", "work/file"),
        ("sub//deep/../../file", "work/file"),
        ("near", "work/file"),
        ("far", "work/file"),
        (".", "work"),
        ("sub/", "work/sub"),
        ("over", "work/sub/deep"),
        ("over/..", "work/sub"),
        ("over/../../file", "work/file"),
        ("out/x", "other/x"),
        ("../other/x", "other/x"),
        ("nowhere", "work/absent/x"),
        ("new/x", "work/new/x"),
        ("loop", "work/loop"),
        ("*", "work/*"),
        ("~x", "work/~x"),
        ("größe", "work/größe"),
    ],
)
def test_where_a_path_leads(work: Path, path: str, real: str) -> None:
    spot = confine.locate(call(work), path)
    assert spot.real == str(work.parent / real)
    assert spot.written == path
    assert spot.folder == os.path.dirname(spot.real) or spot.missing
    assert confine.path_of(spot.folder_fd) == spot.folder
    assert spot.is_in_place()
    spot.close()
    spot.close()


def test_other_beginnings(work: Path) -> None:
    home = os.path.realpath(Path.home())
    for path, real in (("~", home), ("~/x", f"{home}/x"), ("/", "/"), ("root", "/")):
        spot = confine.locate(call(work), path)
        assert spot.real == real
        spot.close()


def test_what_is_not_there_is_named(work: Path) -> None:
    spot = confine.locate(call(work), "sub/a/b/c")
    assert (spot.folder, spot.missing, spot.name) == (str(work / "sub"), ("a", "b"), "c")
    assert spot.status() is None
    spot.close()


def test_a_folder_that_moved_is_no_longer_in_place(work: Path) -> None:
    spot = confine.locate(call(work), "sub/x")
    (work / "sub").rename(work / "moved")
    assert not spot.is_in_place()
    (work / "sub").symlink_to("moved")
    assert not spot.is_in_place()
    spot.close()


def test_a_name_that_is_no_text_is_refused(work: Path) -> None:
    os.symlink(b"odd\xff", os.fsencode(work) + b"/odd")
    with pytest.raises(contract.ToolFault, match="not valid UTF-8"):
        confine.locate(call(work), "odd")


class TestHidden:
    @pytest.fixture
    def state(self, tmp_path: Path) -> Path:
        folder = tmp_path / "state"
        (folder / "deep").mkdir(parents=True)
        (folder / "token").write_text("secret")
        (folder / "deep" / "key").write_text("secret")
        return folder

    def is_refused(self, one: contract.Call, path: str) -> bool:
        try:
            confine.locate(one, path).close()
        except contract.ToolFault as fault:
            return "kept from this call" in str(fault)
        return False

    @pytest.mark.parametrize(
        ("path", "refused"),
        [
            ("../state", True),
            ("../state/", True),
            ("../state/token", True),
            ("../state/deep/key", True),
            ("../state/absent/x", True),
            ("sub/../../state/./token", True),
            ("root/proc/self/root{state}/token", True),
            ("{state}/token", True),
            ("../states", False),
            ("../state-of-things", False),
            ("state", False),
            ("..", False),
        ],
    )
    def test_by_its_path(self, work: Path, state: Path, path: str, refused: bool) -> None:
        assert self.is_refused(call(work, state), path.format(state=state)) is refused

    def test_by_a_link_to_it_or_into_it(self, work: Path, state: Path) -> None:
        (work / "a").symlink_to(state)
        (work / "b").symlink_to("a/token")
        (work / "c").symlink_to("a/deep")
        assert [self.is_refused(call(work, state), x) for x in ("a", "b", "c/key")] == [True] * 3

    def test_when_the_hidden_is_named_by_a_link(self, work: Path, state: Path) -> None:
        (work / "a").symlink_to(state)
        assert self.is_refused(call(work, work / "a"), "../state/token")

    @pytest.mark.parametrize("name", ["token", "deep/key"])
    def test_by_another_name_of_a_file_in_it(self, work: Path, state: Path, name: str) -> None:
        os.link(state / name, work / "harmless")
        assert self.is_refused(call(work, state), "harmless")
        os.link(work / "file", work / "also")
        assert not self.is_refused(call(work, state), "also")

    def test_one_file(self, work: Path, state: Path) -> None:
        os.link(state / "token", work / "harmless")
        one = call(work, state / "token")
        assert self.is_refused(one, "harmless")
        assert self.is_refused(one, "../state/token")
        assert not self.is_refused(one, "../state/deep/key")

    def test_what_is_not_there_yet(self, work: Path, tmp_path: Path) -> None:
        one = call(work, tmp_path / "later")
        assert self.is_refused(one, "../later/x")
        assert not self.is_refused(one, "file")
