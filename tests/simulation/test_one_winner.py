"""Many answers at once to one approval: the first wins, and all are told so."""

import random
from collections.abc import Sequence
from concurrent import futures
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import TypeAlias

import grpc
import pytest

from daemon.domain import events, inputs
from proto.ducklm.v1 import approvals_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, invariants, proposing, script
from tests.unit.runtime import fake_tools, rig
from tools import contract

pytestmark = [pytest.mark.timeout(240), pytest.mark.spec("D-12")]

CLIENTS = 3
ANSWERS = 32
OUTCOMES = {
    approvals_pb2.ALLOW_ONCE: approvals_pb2.ALLOWED,
    approvals_pb2.ALLOW_ALWAYS: approvals_pb2.ALLOWED,
    approvals_pb2.DENY: approvals_pb2.DENIED,
}
_WORDS = {approvals_pb2.ALLOWED: "allowed", approvals_pb2.DENIED: "denied"}
Answer: TypeAlias = approvals_pb2.Answer.ValueType


@dataclass(frozen=True)
class Told:
    """What one answer got back: the approval, or a sentence that refuses."""

    answer: Answer
    approval: approvals_pb2.Approval | None = None
    sentence: str = ""

    def names(self, outcome: approvals_pb2.ApprovalStatus.ValueType) -> bool:
        """Whether it was told that outcome: accepted where it had said so, else refused."""
        if self.approval is not None:
            return OUTCOMES[self.answer] == self.approval.status == outcome
        later = self.answer == approvals_pb2.ALLOW_ALWAYS and outcome == approvals_pb2.ALLOWED
        differs = OUTCOMES[self.answer] != outcome
        return (later or differs) and _WORDS[outcome] in self.sentence


def press(through: client.Client, approval_id: str, answer: Answer) -> Told:
    try:
        return Told(answer, through.resolve(approval_id, answer))
    except grpc.RpcError as error:
        if client.code_of(error) is not grpc.StatusCode.FAILED_PRECONDITION:
            raise
        return Told(answer, sentence=str(error))


def ask(speaks: client.Client, command: str) -> tuple[str, str]:
    """The task and the approval that a command asks for."""
    submitted = speaks.submit(f"`{command}`")
    for update in speaks.follow(submitted.seq - 1, submitted.task_id):
        if update.event.HasField("approval_requested"):
            return submitted.task_id, update.event.approval_requested.approval_id
    raise AssertionError("the command was not asked for")


def winners(speaks: client.Client, task_id: str) -> list[str]:
    """The outcomes in the task's log, once it has ended."""
    for update in speaks.follow(0, task_id):
        if update.event.task_state_changed.to in invariants.FINAL:
            break
    log = speaks.log(task_id)
    return [one.approval_resolved.outcome for one in log if one.HasField("approval_resolved")]


def pressed(
    pool: futures.Executor,
    clients: Sequence[client.Client],
    approval_id: str,
    answers: Sequence[Answer],
) -> list[Told]:
    """All answers at once, each over the next connection."""
    sent = [
        pool.submit(press, clients[number % len(clients)], approval_id, answer)
        for number, answer in enumerate(answers)
    ]
    return [one.result() for one in sent]


@pytest.mark.acceptance(18)
def test_the_first_of_many_answers_wins(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    seed: int,
    figures: Figures,
) -> None:
    place.prepare([script.Line("Well.", repeat=True)])
    chance, daemon = random.Random(seed), daemons.start()
    allowed = 0
    with ExitStack() as held:
        pool = held.enter_context(futures.ThreadPoolExecutor(ANSWERS))
        clients = [held.enter_context(closing(daemon.connect())) for _ in range(CLIENTS)]
        for number in range(rounds(200)):
            ran = place.outside / f"ran-{number}"
            task_id, approval_id = ask(daemon.api, f"echo ran >> {ran.name}")
            answers = chance.choices(list(OUTCOMES), k=ANSWERS)
            told = pressed(pool, clients, approval_id, answers)
            status = daemon.api.approval(approval_id).status
            assert [one for one in told if not one.names(status)] == []
            assert winners(daemon.api, task_id) == [_WORDS[status]]
            was_allowed = status == approvals_pb2.ALLOWED
            assert daemon_process.lines_of(ran) == ["ran"] * was_allowed
            again = pressed(pool, clients, approval_id, list(OUTCOMES))
            assert [one for one in again if not one.names(status)] == []
            assert daemon_process.lines_of(ran) == ["ran"] * was_allowed
            allowed += was_allowed
    figures("rounds of 32 answers over three connections", rounds(200))
    figures("allowed, each run once", allowed)
    figures("denied, none run", rounds(200) - allowed)
    figures("told otherwise", 0)


@pytest.mark.acceptance(18)
async def test_a_used_approval_starts_nothing_more() -> None:
    """Neither the answer again, nor the very permit of the run, nor a proposal of the same call."""
    tool = fake_tools.FakeTool(category=contract.Category.NORMAL)
    reply = proposing.directive("look", {})
    async with rig.started(tool) as runtime:
        asked = await proposing.propose(runtime, reply)
        story = await proposing.answer(runtime, asked)
        assert tool.ran == 1
        await runtime.resolve(asked.approval.approval_id, inputs.Answer.ALLOW_ONCE)
        (started,) = story.started
        (proposed,) = [one for one in story.told if isinstance(one, events.ToolCallProposed)]
        forged = fake_tools.forged(fake_tools.site(story.task_id, proposed), started.digest)
        runtime.effects.perform(forged)
        await rig.settle()
        again = await proposing.propose(runtime, reply)
        assert again.asks
        assert tool.ran == 1
