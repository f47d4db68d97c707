"""Reads and writes single files of a project's folder, by descriptor: no link is followed.

A file is replaced whole by a rename, so that a kill leaves the old or the new. What is there is
looked at again just before: something that nobody expected is never written over.
"""

import contextlib
import os
import stat
from collections.abc import Iterator

from daemon.history import objects, walk

_NEW_FILE, _NEW_PROGRAM, _NEW_FOLDER = 0o600, 0o700, 0o700
"""What comes back where nothing is belongs to its owner alone: it may have been private."""


class Unreadable(Exception):
    """There is something that is not kept: the text says why."""


@contextlib.contextmanager
def parent(folder_fd: int, path: bytes, make: bool = False) -> Iterator[int | None]:
    """A descriptor of the folder that a path lies in; None where there is none.

    Raises:
        Unreadable: something on the way is no folder.
    """
    fd = os.dup(folder_fd)
    try:
        for name in path.split(b"/")[:-1]:
            try:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, _NEW_FOLDER, dir_fd=fd)
                inner = os.open(name, walk.FOLDER_FLAGS, dir_fd=fd)
            except FileNotFoundError:
                yield None
                return
            except OSError as error:
                raise Unreadable(str(error.strerror)) from error
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def read(folder_fd: int, path: bytes) -> tuple[walk.Stamp, int, bytes] | None:
    """A file's stamp from before it was read, its mode as kept, and its content; None: not there.

    Raises:
        Unreadable: it is too large, may not be read, or is neither a file nor a link.
    """
    with parent(folder_fd, path) as fd:
        if fd is None:
            return None
        name = path.rpartition(b"/")[2]
        try:
            status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                return walk.stamp(status), objects.LINK, os.readlink(name, dir_fd=fd)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("no file")
            inner = os.open(name, walk.FILE_FLAGS, dir_fd=fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreadable(str(error.strerror)) from error
        with open(inner, "rb") as file:
            seen = os.fstat(inner)
            data = file.read(walk.MOST_FILE_BYTES + 1)
    if not stat.S_ISREG(seen.st_mode) or len(data) > walk.MOST_FILE_BYTES:
        raise Unreadable(walk.TOO_LARGE)
    return walk.stamp(seen), kept_mode(seen.st_mode), data


def kept_mode(mode: int) -> int:
    """The mode that a commit keeps of a file."""
    if stat.S_ISLNK(mode):
        return objects.LINK
    return objects.PROGRAM if mode & stat.S_IXUSR else objects.FILE


def holds(folder_fd: int, path: bytes) -> objects.Kept | None:
    """What is at a path now; None for nothing.

    Raises:
        Unreadable: see `read`; also where a folder is in the path's place.
    """
    found = read(folder_fd, path)
    return None if found is None else objects.Kept(found[1], objects.blob_id(found[2]))


def remove(folder_fd: int, path: bytes) -> None:
    """Remove a file, and the folders that are empty without it."""
    with parent(folder_fd, path) as fd:
        if fd is None:
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path.rpartition(b"/")[2], dir_fd=fd)
    while folder := path.rpartition(b"/")[0]:
        path = folder
        with parent(folder_fd, path) as fd:
            try:
                if fd is not None:
                    os.rmdir(path.rpartition(b"/")[2], dir_fd=fd)
            except OSError:
                return


def put(folder_fd: int, path: bytes, mode: int, data: bytes, beside: bytes) -> None:
    """Have a path hold this; `beside` is a name in its folder to make it under.

    Raises:
        Unreadable: something on the way is no folder.
        OSError: it cannot be written.
    """
    with parent(folder_fd, path, make=True) as fd:
        if fd is None:
            raise Unreadable("its folder is gone")
        name = path.rpartition(b"/")[2]
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=fd)
        if mode == objects.LINK:
            os.symlink(data, beside, dir_fd=fd)
        else:
            _write(fd, name, mode, data, beside)
        os.rename(beside, name, src_dir_fd=fd, dst_dir_fd=fd)


def _write(fd: int, name: bytes, mode: int, data: bytes, beside: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(beside, flags, 0o600, dir_fd=fd), "wb") as file:
        file.write(data)
        file.flush()
        bits, owner = _like(fd, name, mode)
        if owner is not None:
            with contextlib.suppress(PermissionError):
                os.fchown(file.fileno(), *owner)
        os.fchmod(file.fileno(), bits)
        os.fsync(file.fileno())


def _like(fd: int, name: bytes, mode: int) -> tuple[int, tuple[int, int] | None]:
    """The permissions and the owner that a file in this place has to have."""
    program = mode == objects.PROGRAM
    try:
        status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except OSError:
        status = None
    if status is None or not stat.S_ISREG(status.st_mode):
        return (_NEW_PROGRAM if program else _NEW_FILE), None
    bits = stat.S_IMODE(status.st_mode) & 0o777 & ~0o111
    return (bits | (bits & 0o444) >> 2 if program else bits), (status.st_uid, status.st_gid)


def clear(folder_fd: int, path: bytes, beside: bytes) -> None:
    """Remove what a kill left under the name `beside` in a path's folder."""
    with contextlib.suppress(Unreadable, OSError), parent(folder_fd, path) as fd:
        if fd is not None:
            os.unlink(beside, dir_fd=fd)
