"""What tests do with tasks: submit, follow, answer. Every wait is for an event, and is bounded."""

import contextlib
import json
from collections.abc import Callable, Generator, Iterator

from proto.ducklm.v1 import admin_pb2, approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests import running_daemon

FINAL = frozenset(
    (
        common_pb2.COMPLETED,
        common_pb2.FAILED,
        common_pb2.CANCELLED,
        common_pb2.MODEL_PROTOCOL_ERROR,
        common_pb2.BUDGET_EXHAUSTED,
    )
)
ECHO = "env echo from-the-tool"
STATUS = admin_pb2.StatusRequest()
SLOW_WORDS = " ".join(f"word{number}" for number in range(12))
ENDLESS_WORDS = " ".join(["and"] * 1200)
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "*", "match": "^slow", "reply": SLOW_WORDS, "chunk_ms": 60, "repeat": True},
    {"role": "*", "match": "^endless", "reply": ENDLESS_WORDS, "chunk_ms": 100, "repeat": True},
    {
        "role": "*",
        "match": "^tool",
        "reply": json.dumps({"kind": "tool", "tool": "shell_exec", "arguments": {"command": ECHO}}),
        "repeat": True,
    },
    {"role": "*", "match": "^(?!unscripted)", "reply": "Paris.", "repeat": True},
]


def submit(api: running_daemon.Api, text: str, conversation_id: str = "") -> str:
    """The id of a new task."""
    request = tasks_pb2.SubmitRequest(text=text, conversation_id=conversation_id)
    return api.tasks.Submit(request).task_id


def task(api: running_daemon.Api, task_id: str) -> tasks_pb2.Task:
    return api.tasks.Get(tasks_pb2.GetTaskRequest(task_id=task_id))


def events(
    api: running_daemon.Api, task_id: str = "", after_seq: int = 0
) -> list[events_pb2.Event]:
    """The first 500 events of a task, or of all."""
    request = events_pb2.ListEventsRequest(after_seq=after_seq, task_id=task_id, limit=500)
    return list(api.events.List(request).events)


def all_events(api: running_daemon.Api) -> list[events_pb2.Event]:
    """Every event of the log."""
    found: list[events_pb2.Event] = []
    while page := events(api, after_seq=found[-1].seq if found else 0):
        found += page
    return found


def kinds(found: list[events_pb2.Event]) -> list[str]:
    return [event.WhichOneof("kind") or "" for event in found]


def updates(
    api: running_daemon.Api, request: events_pb2.SubscribeRequest
) -> Generator[events_pb2.Update]:
    """A subscription that is closed with the iterator."""
    stream = api.events.Subscribe(request)
    try:
        yield from stream
    finally:
        stream.cancel()


def follow(
    api: running_daemon.Api, task_id: str, until: Callable[[events_pb2.Update], bool]
) -> list[events_pb2.Update]:
    """The updates of a task from its begin to the first one that is waited for."""
    seen: list[events_pb2.Update] = []
    for update in updates(api, events_pb2.SubscribeRequest(task_id=task_id)):
        seen.append(update)
        if until(update):
            return seen
    raise AssertionError("the stream has ended too early")


def state_of(update: events_pb2.Update) -> common_pb2.TaskState.ValueType:
    """The state that an update tells; unspecified when none."""
    return update.event.task_state_changed.to


def reach(
    api: running_daemon.Api, task_id: str, *states: common_pb2.TaskState.ValueType
) -> list[events_pb2.Update]:
    """Wait until the task is in one of these states, or else in a final one."""
    return follow(api, task_id, lambda update: state_of(update) in {*states, *FINAL})


def end(api: running_daemon.Api, task_id: str) -> tasks_pb2.Task:
    """The task once it is final."""
    reach(api, task_id)
    return task(api, task_id)


def end_by_cancel(api: running_daemon.Api, task_id: str) -> None:
    """Cancel a task and see it final."""
    api.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id))
    end(api, task_id)


def pending(api: running_daemon.Api, task_id: str) -> str:
    """The id of the approval that a task comes to wait for."""
    seen = follow(api, task_id, lambda update: update.event.HasField("approval_requested"))
    return seen[-1].event.approval_requested.approval_id


def resolve(
    api: running_daemon.Api,
    approval_id: str,
    answer: approvals_pb2.Answer.ValueType,
    reason: str = "",
    client_key: str = "",
) -> approvals_pb2.Approval:
    request = approvals_pb2.ResolveRequest(
        approval_id=approval_id, answer=answer, reason=reason, client_key=client_key
    )
    return api.approvals.Resolve(request)


SUDO = """#!/bin/sh
read -r given
[ "$given" = '{password}' ] && echo "as root: $*"
"""


@contextlib.contextmanager
def with_sudo(password: str) -> Iterator[running_daemon.RunningDaemon]:
    """A daemon whose sudo is a stand-in that takes this password and runs nothing."""
    with running_daemon.folder() as folder:
        program = folder / "sudo"
        program.write_text(SUDO.format(password=password))
        program.chmod(0o755)
        with running_daemon.running(SCRIPT, sudo=str(program)) as daemon:
            yield daemon
