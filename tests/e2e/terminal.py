"""The real terminal client: in a terminal of its own with a person at the keys, or without one."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator

from tests import running_daemon

PATIENCE_S = 60.0
CTRL_C = "\x03"
CTRL_D = "\x04"
PROMPT = "you> "
_ROWS, _COLUMNS = 40, 200
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CLIENT = (sys.executable, "-m", "bots.terminal")
# Makes the terminal the process's own, so that Ctrl-C is a signal, and becomes the client.
_TAKE_TERMINAL = "import os, sys; os.login_tty(0); os.execv(sys.argv[1], sys.argv[1:])"


class Person:
    """Reads what the client shows and types."""

    def __init__(self, process: subprocess.Popen[bytes], keys: int) -> None:
        self.process = process
        self._keys = keys
        self._shown = ""
        self._read_to = 0

    @property
    def shown(self) -> str:
        """Everything that the terminal has shown, without its escapes."""
        return _ESCAPES.sub("", self._shown).replace("\r\n", "\n")

    def type(self, text: str) -> None:
        os.write(self._keys, text.encode())

    def sees(self, text: str) -> str:
        """Wait for a text after what was seen before; all that was shown up to its end."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.shown.find(text, self._read_to)) < 0:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not come, but: {self.shown[self._read_to :]!r}"
            self._read(left)
        begin, self._read_to = self._read_to, found + len(text)
        return self.shown[begin : self._read_to]

    def _read(self, patience_s: float) -> None:
        ready, _, _ = select.select([self._keys], [], [], patience_s)
        if not ready:
            return
        try:
            data = os.read(self._keys, 65536)
        except OSError:  # the other side is closed
            data = b""
        assert data, f"the client has ended: {self.shown!r}"
        self._shown += data.decode("utf-8", "replace")

    def leaves(self) -> int:
        """Type Ctrl-D; the exit code."""
        self.type(CTRL_D)
        with contextlib.suppress(AssertionError):
            self.sees("never shown")
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def person(daemon: running_daemon.RunningDaemon, *arguments: str) -> Iterator[Person]:
    """A client in a terminal; it is gone when the block ends."""
    keys, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", _TAKE_TERMINAL, *_CLIENT, *arguments],
        cwd=running_daemon.ROOT,
        env={**daemon.environment(), "TERM": "dumb"},
        stdin=side,
        stdout=side,
        stderr=side,
    )
    os.close(side)
    try:
        yield Person(process, keys)
    finally:
        process.kill()
        process.wait(PATIENCE_S)
        os.close(keys)


def run(
    daemon: running_daemon.RunningDaemon, *arguments: str, typed: str = "", token: str = ""
) -> subprocess.CompletedProcess[str]:
    """One command without a terminal; with no token given it is the state folder's."""
    return subprocess.run(
        [*_CLIENT, *arguments],
        cwd=running_daemon.ROOT,
        env={**daemon.environment(), "DUCKLM_TOKEN": token},
        input=typed,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
