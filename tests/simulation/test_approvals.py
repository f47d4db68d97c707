"""Approvals over kills: what waits still waits, allowed runs once, denied never."""

import random
from pathlib import Path

import grpc
import pytest

from daemon.domain import decisions
from daemon.runtime import failpoints
from proto.ducklm.v1 import approvals_pb2, common_pb2, tasks_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import (
    client,
    crashing_daemon,
    daemon_process,
    invariants,
    person,
    script,
    working_days,
)


def request(speaks: client.Client, ran: Path) -> tuple[str, str]:
    """Ask for a command that leaves a line in a file; returns the task and the pending approval."""
    submitted = speaks.submit(f"`echo ran >> {ran}`")
    for update in speaks.follow(submitted.seq - 1, submitted.task_id):
        if update.event.HasField("approval_requested"):
            return submitted.task_id, update.event.approval_requested.approval_id
    raise AssertionError("the command was not asked for")


@pytest.mark.acceptance(10)
@pytest.mark.timeout(240)
def test_a_pending_approval_is_the_same_after_a_kill(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare([script.Line("Well.", repeat=True)])
    chance = random.Random(seed)
    runs = {approvals_pb2.ALLOW_ONCE: 1, approvals_pb2.DENY: 0}
    daemon = daemons.start()
    for number in range(rounds(50)):
        ran = place.outside / f"ran-{number}"
        task_id, approval_id = request(daemon.api, ran)
        shown = daemon.api.approval(approval_id)
        daemon.kill()
        daemon = daemons.start()
        assert daemon.api.pending() == [shown]
        assert list(daemon.api.task(task_id).approval_ids) == [approval_id]
        answer = chance.choice(list(runs))
        for _ in range(2):  # a button may be pressed twice
            daemon.api.resolve(approval_id, answer)
        person.Person(person.guesses(chance)).finish(daemon.api, task_id)
        assert len(daemon_process.lines_of(ran)) == runs[answer]
    log = daemon.api.log()
    invariants.check_calls(log, place.noted())
    invariants.check_states(log, daemon.api)
    figures("kills while pending", rounds(50))
    figures("still pending under the same id", rounds(50))


def points_after_an_answer() -> list[tuple[str, int]]:
    """Around the decision, the second inspection, the start that uses it up, the run, its end."""
    inspect, run = decisions.InspectCall.kind, decisions.CallTool.kind
    commits = (failpoints.BEFORE_COMMIT, failpoints.AFTER_COMMIT)
    around = (failpoints.before, failpoints.after)
    return [
        *((point, hit) for hit in (1, 2, 3) for point in commits),
        *((point(kind), 1) for kind in (inspect, run) for point in around),
    ]


@pytest.mark.acceptance(10)
@pytest.mark.timeout(240)
def test_a_kill_between_decision_and_start_neither_doubles_nor_loses(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare([script.Line("Well.", repeat=True)])
    chance = random.Random(seed)
    points = points_after_an_answer()
    chosen = [points[number % len(points)] for number in range(rounds(50))]
    if len(chosen) < len(points):
        chosen = chance.sample(points, len(chosen))
    armed = place.outside / "armed"
    decided = 0
    for number, (point, hit) in enumerate(chosen):
        options = ("--point", point, "--hit", str(hit), "--armed", str(armed))
        daemon = daemons.start(*options, module=working_days.MODULE)
        ran = place.outside / f"ran-{number}"
        task_id, approval_id = request(daemon.api, ran)
        armed.touch()
        press_until_it_dies(daemon, approval_id, task_id)
        armed.unlink()
        daemon = daemons.start()
        daemon.api.resolve(approval_id, approvals_pb2.ALLOW_ONCE)
        looks = person.Person(ran_is_there(ran))
        looks.finish(daemon.api, task_id)
        decided += looks.decisions
        assert daemon.api.task(task_id).state == common_pb2.COMPLETED
        assert daemon_process.lines_of(ran) == ["ran"], (point, hit)
        daemon.kill()
    daemon = daemons.start()
    invariants.check_calls(daemon.api.log(), place.noted())
    figures("kills after the answer", len(chosen))
    figures("unknown outcomes decided", decided)
    figures("double or lost", 0)


def ran_is_there(ran: Path) -> person.Happened:
    def happened(task: tasks_pb2.Task, unknown: tasks_pb2.UnknownOutcome) -> bool:
        return ran.exists()

    return happened


def press_until_it_dies(daemon: daemon_process.Daemon, approval_id: str, task_id: str) -> None:
    """Allow, and follow the task until the daemon ends at its point."""
    with pytest.raises(grpc.RpcError) as died:
        press(daemon.api, approval_id, task_id)
    assert client.code_of(died.value) is grpc.StatusCode.UNAVAILABLE
    assert daemon.ended() == crashing_daemon.CRASHED


def press(speaks: client.Client, approval_id: str, task_id: str) -> None:
    speaks.resolve(approval_id, approvals_pb2.ALLOW_ONCE)
    for _ in speaks.follow(0, task_id):
        continue
