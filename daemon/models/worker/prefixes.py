"""Files that keep what was computed for a fixed beginning of prompts, so that it outlives a worker.

A file is named by the digest of everything that its state depends on: the model file, this build of
llama.cpp, what shapes the memory, and the tokens. It holds a header with a digest over all of it,
then the state. A file that is damaged, short or of something else is deleted and never used; one is
written under another name, synced and renamed, so a death leaves nothing that is read. A few stay,
of a bounded size together; those used longest ago go. Knows files alone and nothing of llama.cpp.

The caller answers for what the tokens are: nothing that a user said belongs into them.
"""

import contextlib
import ctypes
import dataclasses
import hashlib
import os
import pathlib
import stat
import struct
import tempfile
import time
from array import array
from collections.abc import Sequence

from daemon.models.worker import engine

MOST_FILES = 8
MOST_BYTES = 512 * 1024 * 1024
_MAGIC = b"DuckKV01"
_HEADER = struct.Struct("<8sIQ32s")
"""Magic, tokens, bytes of state, and the digest of these, the file's name and the state."""
_HEAD_BYTES = 1 << 20
_SUFFIX, _UNFINISHED = ".kv", ".part"
_STALE_SECONDS = 3600.0
"""An unfinished file this old is of a worker that died."""


class PrefixError(Exception):
    """A file is of no use or cannot be written; `str(error)` is one sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Prefix:
    """The fixed part's tokens, as many of them as the prompt begins with, and the file's name."""

    name: str
    tokens: Sequence[int]
    shared: int


def model_identity(path: str) -> str:
    """What tells a model file from every other one, without reading all of it."""
    with open(path, "rb") as file:
        facts = os.fstat(file.fileno())
        head = hashlib.blake2b(file.read(_HEAD_BYTES), digest_size=32).hexdigest()
    return f"{os.path.realpath(path)} {facts.st_size} {facts.st_mtime_ns} {head}"


class PrefixFiles:
    """The files of one folder, for one model as one engine computes it: its `identity`."""

    def __init__(
        self,
        folder: pathlib.Path,
        identity: str,
        most_files: int = MOST_FILES,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._folder = folder
        self._identity = identity.encode("utf-8", "surrogatepass")
        self._most_files = most_files
        self._most_bytes = most_bytes

    def name(self, tokens: Sequence[int]) -> str:
        """The name of the file for these tokens."""
        digest = hashlib.blake2b(_MAGIC, digest_size=32)
        for part in (self._identity, array("i", tokens).tobytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()

    def read(self, name: str) -> tuple[int, engine.Saved] | None:
        """How many of the tokens a file is for, and the state; None where there is no file.

        Raises:
            PrefixError: it is of no use and was deleted, or it cannot be read.
        """
        path = self._path(name)
        try:
            found = self._checked(path, name)
            os.utime(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PrefixError(f"{path} cannot be read: {error.strerror}.") from error
        return found

    def write(self, name: str, count: int, saved: engine.Saved) -> None:
        """Keep the state of the first `count` tokens; those used longest ago go.

        Raises:
            PrefixError: it is too large, or it cannot be written.
        """
        if _HEADER.size + len(saved) > self._most_bytes:
            raise PrefixError(
                f"The fixed part of prompts takes {len(saved) >> 20} MiB, more than the "
                f"{self._most_bytes >> 20} MiB that are kept over restarts; it is read anew."
            )
        try:
            self._make_folder()
            self._put(name, _header(name, count, saved), saved)
            self._tidy()
        except OSError as error:
            raise PrefixError(
                f"The fixed part of prompts cannot be kept in {self._folder}: {error.strerror}; "
                "it is read anew after a restart."
            ) from error

    def drop(self, name: str) -> None:
        """Delete a file, where that can be done."""
        with contextlib.suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> pathlib.Path:
        return self._folder / f"{name}{_SUFFIX}"

    def _checked(self, path: pathlib.Path, name: str) -> tuple[int, engine.Saved]:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb", buffering=0):
            facts = os.fstat(descriptor)
            size = facts.st_size - _HEADER.size
            if stat.S_ISREG(facts.st_mode) and 0 < size <= self._most_bytes:
                header, saved = bytearray(_HEADER.size), (ctypes.c_uint8 * size)()
                if _fill(descriptor, header) and _fill(descriptor, saved):
                    count: int = _HEADER.unpack(header)[1]
                    if header == _header(name, count, saved):
                        return count, saved
        self.drop(name)
        raise PrefixError(f"{path} was damaged and is deleted; the fixed part is read anew.")

    def _make_folder(self) -> None:
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, exist_ok=True)

    def _put(self, name: str, header: bytes, saved: engine.Saved) -> None:
        descriptor, unfinished = tempfile.mkstemp(_UNFINISHED, dir=self._folder)
        try:
            with open(descriptor, "wb") as file:
                file.write(header)
                file.write(saved)
                file.flush()
                os.fsync(descriptor)
            os.replace(unfinished, self._path(name))
        except OSError:
            pathlib.Path(unfinished).unlink(missing_ok=True)
            raise
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _tidy(self) -> None:
        """Delete what is too much, and what a worker left that died; others may do so too."""
        kept: list[tuple[int, int, str]] = []
        for entry in os.scandir(self._folder):
            try:
                facts = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            if entry.name.endswith(_SUFFIX):
                kept.append((facts.st_mtime_ns, facts.st_size, entry.path))
            elif entry.name.endswith(_UNFINISHED) and _is_stale(facts.st_mtime):
                pathlib.Path(entry.path).unlink(missing_ok=True)
        kept.sort()
        while len(kept) > self._most_files or sum(size for _, size, _ in kept) > self._most_bytes:
            pathlib.Path(kept.pop(0)[2]).unlink(missing_ok=True)


def _header(name: str, count: int, saved: engine.Saved) -> bytes:
    digest = hashlib.blake2b(_HEADER.pack(_MAGIC, count, len(saved), bytes(32)), digest_size=32)
    digest.update(name.encode())
    digest.update(saved)
    return _HEADER.pack(_MAGIC, count, len(saved), digest.digest())


def _fill(descriptor: int, target: bytearray | engine.Saved) -> bool:
    """Read so much; False where there is less."""
    view = memoryview(target).cast("B")
    done = 0
    while done < len(view):
        got = os.readv(descriptor, [view[done:]])
        if not got:
            return False
        done += got
    return True


def _is_stale(modified: float) -> bool:
    return time.time() - modified > _STALE_SECONDS
