"""What must be true of a log and of the journal outside, whatever was killed when.

Each function raises an AssertionError that names the call or the event.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from proto.ducklm.v1 import common_pb2, events_pb2
from tests.simulation import client

Ended = events_pb2.ToolCallEnded
FINAL = frozenset(
    (
        common_pb2.COMPLETED,
        common_pb2.FAILED,
        common_pb2.CANCELLED,
        common_pb2.MODEL_PROTOCOL_ERROR,
        common_pb2.BUDGET_EXHAUSTED,
    )
)


@dataclass
class Call:
    """What the log says of one tool call."""

    tool: str
    effect: str = ""
    starts: int = 0
    outcomes: list[Ended.Outcome.ValueType] = field(default_factory=list)
    cut_off: bool = False
    """It was started and had not ended when the daemon stopped without draining."""


def calls_of(log: Iterable[events_pb2.Event]) -> dict[str, Call]:
    """Every tool call of a log, by id."""
    calls: dict[str, Call] = {}
    by_task: dict[str, list[str]] = {}
    for event in log:
        match event.WhichOneof("kind"):
            case "tool_call_proposed":
                proposed = event.tool_call_proposed
                assert proposed.call_id not in calls, f"{proposed.call_id} is proposed twice"
                calls[proposed.call_id] = Call(proposed.tool)
                by_task.setdefault(event.task_id, []).append(proposed.call_id)
            case "tool_call_inspected":
                calls[event.tool_call_inspected.call_id].effect = event.tool_call_inspected.effect
            case "tool_call_started":
                calls[event.tool_call_started.call_id].starts += 1
            case "tool_call_ended":
                calls[event.tool_call_ended.call_id].outcomes.append(event.tool_call_ended.outcome)
            case "task_recovered":
                for call_id in by_task.get(event.task_id, ()):
                    call = calls[call_id]
                    call.cut_off |= call.starts > 0 and not call.outcomes
            case _:
                continue
    return calls


def check_sequence(log: Sequence[events_pb2.Event]) -> None:
    """The whole log counts from 1 without a gap."""
    assert [event.seq for event in log] == list(range(1, len(log) + 1))


def check_calls(log: Iterable[events_pb2.Event], noted: Sequence[str]) -> None:
    """Once all tasks have ended: each call has one result, an unsafe one ran at most once, and
    none ran unannounced. `noted` are the ids that the testing tools wrote down outside.
    """
    runs = Counter(noted)
    calls = calls_of(log)
    for call_id, call in calls.items():
        about = f"{call_id}: {call}, noted {runs[call_id]} times"
        results = call.outcomes
        if results[:1] == [Ended.OUTCOME_UNKNOWN]:
            assert results[1:] in ([], [Ended.MARKED_DONE]), about
        else:
            assert len(results) == 1, about
        if call.effect == "unsafe":
            _check_unsafe(call, runs[call_id], about)
        if call.tool == "testing_pure" and results == [Ended.FINISHED]:
            assert runs[call_id] >= 1, about
        if not call.starts:
            assert runs[call_id] == 0, about
    assert not [call_id for call_id in runs if call_id not in calls]


def _check_unsafe(call: Call, runs: int, about: str) -> None:
    assert call.starts <= 1, about
    assert runs <= 1, about
    if call.cut_off:
        assert call.outcomes[0] == Ended.OUTCOME_UNKNOWN, about
    if call.outcomes == [Ended.FINISHED] and call.tool.startswith("testing_"):
        assert runs == 1, about


def unknown_calls(log: Iterable[events_pb2.Event]) -> set[str]:
    """The calls whose outcome is unknown and about which nobody has decided."""
    unknown: set[str] = set()
    for event in log:
        ended, decided = event.tool_call_ended, event.task_decided
        if ended.outcome == Ended.OUTCOME_UNKNOWN:
            unknown.add(ended.call_id)
        unknown.discard(decided.call_id)
    return unknown


def check_listed(speaks: client.Client, task_id: str) -> int:
    """Tasks.Get and Tasks.List name exactly the calls of unknown outcome; returns how many."""
    expected = unknown_calls(speaks.log(task_id))
    for task in (speaks.task(task_id), speaks.tasks()[task_id]):
        if task.state not in FINAL:
            assert {one.call_id for one in task.unknown_outcomes} == expected, task
    return len(expected)


def check_states(log: Iterable[events_pb2.Event], speaks: client.Client) -> None:
    """What Tasks.List says of each task is what the log says; none is missing."""
    states: dict[str, int] = {}
    for event in log:
        if event.HasField("task_submitted"):
            states[event.task_id] = common_pb2.QUEUED
        if event.HasField("task_state_changed"):
            assert states[event.task_id] == getattr(event.task_state_changed, "from")
            states[event.task_id] = event.task_state_changed.to
    assert {task_id: task.state for task_id, task in speaks.tasks().items()} == states
