"""Actions run as tasks of their own: cancelled, broken or left at a stop, each has one end."""

import asyncio
import json

import pytest

from daemon.domain import decisions, events, ids, inputs, limits, messages, state
from daemon.storage import in_memory
from tests.unit.runtime import fake_tools, rig
from tools import contract

S = state.TaskState
USE = json.dumps({"kind": "tool", "tool": "look", "arguments": {}})
SITE = fake_tools.site(
    ids.TaskId("task-1"),
    events.ToolCallProposed(
        task_id=ids.TaskId("task-1"),
        call_id=ids.CallId("call-1"),
        tool="look",
        arguments=ids.ContentId("content-1"),
    ),
)
pytestmark = [pytest.mark.spec("D-01"), pytest.mark.spec("L-05")]


async def outcomes(runtime: rig.Rig) -> list[events.CallOutcome]:
    """How the tool calls in the log have ended."""
    found = [one.event for one in await runtime.log()]
    return [one.outcome for one in found if isinstance(one, events.ToolCallEnded)]


async def result(runtime: rig.Rig) -> str | None:
    """What the model is told of the last tool call."""
    ended = [
        one.event for one in await runtime.log() if isinstance(one.event, events.ToolCallEnded)
    ]
    return await runtime.kept.text(ended[-1].result) if ended[-1].result else None


class TestCancelling:
    async def test_a_running_tool_ends_and_says_what_came(self) -> None:
        look = fake_tools.FakeTool()
        look.outcome, look.pieces = None, ("one\n", "two\n")
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await rig.until(lambda: look.ran == 1)
            await runtime.cancel(task.task_id)
            await runtime.until_event(events.ToolCallEnded)
            assert await outcomes(runtime) == [events.CallOutcome.CANCELLED]
            assert await result(runtime) == "one\ntwo\n"
            assert (look.cancelled, look.closed) == (1, 1)
            assert runtime.loop.world.tasks == {}

    async def test_a_running_model_call_keeps_what_came(self) -> None:
        async with rig.started(replies=[None]) as runtime:
            task = await runtime.submit()
            await rig.until(lambda: len(runtime.model.requests) == 1)
            await runtime.cancel(task.task_id)
            await runtime.until_event(events.ModelCallFailed)
            failed = (await runtime.log())[-1].event
            assert isinstance(failed, events.ModelCallFailed)
            assert failed.fault == "cancelled"
            assert failed.text is not None
            assert await runtime.kept.text(failed.text) == "half"
            assert runtime.loop.world.tasks == {}

    async def test_a_tool_that_has_not_taken_its_first_step(self) -> None:
        look = fake_tools.FakeTool()
        async with rig.started(look) as runtime:
            runtime.running.cancel()
            call = fake_tools.forged(SITE, digest="0" * 64)
            runtime.effects.perform(call)
            runtime.effects.perform(decisions.CancelCall(call_id=SITE.call_id))
            await rig.settle()
            (envelope,) = runtime.box.take_waiting(10)
            assert isinstance(envelope.input, inputs.ToolStopped)
            assert envelope.input.outcome is events.CallOutcome.CANCELLED
            assert look.ran == 0

    async def test_a_model_call_that_has_not_taken_its_first_step(self) -> None:
        async with rig.started() as runtime:
            runtime.running.cancel()
            request = messages.ModelRequest(
                call_id=SITE.call_id,
                task_id=SITE.task_id,
                conversation_id=SITE.conversation_id,
                role=messages.Role.THINKER,
                messages=(),
            )
            runtime.effects.perform(decisions.CallModel(request=request, correlation_id="c"))
            runtime.effects.perform(decisions.CancelCall(call_id=SITE.call_id))
            await rig.settle()
            (envelope,) = runtime.box.take_waiting(10)
            assert isinstance(envelope.input, inputs.ModelFailed)
            assert envelope.input.cancelled
            assert runtime.model.requests == []

    async def test_a_call_that_does_not_run_is_no_fault(self) -> None:
        async with rig.started() as runtime:
            runtime.effects.perform(decisions.CancelCall(call_id=SITE.call_id))
            runtime.effects.perform(decisions.ReleaseCall(call_id=SITE.call_id))
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)

    async def test_a_queued_task_goes_on_after_a_cancel(self) -> None:
        async with rig.started(replies=[None, "next"]) as runtime:
            first = await runtime.submit()
            second = await runtime.submit(chat=first.conversation_id)
            await rig.until(lambda: len(runtime.model.requests) == 1)
            await runtime.cancel(first.task_id)
            await runtime.reach(second.task_id, S.COMPLETED)


