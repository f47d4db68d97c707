"""A stand-in for sudo that shows when it holds the password, and what else can be seen then.

Answers for the program, for the pipes by which a test holds it there, and for looking at every
process of a daemon while the password is under way. Keeps no password: only the digest of one.
"""

import contextlib
import hashlib
import os
import select
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests import spelled

_PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.01
_PROGRAM = """#!{python} -IS
# Takes the password as sudo does, says it aloud as no sudo would, and ends well if it is right.
import hashlib, os, sys
here = os.path.dirname(sys.argv[0])
password = sys.stdin.buffer.readline().rstrip(b"\\n")
assert sys.stdin.buffer.read() == b""
with open(here + "/held", "wb", 0) as held:
    held.write(b".")
with open(here + "/go", "rb", 0) as go:
    go.read(1)
sys.stdout.buffer.write(b"Password: " + password + b"\\n" + password)
with open(here + "/right") as right:
    sys.exit(hashlib.sha256(password).hexdigest() != right.read())
"""


class Sudo:
    """The program in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self.program = folder / "sudo"
        self.program.write_text(_PROGRAM.format(python=sys.executable))
        self.program.chmod(0o755)
        self._held, self._go = (self._pipe(name) for name in ("held", "go"))

    def _pipe(self, name: str) -> int:
        os.mkfifo(self._folder / name)
        return os.open(self._folder / name, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def expect(self, password: bytes) -> None:
        """From now on this one is right."""
        (self._folder / "right").write_text(hashlib.sha256(password).hexdigest())
        for pipe in (self._held, self._go):
            with contextlib.suppress(BlockingIOError):
                os.read(pipe, 16)

    def await_held(self) -> None:
        """Wait until it has the password."""
        ready, _, _ = select.select([self._held], [], [], _PATIENCE_SECONDS)
        assert ready, "sudo was not given a password"
        os.read(self._held, 1)

    def let_go(self) -> None:
        os.write(self._go, b".")

    def close(self) -> None:
        os.close(self._held)
        os.close(self._go)


@dataclass
class Watch:
    """Looks at the command line and the environment of a daemon and of all below it, again and
    again. `seen` are the processes."""

    pid: int
    secrets: tuple[bytes, ...]
    seen: set[int] = field(default_factory=set)
    hits: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Watch":
        self._watching = threading.Thread(target=self._watch, name="watch", daemon=True)
        self._watching.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._watching.join(_PATIENCE_SECONDS)

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            self.look()

    def look(self) -> None:
        """Look at all of them now."""
        with contextlib.suppress(psutil.NoSuchProcess):
            parent = psutil.Process(self.pid)
            for process in (parent, *parent.children(recursive=True)):
                self._look_at(process.pid)

    def _look_at(self, pid: int) -> None:
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                data = Path(f"/proc/{pid}/{name}").read_bytes()
                self.seen.add(pid)
                found = [form for secret in self.secrets for form in spelled.found(secret, data)]
                self.hits += [f"{name} of {pid}"] * len(found)
