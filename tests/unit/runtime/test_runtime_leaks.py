"""A secret in an exception of anything that the runtime calls: in no event, text or log line.

Each row breaks one part; the log is the real one. What is logged carries the task's correlation id.
"""

import dataclasses
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, get_args

import pytest
import structlog

from daemon import logs
from daemon.domain import decisions, errors, events, ids, inputs, messages, redaction, state, world
from daemon.runtime import supervisor
from daemon.storage import in_memory
from tests import spelled
from tests.conftest import Figures
from tests.unit.runtime import fake_tools, rig
from tools import contract

SECRET = 'c0rrect "horse"\'s bättery 🦆/+?'.encode()
TEXT = SECRET.decode()
CORRELATION_ID = "correlation-1"  # of every submission of the rig
USE = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})
LONG = "too long not to be counted " * 80
S = state.TaskState


def leak() -> RuntimeError:
    """Says the secret in every way, and so does its cause."""
    said = [form.decode("utf-8", "replace") for form in spelled.forms(SECRET)]
    error = RuntimeError(SECRET, *said)
    error.__cause__ = OSError(5, TEXT, TEXT)
    error.add_note(f"It was {TEXT}.")
    return error


def tool_fault() -> contract.ToolFault:
    return contract.ToolFault(f"Not with {TEXT}, nor {SECRET!r}.")


class Look(fake_tools.FakeTool):
    """The tool, which may also break where it says what it would run, or looks for its effect."""

    command_fault: Exception | None = None
    reconcile_fault: Exception | None = None

    def command(self, arguments_json: str) -> str | None:
        if self.command_fault is not None:
            raise self.command_fault
        return super().command(arguments_json)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        if self.reconcile_fault is not None:
            raise self.reconcile_fault
        return await super().reconcile(call, intent)


class Artifacts(in_memory.InMemoryArtifacts):
    """Keeps nothing, and says it loudly, as long as it is broken."""

    broken = False

    async def put(
        self, chunks: AsyncIterator[bytes], limit_bytes: int
    ) -> tuple[ids.ArtifactId, int]:
        if self.broken:
            raise leak()
        return await super().put(chunks, limit_bytes)


