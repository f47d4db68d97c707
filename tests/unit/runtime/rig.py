"""The runtime put together as the daemon does it, on fakes: store, model, tools, clock, chance.

Nothing waits for time to pass: `until` lets the event loop run until something is so.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

from daemon.config import permissions
from daemon.domain import (
    decisions,
    events,
    ids,
    inputs,
    limits,
    messages,
    principals,
    redaction,
    state,
    views,
)
from daemon.permission import command
from daemon.runtime import (
    alarm,
    bus,
    contents,
    effects,
    inbox,
    judge,
    loop,
    model_calls,
    ports,
    resume,
    tool_calls,
    vault,
)
from daemon.storage import in_memory
from tests import rules
from tests.fakes import hand_alarm
from tools import contract

START_MS = 1_750_000_000_000
PATIENCE_SECONDS = 20
_TURNS = 10_000
"""So many turns of the event loop are given for something to become so."""


async def until(found: Callable[[], bool]) -> None:
    """Let everything else run until it is so."""
    for _ in range(_TURNS):
        if found():
            return
        await asyncio.sleep(0)
    raise AssertionError("it never became so")


async def settle() -> None:
    """Let everything that can run now do so."""
    for _ in range(50):
        await asyncio.sleep(0)


class HandClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.ms = START_MS

    def now_ms(self) -> int:
        return self.ms

    def utc_offset_minutes(self) -> int:
        return 0

    def monotonic_ms(self) -> int:
        return self.ms


class FakeHistory:
    """Keeps nothing but what it was asked; `change` is what each call is said to have changed."""

    def __init__(self) -> None:
        self.change: inputs.Change | None = None
        self.asked: list[str] = []
        self.fault: Exception | None = None

    async def before(self, folder: str) -> None:
        self.asked.append(f"before {folder}")

    async def after(
        self, folder: str, message: str, task_id: ids.TaskId, call_id: ids.CallId
    ) -> inputs.Change | None:
        self.asked.append(f"after {folder}")
        return self.change

    async def revert(
        self, folder: str, commits: Sequence[str], task_id: ids.TaskId | None = None
    ) -> str:
        self.asked.append(f"revert {folder} {' '.join(commits)}")
        if self.fault is not None:
            raise self.fault
        return "reverted"

    async def log(self, folder: str, limit: int, before: str = "") -> tuple[views.CommitView, ...]:
        return ()

    async def diff(self, folder: str, commit: str) -> str:
        return ""

    def notices(self) -> tuple[str, ...]:
        return ()


class CountedChance:
    """Seeds that are counted, on from those of a past."""

    def __init__(self, past: int = 0) -> None:
        self.drawn = past * 1000

    def seed(self) -> str:
        self.drawn += 1
        return f"{self.drawn:032x}"


class FakeModel:
    """Answers each request with the next reply; an exception is raised; None never ends."""

    name = "fake"
    context_tokens = 4096

    def __init__(self) -> None:
        self.replies: list[str | Exception | None] = []
        self.requests: list[messages.ModelRequest] = []
        self.counted: list[Sequence[str]] = []
        self.uncountable: list[Exception] = []

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else "done"
        if isinstance(reply, Exception):
            feed.text("half")
            raise reply
        if reply is None:
            feed.progress(messages.Stage.PREFILL, 1, 2)
            feed.text("half")
            await asyncio.Event().wait()
            raise AssertionError("it is never reached")
        feed.text(reply)
        return messages.ModelResult(text=reply, finish_reason="stop", slot=self.name)

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        self.counted.append(tuple(texts))
        if self.uncountable:
            raise self.uncountable.pop(0)
        return tuple(len(text) for text in texts)

    async def stop(self) -> None: ...

    def slot(self, role: messages.Role) -> ports.Model:
        """Every role is served by this one."""
        return self


FOLDER = "/project"


@functools.cache
def loaded_rules() -> judge.Loaded:
    """The packaged rules, loaded once for all tests."""
    return permissions.load(())


def place(folder: str) -> command.Place:
    return command.Place(cwd=folder, home="/home/me", state="/state", config="/config")


class Rig:
    """One runtime over a store that may have a past."""

    def __init__(
        self,
        store: in_memory.InMemoryStore,
        tools: Mapping[str, contract.Tool],
        bounds: limits.Limits,
        offered: Mapping[str, contract.ToolSpec] | None = None,
        folder: str = FOLDER,
        judging: judge.Judge | None = None,
    ) -> None:
        specs = {name: tool.spec for name, tool in tools.items()}
        self.rules = rules.plain(specs if offered is None else offered, bounds)
        self.store = store
        self.clock = HandClock()
        self.model = FakeModel()
        self.history = FakeHistory()
        self.box = inbox.Inbox(bounds.inbox_inputs)
        self.kept = contents.Contents(store)
        self._tools = tools
        self._folder = folder
        self._warm = judging is None
        self.judge = judging or judge.Judge(loaded_rules, place)
        self.redactor = redaction.Redactor()
        self.vault = vault.Vault(self.clock, 600_000, self.redactor)

    async def start(self, clean: bool) -> None:
        """Fold the log, put everything together and let every live task go on."""
        if self._warm:
            await self.judge.load()
        current = await resume.load(self.store)
        bounds = self.rules.limits
        self.bus = bus.Bus(self.store, self.clock, current.head_seq, bounds.subscribers)
        self.timers = alarm.Timers(
            self.clock,
            hand_alarm.HandAlarm(),
            lambda kind, subject: self.box.post(inputs.TimerFired(timer=kind, subject=subject)),
        )
        self.effects = effects.Effects(
            model_calls.ModelCalls(
                self.model,
                self.store,
                self.kept,
                self.box,
                self.bus,
                bounds.history_exchanges,
                lambda: self.loop.rules.skills,
            ),
            tool_calls.ToolCalls(
                self._tools,
                tool_calls.Workplace(self._folder, (), self.history, lambda folder: False),
                self.judge,
                self.vault,
                self.redactor,
                self.store.artifacts,
                self.kept,
                self.box,
                self.bus,
                self.clock,
                bounds.result_to_model_chars,
                bounds.artifact_bytes,
            ),
            self.timers,
            self.box,
            self.history,
            self.kept,
        )
        self.loop = loop.RuntimeLoop(
            self.rules,
            current,
            self.store,
            self.kept,
            self.clock,
            CountedChance(current.head_seq),
            self.box,
            self.bus,
        )
        await self.loop.recover(resume.restarts(current, clean), self.effects)
        self.running = asyncio.create_task(self.loop.run(self.effects))
        self.ticking = asyncio.create_task(self.timers.run())

    async def kill(self) -> None:
        """End it as a crash does: nothing that runs hands in anything any more."""
        for task in (self.running, self.ticking):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self.effects.stop(0)

    async def submit(
        self, text: str = "hi", chat: ids.ConversationId | None = None, key: str = ""
    ) -> decisions.Submitted:
        reply = await self.box.ask(submission(text, chat, key))
        assert isinstance(reply, decisions.Submitted)
        return reply

    async def cancel(self, task_id: ids.TaskId) -> None:
        await self.box.ask(
            inputs.CancelTask(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="c",
                task_id=task_id,
            )
        )

    async def resolve(self, approval_id: ids.ApprovalId, answer: inputs.Answer) -> None:
        await self.box.ask(
            inputs.ResolveApproval(
                credential="owner",
                principal=principals.LOCAL_OWNER,
                correlation_id="c",
                approval_id=approval_id,
                answer=answer,
            )
        )

    async def log(self) -> tuple[events.Recorded, ...]:
        return await self.store.log(0, 100_000)

    async def reach(self, task_id: ids.TaskId, wanted: state.TaskState) -> None:
        """Wait until a task has come to a state."""
        await self._wait(
            bus.Scope(task_id=task_id, live=False),
            lambda event: isinstance(event, events.TaskStateChanged) and event.state is wanted,
        )

    async def until_event(self, kind: type[events.Event], count: int = 1) -> None:
        """Wait until so many events of a kind are in the log."""
        await self._wait(bus.Scope(live=False), lambda event: isinstance(event, kind), count)

    async def _wait(
        self, scope: bus.Scope, fits: Callable[[events.Event], bool], count: int = 1
    ) -> None:
        left = count
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with aclosing(self.bus.subscribe(0, scope)) as pages:
                async for page in pages:
                    left -= sum(fits(one.event) for one in page if isinstance(one, events.Recorded))
                    if left <= 0:
                        return

    async def answer(self, task_id: ids.TaskId) -> str | None:
        view = await self.store.task(task_id)
        return await self.kept.text(view.answer) if view and view.answer else None


def submission(
    text: str, chat: ids.ConversationId | None = None, key: str = ""
) -> inputs.SubmitTask:
    return inputs.SubmitTask(
        credential="owner",
        principal=principals.LOCAL_OWNER,
        correlation_id="correlation-1",
        client_key=key,
        body_hash=text if key else "",
        origin=principals.Origin(principal=principals.LOCAL_OWNER),
        text=text,
        conversation_id=chat,
    )


@asynccontextmanager
async def started(
    *tools: contract.Tool,
    store: in_memory.InMemoryStore | None = None,
    bounds: limits.Limits | None = None,
    replies: Sequence[str | Exception | None] = (),
    offered: Mapping[str, contract.ToolSpec] | None = None,
    clean: bool = False,
    folder: str = FOLDER,
    judging: judge.Judge | None = None,
) -> AsyncIterator[Rig]:
    """A runtime that runs until the block ends."""
    by_name = {tool.spec.name: tool for tool in tools}
    kept, limited = store or in_memory.InMemoryStore(), bounds or limits.Limits()
    rig = Rig(kept, by_name, limited, offered, folder, judging)
    rig.model.replies.extend(replies)
    await rig.start(clean)
    try:
        yield rig
    finally:
        await rig.kill()
