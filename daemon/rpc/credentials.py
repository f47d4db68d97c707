"""Tokens: the owner's, made at the first start, those made since, and who may do what with one.

A token is compared by its digest. Its text is only in the owner's file, or with whoever had it
made; it is never logged, and of the latter kind none is kept.
"""

import asyncio
import contextlib
import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path

from daemon.domain import decisions, errors, ids, principals

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
    token = new_secret()
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
    """What of a token is kept."""
    return hashlib.sha256(token.encode()).hexdigest()


class Grant:
    """A valid token's credential, and the calls that wait under it; they end when it is revoked."""

    def __init__(self, credential: principals.Credential) -> None:
        self.credential = credential
        self.revoked = False
        self._waits: set[asyncio.Timeout] = set()

    @contextlib.asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Wait in this block only for as long as the token is valid.

        Raises:
            Revoked: it is no longer.
        """
        if self.revoked:
            raise Revoked
        wait = asyncio.timeout(None)
        try:
            async with wait:
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except TimeoutError:
            if wait.expired():
                raise Revoked from None
            raise

    def revoke(self) -> None:
        """End what waits."""
        self.revoked = True
        now_s = asyncio.get_running_loop().time()
        for wait in self._waits:
            wait.reschedule(now_s)


class Revoked(Exception):
    """The token of a call was revoked while it was served."""


class Credentials:
    """The valid tokens, by digest. Hears of new and of revoked ones when they are durable."""

    def __init__(self, known: Mapping[str, principals.Credential]) -> None:
        self._grants = {kept: Grant(credential) for kept, credential in known.items()}
        self._digests = {one.credential.name: kept for kept, one in self._grants.items()}

    def find(self, token: str) -> Grant | None:
        """What a token grants; looking up a digest tells nothing by its time."""
        return self._grants.get(digest(token))

    def hear(self, records: Iterable[decisions.Record]) -> None:
        """Take up tokens that were made, and end those that were revoked."""
        for record in records:
            match record:
                case decisions.TokenRecord():
                    self._add(record)
                case decisions.TokenRevoked():
                    self._revoke(record.token_id)
                case _:
                    pass

    def _add(self, made: decisions.TokenRecord) -> None:
        self._grants[made.digest] = Grant(
            principals.Credential(name=made.token_id, principal=made.principal, scopes=made.scopes)
        )
        self._digests[made.token_id] = made.digest

    def _revoke(self, token_id: ids.TokenId) -> None:
        kept = self._digests.pop(token_id, None)
        if kept is not None:
            self._grants.pop(kept).revoke()


def load(token: str, made: Iterable[decisions.TokenRecord]) -> Credentials:
    """The credentials of a daemon: the owner's token, and those that were made and not revoked."""
    owner = principals.Credential(
        name="owner", principal=principals.LOCAL_OWNER, scopes=principals.ALL_SCOPES
    )
    known = Credentials({digest(token): owner})
    known.hear(made)
    return known


def new_secret() -> str:
    """The text of a new token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)
