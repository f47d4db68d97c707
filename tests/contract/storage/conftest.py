"""The stores that keep one contract: each test here runs on every one of them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeAlias

import pytest

from daemon.runtime import ports
from daemon.storage import in_memory, sqlite_store

Store: TypeAlias = sqlite_store.SqliteStore | in_memory.InMemoryStore


@pytest.fixture(params=["sqlite", "in_memory"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "in_memory":
        yield in_memory.InMemoryStore()
        return
    async with sqlite_store.open_store(tmp_path / "state") as opened:
        yield opened


@pytest.fixture
def artifacts(store: Store) -> ports.Artifacts:
    return store.artifacts
