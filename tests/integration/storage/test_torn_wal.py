"""Acceptance 5: write-ahead logs that were cut or zeroed at random places."""

import random
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from daemon.domain import errors, events
from daemon.storage import database, sqlite_store
from tests.conftest import Figures, Rounds
from tests.contract.storage import histories
from tests.golden import example

NAMES = ("ducklm.db", "ducklm.db-wal")
SECTOR_BYTES = 512


@dataclass
class Living:
    """A state that was copied while its daemon lived, and what had been kept by then."""

    folder: Path
    log: Sequence[events.Recorded]
    checkpointed: bool
    """Pages of the database are newer than what a torn write-ahead log may have left."""


def copy(source: Path, target: Path) -> Path:
    target.mkdir()
    for name in NAMES:
        shutil.copyfile(source / name, target / name)
    return target


async def living(folder: Path, seed: int, size: int, passive: bool = False) -> Living:
    """Live a while, and be copied as a power cut would leave it, without closing.

    `passive`: the write-ahead log was copied into the database, and not begun anew yet.
    """
    history = histories.random_history(seed, size)
    async with sqlite_store.open_store(folder / "state") as store:
        for batch in history.batches(random.Random(seed)):
            await store.commit(batch.recorded, batch.contents)
        if passive:
            checkpoint(folder / "state")
        checkpointed = backfilled_frames(folder / "state") > 0
        return Living(copy(folder / "state", folder / "copy"), history.recorded, checkpointed)


def backfilled_frames(folder: Path) -> int:
    """How much of the log the database has already (`nBackfill` of SQLite's wal-index)."""
    with (folder / f"{database.FILE_NAME}-shm").open("rb") as index:
        index.seek(96)
        return int.from_bytes(index.read(4), sys.byteorder)


def checkpoint(folder: Path) -> None:
    connection = sqlite3.connect(folder / database.FILE_NAME)
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    connection.close()


def tear(wal: Path, dice: random.Random) -> None:
    """Cut the file, or zero it from a place on, or only some sectors of it."""
    size = wal.stat().st_size
    start = dice.randrange(size)
    with wal.open("r+b") as file:
        match dice.choice(("cut", "zero to the end", "zero sectors")):
            case "cut":
                file.truncate(start)
            case "zero to the end":
                file.seek(start)
                file.write(bytes(size - start))
            case _:
                file.seek(start - start % SECTOR_BYTES)
                file.write(bytes(SECTOR_BYTES * dice.randint(1, 16)))
                file.truncate(size)


async def go_on(torn: Path, whole: Sequence[events.Recorded]) -> None:
    """Open a torn copy: what it says is a beginning of the log, and the rest can follow.

    Raises:
        errors.StorageFault: it was refused.
    """
    async with sqlite_store.open_store(torn) as store:
        log = list(await store.log(0, len(whole) + 1))
        assert log == list(whole[: len(log)])
        assert await store.head_seq() == len(log)
        gone = histories.History(log).deleted()
        for task in example.folded(log).tasks.values():
            view = await store.task(task.task_id)
            if task.conversation_id in gone:
                assert view is None
                continue
            assert view is not None
            assert view.state is task.state
        await store.commit(whole[len(log) :], [])


def integrity(folder: Path) -> str:
    connection = sqlite3.connect(folder / database.FILE_NAME)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


@pytest.mark.acceptance(5)
@pytest.mark.parametrize("size", [400, 3000], ids=["young", "older than a checkpoint"])
async def test_a_torn_wal_leaves_a_beginning_of_the_log(
    tmp_path: Path, size: int, seed: int, rounds: Rounds, figures: Figures
) -> None:
    lived, dice, refused = await living(tmp_path, seed, size), random.Random(seed), 0
    for number in range(count := rounds(100)):
        torn = copy(lived.folder, tmp_path / f"torn-{number}")
        tear(torn / NAMES[1], dice)
        try:
            await go_on(torn, lived.log)
        except errors.StorageFault as fault:
            refused += str(fault) == database.DAMAGED
        else:
            assert integrity(torn) == "ok"
            count -= 1
        shutil.rmtree(torn)
    figures(f"{size} events: refused for what the database has already", refused)
    assert refused == count
    assert lived.checkpointed or not refused


@pytest.mark.acceptance(5)
async def test_a_wal_that_lost_what_was_checkpointed_is_never_half_believed(
    tmp_path: Path, seed: int, rounds: Rounds, figures: Figures
) -> None:
    """Worse than any power cut: pages of the database are newer than what the log has left."""
    lived, dice, refused = await living(tmp_path, seed, 3000, passive=True), random.Random(seed), 0
    for number in range(count := rounds(100)):
        torn = copy(lived.folder, tmp_path / f"torn-{number}")
        tear(torn / NAMES[1], dice)
        try:
            await go_on(torn, lived.log)
        except errors.StorageFault as fault:
            refused += str(fault) == database.DAMAGED
        else:
            assert integrity(torn) == "ok"
            count -= 1
        shutil.rmtree(torn)
    figures("checkpointed, then torn: refused as damaged", refused)
    assert refused == count
