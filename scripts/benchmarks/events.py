"""events: durable events through the loop with 64 tasks at once, and events folded at a replay."""

import asyncio
import dataclasses
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

from daemon import bootstrap, workplace
from daemon.config import settings
from daemon.domain import (
    decisions,
    events as recorded_events,
    inputs,
    limits,
    principals,
    redaction,
    state,
    world,
)
from daemon.runtime import bus, failpoints, resume
from daemon.storage import lock
from scripts.benchmarks import figure

TASKS = 64
WAVES = 6
TOOL_CALLS = 12
_CALL = {"kind": "tool", "tool": "testing_pure", "arguments": {"text": "seen"}}


def measure() -> Sequence[figure.Figure]:
    """Each task makes a dozen tool calls and answers; every event is on disk before it counts."""
    with tempfile.TemporaryDirectory(prefix="duck") as name:
        return asyncio.run(_measure(Path(name)))


def _settings(folder: Path) -> settings.Settings:
    script = folder / "script.jsonl"
    line = json.dumps({"role": "*", "reply": json.dumps(_CALL)})
    last = json.dumps({"role": "*", "reply": "done", "repeat": True})
    script.write_text("\n".join([line] * TOOL_CALLS + [last]))
    models = folder / "models.toml"
    models.write_text(f'version = 1\n[roles]\nthinker = ["scripted:{script}"]\n')
    places = settings.Places(xdg_config=folder / "config", models_file=models)
    chosen = settings.load(places, {"DUCKLM_TOOLS__TESTING": "true"})
    bounds = limits.Limits(running_tasks=TASKS, queued_tasks=TASKS * 2)
    daemon = chosen.daemon.model_copy(update={"limits": bounds})
    return dataclasses.replace(chosen, daemon=daemon)


async def _measure(folder: Path) -> Sequence[figure.Figure]:
    folders = workplace.Folders(state=folder / "state", projects=folder / "projects", config=())
    held = lock.take(folders.state)
    daemon = bootstrap.Daemon(
        _settings(folder), folders, held, "unused-token", redaction.Redactor(), failpoints.pass_by
    )
    async with AsyncExitStack() as stack:
        parts = await daemon.assemble(stack)
        await parts.judging.load()  # as a daemon does beside its start
        running = asyncio.create_task(parts.runtime.run(parts.performer))
        began = time.perf_counter()
        for wave in range(WAVES):
            await asyncio.gather(*(_task(parts, f"{wave}-{number}") for number in range(TASKS)))
        seconds = time.perf_counter() - began
        events = await parts.store.head_seq()
        running.cancel()
        await asyncio.wait((running,))
        began = time.perf_counter()
        replayed = await resume.follow(parts.store, world.World())
        replay_seconds = time.perf_counter() - began
    return [
        figure.Figure("events.durable", events / seconds, "events/s", 5000, "higher"),
        figure.Figure(
            "events.replay", replayed.head_seq / replay_seconds, "events/s", 40000, "higher"
        ),
    ]


async def _task(parts: bootstrap.Parts, name: str) -> None:
    origin = principals.Origin(principal=principals.LOCAL_OWNER)
    reply = await parts.box.ask(
        inputs.SubmitTask(
            credential="owner",
            principal=principals.LOCAL_OWNER,
            correlation_id=name,
            origin=origin,
            text=f"task {name}",
        )
    )
    if not isinstance(reply, decisions.Submitted):
        raise TypeError(f"a submission was answered with {reply.kind}")
    scope = bus.Scope(task_id=reply.task_id, live=False)
    async with aclosing(parts.publish.subscribe(reply.seq - 1, scope)) as pages:
        async for page in pages:
            if any(_ends(update) for update in page):
                return


def _ends(update: bus.Update) -> bool:
    if not isinstance(update, recorded_events.Recorded):
        return False
    event = update.event
    return isinstance(event, recorded_events.TaskStateChanged) and event.state in state.FINAL
