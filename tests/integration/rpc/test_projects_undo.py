"""What a task changed in its project, from the call to its undoing, by RPC."""

import pathlib

import pytest

from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import work

pytestmark = [pytest.mark.spec("K-08")]


def run(api: running_daemon.Api, conversation_id: str, command: str) -> events_pb2.ToolCallEnded:
    """Have a command run that a person allows; returns its call's end."""
    request = tasks_pb2.SubmitRequest(text=f"`{command}`", conversation_id=conversation_id)
    task_id = api.tasks.Submit(request).task_id
    work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
    assert work.end(api, task_id).state == common_pb2.COMPLETED
    (ended,) = [e for e in work.events(api, task_id) if e.HasField("tool_call_ended")]
    return ended.tool_call_ended


@pytest.mark.parametrize("name", ["undone", ""])
def test_a_calls_changes_are_told_and_undone(api: running_daemon.Api, name: str) -> None:
    if name:
        api.projects.Create(projects_pb2.CreateProjectRequest(name=name))
    create = conversations_pb2.CreateConversationRequest(folder=name)
    conversation_id = api.conversations.Create(create).conversation_id
    ended = run(api, conversation_id, "mkdir -p made && echo text > made/by-a-call")
    assert list(ended.files) == ["made/by-a-call"]
    assert "+text\n" in ended.diff
    (commit,) = api.projects.Log(
        projects_pb2.ProjectLogRequest(project=name, page=common_pb2.Page(size=1))
    ).commits
    assert commit.commit == ended.commit
    assert commit.message.startswith("shell_exec ")
    head = work.all_events(api)[-1].seq
    undone = api.conversations.Undo(conversations_pb2.UndoRequest(conversation_id=conversation_id))
    assert list(undone.commits) == [ended.commit]
    until = events_pb2.SubscribeRequest(after_seq=head, conversation_id=conversation_id)
    reverted = next(
        one.event.project_reverted
        for one in work.updates(api, until)
        if one.event.HasField("project_reverted")
    )
    assert (reverted.fault, len(reverted.commit)) == ("", 40)
    assert run(api, conversation_id, "ls && touch after").diff.startswith("diff --git a/after")


def test_what_only_reads_has_no_commit(
    api: running_daemon.Api, daemon: running_daemon.RunningDaemon
) -> None:
    request = tasks_pb2.SubmitRequest(text="`ls`")
    task_id = api.tasks.Submit(request).task_id
    assert work.end(api, task_id).state == common_pb2.COMPLETED
    (ended,) = [e for e in work.events(api, task_id) if e.HasField("tool_call_ended")]
    assert not ended.tool_call_ended.commit
    stores = pathlib.Path(daemon.state) / "projects"
    assert all(one.suffix == ".git" for one in stores.iterdir())
