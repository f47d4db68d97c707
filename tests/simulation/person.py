"""The person at the other end: answers what waits for somebody, until a task has ended.

Looks at what is there and not at what was, so that it may begin again after any crash. A call that
fails because the daemon died is raised: whoever kills must see it.
"""

import random
from collections.abc import Callable, Generator
from contextlib import closing

import grpc

from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests.simulation import client, invariants

Happened = Callable[[tasks_pb2.Task, tasks_pb2.UnknownOutcome], bool]
"""Whether a call of unknown outcome did happen, as far as the person can tell."""


def _tolerate(call: Callable[[], object]) -> None:
    """A second answer to the same question is refused: it was given before the crash."""
    try:
        call()
    except grpc.RpcError as error:
        if client.code_of(error) is not grpc.StatusCode.FAILED_PRECONDITION:
            raise


class Person:
    """Allows every command, and decides about calls of unknown outcome."""

    def __init__(self, happened: Happened) -> None:
        self._happened = happened
        self.decisions = 0

    def answer(self, speaks: client.Client, task_id: str) -> bool:
        """Answer what the task waits for now; True when it has ended."""
        task = speaks.task(task_id)
        match task.state:
            case common_pb2.AWAITING_APPROVAL:
                for approval_id in task.approval_ids:
                    self._allow(speaks, approval_id)
            case common_pb2.AWAITING_DECISION:
                for unknown in task.unknown_outcomes[:1]:
                    self._decide(speaks, task, unknown)
            case common_pb2.PARKED | common_pb2.MODEL_UNAVAILABLE:
                _tolerate(lambda: speaks.decide(task_id, tasks_pb2.RETRY))
            case _:
                pass
        return task.state in invariants.FINAL

    def _allow(self, speaks: client.Client, approval_id: str) -> None:
        _tolerate(lambda: speaks.resolve(approval_id, approvals_pb2.ALLOW_ONCE))

    def _decide(
        self, speaks: client.Client, task: tasks_pb2.Task, unknown: tasks_pb2.UnknownOutcome
    ) -> None:
        done = self._happened(task, unknown)
        decision = tasks_pb2.MARK_DONE if done else tasks_pb2.RUN_AGAIN
        self.decisions += 1
        _tolerate(lambda: speaks.decide(task.task_id, decision, unknown.call_id))

    def watch(
        self, speaks: client.Client, task_id: str, after_seq: int, seconds: float
    ) -> Generator[events_pb2.Update]:
        """The task's updates until it has ended, with an answer to each of its questions.

        Raises:
            grpc.RpcError: the daemon died, or the seconds have passed (DEADLINE_EXCEEDED).
        """
        if self.answer(speaks, task_id):
            return
        with closing(speaks.follow(after_seq, task_id, seconds)) as updates:
            for update in updates:
                yield update
                changed = update.event.HasField("task_state_changed")
                if changed and self.answer(speaks, task_id):
                    return

    def finish(self, speaks: client.Client, task_id: str, after_seq: int = 0) -> None:
        """Answer until the task has ended."""
        for _ in self.watch(speaks, task_id, after_seq, client.CALL_SECONDS):
            continue


def looks(noted: Callable[[], list[str]]) -> Happened:
    """A person who looks outside before saying anything."""
    return lambda task, unknown: unknown.call_id in noted()


def guesses(chance: random.Random) -> Happened:
    """A person who cannot look."""
    return lambda task, unknown: chance.random() < 0.5
