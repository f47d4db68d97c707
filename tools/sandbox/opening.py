"""A program: starts bubblewrap, and sees that a command opens the copies that it was given.

A copy is mounted over a file, and the kernel takes the mount away when another process renames
that file, or one over it. So whoever is to run a copy is watched until it has opened it. What it
would open in the copy's place, it is led to the copy's second place instead, which nobody outside
reaches; and what it has opened or become in spite of that never gets to run an instruction: all is
killed, and the report says so. A process that runs no copy, or has opened its own, is let go and
pays nothing. What a program that the command starts does with a copy by itself (make, a script) is
not watched: only what the command's own words name.

Started in a process of its own, as `… ORDERS PARENT BWRAP --json-status-fd FD --args FD …`: ORDERS
is the descriptor of the orders (`parsed`), PARENT the daemon, the rest bubblewrap's. Ends with
bubblewrap, and takes all along when it is killed.
"""

import ctypes
import os
import select
import stat
import sys

from tools.sandbox import tracing

_SET_PARENT_DEATH_SIGNAL = 1
_CALLS_AFTER = 100
"""How many calls a process is watched after it opened its copy: Python looks into a script first,
whether it is an archive, and opens it again twelve calls later."""
_NOT_RUN = 126
_FIELDS = 5
_MOST_LINKS = 8


class Order:
    """One copy: where it is mounted, another absolute name of it, its second place, the descriptor
    of its content, and whether a shell may read it without another program (`source`)."""

    def __init__(self, path: str, name: str, beside: str, content_fd: int, by_shell: bool) -> None:
        self.path = path
        self.names = frozenset((path, name))
        self.bases = frozenset(os.path.basename(one) for one in self.names)
        self.beside = beside
        self.content_fd = content_fd
        self.by_shell = by_shell
        self.copies: set[tracing.Identity] = set()
        self.held: list[int] = []
        """The copies stay open, so that no other file gets their numbers."""

    def hold(self, tid: int) -> None:
        """Get to know the copies before anything of the command runs."""
        if not self._take(tid, self.beside):
            raise OSError(f"{self.beside} is not the copy of {self.path}")
        self._take(tid, self.path)

    def _take(self, tid: int, at: str) -> bool:
        """A copy is known by what bubblewrap's alone has: no name, another file system than its
        folder's, and the content."""
        path = f"/proc/{tid}/root{at}"
        try:
            folder = os.stat(os.path.dirname(path))
            held = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        self.held.append(held)
        status = os.fstat(held)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink or status.st_dev == folder.st_dev:
            return False
        size = os.fstat(self.content_fd).st_size
        if os.pread(held, size + 1, 0) != os.pread(self.content_fd, size + 1, 0):
            return False
        self.copies.add((status.st_dev, status.st_ino))
        return True

    def stands(self, tid: int, name: str) -> bool:
        """Whether a process meets the copy by that name. Once its path does not lead there, it
        never does again."""
        root = f"/proc/{tid}/root"
        for _ in range(_MOST_LINKS):  # the kernel would follow a link from this process's root
            leads = tracing.link(root + name)
            if not leads:
                break
            name = os.path.normpath(os.path.join(os.path.dirname(name), leads))
        return tracing.identity(root + name) in self.copies


class _Process:
    """What is known of one process: the copies that its words name; whether its calls are watched;
    how many more, once it has opened one; whether it is the command's first and only one."""

    def __init__(self, awaits: tuple[Order, ...] = (), calls: bool = False) -> None:
        self.awaits = awaits
        self.calls = calls
        self.left: int | None = None
        self.alone = False
        self.free = False

    def forked(self) -> "_Process":
        """Its child, until that becomes another program."""
        self.alone = False
        child = _Process(self.awaits, self.calls)
        child.left, child.free = self.left, self.free
        return child


class _Replaced(Exception):
    """Another file stands where a copy is to be run; `unstarted` if nothing has run yet."""

    def __init__(self, order: Order, unstarted: bool) -> None:
        super().__init__(order.path)
        self.order = order
        self.unstarted = unstarted