class TestTools:
    async def test_a_result(self) -> None:
        look = fake_tools.FakeTool()
        look.outcome = contract.Result(text="42", exit_code=3, failed=True)
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await outcomes(runtime) == [events.CallOutcome.FAILED]
            assert await result(runtime) == "42"
            assert "42" in runtime.model.requests[-1].messages[-1].content
            assert (look.inspected, look.ran, look.closed) == (1, 1, 1)

    @pytest.mark.parametrize(
        ("effect", "fault", "outcome", "told"),
        [
            (
                contract.Effect.PURE,
                contract.ToolFault("There is no disk."),
                events.CallOutcome.FAILED,
                "There is no disk.",
            ),
            (
                contract.Effect.PURE,
                ZeroDivisionError("secret detail"),
                events.CallOutcome.FAILED,
                "The tool has a fault; the daemon's log has the details.",
            ),
            (
                contract.Effect.KEYED,
                TimeoutError("of its own"),
                events.CallOutcome.FAILED,
                "The tool has a fault; the daemon's log has the details.",
            ),
        ],
    )
    async def test_a_tool_that_raises(
        self,
        effect: contract.Effect,
        fault: Exception,
        outcome: events.CallOutcome,
        told: str,
    ) -> None:
        look = fake_tools.FakeTool(effect=effect)
        look.outcome = fault
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await outcomes(runtime) == [outcome]
            assert await result(runtime) == told
            assert look.closed == 1

    async def test_an_unsafe_tool_that_broke_is_asked_about(self) -> None:
        look = fake_tools.FakeTool(effect=contract.Effect.UNSAFE)
        look.outcome = ZeroDivisionError()
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.AWAITING_DECISION)
            assert await outcomes(runtime) == [events.CallOutcome.OUTCOME_UNKNOWN]

    @pytest.mark.spec("L-03")
    async def test_a_tool_that_does_not_end_in_time(self) -> None:
        look = fake_tools.FakeTool(deadline_seconds=0)
        look.outcome, look.pieces = None, ("so far",)
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await outcomes(runtime) == [events.CallOutcome.FAILED]
            assert await result(runtime) == "so far\nEnded: it had not finished after 0 seconds."
            assert (look.cancelled, look.closed) == (1, 1)

    @pytest.mark.parametrize(
        ("fault", "told"),
        [
            (contract.ToolFault("There is no file."), "There is no file."),
            (KeyError("x"), "The tool has a fault; the daemon's log has the details."),
        ],
    )
    async def test_a_call_that_cannot_be_inspected(self, fault: Exception, told: str) -> None:
        look = fake_tools.FakeTool()
        look.inspection_fault = fault
        async with rig.started(look, replies=[USE]) as runtime:
            task = await runtime.submit()
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await outcomes(runtime) == [events.CallOutcome.REFUSED]
            assert await result(runtime) == told
            assert look.ran == 0

    async def test_an_inspection_that_cannot_be_let_go_of(self) -> None:
        look = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
        look.close_fault = OSError("bad descriptor")
        async with rig.started(look) as runtime:
            task = await runtime.submit("run `ls`")
            await runtime.reach(task.task_id, S.AWAITING_APPROVAL)
            (approval_id,) = runtime.loop.world.approvals
            await runtime.resolve(approval_id, inputs.Answer.ALLOW_ONCE)
            await runtime.reach(task.task_id, S.COMPLETED)
            assert await outcomes(runtime) == [events.CallOutcome.FINISHED]

    async def test_what_changed_after_the_yes_never_runs(self) -> None:
        look = fake_tools.FakeTool("shell_exec", category=contract.Category.NORMAL)
        async with rig.started(look) as runtime:
            task = await runtime.submit("run `ls`")
            await runtime.reach(task.task_id, S.AWAITING_APPROVAL)
            look.facts = look.facts.model_copy(update={"bound": (("what", "other"),)})
            (approval_id,) = runtime.loop.world.approvals
            await runtime.resolve(approval_id, inputs.Answer.ALLOW_ONCE)
            await runtime.reach(task.task_id, S.FAILED)
            assert look.ran == 0
            assert look.closed == look.inspected == 2


