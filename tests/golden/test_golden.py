"""What earlier versions wrote can be read, and says the same as it did then."""

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from daemon.domain import events, world
from daemon.storage import codec, database, migrations, sqlite_store
from tests.conftest import Figures
from tests.golden import example, make

HERE = Path(__file__).parent
LINES = sorted((HERE / "events").glob("*.json"))
STATES = sorted(HERE.glob("state_v*.sql"))


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def still_says(now: Any, then: Any) -> bool:
    """Whether what was said then is said now; fields that are new since may stand beside it."""
    if isinstance(then, dict):
        return isinstance(now, dict) and all(
            name in now and still_says(now[name], value) for name, value in then.items()
        )
    if isinstance(then, list):
        return isinstance(now, list) and len(now) == len(then) and all(map(still_says, now, then))
    return bool(now == then)


@pytest.mark.parametrize(
    ("now", "then", "same"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 1}]}, True),
        ([1, 2], [1], False),
        ({"a": None}, {"a": 0}, False),
    ],
)
def test_what_was_said_then(now: Any, then: Any, same: bool) -> None:
    assert still_says(now, then) is same


@pytest.mark.acceptance(12)
@pytest.mark.parametrize("path", LINES, ids=lambda path: path.stem)
def test_a_golden_line_is_read_and_written_alike(path: Path) -> None:
    kept = read_json(path)
    reader = codec.Codec()
    event = reader.decode(kept["seq"], kept["type"], kept["version"], json.dumps(kept["body"]))
    if kept["version"] == events.VERSION:
        assert still_says(json.loads(reader.encode(event)), kept["body"])


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


def lift(snapshot: dict[str, Any]) -> None:
    """Say what a snapshot said then by the names of now: modes were the only settings."""
    if "modes" in snapshot:
        modes = snapshot.pop("modes")
        snapshot["settings"] = [[chat, {"mode": mode}] for chat, mode in modes]


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
        projects = await store.projects()
        kept = await store.presets()
        told = [await store.history(row.conversation_id, make.NEVER_SEQ, 99) for row in chats]
        runs = (await store.runs(99)).rows
        assert await store.drained()
    now = world.snapshot(example.folded(log))
    figures("golden state", digest(now)[:12])
    version = expected["snapshot"].pop("version")
    lift(expected["snapshot"])
    assert still_says(now.model_dump(mode="json"), expected["snapshot"])
    if version == world.SNAPSHOT_VERSION:
        assert digest(now) == digest(
            world.Snapshot.model_validate_json(
                json.dumps({**expected["snapshot"], "version": version})
            )
        )
        assert checkpoint == world.snapshot(example.folded(log[: len(log) // 2]))
    else:
        assert checkpoint is None
    assert still_says([row.model_dump(mode="json") for row in tasks], expected["tasks"])
    assert still_says([row.model_dump(mode="json") for row in chats], expected["conversations"])
    assert [make.token(row) for row in tokens] == expected.get("tokens", [])
    assert still_says([row.model_dump(mode="json") for row in runs], expected.get("runs", []))
    assert [row.model_dump(mode="json") for row in projects] == expected.get("projects", [])
    nothing: dict[str, Any] = {"profiles": {}, "skills": {}}
    assert still_says(kept.model_dump(mode="json"), expected.get("presets", nothing))
    if "histories" in expected:
        assert still_says([row.model_dump(mode="json") for row in told], expected["histories"])
    found = [row.model_dump(mode="json") for row in approvals if row is not None]
    assert still_says(found, expected["approvals"])
    assert texts[example.text("first")] == "first: äß 漢 🦆\n"
    assert texts[example.text("half")] is None
