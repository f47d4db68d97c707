"""The state database: the only module that opens its path.

Opening and closing the file anywhere else in the process would drop SQLite's locks, and a second
writer could corrupt the log. Never leaves SQL or a library's words in what a person reads.
"""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import event, pool

from daemon.domain import errors
from daemon.storage import migrations

FILE_NAME = "ducklm.db"
APPLICATION_ID = 0x4475636B
READERS = 2
WAL_LARGE_BYTES = 16 * 1024 * 1024
_CHECKED_BYTES = 32 * 1024 * 1024
"""The largest database that is checked as a whole after a crash (about 0.2 s)."""

_LEAST_BYTES = 512
"""The smallest page of SQLite: what is shorter would pass for empty, and be overwritten."""

_PRAGMAS = (
    "busy_timeout=10000",
    "foreign_keys=ON",
    "mmap_size=0",
    "trusted_schema=OFF",
)
_WRITER_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "journal_size_limit=67108864",
    "secure_delete=ON",
)
_PREPARED_STATEMENTS = 128
_FULL_CODES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})
_DAMAGED_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE_MASK = 0xFF

FULL = "The disk is full: nothing was kept. Make room, then try again."
DAMAGED = "The database is damaged: restore the state folder from a backup."


@contextmanager
def faults() -> Iterator[None]:
    """Turn what SQLite and the file system say into the errors of the port."""
    try:
        yield
    except sqlalchemy.exc.DBAPIError as error:
        raise _fault(error.orig) from error
    except sqlite3.Error as error:
        raise _fault(error) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise errors.StorageFull(FULL) from error
        raise errors.StorageFault(f"The database cannot be used: {error.strerror}.") from error


def _fault(error: BaseException | None) -> errors.StorageFault:
    code = getattr(error, "sqlite_errorcode", 0)
    if code in _FULL_CODES:
        return errors.StorageFull(FULL)
    primary = code & _PRIMARY_CODE_MASK
    if primary in _DAMAGED_CODES:
        return errors.StorageFault(DAMAGED)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return errors.StorageFault("Another program holds the database: close it, then try again.")
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return errors.StorageFault("The database cannot be written: check its permissions.")
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return errors.StorageFault(f"The database could not be used ({name}).")


class Database:
    """The engines of one open database. Made by `open_database`; whoever opens closes."""

    def __init__(self, path: Path) -> None:
        self._wal_path = _wal_path(path)
        self._writers = _engine(path, 1, _PRAGMAS + _WRITER_PRAGMAS)
        self.readers = _engine(path, READERS, (*_PRAGMAS, "query_only=ON"))
        event.listen(self._writers, "begin", _begin_immediate)
        self.writer = self._writers.connect()

    def wal_bytes(self) -> int:
        """The size of the write-ahead log; 0 when there is none."""
        return _size(self._wal_path)

    def truncate_wal(self) -> bool:
        """Empty the write-ahead log if no reader needs it; never waits for one."""
        driver: Any = self.writer.connection.driver_connection
        driver.execute("PRAGMA busy_timeout=0")
        try:
            (busy, _, _) = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            driver.execute("PRAGMA busy_timeout=10000")
        return not busy

    def close(self) -> None:
        """Close every connection; the last one empties the write-ahead log."""
        self.readers.dispose()
        self.writer.close()
        self._writers.dispose()


def open_database(path: Path) -> Database:
    """Open the database, make it when it is missing, and bring its schema to this version.

    Raises:
        errors.StorageClosed: it is newer than this version, or another program's; not a byte of it
            was changed.
        errors.StorageFull: there is no room to open it.
        errors.StorageFault: it is damaged, or cannot be used.
    """
    with faults():
        version = _identify(path)
        crashed = _size(_wal_path(path)) > 0
        _make(path)
        opened = Database(path)
        try:
            if crashed and version > 0:
                _check(opened.writer, path)
            _migrate(opened, version)
        except BaseException:
            opened.close()
            raise
        return opened


