"""Asks git about a store: its files, its log, what a commit changed, how a file's versions merge.

Git sees the store and nothing else: not the owner's folder, no settings, hooks, attributes or
network. Only `pack` writes: an answer that does not come in time costs nothing.
"""

import os
import re
import selectors
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from daemon.domain import errors
from daemon.history import objects, walk

_PATH = "/usr/local/bin:/usr/bin:/bin"
_SETTINGS = (
    "safe.directory=*",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
    "color.ui=false",
)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def is_commit(text: str) -> bool:
    """Whether a text is a commit's whole id."""
    return _COMMIT.fullmatch(text) is not None


@dataclass(frozen=True)
class Commit:
    """A commit as the log has it."""

    commit: str
    at_seconds: int
    message: str


@dataclass(frozen=True)
class Edit:
    """What a commit made of a file."""

    path: bytes
    before: objects.Kept | None
    after: objects.Kept | None


class Git:
    """The git of this machine, at work on one store."""

    def __init__(self, store: Path) -> None:
        self._store = store

    @staticmethod
    def found() -> bool:
        """Whether this machine has one."""
        return shutil.which("git", path=_PATH) is not None

    def _command(self, *words: str) -> list[str]:
        settings = [word for one in _SETTINGS for word in ("-c", one)]
        return ["git", "--no-pager", "--no-optional-locks", *settings, *words]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": _PATH,
            "LC_ALL": "C",
            "HOME": "/nonexistent",
            "GIT_DIR": str(self._store),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _run(self, deadline: walk.Deadline, *words: str) -> bytes:
        try:
            done = subprocess.run(
                self._command(*words),
                cwd=self._store,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=deadline.left(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise walk.Late("its history took too long") from error
        except OSError as error:
            raise errors.HistoryFault(f"git does not run: {error.strerror}") from error
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise errors.HistoryFault(f"git cannot read it: {said}")
        return done.stdout

    def has(self, commit: str, deadline: walk.Deadline) -> bool:
        """Whether the store has a commit."""
        try:
            return self._run(deadline, "cat-file", "-t", commit) == b"commit\n"
        except walk.Late:
            raise
        except errors.HistoryFault:
            return False

    def files(self, commit: str, deadline: walk.Deadline) -> dict[bytes, objects.Kept]:
        """Every file of a commit."""
        listed = self._run(deadline, "ls-tree", "-r", "-z", "--full-tree", commit)
        found: dict[bytes, objects.Kept] = {}
        for line in listed.split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, _, oid = head.split(b" ")
            found[path] = objects.Kept(int(mode, 8), oid.decode())
        return found

    def log(
        self, start: str, limit: int | None, skip: int, deadline: walk.Deadline
    ) -> list[Commit]:
        """Commits, newest first."""
        bounds = [f"--skip={skip}", *([f"--max-count={limit}"] if limit is not None else [])]
        form = "--format=%H %ct %B"
        listed = self._run(deadline, "log", "-z", "--first-parent", form, *bounds, start, "--")
        found: list[Commit] = []
        for line in listed.decode("utf-8", "replace").split("\0"):
            if line:
                commit, at_seconds, message = line.split(" ", 2)
                found.append(Commit(commit, int(at_seconds), message.strip()))
        return found

    def edits(self, commit: str, deadline: walk.Deadline) -> list[Edit]:
        """What a commit changed."""
        form = ("-r", "-z", "--raw", "--root", "--no-abbrev", "--no-renames", "--no-commit-id")
        parts = self._run(deadline, "diff-tree", *form, commit).split(b"\0")
        found: list[Edit] = []
        for head, path in zip(parts[0::2], parts[1::2], strict=False):
            old_mode, mode, old_oid, oid, _ = head.lstrip(b":").split(b" ")
            found.append(Edit(path, _kept(old_mode, old_oid), _kept(mode, oid)))
        return found

    def pack(self, deadline: walk.Deadline) -> None:
        """Put single objects together in a pack; safe beside whoever reads or adds others."""
        self._run(deadline, "repack", "-d", "-q")

    def diff(self, commit: str, limit_bytes: int, deadline: walk.Deadline) -> tuple[str, bool]:
        """The unified diff of a commit, and whether there was more than the limit."""
        form = ("-r", "-p", "--root", "-M", "--no-commit-id", "--no-ext-diff", "--no-textconv")
        command = self._command("diff-tree", *form, commit)
        try:
            with subprocess.Popen(
                command,
                cwd=self._store,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as running:
                data = _at_most(running, limit_bytes + 1, deadline)
        except OSError as error:
            raise errors.HistoryFault(f"git does not run: {error.strerror}") from error
        more = len(data) > limit_bytes
        if running.returncode and not more:
            raise errors.HistoryFault("git cannot show what changed")
        text = data[:limit_bytes].decode("utf-8", "replace")
        return (text.rpartition("\n")[0] + "\n" if more else text), more

    @contextmanager
    def contents(self) -> Iterator["Contents"]:
        """A way to read many contents with one process."""
        with subprocess.Popen(
            self._command("cat-file", "--batch"),
            cwd=self._store,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as running:
            try:
                yield Contents(running)
            finally:
                running.kill()

    def merged(
        self, ours: bytes, base: bytes, theirs: bytes, deadline: walk.Deadline
    ) -> bytes | None:
        """A file with the changes of both sides; None where they touch the same lines."""
        folder = self._store / "merge"
        folder.mkdir(mode=0o700, exist_ok=True)
        paths = [folder / name for name in ("ours", "base", "theirs")]
        for path, data in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(data)
        try:
            done = subprocess.run(
                self._command("merge-file", "-p", "--quiet", *map(str, paths)),
                cwd=self._store,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=deadline.left(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise walk.Late("its history took too long") from error
        finally:
            for path in paths:
                path.unlink(missing_ok=True)
        return done.stdout if done.returncode == 0 else None


class Contents:
    """Contents of a store, one after another."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self._running = running

    def read(self, oid: str) -> bytes:
        """A content by its id.

        Raises:
            HistoryFault: the store has lost it.
        """
        asked, answers = self._running.stdin, self._running.stdout
        if asked is None or answers is None:
            raise ValueError("the process was started without pipes")
        try:
            asked.write(oid.encode() + b"\n")
            asked.flush()
        except OSError as error:
            raise errors.HistoryFault("git does not answer") from error
        head = answers.readline().split(b" ")
        if len(head) != 3 or head[1] != b"blob":
            raise errors.HistoryFault(f"the history has lost the content {oid[:12]}")
        data = answers.read(int(head[2]))
        answers.read(1)
        return data


def _kept(mode: bytes, oid: bytes) -> objects.Kept | None:
    return None if int(mode, 8) == 0 else objects.Kept(int(mode, 8), oid.decode())


def _at_most(running: subprocess.Popen[bytes], limit: int, deadline: walk.Deadline) -> bytes:
    """The beginning of what a process says; it is ended when that is enough, or too late."""
    if running.stdout is None:
        raise ValueError("the process was started without a pipe")
    data = b""
    os.set_blocking(running.stdout.fileno(), False)
    try:
        with selectors.DefaultSelector() as ready:
            ready.register(running.stdout, selectors.EVENT_READ)
            while len(data) < limit:
                ready.select(deadline.left())
                piece = running.stdout.read(limit - len(data))
                if piece == b"":
                    running.wait(deadline.left())
                    return data
                data += piece or b""
    except subprocess.TimeoutExpired as error:
        raise walk.Late("its history took too long") from error
    finally:
        running.kill()
    return data
