"""Whatever breaks on the way to a yes is a no: each fault by itself, and nothing runs."""

import asyncio
import dataclasses
import os
import resource
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import grpc
import psutil
import pytest

from daemon import exits
from daemon.domain import decisions, errors, events, inputs, principals, verdicts
from daemon.permission import command
from daemon.runtime import judge
from daemon.storage import in_memory
from proto.ducklm.v1 import approvals_pb2, common_pb2
from tests import running_daemon
from tests.conftest import Figures
from tests.integration.rpc import work
from tests.simulation import proposing
from tests.unit.runtime import fake_tools, rig
from tools import contract, shell

pytestmark = [pytest.mark.timeout(120), pytest.mark.spec("D-12")]

SHELL = shell.Shell(600)
COPY = proposing.command("cp a ran")
OUTCOME = events.CallOutcome
YOLO = verdicts.Mode.YOLO
"""Where nobody is asked, a fault must not be taken for a mild verdict either."""
IN_GROUP = principals.Origin(
    principal=principals.Principal("telegram:bot:7"), channel="telegram:bot", chat="-100"
)
IN_CHAT = IN_GROUP.but({"chat": "7"})
DAY_MS = 24 * 3600 * 1000


async def expires(runtime: rig.Rig, asked: proposing.Story) -> proposing.Story:
    """Nobody answers until it is too late."""
    runtime.clock.ms += 2 * DAY_MS
    wakes = decisions.SetTimer(
        timer=decisions.TimerKind.TASK_BUDGET, subject="nothing", due_ms=runtime.clock.ms * 2
    )
    runtime.timers.set(wakes)
    return await proposing.story(runtime, asked.task_id, asked.stops + 1)


async def answered(
    runtime: rig.Rig, asked: proposing.Story, by: principals.Principal = principals.LOCAL_OWNER
) -> Exception:
    """How a yes is turned down."""
    yes = inputs.ResolveApproval(
        credential="owner",
        principal=by,
        correlation_id="c",
        approval_id=asked.approval.approval_id,
        answer=inputs.Answer.ALLOW_ONCE,
        place=(asked.approval.places or ("",))[0],
    )
    with pytest.raises(Exception) as refused:
        await runtime.box.ask(yes)
    return refused.value


async def timeout(folder: Path) -> list[events.CallOutcome]:
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        asked = await proposing.propose(runtime, COPY)
        story = await expires(runtime, asked)
        assert isinstance(await answered(runtime, asked), errors.Refusal)
        return story.outcomes


async def no_approver(folder: Path) -> list[events.CallOutcome]:
    """Asked in a group whose daemon has no owner there."""
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        asked = await proposing.propose(runtime, COPY, IN_GROUP)
        assert asked.approval.approvers == ()
        for someone in ("telegram:bot:7", "telegram:bot:8"):
            refusal = await answered(runtime, asked, principals.Principal(someone))
            assert isinstance(refusal, errors.Refusal)
            assert refusal.kind is errors.RefusalKind.FORBIDDEN
        return (await expires(runtime, asked)).outcomes


async def bot_down(folder: Path) -> list[events.CallOutcome]:
    """Asked in a chat that nobody carries; the daemon is started again meanwhile."""
    store = in_memory.InMemoryStore()
    async with rig.started(SHELL, folder=str(folder), store=store) as runtime:
        asked = await proposing.propose(runtime, COPY, IN_CHAT)
    async with rig.started(SHELL, folder=str(folder), store=store) as later:
        return (await expires(later, asked)).outcomes


class _Crashing(judge.Judge):
    async def said(self, text: str, folder: str) -> command.CommandJudgement:
        raise RecursionError("the parser broke")


def _failing(fault: Exception) -> judge.Judge:
    def load() -> judge.Loaded:
        raise fault

    return judge.Judge(load, rig.place)


async def _proposed(
    folder: Path,
    reply: str = COPY,
    tool: contract.Tool = SHELL,
    judging: judge.Judge | None = None,
) -> list[events.CallOutcome]:
    async with rig.started(tool, folder=str(folder), judging=judging) as runtime:
        story = await proposing.propose(runtime, reply, mode=YOLO)
        assert story.started == []
        return story.outcomes


