"""Files in and out of projects' folders, for those who talk from elsewhere; behind `ports`.

Answers for: that nothing outside the folder is reached, whatever links lie in it; that a file which
came in has a safe name, is whole, and takes the place of none; and that what looks like a secret or
is hidden does not go out. Every method works on a thread of its own.
"""

import asyncio
import contextlib
import errno
import hashlib
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import AsyncIterator, Iterator, Sequence

from daemon.domain import errors, views
from tools import confine, secret_names

INCOMING = "incoming"
FREE_BYTES = 256 * 1024 * 1024
"""What must stay free on the disk."""
NAME_BYTES = 120
MOST_LISTED = 500
MOST_TRIES = 1000
CHUNK_BYTES = 256 * 1024
_MODE = 0o600
_LOOKED_AT_BYTES = 8192
_KIND = errors.RefusalKind
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def safe_name(given: str) -> str:
    """A name like the given one that is harmless in any folder and on any screen."""
    text = unicodedata.normalize("NFC", given.replace("\\", "/").rpartition("/")[2])
    plain = "".join(one if _is_plain(one) else "_" for one in text).strip(" .")
    stem, dot, ending = plain.rpartition(".")
    if not dot or len(ending) > 16:
        stem, ending = plain, ""
    tail = f".{ending}" if ending else ""
    while len((stem + tail).encode()) > NAME_BYTES:
        stem = stem[:-1]
    name = f"{stem}{tail}".strip(" ")
    return "file" if not name.strip("._- ") else name.lstrip(".-") or "file"


def _is_plain(character: str) -> bool:
    if character in "._-+ ()":
        return True
    return unicodedata.category(character)[0] in "LN"


def media_type(beginning: bytes) -> str:
    """What bytes are, by what they begin with."""
    import filetype

    found = filetype.guess(beginning)
    if found is not None:
        return str(found.mime)
    try:
        text = beginning[:_LOOKED_AT_BYTES].decode()
    except UnicodeDecodeError as error:
        if error.start < len(beginning[:_LOOKED_AT_BYTES]) - 4:
            return "application/octet-stream"
        return "text/plain"
    return "application/octet-stream" if "\0" in text else "text/plain"


class ProjectFiles:
    """Implements `ports.ProjectFiles`."""

    async def put(self, folder: str, name: str, data: bytes) -> views.FileView:
        return await asyncio.to_thread(_put, folder, safe_name(name), data)

    async def list(self, folder: str, path: str) -> tuple[tuple[views.FileView, ...], bool]:
        return await asyncio.to_thread(_list, folder, path)

    async def read(self, folder: str, path: str, limit_bytes: int) -> AsyncIterator[bytes]:
        file_fd, size = await asyncio.to_thread(_open, folder, path)
        with os.fdopen(file_fd, "rb", buffering=0) as file:
            if size > limit_bytes:
                raise _refused(_KIND.EXHAUSTED, f"{path} is larger than {limit_bytes} bytes.")
            left = limit_bytes
            while left > 0 and (chunk := await asyncio.to_thread(file.read, CHUNK_BYTES)):
                yield chunk[:left]
                left -= len(chunk)


def _refused(kind: errors.RefusalKind, sentence: str) -> errors.Refusal:
    return errors.Refusal(kind, sentence)


@contextlib.contextmanager
def _faults(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise errors.StorageFull("The disk is full: the file was not kept.") from error
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise _refused(_KIND.NOT_FOUND, f"There is no {path} in the project.") from error
        sentence = f"{path} cannot be used: {os.strerror(error.errno or 0)}."
        raise _refused(_KIND.STATE, sentence) from error


@contextlib.contextmanager
def _folder(folder: str, parts: Sequence[str]) -> Iterator[int]:
    """A folder below a project's, opened without following a link."""
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with confine.descend(top, parts) as opened:
            yield opened
    finally:
        os.close(top)


def _put(folder: str, name: str, data: bytes) -> views.FileView:
    with _faults(name):
        if shutil.disk_usage(folder).free - len(data) < FREE_BYTES:
            raise errors.StorageFull("The disk is nearly full: the file was not kept.")
        with _folder(folder, ()) as top:
            with contextlib.suppress(FileExistsError):
                os.mkdir(INCOMING, 0o700, dir_fd=top)
            with confine.descend(top, (INCOMING,)) as place:
                kept = _write(place, name, data)
    return views.FileView(
        path=f"{INCOMING}/{kept}", size=len(data), media_type=media_type(data), modified_ms=0
    )


def _write(place: int, name: str, data: bytes) -> str:
    """Write beside, then give it a name that is free; the same bytes keep the name they have."""
    temporary = f".{secrets.token_hex(16)}.tmp"
    file_fd = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, _MODE, dir_fd=place
    )
    try:
        with os.fdopen(file_fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for each in _names(name):
            try:
                os.link(temporary, each, src_dir_fd=place, dst_dir_fd=place)
            except FileExistsError:
                if _is_same(place, each, data):
                    return each
                continue
            os.fsync(place)
            return each
        raise _refused(_KIND.EXHAUSTED, f"There are too many files named {name}.")
    finally:
        os.unlink(temporary, dir_fd=place)


def _names(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.rpartition(".")
    stem, tail = (stem, f".{ending}") if dot and stem else (name, "")
    for number in range(2, MOST_TRIES):
        yield f"{stem}-{number}{tail}"


def _is_same(place: int, name: str, data: bytes) -> bool:
    try:
        file_fd = os.open(name, _OPEN, dir_fd=place)
    except OSError:
        return False
    with os.fdopen(file_fd, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        return hashlib.sha256(file.read()).digest() == hashlib.sha256(data).digest()


def _parts(path: str) -> tuple[str, ...]:
    """The names of a path below the project's folder."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise _refused(_KIND.INVALID, "path begins at the project's folder and stays within it.")
    if any(part.startswith(".") for part in parts):
        raise _refused(_KIND.FORBIDDEN, "Hidden files stay where they are.")
    if parts and secret_names.may_be(parts):
        raise _refused(_KIND.FORBIDDEN, f"{path} looks like a secret: it is not sent.")
    return parts


def _list(folder: str, path: str) -> tuple[tuple[views.FileView, ...], bool]:
    parts = _parts(path)
    with _faults(path or "folder"), _folder(folder, parts) as opened, os.scandir(opened) as found:
        listed = []
        for entry in found:
            if entry.name.startswith(".") or not _is_utf8(entry.name):
                continue
            status = entry.stat(follow_symlinks=False)
            if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
                continue
            view = views.FileView(
                path="/".join((*parts, entry.name)),
                folder=stat.S_ISDIR(status.st_mode),
                size=status.st_size if stat.S_ISREG(status.st_mode) else 0,
                modified_ms=status.st_mtime_ns // 1_000_000,
            )
            listed.append(view)
            if len(listed) > 20 * MOST_LISTED:
                break
    listed.sort(key=lambda one: (not one.folder, one.path))
    return tuple(listed[:MOST_LISTED]), len(listed) > MOST_LISTED


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _open(folder: str, path: str) -> tuple[int, int]:
    parts = _parts(path)
    if not parts:
        raise _refused(_KIND.INVALID, "path names a file of the project.")
    with _faults(path), _folder(folder, parts[:-1]) as opened:
        file_fd = os.open(parts[-1], _OPEN, dir_fd=opened)
    status = os.fstat(file_fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(file_fd)
        raise _refused(_KIND.STATE, f"{path} is no plain file: it is not sent.")
    return file_fd, status.st_size
