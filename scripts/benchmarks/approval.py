"""approval: from a pressed button to the started process, through a real daemon and its sandbox.

The command writes down the time as its first act, so what is measured ends a little after its
start: bash has read its text by then, and has started `date`.
"""

import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from proto.ducklm.v1 import (
    approvals_pb2,
    approvals_pb2_grpc,
    common_pb2,
    events_pb2,
    events_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
)
from scripts.benchmarks import figure, processes

PRESSES = 60
WARM_UP = 5
_CALL_SECONDS = 60.0
_NS_IN_MS = 1e6
_ENDED = (common_pb2.COMPLETED, common_pb2.FAILED)


class _Owner:
    """Asks for commands, and presses the button."""

    def __init__(self, running: processes.Running) -> None:
        self._metadata = running.metadata
        self._tasks = tasks_pb2_grpc.TasksStub(running.channel)
        self._events = events_pb2_grpc.EventsStub(running.channel)
        self._approvals = approvals_pb2_grpc.ApprovalsStub(running.channel)

    def press(self, stamp: Path) -> float:
        """Milliseconds from the press to the process, for one command."""
        text = f"`date +%s%N > {stamp.name}`"
        submitted = self._tasks.Submit(
            tasks_pb2.SubmitRequest(text=text), timeout=_CALL_SECONDS, metadata=self._metadata
        )
        pressed_ns, request = 0, approvals_pb2.ResolveRequest()
        updates = self._events.Subscribe(
            events_pb2.SubscribeRequest(
                task_id=submitted.task_id, after_seq=submitted.seq - 1, events_only=True
            ),
            timeout=_CALL_SECONDS,
            metadata=self._metadata,
        )
        for update in updates:
            if update.event.HasField("approval_requested"):
                request = approvals_pb2.ResolveRequest(
                    approval_id=update.event.approval_requested.approval_id,
                    answer=approvals_pb2.ALLOW_ONCE,
                )
            if update.event.task_state_changed.to == common_pb2.AWAITING_APPROVAL:
                pressed_ns = time.time_ns()
                self._approvals.Resolve(request, timeout=_CALL_SECONDS, metadata=self._metadata)
            if update.event.task_state_changed.to in _ENDED:
                break
        updates.cancel()
        return (int(stamp.read_text()) - pressed_ns) / _NS_IN_MS


def measure() -> Sequence[figure.Figure]:
    """The median over many presses on one daemon, one at a time."""
    with tempfile.TemporaryDirectory(prefix="duck") as name:
        folder = Path(name)
        script = folder / "script.jsonl"
        script.write_text('{"role": "*", "reply": "Well.", "repeat": true}\n')
        models = folder / "models.toml"
        models.write_text(f'version = 1\n[roles]\nthinker = ["scripted:{script}"]\n')
        with processes.daemon(folder, ("--models", str(models))) as running:
            owner = _Owner(running)
            workplace = folder / "data" / "ducklm" / "projects" / "default"
            stamps = [workplace / f"stamp-{number}" for number in range(WARM_UP + PRESSES)]
            taken = [owner.press(stamp) for stamp in stamps][WARM_UP:]
    return [figure.Figure("approval.started_p50", statistics.median(taken), "ms", 50, "lower")]