class _Tracer:
    """Follows bubblewrap's processes to the command, and the command's to their copies."""

    def __init__(self, keeper: int, orders: list[Order], report: int) -> None:
        self._keeper = keeper
        self._orders = orders
        self._report = report
        self._calls = tracing.Calls()
        self._threads: dict[int, _Process] = {keeper: _Process()}
        self._parked: set[int] = set()
        self._execs = 0
        self._inside: dict[int, str] = {}
        """The path to open of each thread that is inside a call; empty for one that opens none."""
        self._led: dict[int, tuple[int, int]] = {}

    def follow(self) -> None:
        """Until bubblewrap has ended."""
        while True:
            tid, status = os.waitpid(-1, tracing.ALL)
            try:
                if status == tracing.AT_CALL:
                    self._called(tid, self._threads[tid])
                elif os.WIFSTOPPED(status):
                    self._stopped(tid, os.WSTOPSIG(status), status >> 16)
                else:
                    self._ended(tid)
                    if tid == self._keeper:
                        break
            except _Replaced as found:
                self._end(found)
        if self._execs < 2:
            os.write(self._report, b'{"unstarted": 1}\n')  # it could not confine

    def _end(self, found: _Replaced) -> None:
        """The one that was found is left standing until it is killed: all go with bubblewrap."""
        os.kill(self._keeper, tracing.KILL)
        number, unstarted = self._orders.index(found.order), int(found.unstarted)
        os.write(self._report, f'{{"replaced": {number}, "unstarted": {unstarted}}}\n'.encode())

    def _ended(self, tid: int) -> None:
        """A parent that ended may not have told of its child: that is taken for what it says."""
        self._forget(tid)
        self._parked.discard(tid)
        for orphan in tuple(self._parked):
            self._adopt(orphan, self._seen(orphan) if self._execs > 1 else _Process())

    def _forget(self, tid: int) -> None:
        for known in (self._threads, self._inside, self._led):
            known.pop(tid, None)

    def _stopped(self, tid: int, signal: int, event: int) -> None:
        process = self._threads.get(tid)
        if event == tracing.EXEC:
            process = self._threads.pop(tracing.message(tid), None) or process or _Process()
            self._executed(tid, process)
        elif process is None:
            self._parked.add(tid)  # its parent will tell of it
        elif event in tracing.FORKS:
            new = tracing.message(tid)
            if new not in self._threads:
                thread = event == tracing.CLONE and tracing.group(new) == tracing.group(tid)
                self._adopt(new, process if thread else process.forked())
            self._go(tid, process)
        elif event == tracing.STOPPED and signal in tracing.STOPS and not process.free:
            tracing.trace(tracing.LISTEN, tid)
        elif event == tracing.STOPPED:
            self._go(tid, process)
        else:
            self._go(tid, process, signal)

    def _adopt(self, tid: int, process: _Process) -> None:
        self._threads[tid] = process
        if tid in self._parked:
            self._parked.discard(tid)
            self._go(tid, process)

    def _go(self, tid: int, process: _Process, signal: int = 0) -> None:
        if process.free and tid not in self._led:
            self._forget(tid)
            tracing.trace(tracing.DETACH, tid, 0, signal)
        else:
            how = tracing.TO_NEXT_CALL if process.calls else tracing.CONTINUE
            tracing.trace(how, tid, 0, signal)

    def _free(self, process: _Process, but: int) -> None:
        """Let a process go: its threads that run must stand still for it."""
        process.free = True
        for tid, one in self._threads.items():
            if one is process and tid != but and tid not in self._parked:
                tracing.trace(tracing.INTERRUPT, tid)

    def _executed(self, tid: int, before: _Process) -> None:
        """A process has become another program, and has not run an instruction of it."""
        self._execs += 1
        for other in [other for other, one in self._threads.items() if one is before]:
            self._forget(other)  # the kernel ended its other threads
        self._forget(tid)
        process = _Process()
        if self._execs == 2:
            self._begin(tid)
        if self._execs > 1:
            alone = before.alone or self._execs == 2
            self._check(tid, alone)
            process = self._seen(tid)
            process.alone = alone and bool(process.awaits)
            process.free |= before.left is not None  # started by one that has its copy
        self._threads[tid] = process
        self._go(tid, process)

    def _begin(self, tid: int) -> None:
        """The command is about to run: nothing else of bubblewrap's matters any more."""
        for order in self._orders:
            order.hold(tid)
        for process in {id(one): one for one in self._threads.values()}.values():
            self._free(process, but=tid)

    def _check(self, tid: int, alone: bool) -> None:
        """A program that is to be a copy is one. Of a script the kernel has read who is to read
        it: that was the copy's if the copy stands there yet."""
        program, folder = f"/proc/{tid}/exe", tracing.link(f"/proc/{tid}/cwd")
        asked = os.path.normpath(os.path.join(folder, tracing.started_as(tid)))
        runs, found = tracing.link(program), tracing.identity(program)
        for order in self._orders:
            another = runs in order.names or asked in order.names and not order.stands(tid, asked)
            if found not in order.copies and another:
                raise _Replaced(order, alone)

    def _seen(self, tid: int) -> _Process:
        """What is to be awaited of a program, by its words: that it opens a copy if one of them is
        its path; what a shell does that reads a text with its name; else nothing."""
        words, folder = tracing.words(tid), tracing.link(f"/proc/{tid}/cwd")
        meant = {os.path.normpath(os.path.join(folder, word)) for word in words}
        runs = tracing.identity(f"/proc/{tid}/exe")
        awaits: list[Order] = []
        named = calls = False
        for order in self._orders:
            if runs in order.copies:
                continue
            if not order.names.isdisjoint(meant):
                awaits.append(order)
            elif any(base in word for word in words for base in order.bases):
                named = True
                calls |= order.by_shell
        process = _Process(tuple(awaits), bool(awaits) or calls)
        process.free = not awaits and not named
        return process

    def _called(self, tid: int, process: _Process) -> None:
        """A call begins or ends; one that opens is looked at. The most of all stops are here."""
        asked = self._inside.pop(tid, None)
        if asked is None:
            asked = self._calls.asked(tid)
            if asked is not None:
                self._inside[tid] = asked
            if asked:
                self._lead(tid, asked)
        else:
            if asked:
                self._opened(tid, process, asked)
            if process.left is not None:
                process.left -= 1
                if process.left <= 0 and not process.free:
                    self._free(process, but=tid)
        self._go(tid, process)

    def _lead(self, tid: int, asked: str) -> None:
        for order in self._orders:
            if asked in order.names and not order.stands(tid, asked):
                led = self._calls.lead(tid, order.beside)
                if led is not None:
                    self._led[tid] = led
                return

    def _opened(self, tid: int, process: _Process, asked: str) -> None:
        """What it has opened is the copy, or has nothing to do with one."""
        opened = self._calls.opened(tid)
        if tid in self._led:
            self._calls.restore(tid, self._led.pop(tid))
        if opened is None:
            return
        found, real = (
            look(f"/proc/{tid}/fd/{opened}") for look in (tracing.identity, tracing.link)
        )
        for order in self._orders:
            if found in order.copies:
                if order in process.awaits:
                    process.left = _CALLS_AFTER
            elif asked in order.names or real in (order.path, f"{order.path} (deleted)"):
                raise _Replaced(order, process.alone and process.left is None)