class Store(in_memory.InMemoryStore):
    """Notes every text that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.artifacts = self.kept = Artifacts()
        self.said: list[str] = []
        self.unreadable = False

    async def texts(self, content_ids: Sequence[ids.ContentId]) -> dict[ids.ContentId, str | None]:
        if self.unreadable:
            raise leak()
        return await super().texts(content_ids)

    async def commit(
        self,
        recorded: Sequence[events.Recorded],
        records: Sequence[decisions.Record],
        checkpoint: world.Snapshot | None = None,
    ) -> None:
        self.said += [repr(one) for one in (*recorded, *records)]
        self.said += [one.text for one in records if isinstance(one, decisions.ContentRecord)]
        await super().commit(recorded, records, checkpoint)


class Unreadable(inputs.ToolFinished):
    """An outcome that no decision can be made about."""

    def __getattribute__(self, name: str) -> Any:
        if name == "result":
            raise leak()
        return super().__getattribute__(name)


@dataclasses.dataclass
class Stage:
    """A runtime with one tool, and its log."""

    runtime: rig.Rig
    look: Look
    store: Store
    stream: io.StringIO

    def traces(self) -> list[bytes]:
        """The forms of the secret in all that was kept and logged."""
        said = "\n".join([*self.store.said, self.stream.getvalue()])
        return spelled.found(SECRET, said.encode("utf-8", "replace"))

    def faults(self) -> list[dict[str, object]]:
        """The lines of the log that tell of a fault."""
        lines = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        return [line for line in lines if line["level"] in ("warning", "error", "critical")]


@pytest.fixture
def log() -> Iterator[tuple[io.StringIO, redaction.Redactor]]:
    stream, redactor = io.StringIO(), redaction.Redactor((TEXT,))
    logs.set_up("debug", redactor, stream)
    settings = {**structlog.get_config(), "cache_logger_on_first_use": False}
    structlog.configure(**settings)  # the modules' own loggers are not to remember this stream
    yield stream, redactor
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@dataclasses.dataclass(frozen=True)
class Case:
    """What breaks in which action, and where the task comes to then."""

    action: str
    set_up: Callable[[Stage], None]
    state: state.TaskState
    text: str = "hi"
    effect: contract.Effect = contract.Effect.PURE
    logged: bool = True


def _look(**faults: Exception | contract.Result) -> Callable[[Stage], None]:
    def set_up(stage: Stage) -> None:
        for name, fault in faults.items():
            setattr(stage.look, name, fault)

    return set_up


def _say(error: Exception) -> Callable[[Stage], None]:
    return lambda stage: stage.runtime.model.replies.insert(0, error)


def _uncountable(stage: Stage) -> None:
    stage.runtime.model.uncountable.append(leak())


def _no_artifacts(stage: Stage) -> None:
    stage.look.outcome = contract.Result(text="long " * 2000)
    stage.store.kept.broken = True


GATHER, MODEL = decisions.GatherContext.kind, decisions.CallModel.kind
INSPECT, RUN = decisions.InspectCall.kind, decisions.CallTool.kind
RELEASE, RECONCILE = decisions.ReleaseCall.kind, decisions.ReconcileCall.kind
REVERT = decisions.RevertCommits.kind
READ = decisions.ReadAnswer.kind
UNAVAILABLE = errors.ModelFault(messages.ModelFaultKind.UNAVAILABLE, f"No {TEXT}, {SECRET!r}.")
CASES = {
    "counting": Case(GATHER, _uncountable, S.FAILED, text=LONG),
    "generating": Case(MODEL, _say(leak()), S.FAILED),
    "a model that says so": Case(MODEL, _say(UNAVAILABLE), S.MODEL_UNAVAILABLE),
    "saying what would run": Case(INSPECT, _look(command_fault=leak()), S.COMPLETED),
    "inspecting": Case(INSPECT, _look(inspection_fault=leak()), S.COMPLETED),
    "an inspection that says so": Case(
        INSPECT, _look(inspection_fault=tool_fault()), S.COMPLETED, logged=False
    ),
    "running": Case(RUN, _look(outcome=leak()), S.COMPLETED),
    "running what is unsafe": Case(
        RUN, _look(outcome=leak()), S.AWAITING_DECISION, effect=contract.Effect.UNSAFE
    ),
    "a run that says so": Case(RUN, _look(outcome=tool_fault()), S.COMPLETED, logged=False),
    "keeping a long result": Case(RUN, _no_artifacts, S.FAILED),
    "letting go": Case(RELEASE, _look(close_fault=leak()), S.COMPLETED),
}
NOTHING_TO_BREAK = {decisions.CancelCall.kind, decisions.SetTimer.kind}
"""They touch only the runtime's own tables."""


@asynccontextmanager
async def staged(
    log: tuple[io.StringIO, redaction.Redactor],
    look: Look,
    store: Store,
) -> AsyncIterator[Stage]:
    stream, redactor = log
    async with rig.started(look, store=store, replies=[USE]) as runtime:
        runtime.redactor.register(TEXT)
        yield Stage(runtime, look, store, stream)


@pytest.mark.acceptance(24)
@pytest.mark.parametrize("name", CASES)
async def test_what_breaks_tells_nothing(
    name: str, log: tuple[io.StringIO, redaction.Redactor]
) -> None:
    case = CASES[name]
    look = Look(effect=case.effect)
    async with staged(log, look, Store()) as stage:
        case.set_up(stage)
        task = await stage.runtime.submit(case.text)
        await stage.runtime.reach(task.task_id, case.state)
        assert stage.traces() == []
        faults = stage.faults()
        assert bool(faults) is case.logged
        assert {line.get("correlation_id") for line in faults} <= {CORRELATION_ID}


