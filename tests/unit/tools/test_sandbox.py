"""The parts of the sandbox that need no process: what is hidden, filtered and bounded."""

import os
import resource
import struct
from pathlib import Path

import pytest

from tools.sandbox import limits, seccomp, view

pytestmark = pytest.mark.spec("D-14")

ALLOW, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x50001, 0x50026, 0x50061
X86 = 0xC000003E
CALLS = {
    "read": (X86, 0, 0, ALLOW, ALLOW),
    "keyctl": (X86, 250, 0, EPERM, EPERM),
    "unshare": (X86, 272, 0, EPERM, EPERM),
    "io_uring_setup": (X86, 425, 0, EPERM, EPERM),
    "clone of a process": (X86, 56, 17, ALLOW, ALLOW),
    "clone of a user namespace": (X86, 56, 0x10000011, EPERM, EPERM),
    "clone3": (X86, 435, 0, ENOSYS, ENOSYS),
    "a socket by path": (X86, 41, 1, ALLOW, ALLOW),
    "an internet socket": (X86, 41, 2, ALLOW, EAFNOSUPPORT),
    "a socket of version 6": (X86, 41, 10, ALLOW, EAFNOSUPPORT),
    "a netlink socket": (X86, 41, 16, ALLOW, EAFNOSUPPORT),
    "a packet socket": (X86, 41, 17, EAFNOSUPPORT, EAFNOSUPPORT),
    "a socket to the host": (X86, 41, 40, EAFNOSUPPORT, EAFNOSUPPORT),
    "the other numbers of this machine": (X86, 0x40000000, 0, EPERM, EPERM),
    "another machine": (0x40000003, 0, 0, EPERM, EPERM),
}


def judged(program: bytes, machine: int, call: int, argument: int) -> int:
    """What the kernel would answer: the few instructions that the filter uses."""
    data = struct.pack("=IIQQ", call, machine, 0, argument)
    place = accumulator = 0
    while True:
        code, when_true, when_false, value = struct.unpack_from("HBBI", program, place * 8)
        place += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return int(value)
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            place += when_true if holds else when_false


@pytest.mark.parametrize("case", CALLS)
def test_the_filter(case: str) -> None:
    machine, call, argument, with_internet, without = CALLS[case]
    assert judged(seccomp.program("x86_64", True), machine, call, argument) == with_internet
    assert judged(seccomp.program("x86_64", False), machine, call, argument) == without


def test_an_unknown_machine_has_no_filter() -> None:
    assert seccomp.program("z80", True) == b""
    assert judged(seccomp.program("aarch64", True), 0xC00000B7, 219, 0) == EPERM
    assert judged(seccomp.program("aarch64", True), 0xC00000B7, 220, 17) == ALLOW


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "project" / "state").mkdir(parents=True)
    return tmp_path / "home"


def test_masks_come_parents_first_and_once(home: Path) -> None:
    project = home / "project"
    hidden = [str(project / "state"), str(home / "keys"), str(home), "/etc/shadow", "/absent"]
    found = view.masks(str(project), hidden)
    assert found.count(str(project / "state")) == 1
    assert str(project) not in found
    assert "/absent" not in found
    assert found.count("/etc/shadow") <= 1
    depths = [path.count("/") for path in found]
    assert depths == sorted(depths)
    assert {"/run"} | {path for path in ("/home", "/root") if os.path.isdir(path)} <= set(found)


def test_what_is_hidden_anyway_is_not_hidden_again(home: Path) -> None:
    (home / "keys").mkdir()
    assert str(home / "keys") not in view.masks("/srv", [str(home / "keys")])


@pytest.mark.parametrize("folder", ["/", "/usr/lib", "/etc/x", "/var", "/proc/1", "/home"])
def test_no_project_folder(folder: str) -> None:
    with pytest.raises(view.NoFolder):
        view.check_folder(folder, ())


def test_a_home_is_no_project_folder_and_one_in_it_is(home: Path) -> None:
    with pytest.raises(view.NoFolder):
        view.check_folder(str(home), ())
    with pytest.raises(view.NoFolder):
        view.check_folder(str(home.parent), ())
    view.check_folder(str(home / "project"), [str(home / "project" / "state")])


def test_visible_is_all_but_the_hidden(tmp_path: Path) -> None:
    for path in ("a/b/c", "a/d", "e", "f/g"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("/etc")
    hidden = [str(tmp_path / "a" / "b"), str(tmp_path / "e"), "/elsewhere"]
    found = [os.path.relpath(path, tmp_path) for path in view.visible(str(tmp_path), hidden)]
    assert found == ["a/d", "f"]


def test_guards_of_a_repository(tmp_path: Path) -> None:
    for path in (".git/hooks", ".git/info", ".git/modules/sub/hooks", ".husky"):
        (tmp_path / path).mkdir(parents=True)
    for path in (".git/config", ".git/modules/sub/config", ".envrc", "main.py"):
        (tmp_path / path).touch()
    (tmp_path / ".bashrc").symlink_to("main.py")
    folder_fd = os.open(tmp_path, os.O_RDONLY)
    found = [(guard.name, guard.fixed) for guard in view.guards(folder_fd)]
    os.close(folder_fd)
    assert found == [
        (".envrc", True),
        (".husky", True),
        (".git", False),
        (".git/hooks", True),
        (".git/info", True),
        (".git/config", True),
        (".git/modules", False),
        (".git/modules/sub", False),
        (".git/modules/sub/hooks", True),
        (".git/modules/sub/config", True),
    ]


def test_every_limit_is_finite() -> None:
    kernel = dict(limits.Limits().kernel())
    assert all(value >= 0 for value in kernel.values())
    assert kernel[resource.RLIMIT_CORE] == 1
    assert {resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU} <= kernel.keys()