def parsed(text: bytes) -> list[Order]:
    """The orders, each a path, another name, a second place, a descriptor and whether a shell may
    read it, every one ended by a NUL."""
    fields = os.fsdecode(text).split("\0")[:-1]
    copies = zip(*(fields[place::_FIELDS] for place in range(_FIELDS)), strict=True)
    return [
        Order(path, name, beside, int(content), bool(by_shell))
        for path, name, beside, content, by_shell in copies
    ]


def _seized(argv: list[str]) -> int:
    """A child that is traced before it becomes the program of its arguments."""
    gate_read, gate_write = os.pipe2(os.O_CLOEXEC)
    child = os.fork()
    if child == 0:
        os.close(gate_write)
        if os.read(gate_read, 1):
            try:
                os.execv(argv[0], argv)
            except OSError as error:
                os.write(2, f"opening: {error}\n".encode())
        os._exit(_NOT_RUN)
    os.close(gate_read)
    try:
        tracing.seize(child)
        os.write(gate_write, b"\n")
    finally:
        os.close(gate_write)
    return child


def main() -> int:
    orders, parent, *keeper = sys.argv[1:]
    report, options = int(keeper[2]), int(keeper[4])
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, tracing.KILL, 0, 0, 0)
    waiting = select.poll()
    waiting.register(options, select.POLLIN)
    told = dict(waiting.poll())
    if os.getppid() != int(parent) or not told[options] & select.POLLIN:
        return 1  # the daemon ended before it said what to run
    with open(int(orders), "rb") as file:
        given = parsed(file.read())
    _Tracer(_seized(keeper), given, report).follow()
    return 0
