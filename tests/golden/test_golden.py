"""What earlier versions wrote can be read, and says the same as it did then."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from daemon.domain import events, views, world
from daemon.storage import codec, database, migrations, sqlite_store
from tests.conftest import Figures
from tests.golden import example, make

HERE = Path(__file__).parent
LINES = sorted((HERE / "events").glob("*.json"))
STATES = sorted(HERE.glob("state_v*.sql"))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.acceptance(12)
@pytest.mark.parametrize("path", LINES, ids=lambda path: path.stem)
def test_a_golden_line_is_read_and_written_alike(path: Path) -> None:
    kept = read_json(path)
    reader = codec.Codec()
    event = reader.decode(kept["seq"], kept["type"], kept["version"], json.dumps(kept["body"]))
    if kept["version"] == events.VERSION:
        assert json.loads(reader.encode(event)) == kept["body"]


def test_every_event_type_has_a_golden_line() -> None:
    current = [kept for kept in map(read_json, LINES) if kept["version"] == events.VERSION]
    missing = codec.EVENT_CLASSES.keys() - {kept["type"] for kept in current}
    assert not missing, f"add to tests/golden/example.py and run tests.golden.make: {missing}"


def test_the_current_schema_has_a_golden_state() -> None:
    assert HERE / f"state_v{migrations.VERSION}.sql" in STATES


def restore(sql: Path, folder: Path) -> None:
    folder.mkdir()
    kept = sqlite3.connect(folder / database.FILE_NAME)
    kept.executescript(sql.read_text(encoding="utf-8"))
    kept.close()


def digest(snapshot: world.Snapshot) -> str:
    return hashlib.sha256(codec.to_json(snapshot).encode()).hexdigest()


@pytest.mark.acceptance(12)
@pytest.mark.parametrize("sql", STATES, ids=lambda path: path.stem)
async def test_a_golden_state_opens_and_folds_alike(
    sql: Path, tmp_path: Path, figures: Figures
) -> None:
    expected = read_json(sql.with_suffix(".json"))
    restore(sql, tmp_path / "state")
    async with sqlite_store.open_store(tmp_path / "state") as store:
        log = list(await store.log(0, 1000))
        checkpoint = await store.latest_checkpoint()
        tasks = (await store.tasks(99)).rows
        chats = (await store.conversations(99)).rows
        tokens = (await store.tokens(99, revoked=True)).rows
        texts = await store.texts([example.text("first"), example.text("half")])
        approvals = [await store.approval(row) for row in (example.USED, example.PENDING)]
        assert await store.drained()
    then = world.Snapshot.model_validate_json(json.dumps(expected["snapshot"]))
    now = world.snapshot(example.folded(log))
    assert digest(now) == digest(then)
    figures("golden state", digest(now)[:12])
    if expected["snapshot"]["version"] == world.SNAPSHOT_VERSION:
        assert checkpoint == world.snapshot(example.folded(log[: len(log) // 2]))
    else:
        assert checkpoint is None
    assert [row.model_dump(mode="json") for row in tasks] == expected["tasks"]
    assert [row.model_dump(mode="json") for row in chats] == expected["conversations"]
    assert [make.token(row) for row in tokens] == expected.get("tokens", [])
    assert approvals == [
        views.ApprovalView.model_validate_json(json.dumps(row)) for row in expected["approvals"]
    ]
    assert texts[example.text("first")] == "first: äß 漢 🦆\n"
    assert texts[example.text("half")] is None
