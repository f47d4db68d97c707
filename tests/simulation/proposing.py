"""Calls that a model proposes to a runtime with real tools, and what comes of them.

Everything is in this process, so that a test can change what no outside hand reaches. Answers only
what the log says: which call started, on what, and how each ended.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass

from daemon.domain import decisions, events, ids, inputs, principals, state, verdicts
from daemon.runtime import bus
from tests.unit.runtime import rig

_STOPS = state.WAITING | state.FINAL
_ANSWERED = "done"
PATIENCE_SECONDS = 60.0


def directive(tool: str, arguments: Mapping[str, object]) -> str:
    """What a model says to have a tool called."""
    return json.dumps({"kind": "tool", "tool": tool, "arguments": arguments})


def command(text: str) -> str:
    """What a model says to have a command run."""
    return directive("shell_exec", {"command": text})


@dataclass(frozen=True)
class Story:
    """One task's events, from its first to where it waits or has ended."""

    task_id: ids.TaskId
    told: tuple[events.Event, ...]

    @property
    def approval(self) -> events.ApprovalRequested:
        """What it asked last."""
        return [e for e in self.told if isinstance(e, events.ApprovalRequested)][-1]

    @property
    def started(self) -> list[events.ToolCallStarted]:
        return [e for e in self.told if isinstance(e, events.ToolCallStarted)]

    @property
    def outcomes(self) -> list[events.CallOutcome]:
        """How each call ended."""
        return [e.outcome for e in self.told if isinstance(e, events.ToolCallEnded)]

    @property
    def verdicts(self) -> list[verdicts.Verdict]:
        return [e.verdict for e in self.told if isinstance(e, events.ToolCallInspected)]

    @property
    def states(self) -> list[state.TaskState]:
        return [e.state for e in self.told if isinstance(e, events.TaskStateChanged)]

    async def result(self, of: rig.Rig) -> str:
        """What the model is told of its last call."""
        ended = [e for e in self.told if isinstance(e, events.ToolCallEnded)][-1]
        assert ended.result is not None
        return await of.kept.text(ended.result) or ""

    @property
    def stops(self) -> int:
        """How often it came to where only a person goes on, or to its end."""
        return sum(one in _STOPS for one in self.states)

    @property
    def asks(self) -> bool:
        """Whether it waits for a person."""
        return self.states[-1] is state.TaskState.AWAITING_APPROVAL


async def propose(
    to: rig.Rig,
    reply: str,
    origin: principals.Origin | None = None,
    mode: verdicts.Mode = verdicts.Mode.BUILD,
) -> Story:
    """A new task whose model says that; its story to the first stop."""
    to.model.replies[:] = [reply, _ANSWERED]
    given = rig.submission("go on").but({"mode": mode})
    if origin is not None:
        given = given.but({"origin": origin})
    submitted = await to.box.ask(given)
    assert isinstance(submitted, decisions.Submitted)
    return await story(to, submitted.task_id)


async def story(to: rig.Rig, task_id: ids.TaskId, stops: int = 1) -> Story:
    """A task's story to its n-th stop."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await _story(to, task_id, stops)


async def _story(to: rig.Rig, task_id: ids.TaskId, stops: int) -> Story:
    found: list[events.Event] = []
    async with aclosing(to.bus.subscribe(0, bus.Scope(task_id=task_id, live=False))) as pages:
        async for page in pages:
            for one in page:
                if not isinstance(one, events.Recorded):
                    continue
                found.append(one.event)
                if isinstance(one.event, events.TaskStateChanged) and one.event.state in _STOPS:
                    stops -= 1
                if stops == 0:
                    return Story(task_id, tuple(found))
    raise AssertionError("the stream has ended too early")


async def answer(
    to: rig.Rig, asked: Story, said: inputs.Answer = inputs.Answer.ALLOW_ONCE
) -> Story:
    """Answer what a task asked last; its story to the stop after that."""
    await to.resolve(asked.approval.approval_id, said)
    return await story(to, asked.task_id, asked.stops + 1)


async def leave(to: rig.Rig, asked: Story) -> None:
    """Cancel a task that waits."""
    await to.cancel(asked.task_id)
    await story(to, asked.task_id, asked.stops + 1)
