"""Writes the golden files of the current version: `python -m tests.golden.make`.

To be run once a version, before it is released. Files of released versions are never written again.
"""

import asyncio
import json
import sqlite3
import tempfile
from pathlib import Path

from daemon.domain import events, views, world
from daemon.storage import codec, database, migrations, sqlite_store
from tests.golden import example

HERE = Path(__file__).parent
EVENTS = HERE / "events"
NEVER_SEQ = 10**9
"""After every event."""


def line(recorded: events.Recorded) -> dict[str, object]:
    """An event as a row of the log, with its body as an object."""
    written = codec.Codec()
    return {
        "seq": recorded.seq,
        "at_ms": recorded.at_ms,
        "task_id": recorded.task_id,
        "conversation_id": recorded.conversation_id,
        "correlation_id": recorded.correlation_id,
        "type": recorded.event.type,
        "version": written.version,
        "body": json.loads(written.encode(recorded.event)),
    }


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def dump(path: Path) -> str:
    """A database as SQL text, with the numbers that its header carries."""
    kept = sqlite3.connect(path)
    try:
        pragmas = [
            f"PRAGMA {name}={kept.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        return "\n".join([*pragmas, *kept.iterdump()]) + "\n"
    finally:
        kept.close()


async def make_state(folder: Path) -> None:
    """Live the example in a state folder."""
    log = example.log()
    half = len(log) // 2
    checkpoint = world.snapshot(example.folded(log[:half]))
    async with sqlite_store.open_store(folder) as store:
        await store.commit(log[:half], example.records(), checkpoint)
        await store.commit(log[half:], [])
        await store.set_drained(True)


async def expected(folder: Path) -> dict[str, object]:
    """What the state must say when it is opened: the folded world and every view."""
    async with sqlite_store.open_store(folder) as store:
        tasks = (await store.tasks(99)).rows
        chats = (await store.conversations(99)).rows
        tokens = (await store.tokens(99, revoked=True)).rows
        found = [await store.approval(each) for each in (example.USED, example.PENDING)]
        projects = await store.projects()
        kept = await store.presets()
        runs = (await store.runs(99)).rows
        told = [await store.history(chat.conversation_id, NEVER_SEQ, 99) for chat in chats]
    folded = world.snapshot(example.folded(example.log()))
    return {
        "snapshot": folded.model_dump(mode="json"),
        "tasks": [view.model_dump(mode="json") for view in tasks],
        "approvals": [view.model_dump(mode="json") for view in found if view is not None],
        "conversations": [view.model_dump(mode="json") for view in chats],
        "tokens": [token(view) for view in tokens],
        "projects": [view.model_dump(mode="json") for view in projects],
        "presets": kept.model_dump(mode="json"),
        "runs": [view.model_dump(mode="json") for view in runs],
        "histories": [history.model_dump(mode="json") for history in told],
    }


def token(view: views.TokenView) -> dict[str, object]:
    """A token as JSON, its scopes in order."""
    return view.model_dump(mode="json") | {"scopes": sorted(view.scopes)}


def main() -> None:
    """Write a line for each event type that has none, and the state of this schema version."""
    EVENTS.mkdir(exist_ok=True)
    for recorded in example.log():
        path = EVENTS / f"{recorded.event.type}.json"
        if not path.exists():
            write_json(path, line(recorded))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "state"
        asyncio.run(make_state(folder))
        name = f"state_v{migrations.VERSION}"
        sql = dump(folder / database.FILE_NAME)
        (HERE / f"{name}.sql").write_text(sql, encoding="utf-8")
        write_json(HERE / f"{name}.json", asyncio.run(expected(folder)))


if __name__ == "__main__":
    main()
