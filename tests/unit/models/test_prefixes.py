"""The files that keep what was computed for the fixed part of prompts."""

import ctypes
import os
import pathlib
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest

from daemon.models.worker import prefixes

TOKENS = list(range(200))
STATE = bytes(range(256)) * 20


def saved(data: bytes = STATE) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * len(data)).from_buffer_copy(data)


def only(folder: pathlib.Path) -> pathlib.Path:
    (path,) = folder.iterdir()
    return path


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "cache" / "prefix"


@pytest.fixture
def files(folder: pathlib.Path) -> prefixes.PrefixFiles:
    return prefixes.PrefixFiles(folder, "model")


def test_a_state_is_read_as_it_was_written(
    files: prefixes.PrefixFiles, folder: pathlib.Path
) -> None:
    name = files.name(TOKENS)
    assert files.read(name) is None
    files.write(name, 190, saved())
    found = files.read(name)
    assert found is not None
    assert (found[0], bytes(found[1])) == (190, STATE)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, only(folder))]
    assert modes == [0o700, 0o700, 0o600]


def test_a_name_tells_models_and_tokens_apart(folder: pathlib.Path) -> None:
    made = [("model", TOKENS), ("model", TOKENS[:-1]), ("other", TOKENS), ("model", [*TOKENS, 0])]
    names = {prefixes.PrefixFiles(folder, model).name(tokens) for model, tokens in made}
    assert len(names) == len(made)
    assert prefixes.PrefixFiles(folder, "model").name(tuple(TOKENS)) in names


def test_a_model_file_that_was_written_anew_is_another(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    first = prefixes.model_identity(str(path))
    assert prefixes.model_identity(str(path)) == first
    times = path.stat()
    path.write_bytes(b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = prefixes.model_identity(str(path))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert len({first, second, prefixes.model_identity(str(path))}) == 3


def flipped(at: int) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        place = at % len(data)
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    return flip


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "only the magic": lambda data: data[:8],
    "only the header": lambda data: data[:52],
    "its last byte is missing": lambda data: data[:-1],
    "half of it": lambda data: data[: len(data) // 2],
    "something after it": lambda data: data + b"x",
    "zeros after it": lambda data: data + bytes(4096),
    "zeros in place of its end": lambda data: data[:-512] + bytes(512),
    "something else": lambda data: b"GGUF" * 3000,
    "a bit of the magic": flipped(0),
    "a bit of the count": flipped(8),
    "a bit of the size": flipped(12),
    "a bit of the digest": flipped(30),
    "a bit of the first byte": flipped(52),
    "a bit in the middle": flipped(3000),
    "a bit of the last byte": flipped(-1),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_deleted_and_never_used(
    files: prefixes.PrefixFiles, folder: pathlib.Path, damage: Callable[[bytes], bytes]
) -> None:
    name = files.name(TOKENS)
    files.write(name, 200, saved())
    path = only(folder)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(prefixes.PrefixError, match="damaged"):
        files.read(name)
    assert files.read(name) is None
    files.write(name, 200, saved())
    assert files.read(name) is not None


def test_a_file_under_the_name_of_another_is_not_used(
    files: prefixes.PrefixFiles, folder: pathlib.Path
) -> None:
    files.write(files.name(TOKENS), 200, saved())
    other = files.name(TOKENS[:-1])
    only(folder).rename(folder / f"{other}.kv")
    with pytest.raises(prefixes.PrefixError, match="damaged"):
        files.read(other)


def test_a_link_and_a_pipe_are_not_read(
    files: prefixes.PrefixFiles, folder: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    name = files.name(TOKENS)
    files.write(name, 200, saved())
    path = only(folder)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(prefixes.PrefixError):
        files.read(name)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(prefixes.PrefixError):
        files.read(name)


def test_those_used_longest_ago_go(folder: pathlib.Path) -> None:
    files = prefixes.PrefixFiles(folder, "model", most_files=3)
    names = [files.name([number]) for number in range(5)]
    for age, name in enumerate(names[:3]):
        files.write(name, 1, saved())
        os.utime(folder / f"{name}.kv", ns=(age, age))
    assert files.read(names[0]) is not None
    files.write(names[3], 1, saved())
    files.write(names[4], 1, saved())
    there = [files.read(name) is not None for name in names]
    assert there == [True, False, False, True, True]


def test_all_files_together_are_bounded(folder: pathlib.Path) -> None:
    files = prefixes.PrefixFiles(folder, "model", most_bytes=3 * len(STATE))
    for number in range(6):
        files.write(files.name([number]), 1, saved())
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 3 * len(STATE)
    with pytest.raises(prefixes.PrefixError, match="more than"):
        files.write(files.name(TOKENS), 1, saved(STATE * 3))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "cache").write_text("")
    files = prefixes.PrefixFiles(tmp_path / "cache" / "prefix", "model")
    with pytest.raises(prefixes.PrefixError, match="cannot be kept"):
        files.write(files.name(TOKENS), 1, saved())
    with pytest.raises(prefixes.PrefixError, match="cannot be read"):
        files.read(files.name(TOKENS))


WRITER = textwrap.dedent(
    """
    import ctypes, pathlib, resource, sys
    from daemon.models.worker import prefixes

    folder, limit, megabytes, times = sys.argv[1], *map(int, sys.argv[2:])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    files = prefixes.PrefixFiles(pathlib.Path(folder), "model")
    saved = (ctypes.c_uint8 * (megabytes << 20))()
    print("writes", flush=True)
    for _ in range(times):
        try:
            files.write(files.name(range(200)), 200, saved)
        except prefixes.PrefixError as error:
            print(error)
    """
)


def writer(folder: pathlib.Path, limit: int, megabytes: int, times: int) -> "subprocess.Popen[str]":
    numbers = map(str, (limit, megabytes, times))
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, folder, *numbers], stdout=subprocess.PIPE, text=True
    )


def test_a_full_disk_is_told_and_leaves_nothing(folder: pathlib.Path) -> None:
    with writer(folder, 100_000, 1, 1) as process:
        told, _ = process.communicate(timeout=60)
    assert "cannot be kept" in told
    assert process.returncode == 0
    assert list(folder.iterdir()) == []


def test_a_death_while_a_file_is_written_leaves_nothing_that_is_used(
    files: prefixes.PrefixFiles, folder: pathlib.Path
) -> None:
    """The process writes without end and dies the moment that an unfinished file is there."""
    folder.mkdir(parents=True)
    with writer(folder, 0, 64, 1_000_000) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writes\n"
        while not list(folder.glob("*.part")):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    name = files.name(range(200))
    found = files.read(name)
    assert found is None or len(found[1]) == 64 << 20
    for path in folder.glob("*.part"):
        os.utime(path, (0, 0))
    files.write(name, 200, saved())
    assert only(folder).name == f"{name}.kv"


def test_two_write_the_same_at_once(files: prefixes.PrefixFiles, folder: pathlib.Path) -> None:
    with writer(folder, 0, 1, 20) as one, writer(folder, 0, 1, 20) as other:
        told = [process.communicate(timeout=120)[0] for process in (one, other)]
    assert told == ["writes\n"] * 2
    assert len(list(folder.iterdir())) == 1
    assert files.read(files.name(range(200))) is not None