class Saying(fake_tools.FakeTool):
    """A tool whose call would run a certain command."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self._command = command

    def command(self, arguments_json: str) -> str | None:
        return self._command


@dataclasses.dataclass
class Strange:
    """The shell tool of a category that this policy does not know; it names no command."""

    @property
    def spec(self) -> contract.ToolSpec:
        return SHELL.spec.model_copy(update={"category": "harmless"})

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return SHELL.shorten(text, limit_chars, failed)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        return await SHELL.inspect(call)

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        return await SHELL.run(call, inspection, output, secret)

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return await SHELL.reconcile(call, intent)


async def read_only_database(folder: Path) -> list[events.CallOutcome]:
    """The yes cannot be kept, so it is none; nor later, when there is room again."""
    store = in_memory.InMemoryStore()
    async with rig.started(SHELL, folder=str(folder), store=store) as runtime:
        asked = await proposing.propose(runtime, COPY)
        store.failing_commits = 1
        refusal = await answered(runtime, asked)
        assert isinstance(refusal, errors.Refusal)
        assert refusal.kind is errors.RefusalKind.UNAVAILABLE
        return (await expires(runtime, asked)).outcomes


async def clock_error(folder: Path) -> list[events.CallOutcome]:
    """The clock says nothing, which no daemon outlives; the next one's is far ahead."""
    store = in_memory.InMemoryStore()
    asked: list[proposing.Story] = []
    with pytest.raises(TypeError):
        await _without_a_clock(folder, store, asked)
    async with rig.started(SHELL, folder=str(folder), store=store) as later:
        return (await expires(later, asked[0])).outcomes


async def _without_a_clock(
    folder: Path, store: in_memory.InMemoryStore, asked: list[proposing.Story]
) -> None:
    async with rig.started(SHELL, folder=str(folder), store=store) as runtime:
        asked.append(await proposing.propose(runtime, COPY))
        runtime.clock.ms = cast(int, None)
        await answered(runtime, asked[0])
        await asyncio.wait((runtime.ticking,))


async def plugin_exception(folder: Path) -> list[events.CallOutcome]:
    tool = fake_tools.FakeTool()
    tool.inspection_fault = ZeroDivisionError("a fault of the plugin's")
    outcomes = await _proposed(folder, proposing.directive("look", {}), tool)
    assert tool.ran == 0
    return outcomes


async def bad_utf8(folder: Path) -> list[events.CallOutcome]:
    """As a model would have to write it, it is no proposal at all; by any other way, refused."""
    command = "cp a ran #\ud800"
    assert await _proposed(folder, proposing.command(command)) == []
    return await _proposed(folder, proposing.directive("look", {}), Saying(command))


Fault = Callable[[Path], Awaitable[list[events.CallOutcome]]]
HUGE = "cp a ran #" + "x" * 64 * 1024
FAULTS: dict[str, tuple[Fault, events.CallOutcome]] = {
    "timeout": (timeout, OUTCOME.EXPIRED),
    "no approver": (no_approver, OUTCOME.EXPIRED),
    "bot down": (bot_down, OUTCOME.EXPIRED),
    "parser crash": (
        lambda folder: _proposed(folder, judging=_Crashing(rig.loaded_rules, rig.place)),
        OUTCOME.REFUSED,
    ),
    "missing policy": (
        lambda folder: _proposed(folder, judging=_failing(FileNotFoundError("no rules"))),
        OUTCOME.REFUSED,
    ),
    "broken policy": (
        lambda folder: _proposed(folder, judging=_failing(errors.ConfigFault(["broken"]))),
        OUTCOME.REFUSED,
    ),
    "unknown category": (lambda folder: _proposed(folder, tool=Strange()), OUTCOME.REFUSED),
    "read-only database": (read_only_database, OUTCOME.EXPIRED),
    "clock error": (clock_error, OUTCOME.EXPIRED),
    "oversize": (lambda folder: _proposed(folder, proposing.command(HUGE)), OUTCOME.REFUSED),
    "bad UTF-8": (bad_utf8, OUTCOME.REFUSED),
    "plugin exception": (plugin_exception, OUTCOME.REFUSED),
}


@pytest.mark.acceptance(19)
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_a_no(name: str, tmp_path: Path, figures: Figures) -> None:
    fault, outcome = FAULTS[name]
    (tmp_path / "a").write_text("x")
    assert await fault(tmp_path) == [outcome]
    assert os.listdir(tmp_path) == ["a"]
    figures(name, "denied")


