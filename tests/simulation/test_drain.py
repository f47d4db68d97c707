"""A stop by signal: NOT_SERVING first, an end within 10 s, and every task goes on afterwards."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from daemon import exits
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2
from tests.conftest import Figures
from tests.simulation import client, daemon_process, invariants, person, script

ASKING, SPEAKING, LANES = 4, 14, 8
TASKS = ASKING + SPEAKING + 2
SPEECH = "word " * 600
LONG = "sleep 120"
MOST_STOP_SECONDS = 10.0
MOST_EXIT_SECONDS = 2.0


def lines(chunk_ms: int) -> list[script.Line]:
    return [script.Line(SPEECH, match="^Speak", chunk_ms=chunk_ms)]


@dataclass
class Office:
    """20 tasks: some ask, one runs a short and one a long command, some speak, the rest queue."""

    place: daemon_process.Place
    tasks: list[str] = field(default_factory=list)

    @property
    def ended(self) -> Path:
        """Where the short command leaves a line when it ends."""
        return self.place.outside / "ended"

    def open(self, speaks: client.Client) -> None:
        """Submit everything and wait until all that can run does."""
        pid = self.place.outside / "pid"
        short = f"`sleep 3; echo ended >> {self.ended}`"
        long = f"`echo $$ >> {pid}; exec {LONG}`"
        asking = ["`touch asked`"] * ASKING
        self.tasks = [speaks.submit(text).task_id for text in (*asking, short, long)]
        commands = self.tasks[ASKING:]
        for event in self._first(speaks, "approval_requested", len(self.tasks)):
            if event.task_id in commands:
                speaks.resolve(event.approval_requested.approval_id, approvals_pb2.ALLOW_ONCE)
        self._first(speaks, "tool_call_started", len(commands))
        self.tasks += [speaks.submit("Speak.").task_id for _ in range(SPEAKING)]
        self._first(speaks, "model_call_started", LANES - len(commands))

    def _first(self, speaks: client.Client, kind: str, count: int) -> list[events_pb2.Event]:
        """The first events of a kind, once so many have come."""
        found: list[events_pb2.Event] = []
        with contextlib.closing(speaks.follow(0)) as updates:
            for update in updates:
                if update.event.WhichOneof("kind") == kind:
                    found.append(update.event)
                if len(found) == count:
                    break
        return found

    def close(self) -> None:
        """End the long command, which a killed daemon leaves behind."""
        for pid in daemon_process.lines_of(self.place.outside / "pid"):
            with contextlib.suppress(psutil.NoSuchProcess):
                left = psutil.Process(int(pid))
                if left.cmdline() == LONG.split():
                    left.kill()


@pytest.fixture
def office(place: daemon_process.Place) -> Iterator[Office]:
    place.prepare(lines(chunk_ms=100))
    opened = Office(place)
    yield opened
    opened.close()


def order_to_stop(daemon: daemon_process.Daemon) -> None:
    """SIGTERM, and wait until health has said NOT_SERVING."""
    with contextlib.closing(daemon.api.watch_health()) as health:
        assert next(health)
        daemon.terminate()
        assert next(health) is False
    assert daemon.alive()


def go_on(office: Office, daemons: daemon_process.Daemons) -> list[events_pb2.Event]:
    """Start again: every task comes to its good end. Returns the whole log."""
    office.place.rewrite(lines(chunk_ms=0))
    daemon = daemons.start()
    answers = person.Person(lambda task, unknown: True)
    for task_id in office.tasks:
        answers.finish(daemon.api, task_id)
    log = daemon.api.log()
    invariants.check_sequence(log)
    invariants.check_calls(log, office.place.noted())
    states = {task_id: task.state for task_id, task in daemon.api.tasks().items()}
    assert states == dict.fromkeys(office.tasks, common_pb2.COMPLETED)
    assert len(states) == TASKS
    return log


def recoveries(log: Iterable[events_pb2.Event]) -> dict[str, int]:
    """How often each task was recovered, of those that were."""
    found = [event for event in log if event.HasField("task_recovered")]
    return {event.task_id: event.task_recovered.count for event in found}


@pytest.mark.acceptance(37)
@pytest.mark.timeout(240)
def test_a_drain_ends_soon_and_every_task_goes_on(
    office: Office, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    daemon = daemons.start()
    office.open(daemon.api)
    began_seconds = time.monotonic()
    order_to_stop(daemon)
    assert daemon.ended() == exits.Exit.STOPPED
    seconds = time.monotonic() - began_seconds
    assert daemon_process.lines_of(office.ended) == ["ended"]
    log = go_on(office, daemons)
    assert set(recoveries(log).values()) == {0}  # told, and not counted
    assert daemon_process.lines_of(office.ended) == ["ended"]
    figures("drain, s", round(seconds, 1))
    figures("tasks that went on", f"{TASKS} of {TASKS}")
    assert seconds <= MOST_STOP_SECONDS


@pytest.mark.acceptance(37)
@pytest.mark.timeout(240)
def test_a_kill_in_the_middle_of_a_drain_loses_nothing(
    office: Office, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    daemon = daemons.start()
    office.open(daemon.api)
    order_to_stop(daemon)
    daemon.kill()
    log = go_on(office, daemons)
    counted = recoveries(log)
    assert set(counted.values()) == {1}
    assert len(counted) == LANES
    figures("tasks that went on after a kill in the drain", f"{TASKS} of {TASKS}")


@pytest.mark.acceptance(37)
@pytest.mark.timeout(240)
def test_a_second_signal_ends_it_at_once(
    office: Office, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    daemon = daemons.start()
    office.open(daemon.api)
    order_to_stop(daemon)
    began_seconds = time.monotonic()
    daemon.terminate()
    assert daemon.ended() == exits.Exit.FAULT
    seconds = time.monotonic() - began_seconds
    figures("second signal to the end, s", round(seconds, 2))
    go_on(office, daemons)
    assert seconds <= MOST_EXIT_SECONDS
