"""A killed runtime starts again from its log, and a checkpoint saves only time."""

import json

import pytest

from daemon.domain import errors, events, ids, inputs, limits, state, world
from daemon.runtime import resume
from daemon.storage import in_memory
from tests.unit.runtime import fake_tools, rig
from tools import contract

S = state.TaskState
USE = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})
pytestmark = [pytest.mark.spec("D-04"), pytest.mark.spec("D-03")]


class ForgetfulStore(in_memory.InMemoryStore):
    """The same log, without its checkpoints."""

    async def latest_checkpoint(self) -> world.Snapshot | None:
        return None


async def lived(store: in_memory.InMemoryStore) -> world.World:
    """A store with a past: tasks that ended, wait, run and stand in a queue."""
    shell = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
    look = fake_tools.FakeTool("look")
    look.outcome = None
    bounds = limits.Limits(checkpoint_events=7)
    replies = ["done", USE]
    async with rig.started(shell, look, store=store, bounds=bounds, replies=replies) as runtime:
        first = await runtime.submit()
        await runtime.reach(first.task_id, S.COMPLETED)
        asks = await runtime.submit("run `ls`", first.conversation_id)
        await runtime.reach(asks.task_id, S.AWAITING_APPROVAL)
        await runtime.submit("use it", first.conversation_id)
        await rig.until(lambda: look.ran == 1)
        await runtime.submit("later", first.conversation_id)
        return runtime.loop.world


async def test_a_checkpoint_and_the_whole_log_give_the_same_world() -> None:
    store, forgetful = in_memory.InMemoryStore(), ForgetfulStore()
    current = await lived(store)
    await lived(forgetful)
    kept = await store.latest_checkpoint()
    assert kept is not None
    assert 0 < kept.head_seq < current.head_seq
    resumed, refolded = await resume.load(store), await resume.load(forgetful)
    assert world.snapshot(resumed) == world.snapshot(refolded) == world.snapshot(current)
    assert resumed.running == refolded.running


async def test_every_live_task_is_told_once_in_order() -> None:
    store = in_memory.InMemoryStore()
    current = await lived(store)
    restarts = resume.restarts(current, clean=False)
    tasks = [one for one in restarts if isinstance(one, inputs.RecoverTask)]
    assert restarts == tuple(tasks)
    assert [one.task_id for one in tasks] == list(current.tasks)
    assert [one.state for one in tasks] == [
        S.AWAITING_APPROVAL,
        S.RUNNING,
        S.QUEUED,
    ]
    assert resume.waiting(current) == 1


async def test_a_killed_runtime_goes_on_where_it_was() -> None:
    store = in_memory.InMemoryStore()
    await lived(store)
    shell = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
    look = fake_tools.FakeTool("look")
    async with rig.started(shell, look, store=store) as runtime:
        await runtime.until_event(events.AnswerGiven, 3)
        (approval_id,) = runtime.loop.world.approvals
        await runtime.resolve(approval_id, inputs.Answer.ALLOW_ONCE)
        await runtime.until_event(events.AnswerGiven, 4)
        assert runtime.loop.world.tasks == {}
        assert (shell.ran, look.ran) == (1, 1)


async def test_two_approved_commands_and_a_crash_run_each_once() -> None:
    """The first is cut off while it runs; the second was allowed and waited for the lane."""
    store = in_memory.InMemoryStore()
    shell = fake_tools.FakeTool(
        "shell_exec", effect=contract.Effect.UNSAFE, category=contract.Category.NORMAL
    )
    shell.outcome = None
    async with rig.started(shell, store=store) as runtime:
        first = await runtime.submit("run `a`")
        await runtime.reach(first.task_id, S.AWAITING_APPROVAL)
        second = await runtime.submit("run `b`", first.conversation_id)
        await runtime.reach(second.task_id, S.AWAITING_APPROVAL)
        for approval_id in list(runtime.loop.world.approvals):
            await runtime.resolve(approval_id, inputs.Answer.ALLOW_ONCE)
        await rig.until(lambda: shell.ran == 1)
    shell.outcome = contract.Result(text="out")
    async with rig.started(shell, store=store) as runtime:
        await runtime.reach(first.task_id, S.AWAITING_DECISION)
        await runtime.reach(second.task_id, S.COMPLETED)
        await rig.settle()
        started = [
            one.event
            for one in await runtime.log()
            if isinstance(one.event, events.ToolCallStarted)
        ]
        assert [one.attempt for one in started] == [1, 1]
        assert shell.ran == 2


@pytest.mark.parametrize(
    ("effect", "found", "ran", "ended"),
    [
        (contract.Effect.PURE, contract.Reconciled.UNKNOWN, 2, S.COMPLETED),
        (contract.Effect.KEYED, contract.Reconciled.UNKNOWN, 2, S.COMPLETED),
        (contract.Effect.RECONCILABLE, contract.Reconciled.DONE, 1, S.COMPLETED),
        (contract.Effect.RECONCILABLE, contract.Reconciled.NOT_DONE, 2, S.COMPLETED),
        (contract.Effect.RECONCILABLE, contract.Reconciled.UNKNOWN, 1, S.AWAITING_DECISION),
        (contract.Effect.UNSAFE, contract.Reconciled.UNKNOWN, 1, S.AWAITING_DECISION),
    ],
)
async def test_a_tool_that_was_cut_off_goes_on_by_its_effect(
    effect: contract.Effect, found: contract.Reconciled, ran: int, ended: S
) -> None:
    store = in_memory.InMemoryStore()
    look = fake_tools.FakeTool("look", effect=effect)
    look.outcome, look.found = None, found
    async with rig.started(look, store=store, replies=[USE]) as runtime:
        task = await runtime.submit()
        await rig.until(lambda: look.ran == 1)
    look.outcome = contract.Result(text="out")
    async with rig.started(look, store=store) as runtime:
        await runtime.reach(task.task_id, ended)
        assert look.ran == ran


async def test_a_reconciliation_that_breaks_is_asked_about() -> None:
    store = in_memory.InMemoryStore()
    look = fake_tools.FakeTool("look", effect=contract.Effect.RECONCILABLE)
    look.outcome = None
    async with rig.started(look, store=store, replies=[USE]) as runtime:
        task = await runtime.submit()
        await rig.until(lambda: look.ran == 1)
    async with rig.started(store=store) as runtime:
        await runtime.reach(task.task_id, S.AWAITING_DECISION)


class DamagedStore(in_memory.InMemoryStore):
    """A log in which an event is missing."""

    async def log(
        self,
        after_seq: int,
        limit: int,
        task_id: ids.TaskId | None = None,
        conversation_id: ids.ConversationId | None = None,
    ) -> tuple[events.Recorded, ...]:
        found = await super().log(after_seq, limit, task_id, conversation_id)
        return tuple(one for one in found if one.seq != 4)


async def test_a_log_that_says_what_cannot_be_is_damaged() -> None:
    store = DamagedStore()
    async with rig.started(store=store, replies=[None]) as runtime:
        await runtime.submit()
        await rig.until(lambda: len(runtime.model.requests) == 1)
        await runtime.submit()
    with pytest.raises(errors.StorageFault, match="damaged at event 5"):
        await resume.load(store)