@pytest.mark.acceptance(19)
async def test_a_tool_that_there_is_not_is_never_a_call(tmp_path: Path, figures: Figures) -> None:
    (tmp_path / "a").write_text("x")
    wanted = proposing.directive("shell_run", {"command": "cp a ran"})
    assert await _proposed(tmp_path, wanted) == []
    assert os.listdir(tmp_path) == ["a"]
    figures("unknown tool", "denied")


async def test_without_a_fault_it_runs(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert await _proposed_and_run(tmp_path) == [OUTCOME.FINISHED]
    assert (tmp_path / "ran").exists()


async def _proposed_and_run(folder: Path) -> list[events.CallOutcome]:
    async with rig.started(SHELL, folder=str(folder)) as runtime:
        return (await proposing.propose(runtime, COPY, mode=YOLO)).outcomes


SCRIPT: list[running_daemon.ScriptLine] = [
    {
        "role": "*",
        "match": "^go on",
        "reply": proposing.command("touch ran"),
        "repeat": True,
    },
    {
        "role": "*",
        "match": "^bad",
        "reply": proposing.command("touch ran #\ud800"),
        "repeat": True,
    },
    {"role": "*", "reply": "Well.", "repeat": True},
]


def ran(daemon: running_daemon.RunningDaemon) -> bool:
    """Whether the command of the script left its file."""
    home = Path(daemon.environment()["XDG_DATA_HOME"])
    return (home / "ducklm" / "projects" / "default" / "ran").exists()


@pytest.mark.acceptance(19)
def test_a_daemon_that_cannot_write_takes_no_yes(figures: Figures) -> None:
    """Its database may not grow: nothing can be kept. Then it may again, and it asks still."""
    with running_daemon.running(SCRIPT) as daemon, daemon.api() as api:
        task_id = work.submit(api, "go on")
        approval_id = work.pending(api, task_id)
        before = psutil.Process(daemon.pid).rlimit(resource.RLIMIT_FSIZE)
        size = (daemon.state / "ducklm.db-wal").stat().st_size
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, before[1]))
        with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
            work.resolve(api, approval_id, approvals_pb2.ALLOW_ONCE)
        assert not ran(daemon)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)
        assert work.task(api, task_id).state == common_pb2.AWAITING_APPROVAL
        work.resolve(api, approval_id, approvals_pb2.DENY)
        assert work.end(api, task_id).state == common_pb2.FAILED
        assert not ran(daemon)
    figures("a real database that cannot be written", "denied")


@pytest.mark.acceptance(19)
def test_a_daemon_asks_and_nobody_is_there(figures: Figures) -> None:
    """The connection that asked is gone; the approval runs out by itself."""
    with running_daemon.running(SCRIPT, "[limits]\napproval_seconds = 1\n") as daemon:
        with daemon.api() as gone:
            task_id = work.submit(gone, "go on")
        with daemon.api() as api:
            assert work.end(api, task_id).state == common_pb2.FAILED
            assert "tool_call_started" not in work.kinds(work.events(api, task_id))
        assert not ran(daemon)
    figures("a client that is gone", "denied")


@pytest.mark.acceptance(19)
def test_a_daemon_takes_no_broken_text_for_a_command(figures: Figures) -> None:
    with running_daemon.running(SCRIPT) as daemon, daemon.api() as api:
        task_id = work.submit(api, "bad")
        work.end(api, task_id)
        assert "tool_call_started" not in work.kinds(work.events(api, task_id))
        assert not ran(daemon)
    figures("bad UTF-8 of a model", "denied")


@pytest.mark.acceptance(19)
@pytest.mark.parametrize(
    "text",
    ["version = 1\n[paths", "version = 1\n[names]\nharmless_variables = 7\n", "no = true\n"],
)
def test_a_daemon_with_a_broken_policy_does_not_start(text: str, figures: Figures) -> None:
    with running_daemon.folder() as root:
        daemon = running_daemon.RunningDaemon(root)
        daemon.script(SCRIPT)
        (daemon.config / "permissions.toml").write_text(text)
        daemon.spawn()
        try:
            assert daemon.wait(running_daemon.START_S) == exits.Exit.SETTINGS
        finally:
            daemon.kill()
        assert "permissions.toml" in daemon.log_text()
    figures("a broken policy", "no start")