@pytest.mark.acceptance(24)
async def test_what_breaks_after_a_restart_tells_nothing(
    log: tuple[io.StringIO, redaction.Redactor],
) -> None:
    store, look = Store(), Look(effect=contract.Effect.RECONCILABLE)
    look.outcome = None
    async with staged(log, look, store) as stage:
        task = await stage.runtime.submit()
        await rig.until(lambda: look.ran == 1)
    look.reconcile_fault = leak()
    async with staged(log, look, store) as stage:
        await stage.runtime.reach(task.task_id, S.AWAITING_DECISION)
        assert stage.traces() == []
        (fault,) = stage.faults()
        assert fault["event"] == "reconcile_broke"
        assert fault["correlation_id"] == CORRELATION_ID


@pytest.mark.acceptance(24)
async def test_a_decision_that_breaks_tells_nothing(
    log: tuple[io.StringIO, redaction.Redactor],
) -> None:
    look = Look()
    look.outcome = None
    async with staged(log, look, Store()) as stage:
        task = await stage.runtime.submit()
        await rig.until(lambda: look.ran == 1)
        (call,) = stage.runtime.loop.world.tasks[task.task_id].calls
        outcome = Unreadable(
            task_id=task.task_id,
            call_id=call.call_id,
            result=contract.Result(text=""),
            duration_ms=0,
        )
        stage.runtime.box.post(outcome)
        await stage.runtime.reach(task.task_id, S.FAILED)
        assert stage.traces() == []
        (fault,) = stage.faults()
        assert (fault["event"], fault["correlation_id"]) == ("decision_failed", CORRELATION_ID)


@pytest.mark.acceptance(24)
async def test_a_history_that_breaks_tells_nothing(
    log: tuple[io.StringIO, redaction.Redactor],
) -> None:
    async with staged(log, Look(), Store()) as stage:
        stage.runtime.history.fault = leak()
        revert = decisions.RevertCommits(ids.TaskId("task-1"), "/p", ("c",), CORRELATION_ID)
        stage.runtime.effects.perform(revert)
        await rig.until(lambda: stage.faults() != [])
        assert stage.traces() == []
        (fault,) = stage.faults()
        assert (fault["event"], fault["correlation_id"]) == ("action_broke", CORRELATION_ID)


@pytest.mark.acceptance(24)
async def test_an_answer_that_breaks_where_it_is_read_tells_nothing(
    log: tuple[io.StringIO, redaction.Redactor],
) -> None:
    store = Store()
    async with staged(log, Look(), store) as stage:
        store.unreadable = True
        read = decisions.ReadAnswer(
            ids.ScheduleId("s"), ids.RunId("r"), ids.TaskId("task-1"), ids.ContentId("gone")
        )
        stage.runtime.effects.perform(read)
        await rig.until(lambda: stage.faults() != [])
        assert stage.traces() == []
        (fault,) = stage.faults()
        assert fault["event"] == "read_answer_broke"
        assert fault["correlation_id"]


@pytest.mark.acceptance(24)
def test_every_action_is_broken_once(figures: Figures) -> None:
    broken = {case.action for case in CASES.values()} | {RECONCILE, REVERT, READ}
    assert broken | NOTHING_TO_BREAK == {action.kind for action in get_args(decisions.Action)}
    figures("handlers of the runtime that raised", len(CASES) + 4)


@pytest.mark.acceptance(24)
async def test_a_side_task_that_dies_tells_nothing(
    log: tuple[io.StringIO, redaction.Redactor],
) -> None:
    async def dies() -> None:
        raise leak()

    async with supervisor.Supervisor() as watched:
        watched.start("loop", dies())
        assert await watched.watch() == "loop"
    text = log[0].getvalue()
    assert "side_task_ended" in text
    assert spelled.found(SECRET, text.encode()) == []
