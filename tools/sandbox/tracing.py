"""What Linux tells of traced processes, and how they are told to go on: ptrace and /proc.

For `opening`, which imports little because each module costs milliseconds: the numbers here are
Linux's. What cannot be read of a process is empty, and never an error; whether that lets it run on
is decided elsewhere.
"""

import ctypes
import errno
import os

KILL, _TRAP = 9, 5
STOPS = (19, 20, 21, 22)
CONTINUE, DETACH, TO_NEXT_CALL = 7, 17, 24
_EVENT_MESSAGE, _GET_REGISTERS, _SET_REGISTERS, _SEIZE = 0x4201, 0x4204, 0x4205, 0x4206
INTERRUPT, LISTEN, _CALL_INFO = 0x4207, 0x4208, 0x420E
_OPTIONS = 1 << 20 | 0x1F
"""Kill what is traced with the tracer; mark calls; tell forks, clones and exec."""
FORKS, CLONE, EXEC, STOPPED = (1, 2, 3), 3, 4, 128
AT_CALL = (_TRAP | 0x80) << 8 | 0x7F
"""What waitpid says of one that stands at a call."""
ALL = 0x40000000
"""For waitpid: also threads."""

_INFO_WORDS, _KIND, _CALL, _ARGUMENTS = 11, 0, 3, 4
"""What is told of a call, in words of eight bytes: its kind and the machine, and from the fourth on
the call with its arguments, or what it returned and whether that is an error."""
_ENTRY = 1
_OPENAT2 = 437
_MACHINES = {
    "x86_64": (0xC000003E, {2: (False, 14), 257: (True, 13), _OPENAT2: (True, 13)}, 19),
    "aarch64": (0xC00000B7, {56: (True, 1), _OPENAT2: (True, 1)}, 31),
}
"""By machine: its number; the calls that open, whether they take a folder first, and which register
holds the path; the register of the stack."""
_REGISTER_WORDS, _GENERAL_REGISTERS = 34, 1
_BELOW_STACK_BYTES = 1024
"""How far below the stack's end is memory that nobody has written by the time a call returns."""
_OF_WORKING_FOLDER = 2**32 - 100
_PAGE_BYTES, _LONGEST_PATH_BYTES = 4096, 4096
_STARTED_AS = 31
"""The entry of a process's auxiliary vector that says where its path is."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long

Identity = tuple[int, int]


def supported(machine: str) -> bool:
    """Whether the calls of a machine as `os.uname` names it are known."""
    return machine in _MACHINES


def trace(request: int, tid: int, address: int = 0, data: int = 0) -> None:
    """Tell the kernel. One that was killed meanwhile is left alone: its end will be told."""
    if _libc.ptrace(request, tid, address, data) == -1:
        error = ctypes.get_errno()
        if error != errno.ESRCH:
            raise OSError(error, f"ptrace {request:#x}: {os.strerror(error)}")


def seize(pid: int) -> None:
    """Trace a process, and all that it will start."""
    trace(_SEIZE, pid, 0, _OPTIONS)


def message(tid: int) -> int:
    """The number that belongs to an event: of the new process, or before an exec."""
    told = ctypes.c_ulong()
    trace(_EVENT_MESSAGE, tid, 0, ctypes.addressof(told))
    return told.value


def identity(path: str) -> Identity | None:
    """Which file is there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def link(path: str) -> str:
    """Where a link leads."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def words(tid: int) -> list[str]:
    """The arguments of a process."""
    return os.fsdecode(_content(tid, "cmdline")).split("\0")[:-1]


def started_as(tid: int) -> str:
    """The path by which a process was started: for a script its own, not its interpreter's."""
    vector = memoryview(_content(tid, "auxv")).cast("Q")
    entries = dict(zip(vector[::2], vector[1::2], strict=False))  # odd for one of 32 bits
    return _text(tid, entries.get(_STARTED_AS, 0))


