"""Tokens: the owner's, made at the first start, and who may do what with one.

A token is compared by its digest; its text is only in the owner's file and is never logged.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from daemon.domain import errors, principals

TOKEN_FILE = "token"
_TOKEN_BYTES = 32
_FILE_MODE = 0o600


def owner_token(folder: Path) -> str:
    """The token with all scopes, from `<state>/token`; made with mode 0600 when there is none.

    Raises:
        errors.StorageClosed: others can read the file, or no token can be read from it.
    """
    path = folder / TOKEN_FILE
    try:
        text = path.read_text("ascii").strip()
    except FileNotFoundError:
        return _make(path)
    except UnicodeDecodeError as error:
        raise errors.StorageClosed(f"{path} is damaged. Delete it and start again.") from error
    except OSError as error:
        raise errors.StorageClosed(f"{path} cannot be read: {error.strerror}.") from error
    if path.stat().st_mode & 0o077:
        raise errors.StorageClosed(f"{path} can be read by others. Run: chmod 600 {path}")
    if not text:
        raise errors.StorageClosed(f"{path} is empty. Delete it and start again.")
    return text


def _make(path: Path) -> str:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE)
    with os.fdopen(descriptor, "w") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)
    return token


def digest(token: str) -> str:
    """What of a token is kept in memory."""
    return hashlib.sha256(token.encode()).hexdigest()


class Credentials:
    """The valid tokens, by digest."""

    def __init__(self, known: Mapping[str, principals.Credential]) -> None:
        self._known = dict(known)

    def find(self, token: str) -> principals.Credential | None:
        """The credential of a token; looking up a digest tells nothing by its time."""
        return self._known.get(digest(token))


def of_owner(token: str) -> Credentials:
    """The credentials of a daemon that has no token but the owner's."""
    owner = principals.Credential(
        name="owner", principal=principals.LOCAL_OWNER, scopes=principals.ALL_SCOPES
    )
    return Credentials({digest(token): owner})
