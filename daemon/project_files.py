"""Files in and out of projects' folders, for those who talk from elsewhere; behind `ports`.

Answers for: that nothing outside the folder is reached, whatever links lie in it; that a file which
came in has a safe name, is whole, and takes the place of none; and that what looks like a secret or
is hidden does not go out. Every method works on a thread of its own.

What comes in has no name at all until it is whole, so that a crash leaves nothing; where the file
system knows no such files, it has a hidden name that nobody can guess, which a crash may leave.
"""

import asyncio
import codecs
import contextlib
import errno
import os
import secrets
import shutil
import stat
import unicodedata
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import BinaryIO

from daemon.domain import errors, views
from daemon.permission import deception
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
_ENDING_CHARS = 16
_KIND = errors.RefusalKind
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BESIDE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NAMELESS = os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC
_NONE_NAMELESS = frozenset((errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT))
"""What a file system answers that knows no files without a name."""
_PORTS = (f"{port}{number}" for port in ("COM", "LPT") for number in range(1, 10))
_RESERVED = frozenset(("CON", "PRN", "AUX", "NUL", *_PORTS))
"""No names for files where the person may take them next."""


def safe_name(given: str) -> str:
    """A name like the given one that is harmless in any folder and on any screen."""
    text = unicodedata.normalize("NFC", given.replace("\\", "/").rpartition("/")[2])
    plain = "".join(one if _is_plain(one) else "_" for one in text).lstrip(" .-").rstrip(" .")
    if not plain.strip("._- "):
        return "file"
    if plain.partition(".")[0].strip().upper() in _RESERVED or _is_mark(plain[0]):
        plain = f"_{plain}"
    stem, dot, ending = plain.rpartition(".")
    tail = f".{ending}" if dot and len(ending) <= _ENDING_CHARS else ""
    stem = plain.removesuffix(tail)
    while len((stem + tail).encode()) > NAME_BYTES:
        stem = stem[:-1]
    return f"{stem}{tail}".rstrip(" .")


def _is_plain(character: str) -> bool:
    if character in "._-+ ()":
        return True
    return unicodedata.category(character)[0] in "LMN" and not deception.is_hidden(character)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def media_type(beginning: bytes) -> str:
    """What bytes are, by what they begin with."""
    import filetype

    found = filetype.guess(beginning)
    if found is not None:
        return str(found.mime)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(
            beginning[:_LOOKED_AT_BYTES], final=len(beginning) <= _LOOKED_AT_BYTES
        )
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if "\0" in text else "text/plain"


class ProjectFiles:
    """Implements `ports.ProjectFiles`."""

    def __init__(self, free_bytes: int = FREE_BYTES, nameless: bool = True) -> None:
        """`free_bytes` stay free on the disk; `nameless`: files are without a name while they are
        written, if the file system can."""
        self._free_bytes = free_bytes
        self._nameless = nameless

    async def put(self, folder: str, name: str, data: bytes) -> views.FileView:
        return await asyncio.to_thread(self._put, folder, safe_name(name), data)

    async def list(self, folder: str, path: str) -> tuple[tuple[views.FileView, ...], bool]:
        return await asyncio.to_thread(_list, folder, path)

    async def read(self, folder: str, path: str, limit_bytes: int) -> AsyncIterator[bytes]:
        with await asyncio.to_thread(_open, folder, path) as file:
            if os.fstat(file.fileno()).st_size > limit_bytes:
                raise _refused(_KIND.EXHAUSTED, f"{path} is larger than {limit_bytes} bytes.")
            left = limit_bytes
            while left > 0 and (chunk := await asyncio.to_thread(file.read, CHUNK_BYTES)):
                yield chunk[:left]
                left -= len(chunk)

    def _put(self, folder: str, name: str, data: bytes) -> views.FileView:
        with _faults(f"folder {INCOMING}"):
            if shutil.disk_usage(folder).free - len(data) < self._free_bytes:
                raise errors.StorageFull("The disk is nearly full: the file was not kept.")
            with _folder(folder, ()) as top:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(INCOMING, 0o700, dir_fd=top)
                    os.fsync(top)
                with confine.descend(top, (INCOMING,)) as place:
                    kept = _write(place, name, data, self._nameless)
        return views.FileView(
            path=f"{INCOMING}/{kept}", size=len(data), media_type=media_type(data), modified_ms=0
        )


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


def _write(place: int, name: str, data: bytes, nameless: bool) -> str:
    """Write, then give it a name that is free; the same bytes keep the name they have."""
    with _beside(place, nameless) as (file, source):
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        for each in _names(name):
            if _appears(source, each, place) or _is_same(place, each, data):
                os.fsync(place)
                return each
    raise _refused(_KIND.EXHAUSTED, f"There are too many files named {name}.")


@contextlib.contextmanager
def _beside(place: int, nameless: bool) -> Iterator[tuple[BinaryIO, str]]:
    """A new file in a folder, and what leads to it."""
    if nameless:
        try:
            file_fd = os.open(".", _NAMELESS, _MODE, dir_fd=place)
        except OSError as error:
            if error.errno not in _NONE_NAMELESS:
                raise
        else:
            with os.fdopen(file_fd, "wb") as file:
                yield file, f"/proc/self/fd/{file_fd}"
            return
    temporary = f".{secrets.token_hex(16)}.tmp"
    file_fd = os.open(temporary, _BESIDE, _MODE, dir_fd=place)
    try:
        with os.fdopen(file_fd, "wb") as file:
            yield file, temporary
    finally:
        os.unlink(temporary, dir_fd=place)


def _appears(source: str, name: str, place: int) -> bool:
    """Give a file its name; False when something has it. A link in the place of a file that has a
    hidden name is not followed."""
    follows = source.startswith("/")
    try:
        os.link(source, name, src_dir_fd=place, dst_dir_fd=place, follow_symlinks=follows)
    except FileExistsError:
        return False
    return True


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
    try:
        status = os.fstat(file_fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with os.fdopen(file_fd, "rb", closefd=False) as file:
            return file.read(len(data) + 1) == data
    finally:
        os.close(file_fd)


def _parts(path: str) -> tuple[str, ...]:
    """The names of a path below the project's folder."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise _refused(_KIND.INVALID, "path begins at the project's folder and stays within it.")
    if any(part.startswith(".") for part in parts):
        raise _refused(_KIND.FORBIDDEN, "Hidden files stay where they are.")
    if any(secret_names.may_be(parts[: depth + 1]) for depth in range(len(parts))):
        raise _refused(_KIND.FORBIDDEN, f"{path} looks like a secret: it is not sent.")
    return parts


def _list(folder: str, path: str) -> tuple[tuple[views.FileView, ...], bool]:
    parts = _parts(path)
    with _faults(path or "folder"), _folder(folder, parts) as opened, os.scandir(opened) as found:
        listed = []
        for entry in found:
            if entry.name.startswith(".") or not _is_utf8(entry.name):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went meanwhile
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


def _open(folder: str, path: str) -> BinaryIO:
    """A plain file, for reading. One that has other names too may be someone else's."""
    parts = _parts(path)
    if not parts:
        raise _refused(_KIND.INVALID, "path names a file of the project.")
    with _faults(path), _folder(folder, parts[:-1]) as opened:
        file_fd = os.open(parts[-1], _OPEN, dir_fd=opened)
    status = os.fstat(file_fd)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        os.close(file_fd)
        raise _refused(_KIND.STATE, f"{path} is no plain file: it is not sent.")
    return os.fdopen(file_fd, "rb")
