"""Puts a file in its place whole: the old one or the new one is there, never a part of either.

What is new is written beside the file, under a name that nobody can guess, and renamed over it. The
intent names the hashes before and after, so that a change that was cut off can be told from one
that was done. Never writes through a link, into another folder than the one that is held, or over
what has changed since the inspection.
"""

import contextlib
import dataclasses
import errno
import hashlib
import os
import secrets
import stat
import threading

from tools import confine, contract

ABSENT = "absent"
MOST_BYTES = 64 * 1024 * 1024
"""A larger file is not changed."""
_PIECE_BYTES = 1024 * 1024
NO_LINKS = frozenset((errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK))
"""What a file system answers that knows no further names of a file."""


class Intent(contract.Value):
    """What tells afterwards whether a change was made. `made` are the folders it needs first."""

    path: str
    before: str
    after: str
    temporary: str
    made: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """One file's change: the held spot, what was there (None: nothing), and the new content."""

    spot: confine.Spot
    old: os.stat_result | None
    data: bytes
    intent: Intent


def digest(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def content(spot: confine.Spot, status: os.stat_result) -> bytes:
    """What a file that is to be changed holds now.

    Raises:
        ToolFault: it is no regular file, read-only or too large.
    """
    if stat.S_ISREG(status.st_mode) and not status.st_mode & stat.S_IWUSR:
        raise contract.ToolFault(f"{spot.written} is read-only.")
    file_fd = confine.open_file(spot)
    try:
        if confine.identity(os.fstat(file_fd)) != confine.identity(status):
            raise changed(spot)
        return _read(spot, file_fd)
    finally:
        os.close(file_fd)


def change(
    spot: confine.Spot, status: os.stat_result | None, old: bytes | None, new: bytes
) -> Change:
    """The change from what was found to new content."""
    above = spot.folder.rstrip("/")
    made = range(1, len(spot.missing) + 1)
    intent = Intent(
        path=spot.real,
        before=ABSENT if old is None else digest(old),
        after=digest(new),
        temporary=f".{secrets.token_hex(16)}.tmp",
        made=tuple("/".join((above, *spot.missing[:count])) for count in made),
    )
    return Change(spot, status, new, intent)


def write(one: Change, stopped: threading.Event) -> None:
    """Make the missing folders, write beside the file, and put it in its place.

    Raises:
        ToolFault: it could not be written. Nothing of it is left then, unless the disk failed in
            the very end: the file is in its place, and nobody knows for how long.
    """
    with contextlib.ExitStack() as opened, contextlib.ExitStack() as undo:
        folder_fd = beside(one, opened, undo, {})
        refuse_stopped(stopped)
        into_place(one, folder_fd)
        undo.pop_all()


def bound(one: Change) -> tuple[tuple[str, str], ...]:
    """What an approval of a change is tied to."""
    return (
        ("file", one.spot.real),
        ("before", one.intent.before),
        ("after", one.intent.after),
        ("folder_inode", ":".join(map(str, confine.identity(os.fstat(one.spot.folder_fd))))),
        ("made", "\n".join(one.intent.made)),
        ("mode", "new" if one.old is None else oct(stat.S_IMODE(one.old.st_mode))),
    )


def beside(
    one: Change, opened: contextlib.ExitStack, undo: contextlib.ExitStack, made: dict[str, int]
) -> int:
    """Make the missing folders and write beside the file; the folder it goes to, opened.

    `made` are folders that were made for others already, by path, and those made now.

    Raises:
        ToolFault: it could not be written.
    """
    spot = one.spot
    try:
        if not spot.is_in_place():
            raise changed(spot)
        folder_fd = _make_folders(spot, opened, undo, made)
        _write_beside(one, folder_fd, undo)
    except OSError as error:
        raise confine.faulty(spot.written, error) from error
    return folder_fd


def refuse_stopped(stopped: threading.Event) -> None:
    """The last look before what is written is put in its place.

    Raises:
        ToolFault: the call was told to stop.
    """
    if stopped.is_set():
        raise contract.ToolFault("Stopped before anything was written.")


def into_place(one: Change, folder_fd: int) -> None:
    """Give what was written beside a file its name.

    Raises:
        ToolFault: something else is there than the inspection found, or the system refused.
    """
    try:
        if one.old is None:
            _appear(one.spot, one.intent.temporary, folder_fd)
        elif _is_as_before(one, one.old):
            name = one.spot.name
            os.rename(one.intent.temporary, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        else:
            raise changed(one.spot)
        sync_folder(folder_fd)
    except OSError as error:
        raise confine.faulty(one.spot.written, error) from error


def reconcile(call: contract.Call, intent_json: str) -> contract.Reconciled:
    """Compare what is there with the intent, and tidy what a crash left of the call."""
    intent = Intent.model_validate_json(intent_json)
    try:
        with contextlib.closing(confine.locate(call, intent.path)) as spot:
            found = state(spot, intent)
            if not spot.missing:
                remove(intent.temporary, spot.folder_fd)
        if found is contract.Reconciled.NOT_DONE:
            remove_made(call, intent)
    except (contract.ToolFault, OSError):
        return contract.Reconciled.UNKNOWN
    return found


def remove_made(call: contract.Call, intent: Intent) -> None:
    """Remove the folders that a change made, as far as they are empty."""
    for folder in reversed(intent.made):
        with contextlib.closing(confine.locate(call, folder)) as spot:
            _remove_folder(spot.name, spot.folder_fd)


def changed(spot: confine.Spot) -> contract.ToolFault:
    return contract.ToolFault(f"{spot.written} has changed since it was looked at; try again.")


def _read(spot: confine.Spot, file_fd: int) -> bytes:
    pieces: list[bytes] = []
    offset = 0
    while data := os.pread(file_fd, _PIECE_BYTES, offset):
        pieces.append(data)
        offset += len(data)
        if offset > MOST_BYTES:
            raise contract.ToolFault(
                f"{spot.written} has more than {MOST_BYTES} bytes; it is not changed."
            )
    return b"".join(pieces)


def _hash(spot: confine.Spot) -> str:
    """The hash of what is at the spot now."""
    if spot.status() is None:
        return ABSENT
    file_fd = confine.open_file(spot)
    try:
        return digest(_read(spot, file_fd))
    finally:
        os.close(file_fd)


def _is_as_before(one: Change, old: os.stat_result) -> bool:
    """Whether the file at the name is the one that the inspection found, and holds the same."""
    status = one.spot.status()
    if status is None or confine.identity(status) != confine.identity(old):
        return False
    return _hash(one.spot) == one.intent.before


def _make_folders(
    spot: confine.Spot,
    opened: contextlib.ExitStack,
    undo: contextlib.ExitStack,
    made: dict[str, int],
) -> int:
    """Make the missing folders, each in the one above that is held, and open the last."""
    folder_fd, path = spot.folder_fd, spot.folder.rstrip("/")
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    for name in spot.missing:
        path = f"{path}/{name}"
        if path in made:
            folder_fd = made[path]
            continue
        try:
            os.mkdir(name, dir_fd=folder_fd)
        except FileExistsError as error:
            raise changed(spot) from error
        undo.callback(_remove_folder, name, folder_fd)
        below = os.open(name, flags, dir_fd=folder_fd)
        opened.callback(os.close, below)
        sync_folder(folder_fd)
        folder_fd = made[path] = below
    return folder_fd


def _write_beside(one: Change, folder_fd: int, undo: contextlib.ExitStack) -> None:
    temporary = one.intent.temporary
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    mode = 0o666 if one.old is None else 0o600  # a new file's mode is the umask's business
    file_fd = os.open(temporary, flags, mode, dir_fd=folder_fd)
    undo.callback(remove, temporary, folder_fd)
    try:
        left = memoryview(one.data)
        while left:
            left = left[os.write(file_fd, left) :]
        if one.old is not None:
            keep_owner_and_mode(one.spot, one.old, file_fd)
        os.fsync(file_fd)
    finally:
        os.close(file_fd)


def _appear(spot: confine.Spot, temporary: str, folder_fd: int) -> None:
    """Give a new file its name, if nothing has it."""
    try:
        os.link(temporary, spot.name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    except FileExistsError as error:
        raise changed(spot) from error
    except OSError as error:
        if error.errno not in NO_LINKS or spot.status() is not None:
            raise
        os.rename(temporary, spot.name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    else:
        os.unlink(temporary, dir_fd=folder_fd)


def keep_owner_and_mode(spot: confine.Spot, old: os.stat_result, file_fd: int) -> None:
    """Give the new file the old one's owner and mode, without the bits that lend rights."""
    mine = os.fstat(file_fd)
    if (mine.st_uid, mine.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(file_fd, old.st_uid, old.st_gid)
        except PermissionError as error:
            raise contract.ToolFault(
                f"{spot.written} belongs to another user or group; it is not changed."
            ) from error
    os.fchmod(file_fd, stat.S_IMODE(old.st_mode) & 0o777)


def remove(name: str, folder_fd: int) -> None:
    """Remove a file, if it is there."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder_fd)


def _remove_folder(name: str, folder_fd: int) -> None:
    """Remove a folder, if it is empty."""
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=folder_fd)


def sync_folder(folder_fd: int) -> None:
    """Have the disk know the names in a folder."""
    opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder_fd)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def state(spot: confine.Spot, intent: Intent) -> contract.Reconciled:
    """Whether what is at the spot is what the change would leave, or what it found."""
    if spot.real != intent.path:
        return contract.Reconciled.UNKNOWN
    now = _hash(spot)
    if now == intent.after:
        return contract.Reconciled.DONE
    return contract.Reconciled.NOT_DONE if now == intent.before else contract.Reconciled.UNKNOWN
