"""One daemon a state folder: a lock that the kernel drops when its holder dies, however it dies.

Imports the standard library alone, so that a second daemon is refused before anything heavy is
loaded. Never removes the lock file: a new file beside a held one would be a second lock.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

LOCK_NAME = "lock"
_PID_BYTES = 32


class LockFault(Exception):
    """The state folder cannot be locked; the text is a sentence that may be shown to a person."""


class StateLock:
    """The right to use a state folder, until it is released or the process ends."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self.folder = folder
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Let another daemon use the folder; may be called twice."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def take(folder: Path) -> StateLock:
    """Lock a state folder, which is made (0700) when it is missing. Never waits.

    Raises:
        LockFault: another process holds it, or the folder cannot be made or written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LockFault(f"The state folder {folder} cannot be used: {error.strerror}.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise LockFault(
            f"The state folder {folder} is in use by another daemon{holder}: "
            "stop that one first, or choose another folder with --state."
        ) from error
    except OSError as error:
        os.close(descriptor)
        raise LockFault(f"The state folder {folder} cannot be locked: {error.strerror}.") from error
    _name_holder(descriptor)
    return StateLock(folder, descriptor)


@contextlib.contextmanager
def looked_at(folder: Path) -> Iterator[bool]:
    """Keep daemons from starting on a folder meanwhile; says whether one runs already.

    Makes and changes no file; a folder without a lock file has never had a daemon.
    """
    try:
        descriptor = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        live = False
    except BlockingIOError:
        live = True
    try:
        yield live
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    text = os.pread(descriptor, _PID_BYTES, 0).decode("ascii", "replace").strip()
    return f" (process {text})" if text.isdigit() else ""


def _name_holder(descriptor: int) -> None:
    """Write who holds the lock. On a full disk the message to others is all that suffers."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        return
