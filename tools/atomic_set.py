"""Puts several files in their places, all or none: also over a crash.

All are written beside first. Then each old file is kept under a second name, the new ones are put
in their places, and what was kept goes. What a crash leaves half done is put back when it is looked
for, as nobody may go on with a call that was cut off. Never leaves a part of them in silence.
"""

import contextlib
import os
import secrets
import shutil
import threading
from collections.abc import Sequence

from tools import atomic, confine, contract

Reconciled = contract.Reconciled


class Intent(contract.Value):
    """What tells afterwards which of the changes were made. `kept` are the second names, one a
    file."""

    files: tuple[atomic.Intent, ...]
    kept: tuple[str, ...]


def intent(changes: Sequence[atomic.Change]) -> Intent:
    """The intent of changes that belong together."""
    return Intent(
        files=tuple(one.intent for one in changes),
        kept=tuple(f".{secrets.token_hex(16)}.old" for _ in changes),
    )


def write(changes: Sequence[atomic.Change], intended: Intent, stopped: threading.Event) -> None:
    """Make all changes.

    Raises:
        ToolFault: one could not be made; then none is.
    """
    made: dict[str, int] = {}
    with contextlib.ExitStack() as opened, contextlib.ExitStack() as undo:
        folders = [atomic.beside(one, opened, undo, made) for one in changes]
        atomic.refuse_stopped(stopped)
        together = list(zip(changes, intended.kept, folders, strict=True))
        for one, kept, folder_fd in together:
            if one.old is not None:
                _keep(one.spot, kept, folder_fd, undo)
        for one, kept, folder_fd in together:
            undo.callback(_back, one, kept, folder_fd)
            atomic.into_place(one, folder_fd)
        undo.pop_all()
        for _, kept, folder_fd in together:
            atomic.remove(kept, folder_fd)


def reconcile(call: contract.Call, intent_json: str) -> Reconciled:
    """Compare what is there with the intent; put back what was changed when not all was."""
    intended = Intent.model_validate_json(intent_json)
    try:
        with contextlib.ExitStack() as held:
            spots = [
                held.enter_context(contextlib.closing(confine.locate(call, one.path)))
                for one in intended.files
            ]
            found = _looked(spots, intended)
            if found is Reconciled.UNKNOWN:
                return found
            for spot, one, kept in zip(spots, intended.files, intended.kept, strict=True):
                if not spot.missing:
                    atomic.remove(one.temporary, spot.folder_fd)
                    atomic.remove(kept, spot.folder_fd)
        if found is Reconciled.NOT_DONE:
            for one in reversed(intended.files):
                atomic.remove_made(call, one)
    except (contract.ToolFault, OSError):
        return Reconciled.UNKNOWN
    return found


def _looked(spots: Sequence[confine.Spot], intended: Intent) -> Reconciled:
    """All done, none done, or unknown; some done are undone."""
    states = [atomic.state(spot, one) for spot, one in zip(spots, intended.files, strict=True)]
    if Reconciled.UNKNOWN in states:
        return Reconciled.UNKNOWN
    if Reconciled.NOT_DONE not in states:
        return Reconciled.DONE
    for spot, one, kept, found in zip(spots, intended.files, intended.kept, states, strict=True):
        if found is Reconciled.DONE:
            _put_back(spot.name, kept, spot.folder_fd, one.before == atomic.ABSENT)
            if atomic.state(spot, one) is not Reconciled.NOT_DONE:
                return Reconciled.UNKNOWN
    return Reconciled.NOT_DONE


def _keep(spot: confine.Spot, kept: str, folder_fd: int, undo: contextlib.ExitStack) -> None:
    """Give a file a second name, or where a file system knows no such, a copy."""
    undo.callback(atomic.remove, kept, folder_fd)
    try:
        os.link(spot.name, kept, src_dir_fd=folder_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError as error:
        raise atomic.changed(spot) from error
    except OSError as error:
        if error.errno not in atomic.NO_LINKS:
            raise confine.faulty(spot.written, error) from error
        _copy(spot, kept, folder_fd)
    atomic.sync_folder(folder_fd)


def _copy(spot: confine.Spot, kept: str, folder_fd: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with (
            os.fdopen(confine.open_file(spot), "rb") as old,
            os.fdopen(os.open(kept, flags, 0o600, dir_fd=folder_fd), "wb") as new,
        ):
            shutil.copyfileobj(old, new)
            atomic.keep_owner_and_mode(spot, os.fstat(old.fileno()), new.fileno())
            new.flush()
            os.fsync(new.fileno())
    except OSError as error:
        raise confine.faulty(spot.written, error) from error


def _back(one: atomic.Change, kept: str, folder_fd: int) -> None:
    """Put back what was there, if what was written beside has left its place."""
    try:
        os.stat(one.intent.temporary, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        _put_back(one.spot.name, kept, folder_fd, one.old is None)


def _put_back(name: str, kept: str, folder_fd: int, was_absent: bool) -> None:
    if was_absent:
        os.unlink(name, dir_fd=folder_fd)
    else:
        os.rename(kept, name, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
    atomic.sync_folder(folder_fd)
