"""One command in its keeper: started, watched, and gone without a trace when it ends.

The keeper (bubblewrap, or the launcher) makes the confinement, reports the child it started, and
takes everything below it along. What is held here are the limits that the kernel does not hold:
tasks, memory and disk of all processes together. Never decides what runs.
"""

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.sandbox import cgroup, limits

_NICENESS = 10
"""A command that takes all processors must leave the daemon enough of them to end it."""
_FIRST_LOOK_SECONDS = 0.02
_LOOK_SECONDS = 0.25
_GONE_SECONDS = 5.0
"""How long the kernel may take to end what was killed."""
_MAX_OPTION_BYTES = 60 * 1024
"""Written in one piece into a pipe, so that a keeper never acts on a part of its options."""
_SLACK = 2
"""A control group lets a command have so many times its tasks, so that the watch sees it and ends
it, instead of leaving it to try for ever."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MEMORY_BYTES = os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES


class NotConfined(Exception):
    """The keeper could not be started or could not confine; the text says why."""


@dataclass(frozen=True)
class Launch:
    """How to start a keeper. `program` is the argv of the keeper up to where the descriptor of its
    options goes, `command` what follows; `status` names the option for the report's descriptor.

    `group_is_child` when the reported child holds every process by itself (a namespace's first).
    `unconfined` for a command that runs as root: no limits are set on its keeper.
    """

    program: tuple[str, ...]
    options: bytes
    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    status: str = "--json-status-fd"
    group_is_child: bool = True
    unconfined: bool = False


@dataclass(frozen=True)
class Ending:
    """How a command ended: its exit code, negative for a signal; None when it never ran.
    `reason` says which bound ended it; `replaced` the number of the copy in whose place it would
    have run something else; `unstarted` that surely nothing has run."""

    code: int | None
    reason: str = ""
    replaced: int | None = None
    unstarted: bool = False


class Confined:
    """A running command."""

    def __init__(
        self,
        keeper: asyncio.subprocess.Process,
        report: asyncio.StreamReader,
        bounds: limits.Limits,
        group_is_child: bool,
        folder_fd: int,
        group: cgroup.Group | None,
    ) -> None:
        self._keeper = keeper
        self._report = report
        self._limits = bounds
        self._group_is_child = group_is_child
        self._folder_fd = folder_fd
        self._group = group
        self._child = 0
        self._child_fd = -1
        self._reason = ""

    async def began(self) -> None:
        """Wait for the report of the child, and hold on to it."""
        try:
            async with asyncio.timeout(self._limits.start_seconds):
                said = _parsed(await self._report.readline())
        except TimeoutError:
            return
        child = said.get("child-pid")
        if child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._child_fd = os.pidfd_open(child)
            self._child = child

    async def wait(self) -> Ending:
        """Until the command ends, by itself or by a bound."""
        watching = asyncio.create_task(self._watch())
        try:
            await self._keeper.wait()
        finally:
            watching.cancel()
            await asyncio.wait((watching,))
        if not watching.cancelled():
            watching.result()
        said: dict[str, int] = {}
        while line := await self._report.readline():
            said |= _parsed(line)
        code, replaced = said.get("exit-code"), said.get("replaced")
        return Ending(code, self._reason, replaced, bool(said.get("unstarted")))

    async def end(self) -> None:
        """End whatever is left, and return only when nothing is; may be called twice."""
        self._kill()
        if self._child_fd >= 0 and self._group_is_child:
            await self._gone()
        try:
            async with asyncio.timeout(_GONE_SECONDS):
                await self._keeper.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._keeper.kill()
            await self._keeper.wait()
        if self._child_fd >= 0:
            os.close(self._child_fd)
            self._child_fd = -1
        if self._group is not None:
            self._group.remove()

    def _kill(self) -> None:
        """A namespace's first process takes the others along; the launcher ends its children."""
        with contextlib.suppress(ProcessLookupError):
            if self._child_fd >= 0 and self._group_is_child:
                signal.pidfd_send_signal(self._child_fd, signal.SIGKILL)
            elif self._keeper.returncode is None:
                self._keeper.send_signal(signal.SIGKILL if self._group_is_child else signal.SIGTERM)

    async def _gone(self) -> None:
        """A namespace's first process ends only when every other one has."""
        ended = asyncio.Event()
        running = asyncio.get_running_loop()
        running.add_reader(self._child_fd, ended.set)
        try:
            async with asyncio.timeout(_GONE_SECONDS):
                await ended.wait()
        except TimeoutError:
            pass  # the kernel holds one in an uninterruptible wait: it ends when that does
        finally:
            running.remove_reader(self._child_fd)

    async def _watch(self) -> None:
        """Look at what the processes use together, and end them beyond a bound."""
        free_at_first = _free_bytes(self._folder_fd)
        root = self._child if self._group_is_child else self._keeper.pid
        if not root:
            return
        self._bound_tasks(root)
        pause_seconds = _FIRST_LOOK_SECONDS
        while not self._reason:
            await asyncio.sleep(pause_seconds)
            pause_seconds = min(pause_seconds * 2, _LOOK_SECONDS)
            self._reason = self._beyond(root, free_at_first)
        self._kill()

    def _bound_tasks(self, root: int) -> None:
        """The count of tasks is of a user in a namespace: it can only be set within one."""
        if self._group_is_child:
            bound = (self._limits.tasks, self._limits.tasks)
            for pid in _tree(root, self._limits.tasks):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    resource.prlimit(pid, resource.RLIMIT_NPROC, bound)

    def _beyond(self, root: int, free_at_first: int) -> str:
        bounds = self._limits
        tasks = resident = 0
        memory = min(bounds.resident_bytes, _MEMORY_BYTES // 2)
        for pid in _tree(root, bounds.tasks):
            threads, own_bytes = _used(pid)
            tasks += threads
            resident += own_bytes
            if tasks > bounds.tasks:
                return f"it had more than {bounds.tasks} processes and threads at once"
        if resident > memory:
            return f"its processes used more than {memory} bytes of memory"
        free = _free_bytes(self._folder_fd)
        if free_at_first - free > bounds.disk_bytes:
            return f"the disk lost more than {bounds.disk_bytes} bytes of free space meanwhile"
        if free < min(bounds.disk_reserve_bytes, free_at_first):
            return f"less than {bounds.disk_reserve_bytes} bytes of disk space were left"
        return ""


async def start(
    launch: Launch, bounds: limits.Limits, output_fd: int, stdin: int, folder_fd: int
) -> Confined:
    """Start a keeper. Only the command holds `output_fd` afterwards; the caller's copy is closed.

    Raises:
        NotConfined: it could not be started.
    """
    starting = asyncio.create_task(_start(launch, bounds, output_fd, stdin, folder_fd))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        # A keeper that is half on its way could leave its child behind: it is ended once it stands.
        await asyncio.wait((starting,))
        if not starting.cancelled() and starting.exception() is None:
            await starting.result().end()
        raise


async def _start(
    launch: Launch, bounds: limits.Limits, output_fd: int, stdin: int, folder_fd: int
) -> Confined:
    with contextlib.ExitStack() as held:
        held.callback(os.close, output_fd)
        if len(launch.options) > _MAX_OPTION_BYTES:
            raise NotConfined("there is more to hide or to guard than the sandbox can be told.")
        options_read, options_write = os.pipe2(os.O_CLOEXEC)
        held.callback(os.close, options_read)
        report_read, report_write = os.pipe2(os.O_CLOEXEC)
        held.callback(os.close, report_write)
        report = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(report), os.fdopen(report_read, "rb", buffering=0)
        )
        with os.fdopen(options_write, "wb", buffering=0) as gate:
            try:
                keeper = await asyncio.create_subprocess_exec(
                    *launch.program,
                    *(launch.status, str(report_write), "--args", str(options_read)),
                    *launch.command,
                    stdin=stdin,
                    stdout=output_fd,
                    stderr=asyncio.subprocess.STDOUT,
                    env=launch.environment,
                    pass_fds=(options_read, report_write, *launch.descriptors),
                    start_new_session=True,
                    umask=0o022,
                )
            except (OSError, subprocess.SubprocessError) as error:
                raise NotConfined(f"{launch.program[0]} cannot be started: {error}.") from error
            group = None
            if not launch.unconfined:
                _bound(keeper.pid, bounds)
                # in a thread: the kernel takes milliseconds to move a process into a group
                group = await asyncio.to_thread(cgroup.made, keeper.pid, _SLACK * bounds.tasks)
            with contextlib.suppress(BrokenPipeError):
                gate.write(launch.options)
    confined = Confined(keeper, report, bounds, launch.group_is_child, folder_fd, group)
    await confined.began()
    return confined


def _bound(pid: int, bounds: limits.Limits) -> None:
    """The keeper still waits for its options: whatever it starts will have these limits."""
    os.setpriority(os.PRIO_PROCESS, pid, _NICENESS)
    for which, value in bounds.kernel():
        _, most = resource.prlimit(pid, which)
        bound = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.prlimit(pid, which, (bound, bound))


def _parsed(line: bytes) -> dict[str, int]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return {name: value for name, value in said.items() if isinstance(value, int)}


def _tree(root: int, most: int) -> Iterator[int]:
    """A process and all below it, at most so many and one more."""
    waiting = [root]
    for _ in range(most + 1):
        if not waiting:
            return
        pid = waiting.pop()
        yield pid
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as children:
                    waiting += map(int, children.read().split())


def _used(pid: int) -> tuple[int, int]:
    """The threads of a process, and its memory less what it shares, in bytes."""
    try:
        threads = len(os.listdir(f"/proc/{pid}/task"))
        with open(f"/proc/{pid}/statm", "rb") as pages:
            _, resident, shared = map(int, pages.read().split()[:3])
    except (OSError, ValueError):
        return 0, 0
    return threads, (resident - shared) * _PAGE_BYTES


def _free_bytes(folder_fd: int) -> int:
    status = os.fstatvfs(folder_fd)
    return status.f_bavail * status.f_frsize
