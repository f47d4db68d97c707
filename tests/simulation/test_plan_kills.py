"""A plan that asks, fails, is tried again and answers, killed after each of its commits in turn.

Two of its steps begin at once; one of them is a command that asks and that fails the first time,
the critic has it tried again; one more follows, and the last writes the answer. Wherever the daemon
ends, the next one brings the task to the same answer by the same steps, and nothing happens twice.
"""

import json
import random
from collections.abc import Sequence

import grpc
import pytest

from daemon.runtime import failpoints
from proto.ducklm.v1 import common_pb2, events_pb2, tasks_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, crashing_daemon, daemon_process, invariants, person, script

MODULE = "tests.simulation.crashing_daemon"
ANSWER = "Both have been done."
MOST_COMMITS = 100
_DONE = (
    invariants.Ended.FINISHED,
    invariants.Ended.FAILED,
    invariants.Ended.MARKED_DONE,
)


def tries(number: int) -> str:
    return f"tries-{number}"


def plan(place: daemon_process.Place, number: int) -> str:
    """The steps of the n-th task; the command leaves a line each time and fails the first time."""
    file = tries(number)
    flaky = f"echo tried >> {file}; test $(wc -l < {file}) -ge 2"
    journal = {"journal": str(place.journal)}
    steps = [
        step("look", "testing_pure", journal, []),
        step("try", "shell_exec", {"command": flaky}, []),
        step("note", "testing_unsafe", journal, ["look"]),
        {"id": "say", "goal": "say it", "kind": "respond", "after": ["try", "note"]},
    ]
    return json.dumps({"kind": "plan", "steps": steps})


def step(name: str, tool: str, arguments: dict[str, str], after: list[str]) -> dict[str, object]:
    goal = f"goal {name}"
    called = {"kind": "tool", "tool": tool, "arguments": arguments, "after": after}
    return {"id": name, "goal": goal, **called}


def criticism(follows: str, score: int) -> str:
    scores = dict.fromkeys(("correctness", "usefulness", "safety"), score)
    return json.dumps({**scores, "follows": follows, "note": ""})


def lines(place: daemon_process.Place, tasks: int) -> list[script.Line]:
    """A plan for each task, its answer, and a critic that has the command tried once more."""
    plans = [script.Line(plan(place, n), match=f"^Do {n} ") for n in range(tasks)]
    return [
        *plans,
        script.Line(ANSWER, match="say it$"),
        script.Line(criticism("retry", 1), match="goal try$", role="critic"),
        script.Line(criticism("continue", 9), role="critic", repeat=True),
    ]


class Work:
    """Tasks one after the other, each on a daemon that may end after a certain commit."""

    def __init__(self, place: daemon_process.Place, daemons: daemon_process.Daemons) -> None:
        self._place = place
        self._daemons = daemons
        self._armed = place.root / "armed"
        self._answers = person.Person(self._happened)
        self._number = 0
        self.daemon = self._start(0)

    def _start(self, hit: int) -> daemon_process.Daemon:
        """A daemon that ends after its n-th commit once it is armed; with 0 it never does."""
        point = ("--point", failpoints.AFTER_COMMIT, "--hit", str(hit))
        passed = ("--passed", str(self._place.root / f"passed-{hit}"))
        return self._daemons.start(*point, *passed, "--armed", str(self._armed), module=MODULE)

    def _happened(self, task: tasks_pb2.Task, unknown: tasks_pb2.UnknownOutcome) -> bool:
        """What can be seen outside: the call's id in the journal, or one line more than results."""
        if unknown.tool != "shell_exec":
            return unknown.call_id in self._place.noted()
        calls = invariants.calls_of(self.daemon.api.log(task.task_id)).values()
        ended = [one for one in calls if one.tool == "shell_exec" and one.outcomes[-1:]]
        return self.tried() > sum(one.outcomes[-1] in _DONE for one in ended)

    def tried(self) -> int:
        """How often the command of the last task ran."""
        return len(daemon_process.lines_of(self._place.outside / tries(self._number)))

    def run(self, number: int, hit: int) -> tuple[str, bool]:
        """Carry out the n-th task; its id, and whether the daemon ended on the way."""
        self._number = number
        self.daemon.kill()
        self.daemon = self._start(hit)
        self._armed.touch()
        text, crashed = f"Do {number} for me.", False
        try:
            task_id = self.daemon.api.submit(text, key=text).task_id
            self._answers.finish(self.daemon.api, task_id)
        except grpc.RpcError:
            assert self.daemon.ended() == crashing_daemon.CRASHED
            self._armed.unlink()
            self.daemon, crashed = self._start(0), True
            task_id = self.daemon.api.submit(text, key=text).task_id
            self._answers.finish(self.daemon.api, task_id)
        self._armed.unlink(missing_ok=True)
        return task_id, crashed

    def commits(self) -> int:
        """How many there were of an undisturbed task."""
        passed = daemon_process.lines_of(self._place.root / "passed-0")
        return passed.count(failpoints.AFTER_COMMIT)


def ends(log: Sequence[events_pb2.Event]) -> dict[str, str]:
    """How each step ended."""
    ended = [event.step_ended for event in log if event.HasField("step_ended")]
    return {one.step_id: one.outcome for one in ended}


def check(speaks: client.Client, task_id: str, tried: int) -> dict[str, str]:
    """The task has its answer, by all of its steps; returns how they ended."""
    task = speaks.task(task_id)
    assert task.state == common_pb2.COMPLETED, task
    assert task.answer == ANSWER
    assert tried == 2
    log = speaks.log(task_id)
    judged = [event.step_judged for event in log if event.HasField("step_judged")]
    assert [one.step_id for one in judged if one.follows == "retry"] == ["try"]
    directives = [event for event in log if event.HasField("directive_taken")]
    assert len(directives) == 1
    return ends(log)


@pytest.mark.acceptance(2)
@pytest.mark.timeout(300)
def test_a_plan_ends_the_same_wherever_the_daemon_ended(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
    seed: int,
) -> None:
    place.prepare(lines(place, MOST_COMMITS))
    work = Work(place, daemons)
    task_id, crashed = work.run(0, 0)
    expected = check(work.daemon.api, task_id, work.tried())
    assert not crashed
    assert expected == dict.fromkeys(("look", "try", "note", "say"), "done")
    commits = range(1, work.commits() + 1)
    assert len(commits) < MOST_COMMITS
    chosen = random.Random(seed).sample(commits, rounds(len(commits)))
    crashes = 0
    for number, hit in enumerate(sorted(chosen), 1):
        task_id, crashed = work.run(number, hit)
        crashes += crashed
        assert check(work.daemon.api, task_id, work.tried()) == expected
    speaks = work.daemon.api
    log = speaks.log()
    invariants.check_sequence(log)
    invariants.check_calls(log, place.noted())
    invariants.check_states(log, speaks)
    assert crashes >= len(chosen) // 2
    figures("plans", len(chosen) + 1)
    figures("plans killed", crashes)
    figures("other endings", 0)
