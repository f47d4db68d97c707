"""What opening a state folder makes, refuses and mends."""

import hashlib
import os
import random
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy

from daemon.domain import decisions, errors, ids
from daemon.storage import database, lock, migrations, projection_rows, sqlite_store, tables
from tests.conftest import Figures
from tests.contract.storage import histories
from tests.contract.storage.test_commit import keep, whole_log
from tests.contract.storage.test_views import everything


@contextmanager
def by_hand(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database as another program opens it."""
    connection = sqlite3.connect(folder / database.FILE_NAME, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def bytes_of(folder: Path) -> dict[str, str]:
    """A digest of every file but the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


async def make(folder: Path, seed: int = 1, size: int = 200) -> histories.History:
    history = histories.random_history(seed, size)
    async with sqlite_store.open_store(folder) as store:
        await keep(store, history)
    return history


async def test_a_state_is_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "state"
    async with sqlite_store.open_store(folder) as store:
        await keep(store, histories.random_history(1, 10))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert modes.pop("artifacts") == 0o700
    assert modes == dict.fromkeys(("lock", "ducklm.db", "ducklm.db-wal", "ducklm.db-shm"), 0o600)


async def test_what_was_kept_is_there_after_opening_again(tmp_path: Path) -> None:
    history = await make(tmp_path)
    for _ in range(2):
        async with sqlite_store.open_store(tmp_path) as store:
            assert await whole_log(store) == history.recorded
            assert await store.head_seq() == history.folded.head_seq
    assert not (tmp_path / "ducklm.db-wal").exists()


async def test_the_writer_and_readers_have_their_settings(tmp_path: Path) -> None:
    opened = database.open_database(tmp_path / "ducklm.db")
    wanted = {
        "journal_mode": "wal",
        "synchronous": 2,
        "busy_timeout": 10000,
        "foreign_keys": 1,
        "trusted_schema": 0,
        "journal_size_limit": 67108864,
        "secure_delete": 1,
    }
    for name, value in wanted.items():
        assert opened.writer.exec_driver_sql(f"PRAGMA {name}").scalar() == value
    assert opened.writer.exec_driver_sql("PRAGMA mmap_size").scalar() in (0, None)
    with opened.readers.connect() as reader:
        assert reader.exec_driver_sql("PRAGMA query_only").scalar() == 1
        with pytest.raises(sqlalchemy.exc.OperationalError, match="readonly"):
            reader.exec_driver_sql("DELETE FROM event")
    opened.writer.rollback()
    assert opened.truncate_wal()
    assert opened.writer.exec_driver_sql("PRAGMA busy_timeout").scalar() == 10000
    opened.close()


def shape(connection: sqlite3.Connection) -> dict[str, object]:
    """Tables with their columns and indices, as SQLite sees them."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    found: dict[str, object] = {}
    for (name,) in names:
        columns = connection.execute(f"SELECT name, pk FROM pragma_table_info('{name}')")
        indices = connection.execute(f"SELECT name, [unique] FROM pragma_index_list('{name}')")
        described = {
            index: connection.execute(f"SELECT name FROM pragma_index_info('{index}')").fetchall()
            for index, _ in indices.fetchall()
        }
        found[name] = (columns.fetchall(), described)
    return found


async def test_the_migrations_make_what_the_tables_say(tmp_path: Path) -> None:
    await make(tmp_path / "state")
    engine = sqlalchemy.create_engine(f"sqlite:///{tmp_path / 'declared.db'}")
    tables.METADATA.create_all(engine)
    engine.dispose()
    declared = sqlite3.connect(tmp_path / "declared.db")
    with by_hand(tmp_path / "state") as made:
        assert shape(made) == shape(declared)
    declared.close()


@pytest.mark.acceptance(12)
async def test_a_newer_schema_is_refused_without_a_write(tmp_path: Path, figures: Figures) -> None:
    await make(tmp_path)
    with by_hand(tmp_path) as newer:
        newer.execute(f"PRAGMA user_version = {migrations.VERSION + 1}")
    before = bytes_of(tmp_path)
    with pytest.raises(errors.StorageClosed, match="newer version"):
        async with sqlite_store.open_store(tmp_path):
            pass
    assert bytes_of(tmp_path) == before
    figures("newer schema", "refused, not a byte changed")


@pytest.mark.acceptance(12)
async def test_a_newer_schema_that_is_still_in_the_wal_is_refused(tmp_path: Path) -> None:
    await make(tmp_path / "made")
    with by_hand(tmp_path / "made") as newer:
        newer.execute(f"PRAGMA user_version = {migrations.VERSION + 1}")
        killed = tmp_path / "killed"
        killed.mkdir()
        for name in ("ducklm.db", "ducklm.db-wal"):
            (killed / name).write_bytes((tmp_path / "made" / name).read_bytes())
    (killed / "artifacts").mkdir()
    before = bytes_of(killed)
    with pytest.raises(errors.StorageClosed, match="newer version"):
        async with sqlite_store.open_store(killed):
            pass
    after = bytes_of(killed)
    assert {name: after[name] for name in before} == before


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir()
    with by_hand(tmp_path) as foreign:
        foreign.execute("CREATE TABLE cats (name)")
    before = bytes_of(tmp_path)
    with pytest.raises(errors.StorageClosed, match="another program"):
        async with sqlite_store.open_store(tmp_path):
            pass
    assert bytes_of(tmp_path) == before


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0", b"x"])
async def test_a_file_that_is_no_database_is_named_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ducklm.db").write_bytes(content)
    with pytest.raises(errors.StorageFault, match="damaged"):
        async with sqlite_store.open_store(tmp_path):
            pass
    assert (tmp_path / "ducklm.db").read_bytes() == content


async def test_a_database_that_was_only_begun_is_made_anew(tmp_path: Path) -> None:
    with by_hand(tmp_path) as begun:
        begun.execute("PRAGMA journal_mode=WAL")
    assert (tmp_path / "ducklm.db").stat().st_size > 0
    await make(tmp_path)


async def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.StorageClosed, match="cannot be used"):
        async with sqlite_store.open_store(tmp_path / "file" / "state"):
            pass


async def test_a_second_store_on_the_folder_is_refused(tmp_path: Path) -> None:
    async with sqlite_store.open_store(tmp_path):
        with pytest.raises(errors.StorageClosed, match=f"process {os.getpid()}"):
            async with sqlite_store.open_store(tmp_path):
                pass
    async with sqlite_store.open_store(tmp_path):
        pass


async def test_the_owner_of_a_lock_keeps_it(tmp_path: Path) -> None:
    held = lock.take(tmp_path)
    async with sqlite_store.open_store(tmp_path, held):
        pass
    with pytest.raises(lock.LockFault):
        lock.take(tmp_path)
    held.release()
    lock.take(tmp_path).release()


async def test_a_lock_of_another_folder_opens_nothing(tmp_path: Path) -> None:
    held = lock.take(tmp_path / "one")
    with pytest.raises(ValueError, match="another folder"):
        async with sqlite_store.open_store(tmp_path / "two", held):
            pass
    held.release()


BREAKS = {
    "all rows gone": "DELETE FROM task; DELETE FROM approval; DELETE FROM conversation;"
    "DELETE FROM projection",
    "tasks gone": "DELETE FROM task",
    "sayings gone": "DELETE FROM said",
    "a summary too many": "INSERT INTO summary VALUES (99, 1, 1, 'content-x')",
    "one conversation gone": "DELETE FROM conversation WHERE created_seq = 1",
    "approvals gone": "DELETE FROM approval",
    "behind the log": "UPDATE projection SET seq = seq - 1",
    "of another version": "UPDATE projection SET version = 99",
    "told twice": "INSERT INTO projection VALUES (77, 1, 1, 1, 1, 1, 1, 1, 1)",
}


@pytest.mark.parametrize("sql", BREAKS.values(), ids=BREAKS.keys())
async def test_projections_that_disagree_are_made_anew(tmp_path: Path, sql: str, seed: int) -> None:
    history = await make(tmp_path, seed, 200)
    async with sqlite_store.open_store(tmp_path) as store:
        before = await everything(store, history)
    with by_hand(tmp_path) as broken:
        broken.executescript(sql)
    async with sqlite_store.open_store(tmp_path) as store:
        assert await everything(store, history) == before
        assert await whole_log(store) == history.recorded


async def test_a_long_log_is_projected_anew_in_pages(tmp_path: Path, seed: int) -> None:
    await make(tmp_path, seed, 2 * projection_rows.REBUILD_PAGE_EVENTS + 100)
    async with sqlite_store.open_store(tmp_path) as store:
        before = [await store.tasks(9999), await store.approvals(9999, None)]
    with by_hand(tmp_path) as broken:
        broken.executescript(BREAKS["all rows gone"])
    async with sqlite_store.open_store(tmp_path) as store:
        assert [await store.tasks(9999), await store.approvals(9999, None)] == before


async def test_a_rebuilt_store_goes_on(tmp_path: Path, seed: int) -> None:
    history = histories.random_history(seed, 150)
    for batch in history.batches(random.Random(seed)):
        async with sqlite_store.open_store(tmp_path) as store:
            await store.commit(batch.recorded, batch.contents)
        with by_hand(tmp_path) as broken:
            broken.executescript(BREAKS["all rows gone"])
    async with sqlite_store.open_store(tmp_path) as store:
        assert await whole_log(store) == history.recorded


async def test_an_event_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    await make(tmp_path)
    with by_hand(tmp_path) as broken:
        broken.execute("UPDATE event SET body = '{}' WHERE seq = 3")
    async with sqlite_store.open_store(tmp_path) as store:
        with pytest.raises(errors.StorageFault, match="Event 3 "):
            await store.log(0, 10)


async def test_artifacts_that_were_cut_off_are_removed(tmp_path: Path) -> None:
    await make(tmp_path)
    left = tmp_path / "artifacts" / ".put-left"
    left.write_bytes(b"half")
    kept = tmp_path / "artifacts" / ("0" * 64)
    kept.write_bytes(b"whole")
    async with sqlite_store.open_store(tmp_path):
        assert not left.exists()
        assert kept.exists()


SECRET = "quite-a-secret-text"


def shows_secret(folder: Path) -> bool:
    files = (folder / name for name in ("ducklm.db", "ducklm.db-wal"))
    return any(SECRET.encode() in path.read_bytes() for path in files)


@pytest.mark.parametrize("whole", [False, True], ids=["a text", "a conversation"])
@pytest.mark.parametrize("watched", [False, True], ids=["alone", "beside a reader"])
async def test_what_is_forgotten_is_in_no_file(tmp_path: Path, watched: bool, whole: bool) -> None:
    content_id = ids.ContentId("content-secret")
    record = decisions.ContentRecord(
        content_id=content_id, owner=ids.ConversationId("conversation-1"), text=SECRET
    )
    async with sqlite_store.open_store(tmp_path) as store:
        await store.commit([], [record])
        assert shows_secret(tmp_path)
        with by_hand(tmp_path) as reader:
            if watched:
                reader.execute("BEGIN")
                reader.execute("SELECT * FROM content").fetchall()
            if whole:
                await store.commit([], [decisions.ForgottenRecord(owner=record.owner)])
            else:
                await store.forget([content_id])
            assert await store.texts([content_id]) == {content_id: None}
            assert shows_secret(tmp_path) is watched
        await store.wal_settled()
        assert not shows_secret(tmp_path)


async def test_a_deleted_conversation_keeps_no_late_text_after_opening_again(
    tmp_path: Path,
) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation()
    play.delete(chat)
    async with sqlite_store.open_store(tmp_path) as store:
        await keep(store, play.history)
    content_id = ids.ContentId("content-late")
    late = decisions.ContentRecord(content_id=content_id, owner=chat, text=SECRET)
    async with sqlite_store.open_store(tmp_path) as store:
        await store.commit([], [late])
        assert await store.texts([content_id]) == {content_id: None}
    assert SECRET.encode() not in (tmp_path / "ducklm.db").read_bytes()
