"""The loop: one transaction a round, nothing said before it is durable, faults stay small."""

import asyncio
import json
from collections.abc import Sequence

import pydantic
import pytest

from daemon.domain import decisions, errors, events, ids, inputs, limits, principals, state, world
from daemon.storage import in_memory
from tests.unit.runtime import fake_tools, rig
from tools import contract

S = state.TaskState
UNTITLED = inputs.CreateConversation(
    credential="owner", principal=principals.LOCAL_OWNER, correlation_id="c"
).model_copy(update={"title": 5})
"""A write of a broken caller: the decision about it raises."""
USE = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})


def token(digest: str) -> inputs.CreateToken:
    """A token of one name."""
    owner = principals.Credential(
        name="owner", principal=principals.LOCAL_OWNER, scopes=principals.ALL_SCOPES
    )
    return inputs.CreateToken(
        credential=owner.name,
        principal=owner.principal,
        correlation_id="c",
        maker=owner,
        name="ci",
        scopes=frozenset(("run",)),
        digest=digest,
    )


class WatchedStore(in_memory.InMemoryStore):
    """Notes each transaction, can hold one up, and can break in a way that no port allows."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[Sequence[events.Recorded]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def commit(
        self,
        recorded: Sequence[events.Recorded],
        records: Sequence[decisions.Record],
        checkpoint: world.Snapshot | None = None,
    ) -> None:
        self.commits.append(tuple(recorded))
        await self.gate.wait()
        await super().commit(recorded, records, checkpoint)


@pytest.mark.spec("D-01")
@pytest.mark.spec("C-03")
class TestRounds:
    async def test_inputs_that_stand_together_are_one_transaction(self) -> None:
        store = WatchedStore()
        async with rig.started(store=store, replies=[None] * 5) as runtime:
            await asyncio.gather(*(runtime.submit() for _ in range(5)))
            assert len(store.commits) == 1
            assert len(store.commits[0]) == 5 * 3

    async def test_a_round_takes_no_more_than_its_bound(self) -> None:
        store = WatchedStore()
        bounds = limits.Limits(batch_inputs=2)
        async with rig.started(store=store, bounds=bounds, replies=[None] * 5) as runtime:
            await asyncio.gather(*(runtime.submit() for _ in range(5)))
        assert [len(one) // 3 for one in store.commits[:3]] == [2, 2, 1]

    async def test_nothing_is_said_or_done_before_it_is_durable(self) -> None:
        store = WatchedStore()
        async with rig.started(store=store) as runtime:
            store.gate.clear()
            asked = asyncio.create_task(runtime.submit())
            await rig.until(lambda: bool(store.commits))
            await rig.settle()
            assert not asked.done()
            assert runtime.bus.head_seq == 0
            assert runtime.loop.world.tasks == {}
            assert runtime.model.counted == []
            store.gate.set()
            await runtime.reach((await asked).task_id, S.COMPLETED)

    async def test_what_changes_nothing_is_no_transaction(self) -> None:
        store = WatchedStore()
        async with rig.started(store=store) as runtime:
            runtime.box.post(inputs.AbortTask(task_id=ids.TaskId("task-x")))
            with pytest.raises(errors.Refusal):
                await runtime.submit("")
            assert store.commits == []

    async def test_a_key_and_its_repetition_in_one_round(self) -> None:
        async with rig.started(replies=[None]) as runtime:
            first, again = await asyncio.gather(runtime.submit(key="k"), runtime.submit(key="k"))
            assert first == again
            assert len(runtime.loop.world.tasks) == 1

    async def test_a_key_with_another_body_in_one_round(self) -> None:
        async with rig.started(replies=[None]) as runtime:
            asked = (runtime.submit("one", key="k"), runtime.submit("two", key="k"))
            first, other = await asyncio.gather(*asked, return_exceptions=True)
            assert isinstance(first, decisions.Submitted)
            assert isinstance(other, errors.Refusal)
            assert other.kind is errors.RefusalKind.CONFLICT

    async def test_two_answers_to_an_approval_in_one_round(self) -> None:
        shell = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
        async with rig.started(shell) as runtime:
            task = await runtime.submit("run `ls`")
            await runtime.reach(task.task_id, S.AWAITING_APPROVAL)
            (approval_id,) = runtime.loop.world.approvals
            answers = (inputs.Answer.DENY, inputs.Answer.DENY, inputs.Answer.ALLOW_ONCE)
            asked = (runtime.resolve(approval_id, one) for one in answers)
            same, again, other = await asyncio.gather(*asked, return_exceptions=True)
            assert (same, again) == (None, None)
            assert isinstance(other, errors.Refusal)

    async def test_a_name_for_two_tokens_in_one_round(self) -> None:
        async with rig.started() as runtime:
            asked = (runtime.box.ask(token(digest)) for digest in ("a", "b"))
            made, refused = await asyncio.gather(*asked, return_exceptions=True)
            assert isinstance(made, decisions.TokenKept)
            assert isinstance(refused, errors.Refusal)
            assert refused.kind is errors.RefusalKind.CONFLICT
            assert [one.digest for one in await runtime.store.live_tokens()] == ["a"]

    async def test_a_caller_that_went_away_changes_nothing(self) -> None:
        store = WatchedStore()
        async with rig.started(store=store) as runtime:
            store.gate.clear()
            asked = asyncio.create_task(runtime.submit())
            await rig.until(lambda: bool(store.commits))
            asked.cancel()
            store.gate.set()
            await runtime.until_event(events.AnswerGiven)


@pytest.mark.spec("D-01")
class TestFailedCommits:
    async def test_callers_are_told_and_may_try_again(self) -> None:
        async with rig.started() as runtime:
            runtime.store.failing_commits = 1
            with pytest.raises(errors.Refusal) as refused:
                await runtime.submit(key="k")
            assert refused.value.kind is errors.RefusalKind.UNAVAILABLE
            assert "Nothing was kept" in str(refused.value)
            assert runtime.loop.world.tasks == {}
            task = await runtime.submit(key="k")
            await runtime.reach(task.task_id, S.COMPLETED)

    async def test_a_task_goes_on_when_there_is_room(self) -> None:
        async with rig.started(replies=["Paris."]) as runtime:
            task = await runtime.submit()
            runtime.store.failing_commits = 2
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await runtime.answer(task.task_id) == "Paris."
            seqs = [one.seq for one in await runtime.log()]
            assert seqs == list(range(1, len(seqs) + 1))

    async def test_a_subscriber_never_sees_what_was_not_kept(self) -> None:
        async with rig.started(replies=[None]) as runtime:
            runtime.store.failing_commits = 1
            with pytest.raises(errors.Refusal):
                await runtime.submit()
            assert runtime.bus.head_seq == 0

    async def test_a_full_disk_at_the_start_is_waited_for(self) -> None:
        store = in_memory.InMemoryStore()
        async with rig.started(store=store, replies=[None]) as runtime:
            await runtime.submit()
            await runtime.until_event(events.ModelCallStarted)
        store.failing_commits = 1
        async with rig.started(store=store) as runtime:
            await runtime.until_event(events.AnswerGiven)


def lying(facts: contract.Facts) -> contract.Facts:
    """Facts of a broken plugin: an effect that is none makes the decision about them raise."""
    return facts.model_copy(update={"effect": "none of them"})


@pytest.mark.spec("D-01")
class TestFaultsOfTheProgram:
    async def test_a_decision_that_raises_ends_only_its_task(self) -> None:
        broken, good = fake_tools.FakeTool("look"), fake_tools.FakeTool("other")
        broken.facts = lying(broken.facts)
        use_other = USE.replace("look", "other")
        async with rig.started(broken, good, replies=[USE, use_other, "fine"]) as runtime:
            first = await runtime.submit()
            await runtime.reach(first.task_id, S.FAILED)
            second = await runtime.submit()
            await runtime.reach(second.task_id, S.COMPLETED)
            view = await runtime.store.task(first.task_id)
            assert view is not None
            assert view.reason == "a fault in the daemon; its log has the details"
            assert runtime.loop.world.tasks == {}
            assert broken.closed == broken.inspected == 1

    async def test_others_in_the_same_round_go_on(self) -> None:
        store = WatchedStore()
        broken = fake_tools.FakeTool("look")
        broken.facts = lying(broken.facts)
        async with rig.started(broken, store=store, replies=[USE, "fine"]) as runtime:
            broken_task, fine = await asyncio.gather(runtime.submit(), runtime.submit())
            await runtime.reach(broken_task.task_id, S.FAILED)
            await runtime.reach(fine.task_id, S.COMPLETED)

    async def test_a_tool_that_is_offered_no_more_ends_its_task(self) -> None:
        """Its call was proposed; now the daemon runs with another set of tools."""
        store = in_memory.InMemoryStore()
        shell = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
        async with rig.started(shell, store=store) as runtime:
            task = await runtime.submit("run `ls`")
            await runtime.reach(task.task_id, S.AWAITING_APPROVAL)
        async with rig.started(shell, store=store, offered={}) as runtime:
            (approval_id,) = runtime.loop.world.approvals
            await runtime.resolve(approval_id, inputs.Answer.ALLOW_ONCE)
            await runtime.reach(task.task_id, S.FAILED)
            other = await runtime.submit()
            await runtime.reach(other.task_id, S.COMPLETED)
            assert shell.ran == 0

    async def test_a_caller_whose_decision_raised_is_told(self) -> None:
        async with rig.started() as runtime:
            with pytest.raises(pydantic.ValidationError):
                await runtime.box.ask(UNTITLED)
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)

    async def test_one_that_went_away_before_is_not(self) -> None:
        async with rig.started() as runtime:
            asked = asyncio.create_task(runtime.box.ask(UNTITLED))
            await asyncio.sleep(0)
            asked.cancel()
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)


@pytest.mark.spec("D-04")
class TestStopping:
    async def test_a_round_that_has_begun_is_served_to_its_end(self) -> None:
        store = WatchedStore()
        async with rig.started(store=store, replies=[None]) as runtime:
            store.gate.clear()
            asked = asyncio.create_task(runtime.submit())
            await rig.until(lambda: bool(store.commits))
            runtime.running.cancel()
            await rig.settle()
            assert not runtime.running.done()
            store.gate.set()
            await asyncio.wait((runtime.running,))
            assert runtime.running.cancelled()
            assert (await asked).task_id in runtime.loop.world.tasks

    async def test_what_stands_in_the_inbox_is_still_served(self) -> None:
        async with rig.started(replies=[None]) as runtime:
            runtime.running.cancel()
            await asyncio.wait((runtime.running,))
            asked = asyncio.create_task(runtime.submit())
            await rig.settle()
            runtime.box.close()
            await runtime.loop.finish(runtime.effects)
            assert (await asked).seq == 2

    async def test_a_draining_loop_starts_nothing_more(self) -> None:
        look = fake_tools.FakeTool("look")
        async with rig.started(look, replies=[USE]) as runtime:
            look.outcome = None
            task = await runtime.submit()
            await rig.until(lambda: look.ran == 1)
            runtime.loop.drain()
            look.go_on.set()
            await runtime.until_event(events.ToolCallEnded)
            await rig.settle()
            assert len(runtime.model.requests) == 1
            assert runtime.loop.world.tasks[task.task_id].state is S.RUNNING

    async def test_a_checkpoint_is_kept_on_demand_and_every_so_many_events(self) -> None:
        store = in_memory.InMemoryStore()
        bounds = limits.Limits(checkpoint_events=5)
        async with rig.started(store=store, bounds=bounds) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)
            kept = await store.latest_checkpoint()
            assert kept is not None
            assert 5 <= kept.head_seq <= 8
            await runtime.loop.checkpoint()
            kept = await store.latest_checkpoint()
            assert kept == world.snapshot(runtime.loop.world)