class TestLongResults:
    """More than the model may be told is kept whole as an artifact."""

    pytestmark = pytest.mark.spec("L-03")

    async def ended(self, runtime: rig.Rig) -> events.ToolCallEnded:
        await runtime.until_event(events.AnswerGiven)
        found = [one.event for one in await runtime.log()]
        (ended,) = [one for one in found if isinstance(one, events.ToolCallEnded)]
        return ended

    @pytest.mark.parametrize("chars", [500, 501, 600, 100_000])
    async def test_the_whole_is_an_artifact(self, chars: int) -> None:
        look = fake_tools.FakeTool()
        whole = "ä" * (chars - 3) + "end"
        look.outcome = contract.Result(text=whole)
        bounds = limits.Limits(result_to_model_chars=500)
        async with rig.started(look, bounds=bounds, replies=[USE]) as runtime:
            await runtime.submit()
            ended = await self.ended(runtime)
            told = await result(runtime)
            assert told is not None
            assert len(told) <= 500
            if chars == 500:
                assert (told, ended.artifact) == (whole, None)
                return
            assert "end\n(" in told
            assert f"{len(whole.encode())} bytes in all, kept as an artifact" in told
            assert ended.artifact is not None
            kept = [chunk async for chunk in runtime.store.artifacts.get(ended.artifact)]
            assert b"".join(kept).decode() == whole

    async def test_one_that_is_too_large_to_keep_says_so(self) -> None:
        look = fake_tools.FakeTool()
        look.outcome = contract.Result(text="a" * 5000)
        bounds = limits.Limits(result_to_model_chars=500, artifact_bytes=1000)
        async with rig.started(look, bounds=bounds, replies=[USE]) as runtime:
            await runtime.submit()
            ended = await self.ended(runtime)
            assert ended.artifact is None
            assert "the rest could not be kept" in (await result(runtime) or "")


class TestStopping:
    async def test_a_tool_may_end_within_the_grace(self) -> None:
        look = fake_tools.FakeTool(effect=contract.Effect.UNSAFE)
        look.outcome = None
        async with rig.started(look, replies=[USE]) as runtime:
            await runtime.submit()
            await rig.until(lambda: look.ran == 1)
            stopping = asyncio.create_task(runtime.effects.stop(rig.PATIENCE_SECONDS))
            await rig.settle()
            look.go_on.set()
            await stopping
            await runtime.until_event(events.ToolCallEnded)
            assert await outcomes(runtime) == [events.CallOutcome.FINISHED]

    async def test_what_does_not_is_ended_without_an_outcome(self) -> None:
        store = in_memory.InMemoryStore()
        look = fake_tools.FakeTool(effect=contract.Effect.UNSAFE)
        look.outcome = None
        async with rig.started(look, store=store, replies=[USE]) as runtime:
            task = await runtime.submit()
            await rig.until(lambda: look.ran == 1)
            await runtime.effects.stop(0)
            await rig.settle()
            assert (look.cancelled, look.closed) == (1, 1)
            assert await outcomes(runtime) == []
        async with rig.started(look, store=store, clean=True) as runtime:
            await runtime.reach(task.task_id, S.AWAITING_DECISION)
            assert look.ran == 1

    async def test_nothing_starts_afterwards(self) -> None:
        async with rig.started() as runtime:
            await runtime.effects.stop(0)
            await runtime.submit()
            await rig.settle()
            assert runtime.model.counted == []


async def test_a_permit_that_does_not_fit_runs_nothing() -> None:
    """The digest is computed again from what is held, whatever the action says."""
    look = fake_tools.FakeTool()
    look.outcome = None
    async with rig.started(look, replies=[USE]) as runtime:
        await runtime.submit()
        await rig.until(lambda: look.ran == 1)
        started = [one.event for one in await runtime.log()]
        (event,) = [one for one in started if isinstance(one, events.ToolCallStarted)]
        (proposed,) = [one for one in started if isinstance(one, events.ToolCallProposed)]
        site = fake_tools.site(event.task_id, proposed)
        forged = fake_tools.forged(site, digest="0" * 64)
        runtime.effects.perform(forged)
        await runtime.until_event(events.ToolCallEnded)
        assert look.ran == 1
        assert await outcomes(runtime) == [events.CallOutcome.FAILED]
        assert await result(runtime) == "Not run: the permit does not fit what would run."


async def test_an_action_that_breaks_ends_its_task() -> None:
    async with rig.started() as runtime:
        runtime.model.uncountable.append(ZeroDivisionError())
        task = await runtime.submit("too long not to be counted " * 80)
        await runtime.reach(task.task_id, S.FAILED)
        other = await runtime.submit()
        await runtime.reach(other.task_id, S.COMPLETED)
        assert runtime.loop.world.tasks == {}
