"""Large bytes as files named by their SHA-256. What has its final name is whole and durable.

Never blocks the event loop, and never takes a path from outside: an id is 64 hexadecimal digits.
"""

import asyncio
import errno
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

from daemon.domain import errors, ids

CHUNK_BYTES = 256 * 1024
FOLDER_NAME = "artifacts"
_TEMPORARY_PREFIX = ".put-"
_ID = re.compile(r"[0-9a-f]{64}")


class FileArtifacts:
    """Artifacts in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self) -> None:
        """Make the folder, and remove what was being put when a daemon died. Blocks."""
        with _faults():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for left in self._folder.glob(f"{_TEMPORARY_PREFIX}*"):
                left.unlink()

    async def put(
        self, chunks: AsyncIterator[bytes], limit_bytes: int
    ) -> tuple[ids.ArtifactId, int]:
        """Keep bytes; returns (id, size in bytes)."""
        incoming = await asyncio.to_thread(_Incoming, self._folder)
        try:
            async for chunk in chunks:
                check_size(incoming.size_bytes + len(chunk), limit_bytes)
                await asyncio.to_thread(incoming.write, chunk)
            return await asyncio.to_thread(incoming.keep), incoming.size_bytes
        finally:
            incoming.discard()

    async def get(self, artifact_id: ids.ArtifactId) -> AsyncIterator[bytes]:
        """The bytes in chunks of at most 256 KiB."""
        if not self.holds(artifact_id):
            raise missing(artifact_id)
        with _faults():
            file = await asyncio.to_thread((self._folder / artifact_id).open, "rb", buffering=0)
        with file, _faults():
            while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
                yield chunk

    async def exists(self, artifact_id: ids.ArtifactId) -> bool:
        return await asyncio.to_thread(self.holds, artifact_id)

    def holds(self, artifact_id: ids.ArtifactId) -> bool:
        """Whether the artifact is there. Blocks, for as long as it takes to look up a name."""
        return is_id(artifact_id) and (self._folder / artifact_id).is_file()


def is_id(text: str) -> bool:
    """Whether the text can be an artifact's id."""
    return _ID.fullmatch(text) is not None


def missing(artifact_id: str) -> errors.Refusal:
    """The refusal for an id that names nothing."""
    return errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no artifact {artifact_id[:64]}.")


def check_size(size_bytes: int, limit_bytes: int) -> None:
    """Refuse more bytes than the limit."""
    if size_bytes > limit_bytes:
        raise errors.Refusal(
            errors.RefusalKind.EXHAUSTED, f"The artifact is larger than {limit_bytes} bytes."
        )


class _Incoming:
    """An artifact being put: a temporary file beside its final place. Every method blocks."""

    def __init__(self, folder: Path) -> None:
        self.size_bytes = 0
        self._folder = folder
        self._digest = hashlib.sha256()
        with _faults():
            descriptor, self._path = tempfile.mkstemp(prefix=_TEMPORARY_PREFIX, dir=folder)
        self._file = os.fdopen(descriptor, "wb", buffering=0)

    def write(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        self._digest.update(rest)
        self.size_bytes += len(rest)
        with _faults():
            while rest:
                rest = rest[self._file.write(rest) :]

    def keep(self) -> ids.ArtifactId:
        """Give the whole its name: first the bytes are durable, then the name."""
        artifact_id = ids.ArtifactId(self._digest.hexdigest())
        with _faults():
            os.fsync(self._file.fileno())
            os.replace(self._path, self._folder / artifact_id)
            descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return artifact_id

    def discard(self) -> None:
        """Close, and remove the temporary file if it did not get its name."""
        self._file.close()
        Path(self._path).unlink(missing_ok=True)


@contextmanager
def _faults() -> Iterator[None]:
    """Turn what the file system says into the errors of the port."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise errors.StorageFull(
                "The disk is full: the artifact was not kept. Make room, then try again."
            ) from error
        raise errors.StorageFault(f"The artifact could not be used: {error.strerror}.") from error