@contextmanager
def look(path: Path, live: bool) -> Iterator[sqlalchemy.Connection]:
    """A connection that only reads: no file is made beside the database, and none is changed.

    `live` says that a daemon has it open. If none has, what a crash left in the write-ahead log is
    read from a copy, because SQLite would recover it in place.

    Raises:
        errors.StorageClosed: it is of another version, or another program's.
        errors.StorageFault: there is none, or it cannot be read.
    """
    if _size(path) == 0:
        raise errors.StorageFault(f"There is no database {path}.")
    with tempfile.TemporaryDirectory() as scratch, faults():
        crashed = not live and _size(_wal_path(path)) > 0
        seen = _copy(path, Path(scratch)) if crashed else path
        if _identify(seen) != migrations.VERSION:
            raise errors.StorageClosed(
                f"{path} was written by an older version of DuckLM: start the daemon once."
            )
        immutable = "" if live or crashed else "&immutable=1"
        uri = f"file:{quote(str(seen))}?mode=ro{immutable}"
        engine = sqlalchemy.create_engine(
            "sqlite://", poolclass=pool.NullPool, creator=lambda: sqlite3.connect(uri, uri=True)
        )
        with engine.connect() as connection:
            yield connection


def _copy(path: Path, folder: Path) -> Path:
    for name in (path, _wal_path(path)):
        shutil.copyfile(name, folder / name.name)
    return folder / path.name


def _wal_path(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _engine(path: Path, connections: int, pragmas: tuple[str, ...]) -> sqlalchemy.Engine:
    engine = sqlalchemy.create_engine(
        sqlalchemy.URL.create("sqlite", database=str(path)),
        poolclass=pool.QueuePool,
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,  # what people said is in them, and errors are logged
        connect_args={
            "isolation_level": None,
            "check_same_thread": False,
            "cached_statements": _PREPARED_STATEMENTS,
        },
    )

    def prepare(driver: sqlite3.Connection, _: object) -> None:
        for pragma in pragmas:
            driver.execute(f"PRAGMA {pragma}")

    event.listen(engine, "connect", prepare)
    return engine


def _begin_immediate(connection: sqlalchemy.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _identify(path: Path) -> int:
    """The schema's version; 0 for a database that is yet to be made. Writes nothing."""
    if _size(path) == 0:
        return 0
    if _size(path) < _LEAST_BYTES:
        raise errors.StorageFault(DAMAGED)
    immutable = "" if _size(_wal_path(path)) else "&immutable=1"
    peek = sqlite3.connect(f"file:{quote(str(path))}?mode=ro{immutable}", uri=True)
    try:
        (application,) = peek.execute("PRAGMA application_id").fetchone()
        (version,) = peek.execute("PRAGMA user_version").fetchone()
        (entries,) = peek.execute("SELECT count(*) FROM sqlite_master").fetchone()
    finally:
        peek.close()
    if application != APPLICATION_ID and (application or version or entries):
        raise errors.StorageClosed(f"{path} is the database of another program.")
    if version > migrations.VERSION:
        raise errors.StorageClosed(
            f"{path} was written by a newer version of DuckLM (schema {version}, this one knows "
            f"{migrations.VERSION}): install that version, or restore an older backup."
        )
    return int(version)


def _make(path: Path) -> None:
    """Create the file, for its owner alone; what SQLite puts beside it gets the same mode."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return


def _check(connection: sqlalchemy.Connection, path: Path) -> None:
    """After a crash: refuse a database whose pages or log do not hold together."""
    with connection.begin():
        count, last = connection.exec_driver_sql(
            "SELECT count(*), ifnull(max(seq), 0) FROM event"
        ).one()
        sound = count == last
        if sound and _size(path) <= _CHECKED_BYTES:
            sound = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one() == "ok"
    if not sound:
        raise errors.StorageFault(DAMAGED)


def _migrate(opened: Database, version: int) -> None:
    for number, statements in enumerate(migrations.STATEMENTS[version:], version + 1):
        with opened.writer.begin():
            for statement in statements:
                opened.writer.exec_driver_sql(statement)
            opened.writer.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            opened.writer.exec_driver_sql(f"PRAGMA user_version = {number}")
    if version < migrations.VERSION:
        opened.truncate_wal()
