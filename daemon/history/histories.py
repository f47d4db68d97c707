"""The histories of all projects: one store a folder, each in turn, on threads of their own.

Keeps calls from waiting: what has not come within a few seconds is given up for that call, and goes
on where it was with the next. Decides nothing about projects and knows nothing of tasks but ids.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog

from daemon.domain import errors, ids, inputs, views
from daemon.history import git, walk
from daemon.runtime import ports

if TYPE_CHECKING:
    from daemon.history import store

CALL_SECONDS = 3.0
LOOK_SECONDS = 10.0
REVERT_SECONDS = 25.0
_GRACE_SECONDS = 0.5
"""How much later than its deadline work may notice it."""
PACK_SECONDS = 60.0
MOST_OBJECTS = 6000
"""Single objects of a store before they are put together."""
OFF_SECONDS = 600.0
"""How long a folder that is too much is not looked at."""
_THREADS = 4
_MOST_FOLDERS = 16
_NO_GIT = "Changes to projects are not kept and cannot be undone: git is missing; install git"

Result = TypeVar("Result")
_log = structlog.get_logger(__name__)


@dataclass
class _Folder:
    """A folder's store with who may use it. `current`: what was there before the next change is
    kept, so that the change can be told."""

    store: "store.Store"
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    current: bool = False
    off_until: float = 0.0


class Histories:
    """Implements `ports.History`."""

    def __init__(
        self,
        projects: Path,
        hidden: Sequence[str],
        clock: ports.Clock,
        default: str = "",
        call_seconds: float = CALL_SECONDS,
        most_objects: int = MOST_OBJECTS,
        find_git: Callable[[], bool] = git.Git.found,
    ) -> None:
        """`projects` is where the stores are; `hidden` are real paths that calls never see;
        `default` is the folder that an empty one stands for."""
        self._projects = projects
        self._hidden = tuple(hidden)
        self._clock = clock
        self._folders: dict[str, _Folder] = {}
        self._threads = futures.ThreadPoolExecutor(_THREADS, "history")
        self._notices: dict[str, str] = {}
        self._default = default
        self._call_seconds = call_seconds
        self._most_objects = most_objects
        self._packing: set[asyncio.Task[None]] = set()
        self._has_git = find_git()
        if not self._has_git:
            self._tell("", _NO_GIT)

    def close(self) -> None:
        """Begin no more work; what runs ends by its deadline."""
        for packing in self._packing:
            packing.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def notices(self) -> tuple[str, ...]:
        return tuple(self._notices.values())

    async def before(self, folder: str) -> None:
        if not self._has_git:
            return
        one = self._folder(folder)
        if one.off_until > time.monotonic():
            return
        one.current = False
        try:
            await self._in_turn(one, one.store.catch_up, self._call_seconds)
        except errors.HistoryFault as fault:
            self._give_up(one, fault)
        else:
            one.current = True
            self._notices.pop(one.store.folder, None)

    async def after(
        self, folder: str, message: str, task_id: ids.TaskId, call_id: ids.CallId
    ) -> inputs.Change | None:
        one = self._folders.get(folder or self._default)
        if one is None or not one.current:
            return None
        kept = one.store.keep
        try:
            change = await self._in_turn(
                one,
                lambda deadline: kept(message, task_id, call_id, deadline),
                self._call_seconds,
            )
        except errors.HistoryFault as fault:
            one.current = False
            self._give_up(one, fault)
            return None
        if change is not None and one.store.is_scattered(self._most_objects):
            packing = asyncio.create_task(self._pack(one))
            self._packing.add(packing)
            packing.add_done_callback(self._packing.discard)
        return change

    async def _pack(self, one: _Folder) -> None:
        """Put a store's objects together while nobody waits for it; a call that comes waits."""
        try:
            await self._in_turn(one, one.store.pack, PACK_SECONDS)
        except errors.HistoryFault as fault:
            _log.warning("history_not_packed", reason=str(fault))

    async def revert(
        self, folder: str, commits: Sequence[str], task_id: ids.TaskId | None = None
    ) -> str:
        one = self._to_read(folder, *commits)
        if not commits:
            raise errors.HistoryFault("Name the commits to take back.")
        wanted = tuple(commits)
        return await self._in_turn(
            one, lambda deadline: one.store.revert(wanted, task_id or "", deadline), REVERT_SECONDS
        )

    async def log(self, folder: str, limit: int, before: str = "") -> tuple[views.CommitView, ...]:
        one = self._to_read(folder, *([before] if before else []))

        def listed(deadline: walk.Deadline) -> tuple[views.CommitView, ...]:
            _check_known(one.store, before, deadline)
            return one.store.log(limit, before, deadline)

        return await self._in_turn(one, listed, LOOK_SECONDS)

    async def diff(self, folder: str, commit: str) -> str:
        one = self._to_read(folder, commit)

        def shown(deadline: walk.Deadline) -> str:
            _check_known(one.store, commit, deadline)
            return one.store.diff(commit, deadline)

        return await self._in_turn(one, shown, LOOK_SECONDS)

    def _to_read(self, folder: str, *commits: str) -> _Folder:
        if not self._has_git:
            raise errors.HistoryFault(f"{_NO_GIT}.")
        for commit in commits:
            if not git.is_commit(commit):
                raise errors.HistoryFault("A commit is named by the 40 digits of its whole id.")
        return self._folder(folder)

    def _folder(self, folder: str) -> _Folder:
        """The folder's store; the least used one that is at rest makes room."""
        folder = folder or self._default
        one = self._folders.pop(folder, None)
        if one is None:
            now_ms = self._clock.now_ms
            from daemon.history import store

            one = _Folder(store.Store(self._projects, folder, self._hidden, now_ms))
            while len(self._folders) >= _MOST_FOLDERS:
                resting = [path for path, it in self._folders.items() if not it.turn.locked()]
                if not resting:
                    break
                del self._folders[resting[0]]
        self._folders[folder] = one
        return one

    async def _in_turn(
        self, one: _Folder, work: Callable[[walk.Deadline], Result], seconds: float
    ) -> Result:
        """Do work on a folder's store once nobody else does.

        The turn ends with the work, not with who waits for it: a caller may be cancelled.

        Raises:
            errors.HistoryFault: it could not be done, or not in time.
        """
        deadline = walk.Deadline(seconds)
        try:
            async with asyncio.timeout(seconds):
                await one.turn.acquire()
        except TimeoutError as error:
            raise walk.Late("its history is busy") from error
        events = asyncio.get_running_loop()
        try:
            job = events.run_in_executor(self._threads, _typed, work, deadline)
        except RuntimeError as error:  # it was closed: the daemon ends
            one.turn.release()
            raise errors.HistoryFault("the daemon ends") from error
        job.add_done_callback(lambda done: _end_turn(one.turn, done))
        try:
            async with asyncio.timeout(deadline.left() + _GRACE_SECONDS):
                return await asyncio.shield(job)
        except TimeoutError as error:
            raise walk.Late("its history took too long") from error

    def _give_up(self, one: _Folder, fault: errors.HistoryFault) -> None:
        folder = one.store.folder
        if isinstance(fault, walk.TooMuch):
            one.off_until = time.monotonic() + OFF_SECONDS
        self._tell(folder, f"Changes in {folder} are not kept and cannot be undone: {fault}")

    def _tell(self, about: str, sentence: str) -> None:
        if self._notices.get(about) != sentence:
            self._notices[about] = sentence
            _log.warning("history_off", text=sentence)


def _typed(work: Callable[[walk.Deadline], Result], deadline: walk.Deadline) -> Result:
    """Do it; what the system refuses is a fault of the history too."""
    try:
        return work(deadline)
    except OSError as error:
        raise errors.HistoryFault(f"its store: {error.strerror or error}") from error


def _end_turn(turn: asyncio.Lock, job: "asyncio.Future[Result]") -> None:
    turn.release()
    if not job.cancelled():
        job.exception()  # who waited has had it, or nobody waits


def _check_known(one: "store.Store", commit: str, deadline: walk.Deadline) -> None:
    if commit and not one.has(commit, deadline):
        raise errors.HistoryFault(f"Its history has no commit {commit}.")
