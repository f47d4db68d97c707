"""One folder's history: looks at it, keeps what changed as a commit, and takes commits back.

Blocks; used by one thread at a time. The store holds only objects, one branch, and a second ref
while commits are being taken back: whoever finds that one first finishes it. What is remembered of
the folder between two looks (`_looked`) is in memory alone, so nothing of it can be stale.
"""

import contextlib
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from daemon.domain import errors, inputs, views
from daemon.history import git, names, objects, reversal, trailers, walk, worktree

DIFF_BYTES = 64 * 1024
MOST_NAMED_FILES = 100
FOUND = "What the folder held at first"
OUTSIDE = "Changes made outside"
_RACY_NS = 2_000_000_000
"""A file changed that shortly before it was read may change again under the same times."""
_BRANCH, _REVERTING = "refs/heads/main", "refs/ducklm/reverting"
_LOOK_EVERY = 64
_SAMPLE = "17"
_CARRY_OUT_SECONDS = 300.0
_CONFIG = """[core]
\trepositoryformatversion = 0
\tbare = true
\tlogallrefupdates = false
"""


class _Looked(NamedTuple):
    """A file that was read: what it was stamped then, when, and what it held."""

    stamp: walk.Stamp
    read_ns: int
    kept: objects.Kept

    def is_still(self, stamp: walk.Stamp) -> bool:
        changed_ns = max(stamp.mtime_ns, stamp.ctime_ns)
        return stamp == self.stamp and changed_ns + _RACY_NS < self.read_ns


@dataclass(frozen=True)
class _Commit:
    """A commit that was just made, with the paths that it changed."""

    commit: str
    paths: tuple[bytes, ...]


