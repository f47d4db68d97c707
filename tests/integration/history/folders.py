"""Real folders with real histories, and what tests ask of both."""

import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

from daemon.domain import ids, inputs
from daemon.history import histories, store
from daemon.runtime import clock

TASK, CALL = ids.TaskId("task-1"), ids.CallId("call-1")
GIT = shutil.which("git", path="/usr/local/bin:/usr/bin:/bin")


def git(*words: str, cwd: Path | None = None, store_at: Path | None = None) -> str:
    """What git says, without anybody's settings."""
    assert GIT is not None, "git is missing: install it (on Debian: apt install git)"
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{
            f"GIT_{who}_{what}": "o@localhost"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        },
        **({} if store_at is None else {"GIT_DIR": str(store_at)}),
    }
    done = subprocess.run((GIT, *words), cwd=cwd, env=environment, capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape")


class Project:
    """A folder `work` with its history under `stores`, both below a root."""

    def __init__(
        self, root: Path, hidden: tuple[str, ...] = (), beside: "Project | None" = None
    ) -> None:
        """`beside` is a project whose histories this one's is among."""
        self.folder = Path(os.path.realpath(root)) / "work"
        self.stores = Path(os.path.realpath(root)) / "stores"
        self.folder.mkdir(parents=True, exist_ok=True)
        if beside is None:
            self.stores.mkdir(exist_ok=True)
            self.history = histories.Histories(self.stores, hidden, clock.SystemClock())
        else:
            self.stores, self.history = beside.stores, beside.history

    @property
    def path(self) -> str:
        return str(self.folder)

    @property
    def store(self) -> Path:
        return store.place(self.stores, self.path)

    def write(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    async def before(self) -> None:
        await self.history.before(self.path)

    async def after(self, call: str = CALL, task: str = TASK) -> inputs.Change | None:
        """Keep what changed, as what a call did."""
        return await self.history.after(
            self.path, f"call {call}", ids.TaskId(task), ids.CallId(call)
        )

    async def changed(self, call: str = CALL, task: str = TASK) -> inputs.Change:
        """The same, where something must have."""
        change = await self.after(call, task)
        assert change is not None, self.history.notices()
        return change

    def kept(self, commit: str = "main") -> list[str]:
        """The names that a commit holds."""
        listed = git("ls-tree", "-r", "-z", "--name-only", commit, store_at=self.store)
        return listed.split("\0")[:-1]

    def content(self, name: str, commit: str = "main") -> str:
        return git("cat-file", "blob", f"{commit}:{name}", store_at=self.store)

    def subjects(self) -> list[str]:
        """What the commits say, newest first."""
        return git("log", "--format=%s", "main", store_at=self.store).splitlines()

    def check(self) -> None:
        """The store is one that git finds no fault with."""
        git("fsck", "--strict", "--no-dangling", store_at=self.store)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every name below a folder, with its mode and content."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = b""
        if stat.S_ISLNK(status.st_mode):
            data = os.fsencode(os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            data = path.read_bytes()
        found[os.fsdecode(os.fsencode(path.relative_to(folder)))] = (status.st_mode, data)
    return found


def digest(folder: Path) -> str:
    """One hash of all that is below a folder, times of change too."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        whole.update(os.fsencode(path) + b"\0%d %d\0" % (status.st_mode, status.st_mtime_ns))
        if stat.S_ISREG(status.st_mode):
            whole.update(path.read_bytes())
    return whole.hexdigest()
