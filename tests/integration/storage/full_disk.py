"""A child that fills a small disk: it commits until there is no room, makes room, and goes on.

`python -m tests.integration.storage.full_disk FOLDER SEED` prints one JSON object of what it saw.
Each acknowledged number is in `acknowledged` before anything else happens.
"""

import asyncio
import json
import random
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from daemon.domain import decisions, errors, ids
from daemon.storage import database, sqlite_store
from tests.contract.storage import histories

BALLAST_BYTES = 3 * 1024 * 1024
CHUNK_BYTES = 64 * 1024
EVENTS = 3000


def fill(path: Path) -> None:
    """Write until not a byte more fits."""
    with path.open("ab", buffering=0) as file:
        for size in (CHUNK_BYTES, 4096, 1):
            with suppress(OSError):
                while file.write(b"\1" * size):
                    pass


async def megabytes() -> AsyncIterator[bytes]:
    for _ in range(64):
        yield b"\2" * CHUNK_BYTES


class Filler:
    """Commits one history, piece by piece, with long texts beside it."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._batches = histories.random_history(seed, EVENTS).batches(self._dice)
        self.acknowledged = 0
        self.refused = 0

    async def commit(self, store: sqlite_store.SqliteStore) -> bool:
        """Commit the next piece; False when there was no room, and then it stays the next one."""
        batch = self._batches[0]
        long_text = decisions.ContentRecord(
            content_id=ids.ContentId(f"content-long-{batch.recorded[0].seq}"),
            owner=ids.ConversationId("conversation-1"),
            text="duck " * self._dice.randint(1, 8000),
        )
        try:
            await store.commit(batch.recorded, [*batch.contents, long_text])
        except errors.StorageFull:
            self.refused += 1
            return False
        self.acknowledged = batch.recorded[-1].seq
        del self._batches[0]
        return True

    async def check(self, store: sqlite_store.SqliteStore) -> None:
        """What was acknowledged is there, and nothing else."""
        assert await store.head_seq() == self.acknowledged
        log = await store.log(0, EVENTS * 2)
        assert [one.seq for one in log] == list(range(1, self.acknowledged + 1))


async def live(folder: Path, seed: int) -> dict[str, object]:
    ballast, state = folder / "ballast", folder / "state"
    ballast.write_bytes(b"\1" * BALLAST_BYTES)
    filler = Filler(seed)
    async with sqlite_store.open_store(state) as store:
        while await filler.commit(store):
            pass
        for _ in range(3):
            assert not await filler.commit(store)
            await filler.check(store)
        assert await artifact_is_refused(store)
        assert not list((state / "artifacts").iterdir())
        fill(ballast)
        await filler.commit(store)
        await filler.check(store)
        ballast.write_bytes(b"\1" * (BALLAST_BYTES // 2))
        assert await filler.commit(store), "there is room, and it is not used"
        while await filler.commit(store):
            pass
        await filler.check(store)
    fill(ballast)
    full_start = await open_on_full_disk(state, filler)
    ballast.unlink()
    async with sqlite_store.open_store(state) as store:
        await filler.check(store)
        assert await filler.commit(store)
        await filler.check(store)
    return {
        "acknowledged": filler.acknowledged,
        "refused": filler.refused,
        "full start": full_start,
        "integrity": integrity(state),
    }


async def artifact_is_refused(store: sqlite_store.SqliteStore) -> bool:
    try:
        await store.artifacts.put(megabytes(), 1024 * CHUNK_BYTES)
    except errors.StorageFull:
        return True
    return False


async def open_on_full_disk(state: Path, filler: Filler) -> str:
    """A start without room works or is refused for that reason; it never harms."""
    try:
        async with sqlite_store.open_store(state) as store:
            await filler.check(store)
    except errors.StorageFull:
        return "refused"
    return "opened"


def integrity(state: Path) -> str:
    connection = sqlite3.connect(state / database.FILE_NAME)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(live(Path(sys.argv[1]), int(sys.argv[2])))))