def place(projects: Path, folder: str) -> Path:
    """Where the store of a folder is, by its real path."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()
    return projects / f"{digest[:32]}.git"


class Store:
    """The history of one folder."""

    def __init__(
        self,
        projects: Path,
        folder: str,
        hidden: Sequence[str],
        now_ms: Callable[[], int],
    ) -> None:
        self.folder = folder
        self._path = place(projects, folder)
        self._hidden = tuple(os.fsencode(path) for path in hidden)
        self._now_ms = now_ms
        self._git = git.Git(self._path)
        self._objects = objects.Objects(self._path)
        self._head: str | None = None
        self._kept: dict[bytes, objects.Kept] = {}
        self._looked: dict[bytes, _Looked] = {}
        self._left: dict[bytes, str] = {}
        self._ready = False

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def catch_up(self, deadline: walk.Deadline) -> None:
        """Keep what changed since the last commit as made outside.

        Raises:
            HistoryFault: it was given up; what was read by then is not read again.
        """
        with walk.opened(self.folder) as folder_fd:
            self._prepare(folder_fd, deadline)
            first = self._head is None
            self._commit(folder_fd, trailers.message(FOUND if first else OUTSIDE), deadline, first)

    def keep(
        self, message: str, task_id: str, call_id: str, deadline: walk.Deadline
    ) -> inputs.Change | None:
        """Keep what a call changed; None when that is nothing.

        Raises:
            HistoryFault: it was given up.
        """
        with walk.opened(self.folder) as folder_fd:
            self._prepare(folder_fd, deadline)
            left = self._left
            made = self._commit(
                folder_fd, trailers.message(message, task_id, call_id), deadline, first=False
            )
        if made is None:
            return None
        return inputs.Change(
            commit=made.commit,
            files=tuple(names.shown(path) for path in made.paths[:MOST_NAMED_FILES]),
            diff=self._call_diff(made, left, deadline),
        )

    def has(self, commit: str, deadline: walk.Deadline) -> bool:
        """Whether this history has a commit with this whole id."""
        return self.exists and self._git.has(commit, deadline)

    def is_scattered(self, most_objects: int) -> bool:
        """Whether the store has, as far as one folder of 256 tells, more single objects."""
        try:
            sample = len(os.listdir(self._path / "objects" / _SAMPLE))
        except FileNotFoundError:
            sample = 0
        return sample * 256 > most_objects

    def pack(self, deadline: walk.Deadline) -> None:
        """Put single objects together; what is in no commit stays as it is."""
        self._git.pack(deadline)

    def _call_diff(
        self, made: _Commit, left_before: dict[bytes, str], deadline: walk.Deadline
    ) -> str:
        try:
            text = self.diff(made.commit, deadline)
        except errors.HistoryFault as fault:
            text = f"(not shown: {fault})\n"
        more = len(made.paths) - MOST_NAMED_FILES
        if more > 0:
            text += f"({more} more files changed)\n"
        new = [path for path in self._left if path not in left_before]
        for path in new[:MOST_NAMED_FILES]:
            text += f"(not kept: {names.shown(path)}: {self._left[path]})\n"
        return text

    def diff(self, commit: str, deadline: walk.Deadline) -> str:
        """What a commit changed."""
        text, more = self._git.diff(commit, DIFF_BYTES, deadline)
        return text + (f"(only the first {DIFF_BYTES // 1024} KiB are shown)\n" if more else "")

    def log(
        self, limit: int | None, before: str, deadline: walk.Deadline
    ) -> tuple[views.CommitView, ...]:
        """Commits, newest first."""
        start = before or self._read_ref(_BRANCH)
        if start is None:
            return ()
        found = self._git.log(start, limit, 1 if before else 0, deadline)
        return tuple(trailers.view(one) for one in found)

    def revert(self, commits: Sequence[str], task_id: str, deadline: walk.Deadline) -> str:
        """Take commits back; returns the commit that does.

        Raises:
            HistoryFault: that cannot be; nothing in the folder was changed.
        """
        with walk.opened(self.folder) as folder_fd:
            self._prepare(folder_fd, deadline)
            log = self.log(None, "", deadline)
            places = {one.commit: place for place, one in enumerate(log)}
            unknown = [commit for commit in commits if commit not in places]
            if unknown:
                raise errors.HistoryFault(f"Its history has no commit {unknown[0]}.")
            back = trailers.taken_back(log)
            wanted = sorted({one for one in commits if one not in back}, key=places.__getitem__)
            if not wanted:
                return min((back[one] for one in commits), key=places.__getitem__)
            if log[-1].commit in wanted:
                raise errors.HistoryFault(f"“{FOUND}” cannot be taken back.")
            self._commit(folder_fd, trailers.message(OUTSIDE), deadline, first=False)
            files = reversal.without(self._kept, wanted, self._git, self._objects, deadline)
            commit = self._propose(folder_fd, files, wanted, task_id)
            self._ready = False  # the files and the last commit are read again, or this finished
            return self._carry_out(folder_fd, commit)

    def _propose(
        self,
        folder_fd: int,
        files: dict[bytes, objects.Kept],
        reverted: Sequence[str],
        task_id: str,
    ) -> str:
        """Write the commit that takes others back, and that it is to be carried out."""
        changed = _changed(self._kept, files)
        in_the_way = [path for path in changed if not self._is_as_kept(folder_fd, path, changed)]
        if in_the_way:
            raise reversal.blocked(in_the_way)
        count = f"{len(reverted)} change{'s' if len(reverted) > 1 else ''}"
        message = trailers.message(f"Take back {count}", task_id, reverts=reverted)
        tree = self._objects.tree(files)
        commit = self._objects.commit(tree, self._head, message, self._now_ms() // 1000)
        self._objects.flush()
        self._write_ref(_REVERTING, commit)
        return commit

    def _is_as_kept(self, folder_fd: int, path: bytes, changed: Collection[bytes]) -> bool:
        """Whether nothing unexpected is in a path's place. Where a file and a folder change
        places, what is there makes room."""
        if walk.is_closed(os.fsencode(self.folder), self._hidden, path):
            return False
        try:
            return worktree.holds(folder_fd, path) == self._kept.get(path)
        except worktree.Unreadable:
            above = set(_above(path))
            makes_room = any(one in above or path in _above(one) for one in changed)
            return path not in self._kept and makes_room

    def _carry_out(self, folder_fd: int, commit: str) -> str:
        """Bring the files to what a commit that takes others back says; may be done again.

        A file that holds neither what it did nor what it shall was changed meanwhile, and stays.
        What cannot be written ends it, and the files go back to what they were.
        """
        deadline = walk.Deadline(_CARRY_OUT_SECONDS)
        edits = _in_order(self._git.edits(commit, deadline))
        beside = b".ducklm-" + commit[:16].encode()
        done: list[git.Edit] = []
        with self._git.contents() as contents:
            try:
                for edit in edits:
                    worktree.clear(folder_fd, edit.path, beside)
                    done.append(edit)
                    _bring(folder_fd, edit.path, edit.before, edit.after, contents, beside)
            except OSError as error:
                for edit in reversed(done):
                    with contextlib.suppress(OSError):
                        _bring(folder_fd, edit.path, edit.after, edit.before, contents, beside)
                (self._path / _REVERTING).unlink(missing_ok=True)
                raise errors.HistoryFault(f"Not taken back: {error.strerror}.") from error
        self._write_ref(_BRANCH, commit)
        (self._path / _REVERTING).unlink(missing_ok=True)
        return commit

    def _prepare(self, folder_fd: int, deadline: walk.Deadline) -> None:
        """Make the store if there is none, read its last commit, finish what was cut off."""
        if self._ready:
            return
        if not self.exists:
            self._make()
        self._head = self._read_ref(_BRANCH)
        reverting = self._read_ref(_REVERTING)
        if reverting is not None and reverting != self._head:
            with contextlib.suppress(errors.HistoryFault):  # who asked for it asks again
                self._head = self._carry_out(folder_fd, reverting)
        (self._path / _REVERTING).unlink(missing_ok=True)
        self._kept = {} if self._head is None else self._git.files(self._head, deadline)
        self._ready = True

    def _make(self) -> None:
        beside = self._path.with_suffix(".new")
        shutil.rmtree(beside, ignore_errors=True)
        for name in ("objects/pack", "objects/info", "refs/heads", "refs/ducklm", "info"):
            (beside / name).mkdir(mode=0o700, parents=True)
        (beside / "HEAD").write_text(f"ref: {_BRANCH}\n")
        (beside / "config").write_text(_CONFIG)
        (beside / "description").write_bytes(os.fsencode(self.folder) + b"\n")
        beside.rename(self._path)

    def _read_ref(self, name: str) -> str | None:
        try:
            text = (self._path / name).read_text().strip()
        except FileNotFoundError:
            text = self._packed_ref(name)
        return text if git.is_commit(text) else None

    def _packed_ref(self, name: str) -> str:
        """A ref that a person's `git gc` has moved."""
        try:
            lines = (self._path / "packed-refs").read_text().splitlines()
        except FileNotFoundError:
            return ""
        return next((line[:40] for line in lines if line[40:] == f" {name}"), "")

    def _write_ref(self, name: str, commit: str) -> None:
        objects.write_whole(self._path / name, f"{commit}\n".encode())

    def _commit(
        self, folder_fd: int, message: str, deadline: walk.Deadline, first: bool
    ) -> _Commit | None:
        """Keep the folder as it is; None when it is as the last commit has it."""
        folder = os.fsencode(self.folder)
        found = walk.listing(folder_fd, folder, self._hidden, self._kept, deadline)
        files = self._read_all(folder_fd, found, deadline)
        self._left = found.left
        if files == self._kept and not first:
            return None
        paths = _changed(self._kept, files)
        tree = self._objects.tree(files)
        commit = self._objects.commit(tree, self._head, message, self._now_ms() // 1000)
        self._objects.flush()
        self._write_ref(_BRANCH, commit)
        self._head, self._kept = commit, files
        return _Commit(commit, tuple(paths))

    def _read_all(
        self, folder_fd: int, found: walk.Listing, deadline: walk.Deadline
    ) -> dict[bytes, objects.Kept]:
        """What every file holds; those that were read before and are the same are not read."""
        looked = {path: one for path, one in self._looked.items() if path in found.files}
        self._looked = looked
        files: dict[bytes, objects.Kept] = {}
        count = 0
        try:
            for path, stamp in found.files.items():
                known = looked.get(path)
                if known is None or not known.is_still(stamp):
                    count += 1
                    if not count % _LOOK_EVERY:
                        deadline.left()
                    known = self._read(folder_fd, path, found)
                if known is not None:
                    looked[path] = known
                    files[path] = known.kept
        finally:
            self._objects.flush()
        return files

    def _read(self, folder_fd: int, path: bytes, found: walk.Listing) -> _Looked | None:
        read_ns = time.time_ns()
        try:
            got = worktree.read(folder_fd, path)
        except worktree.Unreadable as error:
            found.left[path] = str(error)
            return None
        if got is None:
            return None
        stamp, mode, data = got
        if stamp.links > 1 and stamp[-2:] != found.files[path][-2:]:
            found.left[path] = "it has a name outside"
            return None
        before = self._kept.get(path)
        oid = objects.blob_id(data)
        if before is None or before.oid != oid:
            self._objects.add(b"blob", data)
        return _Looked(stamp, read_ns, objects.Kept(mode, oid))


def _in_order(edits: Sequence[git.Edit]) -> list[git.Edit]:
    """Edits as they are carried out: what has to make room first, other removals last, so that
    what fails for want of room has removed nothing."""
    written = {edit.path for edit in edits if edit.after is not None}
    folders = {folder for path in written for folder in _above(path)}

    def place(edit: git.Edit) -> int:
        if edit.after is not None:
            return 1
        makes_room = edit.path in folders or not written.isdisjoint(_above(edit.path))
        return 0 if makes_room else 2

    return sorted(edits, key=place)


def _above(path: bytes) -> Iterator[bytes]:
    """The folders that a path lies in."""
    while path := path.rpartition(b"/")[0]:
        yield path


def _bring(
    folder_fd: int,
    path: bytes,
    before: objects.Kept | None,
    after: objects.Kept | None,
    contents: git.Contents,
    beside: bytes,
) -> None:
    """Have a path hold what it shall, if it holds what it did. Where it is gone already, a folder
    that is empty without it may still be there."""
    with contextlib.suppress(worktree.Unreadable):
        now = worktree.holds(folder_fd, path)
        if after is None and now in (before, after):
            worktree.remove(folder_fd, path)
        elif after is not None and now == before:
            worktree.put(folder_fd, path, after.mode, contents.read(after.oid), beside)


def _changed(before: objects.Tree, after: objects.Tree) -> list[bytes]:
    """The paths in which two trees differ."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )
