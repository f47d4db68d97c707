"""Many tasks and subscribers while a foreign program holds a snapshot: nobody meets a lock."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress

import grpc
import pytest

from proto.ducklm.v1 import common_pb2
from tests.conftest import Figures, Rounds
from tests.simulation import client, daemon_process, invariants, person, script

TASKS, SUBSCRIBERS, CALLS = 8, 4, 10
HELD_SECONDS = 30
MOST_WAL_BYTES = 64 * 1024 * 1024
LOCK_WORDS = ("locked", "holds the database", "commit_failed")


@contextmanager
def snapshot(place: daemon_process.Place) -> Iterator[None]:
    """Another process reads the database and stays in its transaction."""
    database = str(place.state / "ducklm.db")
    command = [sys.executable, "-m", "tests.simulation.snapshot_reader", database]
    with subprocess.Popen(
        command,
        cwd=daemon_process.ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline().strip().isdigit()
            yield
            assert reader.poll() is None
        finally:
            reader.kill()


class Subscriber:
    """Reads all events on a thread of its own until its channel is closed."""

    def __init__(self, speaks: client.Client) -> None:
        self._speaks = speaks
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._read, name="subscriber")
        self.seen: list[int] = []
        self._thread.start()

    def _read(self) -> None:
        with suppress(grpc.RpcError), closing(self._speaks.follow(0, seconds=3600)) as updates:
            for update in updates:
                if update.HasField("event"):
                    with self._changed:
                        self.seen.append(update.event.seq)
                        self._changed.notify()

    def wait_for(self, head_seq: int) -> None:
        with self._changed:
            came = self._changed.wait_for(
                lambda: len(self.seen) >= head_seq, daemon_process.PATIENCE_SECONDS
            )
        assert came, f"{len(self.seen)} of {head_seq} events came"

    def close(self) -> None:
        self._speaks.close()
        self._thread.join()


@contextmanager
def subscribers(daemon: daemon_process.Daemon) -> Iterator[list[Subscriber]]:
    with ExitStack() as stack:
        reading = [Subscriber(daemon.connect()) for _ in range(SUBSCRIBERS)]
        for one in reading:
            stack.callback(one.close)
        yield reading


def work(speaks: client.Client, until_seconds: float) -> int:
    """Have eight tasks at once, again and again; returns how many there were."""
    answers = person.Person(lambda task, unknown: True)
    done = 0
    while done == 0 or time.monotonic() < until_seconds:
        submitted = [speaks.submit("Look around.") for _ in range(TASKS)]
        for one in submitted:
            answers.finish(speaks, one.task_id, one.seq - 1)
            assert speaks.task(one.task_id).state == common_pb2.COMPLETED
        done += TASKS
    return done


@pytest.mark.acceptance(7)
@pytest.mark.timeout(240)
def test_nobody_meets_a_lock_while_a_foreign_reader_holds_a_snapshot(
    place: daemon_process.Place,
    daemons: daemon_process.Daemons,
    rounds: Rounds,
    figures: Figures,
) -> None:
    said = [script.Line(script.use("pure", place.journal)) for _ in range(CALLS)]
    place.prepare([*said, script.Line("Seen " + "x" * 4096)])
    daemon = daemons.start()
    held_seconds = rounds(HELD_SECONDS)
    with subscribers(daemon) as reading:
        with snapshot(place):
            tasks = work(daemon.api, time.monotonic() + held_seconds)
        tasks += work(daemon.api, time.monotonic())
        log = daemon.api.log()
        for subscriber in reading:
            subscriber.wait_for(len(log))
            assert subscriber.seen == list(range(1, len(log) + 1))
    invariants.check_sequence(log)
    invariants.check_calls(log, place.noted())
    assert [line for line in daemon.log if any(word in line for word in LOCK_WORDS)] == []
    wal_bytes = (place.state / "ducklm.db-wal").stat().st_size
    assert wal_bytes <= MOST_WAL_BYTES
    figures("tasks beside a held snapshot", tasks)
    figures("events", len(log))
    figures("lock errors", 0)
    figures("WAL after, MiB", round(wal_bytes / 1024 / 1024, 1))