def group(tid: int) -> int:
    """The process of a thread."""
    for line in _content(tid, "status").splitlines():
        if line.startswith(b"Tgid:"):
            return int(line[5:])
    return tid


def _content(tid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{tid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _text(tid: int, address: int) -> str:
    """The text that ends with NUL at an address of a process."""
    found = b""
    try:
        with open(f"/proc/{tid}/mem", "rb", buffering=0) as memory:
            while b"\0" not in found and len(found) < _LONGEST_PATH_BYTES:
                start = address + len(found)
                memory.seek(start)
                piece = memory.read(_PAGE_BYTES - start % _PAGE_BYTES)
                if not piece:
                    return ""
                found += piece
    except (OSError, OverflowError):  # an address may be anything
        return ""
    return os.fsdecode(found.partition(b"\0")[0])


class Calls:
    """The calls of this machine that open a path: read, and led to another one."""

    def __init__(self) -> None:
        self._machine, self._opening, self._stack = _MACHINES[os.uname().machine]
        self._info = (ctypes.c_uint64 * _INFO_WORDS)()
        self._info_at = ctypes.addressof(self._info)

    def _look(self, tid: int) -> None:
        trace(_CALL_INFO, tid, ctypes.sizeof(self._info), self._info_at)

    def asked(self, tid: int) -> str | None:
        """The path that a call is about to open, as written but absolute; empty if it opens none;
        None if no call begins here."""
        info = self._info
        self._look(tid)
        if info[_KIND] & 0xFF != _ENTRY:
            return None
        if info[_CALL] not in self._opening or info[_KIND] >> 32 != self._machine:
            return ""
        at_folder, _ = self._opening[info[_CALL]]
        folder = info[_ARGUMENTS] & 0xFFFFFFFF if at_folder else _OF_WORKING_FOLDER
        place = "cwd" if folder == _OF_WORKING_FOLDER else f"fd/{folder}"
        written = _text(tid, info[_ARGUMENTS + at_folder])
        return os.path.normpath(os.path.join(link(f"/proc/{tid}/{place}"), written))

    def opened(self, tid: int) -> int | None:
        """The descriptor that a call has opened; None if it failed."""
        self._look(tid)
        return None if self._info[_ARGUMENTS] & 0xFF else self._info[_CALL]

    def lead(self, tid: int, path: str) -> tuple[int, int] | None:
        """Have the call that was just `asked` open another path. Gives what to hand to `restore`
        when it has; None if it cannot be led."""
        _, register = self._opening[self._info[_CALL]]
        registers = self._registers(tid)
        saved = registers[register]
        registers[register] = registers[self._stack] - _BELOW_STACK_BYTES
        try:
            with open(f"/proc/{tid}/mem", "r+b", buffering=0) as memory:
                memory.seek(registers[register])
                memory.write(os.fsencode(path) + b"\0")
        except (OSError, OverflowError):
            return None
        self._set(tid, registers)
        return register, saved

    def restore(self, tid: int, saved: tuple[int, int]) -> None:
        """Let the process find its registers as they were."""
        register, value = saved
        registers = self._registers(tid)
        registers[register] = value
        self._set(tid, registers)

    def _registers(self, tid: int) -> "ctypes.Array[ctypes.c_uint64]":
        registers = (ctypes.c_uint64 * _REGISTER_WORDS)()
        place = (ctypes.c_uint64 * 2)(ctypes.addressof(registers), ctypes.sizeof(registers))
        trace(_GET_REGISTERS, tid, _GENERAL_REGISTERS, ctypes.addressof(place))
        self._size = place[1]
        return registers

    def _set(self, tid: int, registers: "ctypes.Array[ctypes.c_uint64]") -> None:
        place = (ctypes.c_uint64 * 2)(ctypes.addressof(registers), self._size)
        trace(_SET_REGISTERS, tid, _GENERAL_REGISTERS, ctypes.addressof(place))
