"""The composition root: the only module that names concretes, and the daemon's life.

    settings ─► store ─► world ─► loop ◄─ inbox ◄─ rpc
                  ▲                │         ▲
                  └── one writer ──┤         └──── outcomes
                                   └─► effects ─► model slots, tools, timers

Start: open the store, fold the log, listen (NOT_SERVING), let every live task go on, then SERVING.
Stop: NOT_SERVING, refuse writes, let commands end within a grace, checkpoint, close. In between, a
side task that dies stops the daemon with a fault, because a half daemon would lose what it takes.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import structlog

from daemon import (
    alarm_clock,
    exits,
    interpreter,
    kits,
    logs,
    model_slots,
    project_files,
    workplace,
    zones,
)
from daemon.config import settings as configured
from daemon.decide import profiles
from daemon.domain import errors, inputs, redaction, views
from daemon.history import histories
from daemon.models import slots
from daemon.rpc import backend, credentials, server
from daemon.runtime import (
    alarm,
    bus,
    clock,
    contents,
    effects,
    failpoints,
    inbox,
    judge,
    loop,
    model_calls,
    ports,
    resume,
    supervisor,
    tool_calls,
    vault,
)
from daemon.storage import lock, sqlite_store
from tools import contract, registry, shell

VERSION = "0.1.0"
_CLOSE_SECONDS = 2.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Parts:
    """What of the daemon the stages of its life need; put together, not yet running."""

    store: sqlite_store.SqliteStore
    box: inbox.Inbox
    runtime: loop.RuntimeLoop
    performer: effects.Effects
    timers: alarm.Timers
    publish: bus.Bus
    models: slots.Slots
    judging: judge.Judge
    offered: Mapping[str, contract.Tool]
    listening: server.Server


@dataclass(frozen=True)
class Ground:
    """What tool calls stand on."""

    folders: workplace.ProjectFolders
    history: histories.Histories
    calls_at: tool_calls.Workplace
    judging: judge.Judge
    secrets: vault.Vault


def run(
    arguments: exits.Arguments,
    held: lock.StateLock,
    reach: failpoints.Reach = failpoints.pass_by,
    build: registry.Build = registry.build,
    now: ports.Clock | None = None,
) -> int:
    """Load the settings, serve until a signal says stop; returns the exit code.

    `now` is the clock that it goes by, where it is not the machine's."""
    try:
        chosen = configured.load(
            configured.Places(
                arguments.xdg_config, arguments.config, arguments.models, arguments.listen
            ),
            os.environ,
        )
        workplace.check_addresses(chosen.daemon.daemon.listen, arguments.state)
        token = credentials.owner_token(arguments.state)
        redactor = redaction.Redactor((token,))
        logs.set_up(chosen.daemon.log.level, redactor, sys.stderr)
        config = (arguments.xdg_config, *(arguments.config and (arguments.config,) or ()))
        folders = workplace.Folders(arguments.state, arguments.projects, config)
        daemon = Daemon(chosen, folders, held, token, redactor, reach, build, now)
        return asyncio.run(_serve(daemon))
    except errors.ConfigFault as fault:
        for line in fault.faults:
            sys.stderr.write(f"ducklmd: {line}\n")
        return exits.Exit.SETTINGS
    except errors.StorageFault as error:
        sys.stderr.write(f"ducklmd: {error}\n")
        return exits.Exit.STATE


async def _serve(daemon: "Daemon") -> int:
    """Serve; the first signal drains, a second one exits at once."""
    stop = asyncio.Event()
    events = asyncio.get_running_loop()

    def ordered() -> None:
        if stop.is_set():
            os._exit(exits.Exit.FAULT)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        events.add_signal_handler(number, ordered)
    return await daemon.serve(stop)


