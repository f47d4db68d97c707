"""A program: keeps one command where there is no bubblewrap, by Landlock and limits, or elevated.

Started as `python -I -S launcher.py --report FD --args FD`, it reads its orders as JSON, forks,
confines the child (Landlock, a system call filter, no new privileges, a session of its own), and
waits. When the child ends, or the daemon does, it ends every process below it: as their reaper it
gets those that left. Imports the standard library only, and nothing of the project's.
"""

import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import stat
import struct
import sys
import tempfile
import time
from typing import NoReturn, TypedDict

_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_SET_NO_NEW_PRIVILEGES, _SET_SECCOMP, _SECCOMP_FILTER = 38, 22, 2
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_ONLY, _PATH_BENEATH = 1, 1
_FILE_RIGHTS = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_READ_RIGHTS = 1 << 0 | 1 << 2 | 1 << 3
_TCP_RIGHTS, _SCOPES = 3, 3
_RIGHTS_BY_VERSION = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_NETWORK_VERSION, SCOPE_VERSION = 4, 6
_END_SECONDS = 10.0
"""How long it tries, on a machine that is busy; it takes milliseconds on one that is not."""
_NOT_RUN = 126
_TOLD = frozenset((signal.SIGTERM, signal.SIGCHLD))
"""What it waits for: an end that the daemon wants, or that of a process below. They are blocked
until it waits, so that neither can break off the end itself."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_libc = ctypes.CDLL(None, use_errno=True)


class Orders(TypedDict):
    """What to run and how.

    `program_fd` is the program, -1 to take `program` by its path; `landlock` the version to use, 0
    for none; `readable` what may be read; `filter` a system call filter in hex; `tasks` how many
    more the user may have; `elevated` runs unconfined; `parent` is the daemon's process.
    """

    parent: int
    command: list[str]
    environment: dict[str, str]
    folder_fd: int
    program: str
    program_fd: int
    filter: str
    landlock: int
    readable: list[str]
    writable: bool
    network: bool
    tasks: int
    elevated: bool


def version() -> int:
    """Which Landlock the kernel has; 0 for none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, _VERSION_ONLY)))


def _control(option: int, value: int) -> None:
    if _libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _rights(landlock: int) -> int:
    return sum(rights for since, rights in _RIGHTS_BY_VERSION if landlock >= since)


def _allow(ruleset: int, opened: int, rights: int) -> None:
    if not stat.S_ISDIR(os.fstat(opened).st_mode):
        rights &= _FILE_RIGHTS
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, opened))
    if _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_add_rule")


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    """What is gone by now, or is no file, needs no rule."""
    with contextlib.suppress(FileNotFoundError, PermissionError, NotADirectoryError):
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if not stat.S_ISLNK(os.fstat(opened).st_mode):
                _allow(ruleset, opened, rights)
        finally:
            os.close(opened)


def _restrict(orders: Orders, temporary: str) -> None:
    landlock = orders["landlock"]
    all_rights = _rights(landlock)
    network = _TCP_RIGHTS if landlock >= _NETWORK_VERSION and not orders["network"] else 0
    scopes = _SCOPES if landlock >= SCOPE_VERSION else 0
    attributes = struct.pack("=QQQ", all_rights, network, scopes)
    size = 24 if landlock >= SCOPE_VERSION else 16 if landlock >= _NETWORK_VERSION else 8
    given = ctypes.create_string_buffer(attributes[:size], size)
    ruleset = int(_libc.syscall(_CREATE_RULESET, given, size, 0))
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    for path in orders["readable"]:
        _allow_path(ruleset, path, _READ_RIGHTS & all_rights)
    for path in _DEVICES:
        _allow_path(ruleset, path, all_rights)
    _allow_path(ruleset, temporary, all_rights)
    _allow(ruleset, orders["folder_fd"], all_rights if orders["writable"] else _READ_RIGHTS)
    if _libc.syscall(_RESTRICT_SELF, ruleset, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(ruleset)


def _filter(program: bytes) -> None:
    steps = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(steps))
    given = ctypes.create_string_buffer(head, len(head))
    address = ctypes.c_void_p(ctypes.addressof(given))
    if _libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, address, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def _run(orders: Orders, temporary: str) -> NoReturn:
    """In the child: confine it and become the command."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _TOLD)
        os.setsid()
        os.fchdir(orders["folder_fd"])
        if not orders["elevated"]:
            bound = _tasks_of_user() + orders["tasks"]
            resource.setrlimit(resource.RLIMIT_NPROC, (bound, bound))
            _control(_SET_NO_NEW_PRIVILEGES, 1)
            if orders["landlock"]:
                _restrict(orders, temporary)
            if orders["filter"]:
                _filter(bytes.fromhex(orders["filter"]))
        environment = {**orders["environment"], "TMPDIR": temporary}
        if orders["elevated"]:
            del environment["TMPDIR"]
        by_descriptor = orders["program_fd"] >= 0
        program = orders["program_fd"] if by_descriptor else orders["program"]
        os.execve(program, orders["command"], environment)
    except OSError as error:
        os.write(2, f"launcher: {error}\n".encode())
    os._exit(_NOT_RUN)


def _tasks_of_user() -> int:
    count = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _end_all() -> None:
    """Kill what is below until nothing is. One that may not be killed runs as another user."""
    until = time.monotonic() + _END_SECONDS
    while time.monotonic() < until:
        with open(_children_file(), "rb") as file:
            children = [int(pid) for pid in file.read().split()]
        for pid in children:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        os.sched_yield()


def _children_file() -> str:
    return f"/proc/self/task/{os.getpid()}/children"


def _await(child: int) -> int | None:
    """The child's exit code, negative for a signal; None when the daemon wants an end, or is gone.
    Orphans below are reaped meanwhile."""
    while signal.sigwait(_TOLD) == signal.SIGCHLD:
        pid = -1
        while pid != 0:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return os.waitstatus_to_exitcode(status)
    return None


def _keep(orders: Orders, report: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, _TOLD)
    temporary = "" if orders["elevated"] else tempfile.mkdtemp(prefix="ducklm-")
    try:
        _control(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
        _control(_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != orders["parent"]:
            return
        for held in (report, orders["folder_fd"], orders["program_fd"]):
            if held >= 0:
                os.set_inheritable(held, False)
        child = os.fork()
        if child == 0:
            _run(orders, temporary)
        os.write(report, f'{{"child-pid": {child}}}\n'.encode())
        code = _await(child)
        if code is not None:
            os.write(report, f'{{"exit-code": {code}}}\n'.encode())
    finally:
        _end_all()
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)


def main() -> int:
    _, _, report, _, options = sys.argv
    with os.fdopen(int(options), "rb") as pipe:
        text = pipe.read()
    if not text:
        return 1  # the daemon ended before it said what to run
    _keep(json.loads(text), int(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
