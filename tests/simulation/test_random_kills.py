"""kill -9 at random points of a task: nothing is lost, and nothing unsafe happens twice."""

import random
from collections import Counter

import grpc
import pytest

from proto.ducklm.v1 import common_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, invariants, person, script

KINDS = ("pure",) * 3 + ("reconcilable",) * 2 + ("unsafe",) * 3
MOST_UPDATES = 60
MOST_SECONDS = 0.4


def lines(place: daemon_process.Place, chance: random.Random) -> list[script.Line]:
    """Three pure, two reconcilable and three unsafe calls in a random order, then the answer."""
    said = []
    for number, kind in enumerate(chance.sample(KINDS, len(KINDS))):
        file = place.outside / f"file-{number}" if kind == "reconcilable" else None
        said.append(script.Line(script.use(kind, place.journal, file, f"text {number}")))
    return [*said, script.Line("All is done.")]


def runs_on(
    chance: random.Random, answers: person.Person, speaks: client.Client, task_id: str
) -> bool:
    """Let the task run to a random point; False when it had ended before."""
    by_time = chance.random() < 0.5
    seconds = chance.uniform(0.001, MOST_SECONDS) if by_time else client.CALL_SECONDS
    updates = MOST_UPDATES if by_time else chance.randrange(MOST_UPDATES)
    try:
        for seen, _ in enumerate(answers.watch(speaks, task_id, speaks.head_seq(), seconds), 1):
            if seen >= updates:
                return True
    except grpc.RpcError as error:
        if client.code_of(error) is not grpc.StatusCode.DEADLINE_EXCEEDED:
            raise
        return True
    return False


@pytest.mark.acceptance(1)
@pytest.mark.timeout(240)
def test_a_task_survives_being_killed_at_random_points(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    chance = random.Random(seed)
    place.prepare(lines(place, chance))
    answers = person.Person(person.guesses(chance))
    daemon = daemons.start()
    kills = listed = tasks = 0
    while kills < rounds(200):
        tasks += 1
        for file in place.outside.glob("file-*"):
            file.unlink()
        task_id = daemon.api.submit(f"Do it, number {tasks}.").task_id
        for _ in range(chance.choice((1, 1, 2, 2, 3, 8))):
            if not runs_on(chance, answers, daemon.api, task_id):
                break
            daemon.kill()
            kills += 1
            daemon = daemons.start()
            listed += invariants.check_listed(daemon.api, task_id)
        answers.finish(daemon.api, task_id)
        check_done(daemon.api, task_id)
        assert len(list(place.outside.glob("file-*"))) == KINDS.count("reconcilable")
    log = daemon.api.log()
    invariants.check_sequence(log)
    invariants.check_calls(log, place.noted())
    invariants.check_states(log, daemon.api)
    runs = Counter(place.noted())
    unsafe = [c for c, call in invariants.calls_of(log).items() if call.effect == "unsafe"]
    figures("kills", kills)
    figures("tasks", tasks)
    figures("lost tasks", 0)
    figures("unsafe calls", len(unsafe))
    figures("unsafe twice", sum(runs[call_id] > 1 for call_id in unsafe))
    figures("unknown outcomes listed", listed)


def check_done(speaks: client.Client, task_id: str) -> None:
    """The task has its answer, and each of its calls was carried out or marked as done."""
    task = speaks.task(task_id)
    assert task.state == common_pb2.COMPLETED, task
    assert task.answer == "All is done."
    done = (invariants.Ended.FINISHED, invariants.Ended.MARKED_DONE)
    calls = invariants.calls_of(speaks.log(task_id)).values()
    assert sum(call.outcomes[-1] in done for call in calls) == len(KINDS)