class Daemon:
    """One daemon, from `serve` to its end."""

    def __init__(
        self,
        chosen: configured.Settings,
        folders: workplace.Folders,
        held: lock.StateLock,
        token: str,
        redactor: redaction.Redactor,
        reach: failpoints.Reach,
        build: registry.Build = registry.build,
        now: ports.Clock | None = None,
    ) -> None:
        self._reach = reach
        self._build = build
        self._chosen = chosen
        self._folders = folders
        self._held = held
        self._token = token
        self._redactor = redactor
        self._clock = now or clock.SystemClock()
        self._started_ms = self._clock.now_ms()
        self._draining = False
        self._notices = chosen.notices

    async def serve(self, stop: asyncio.Event) -> int:
        """Serve until told to stop; returns the exit code.

        Raises:
            errors.ConfigFault: a setting cannot be used.
            errors.StorageFault: the store cannot be used.
        """
        async with AsyncExitStack() as stack:
            parts = await self.assemble(stack)
            watched = await stack.enter_async_context(supervisor.Supervisor())
            if workplace.has_rules(self._folders):
                await parts.judging.load()  # a fault in them stops the start
            addresses = workplace.addresses(self._chosen.daemon.daemon.listen, self._folders.state)
            clean = await parts.store.drained()
            await parts.store.set_drained(False)
            bound = await parts.listening.start(addresses)
            restarts = resume.restarts(parts.runtime.world, clean)
            await parts.runtime.recover(restarts, parts.performer)
            watched.start("loop", parts.runtime.run(parts.performer))
            watched.start("timers", parts.timers.run())
            await parts.listening.set_serving(True)
            watched.start("policy", self._prepare_calls(parts))
            _log.info("serving", addresses=bound, head_seq=parts.publish.head_seq)
            for notice in (*self._chosen.notices, *parts.models.notices):
                _log.warning("notice", text=notice)
            if await watched.died_before(stop):
                await self._abandon(parts)
                return exits.Exit.FAULT
            await self._drain(parts, watched)
            return exits.Exit.STOPPED

    async def assemble(self, stack: AsyncExitStack) -> Parts:
        """Open the store, fold the log and put everything together; the stack closes it all."""
        limits = self._chosen.daemon.limits
        store = await stack.enter_async_context(
            sqlite_store.open_store(self._folders.state, self._held, limits.client_key_days)
        )
        models = await stack.enter_async_context(
            model_slots.started(self._chosen, self._folders.state)
        )
        found = await kits.offered(self._chosen.daemon, self._build)
        self._notices += found.notices
        specs = {name: tool.spec for name, tool in found.tools.items()}
        rules = kits.rules(self._chosen, specs, await store.presets())
        self._notices += (*kits.notices(rules), *models.notices)
        current = await resume.load(store)
        known = credentials.load(self._token, await store.live_tokens())
        kept = contents.Contents(store)
        box = inbox.Inbox(limits.inbox_inputs)
        publish = bus.Bus(store, self._clock, current.head_seq, limits.subscribers)
        timers = alarm.Timers(
            self._clock,
            alarm_clock.AlarmClock(),
            lambda kind, subject: box.post(inputs.TimerFired(timer=kind, subject=subject)),
        )
        ground = self._ground(stack)
        thinking = model_calls.ModelCalls(
            models,
            store,
            kept,
            box,
            publish,
            limits.history_exchanges,
            lambda: runtime.rules.skills,
        )
        acting = self._tool_calls(models, found.tools, ground, store.artifacts, kept, box, publish)
        past, reach = ground.history, self._reach
        performer = effects.Effects(thinking, acting, timers, box, past, kept, reach)
        outside = (store, kept, self._clock, clock.SystemChance(), box, publish)
        runtime = loop.RuntimeLoop(rules, current, *outside, reach, known.hear)
        served = self._served(store, kept, box, publish, ground, runtime, models)
        look = partial(self._look, runtime, models, ground.history)
        listening = server.Server(served, look, known, self._folders.state)
        interpreter.tune()
        return Parts(
            store,
            box,
            runtime,
            performer,
            timers,
            publish,
            models,
            ground.judging,
            found.tools,
            listening,
        )

    def _served(
        self,
        store: sqlite_store.SqliteStore,
        kept: contents.Contents,
        box: inbox.Inbox,
        publish: bus.Bus,
        ground: Ground,
        runtime: loop.RuntimeLoop,
        models: slots.Slots,
    ) -> backend.Backend:
        return backend.Backend(
            box,
            store,
            store.artifacts,
            kept,
            publish,
            self._chosen.daemon.limits.artifact_bytes,
            ground.secrets,
            lambda: runtime.world.live_grants(self._clock.now_ms()),
            self._chosen.daemon.owner.is_owner,
            ground.folders,
            ground.history,
            lambda: runtime.rules,
            models,
            project_files.ProjectFiles(),
            lambda: runtime.world,
            lambda: self._chosen.daemon.schedules.zone or zones.local(),
            self._clock.now_ms,
        )

    def _ground(self, stack: AsyncExitStack) -> Ground:
        """What calls stand on: where they run, who judges them, what keeps what they change."""
        folders = workplace.ProjectFolders(self._folders, self._chosen.daemon.tools.folder)
        hidden, stores = workplace.hidden(self._folders), workplace.histories(self._folders)
        history = histories.Histories(stores, hidden, self._clock, folders.default)
        stack.callback(history.close)
        place = workplace.place(self._folders, self._chosen.daemon.daemon.listen)
        judging = judge.Judge(
            lambda: _load_rules(self._folders.config),
            lambda folder: replace(place, cwd=folder),
        )
        keep_ms = self._chosen.daemon.limits.secret_seconds * 1000
        secrets = vault.Vault(self._clock, keep_ms, self._redactor)
        made = workplace.made(self._folders, folders, history)
        return Ground(folders, history, made, judging, secrets)

    def _tool_calls(
        self,
        models: slots.Slots,
        offered: Mapping[str, contract.Tool],
        ground: Ground,
        artifacts: ports.Artifacts,
        kept: contents.Contents,
        box: inbox.Inbox,
        publish: bus.Bus,
    ) -> tool_calls.ToolCalls:
        limits = self._chosen.daemon.limits
        return tool_calls.ToolCalls(
            offered,
            ground.calls_at,
            ground.judging,
            ground.secrets,
            self._redactor,
            artifacts,
            kept,
            box,
            publish,
            self._clock,
            kits.result_chars(limits, models),
            limits.artifact_bytes,
        )

    async def _prepare_calls(self, parts: Parts) -> None:
        """Load the rules beside the first calls, and say what this machine lacks to confine them;
        rules that fail end the daemon."""
        await parts.store.prepare_looks()
        await parts.judging.load()
        for tool in parts.offered.values():
            if isinstance(tool, shell.Shell):
                lacking = [f"commands run with {part}" for part in (await tool.powers()).missing]
                self._notices += tuple(f"{line}: more of them ask" for line in lacking)
                for line in lacking:
                    _log.warning("not_confined", text=line)
        await asyncio.Event().wait()

    def _look(
        self, runtime: loop.RuntimeLoop, models: slots.Slots, history: ports.History
    ) -> views.DaemonView:
        import psutil

        current = runtime.world
        return views.DaemonView(
            version=VERSION,
            started_ms=self._started_ms,
            state_folder=str(self._folders.state),
            head_seq=current.head_seq,
            tasks_queued=len(current.queued),
            tasks_running=len(current.running),
            tasks_waiting=resume.waiting(current),
            approvals_pending=resume.pending(current),
            resident_bytes=psutil.Process(os.getpid()).memory_info().rss,
            draining=self._draining,
            slots=models.views(),
            notices=(
                *(*self._notices, *history.notices(), *resume.unreachable(current)),
                *profiles.lost(runtime.rules, current.settings),
            ),
        )

    async def _abandon(self, parts: Parts) -> None:
        """A part has died: end what runs; the next start goes on from the log."""
        await parts.listening.set_serving(False)
        parts.box.close()
        await parts.performer.stop(0)
        parts.publish.close()
        await parts.listening.stop(_CLOSE_SECONDS)

    async def _drain(self, parts: Parts, watched: supervisor.Supervisor) -> None:
        self._draining = True
        grace_seconds = self._chosen.daemon.limits.drain_seconds
        await parts.listening.set_serving(False)
        parts.box.close()
        parts.runtime.drain()
        await parts.performer.stop(grace_seconds)
        await watched.end("timers")
        await watched.end("loop")
        await parts.runtime.finish(parts.performer)
        parts.publish.close()
        await parts.listening.stop(_CLOSE_SECONDS)
        try:
            await parts.runtime.checkpoint()
            await parts.store.set_drained(True)
        except errors.StorageFault as error:
            _log.error("drain_not_kept", reason=str(error))
        _log.info("drained")


def _load_rules(folders: Sequence[Path]) -> judge.Loaded:
    from daemon.config import permissions

    return permissions.load(folders)
