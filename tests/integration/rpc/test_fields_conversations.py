"""Every field of requests about conversations and answers is read back from what it did."""

import functools
import json

import grpc

from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused


def project(api: running_daemon.Api, name: str) -> str:
    """The folder of a new project."""
    return api.projects.Create(projects_pb2.CreateProjectRequest(name=name)).folder


@covers(tasks_pb2.SubmitRequest, "folder")
@covers(conversations_pb2.CreateConversationRequest, "folder", "profile", "steering")
@covers(conversations_pb2.UpdateConversationRequest, "folder", "profile", "steering")
def test_settings_of_conversations(api: running_daemon.Api) -> None:
    first, second = project(api, "fields-1"), project(api, "fields-2")
    submit = tasks_pb2.SubmitRequest(text="fields folder", folder="fields-1")
    kept = api.tasks.Submit(submit)
    work.end(api, kept.task_id)
    got = conversations_pb2.GetConversationRequest(conversation_id=kept.conversation_id)
    shown = api.conversations.Get(got)
    assert (shown.folder, shown.profile, shown.steering) == (first, "", common_pb2.QUEUE)
    create = conversations_pb2.CreateConversationRequest(
        folder=second, profile="", steering=common_pb2.STEER
    )
    made = api.conversations.Create(create)
    assert (made.folder, made.profile, made.steering) == (second, "", common_pb2.STEER)
    got.conversation_id = made.conversation_id
    update = conversations_pb2.UpdateConversationRequest(
        conversation_id=made.conversation_id, folder="", profile="", steering=common_pb2.QUEUE
    )
    assert api.conversations.Update(update).folder == ""
    assert api.conversations.Get(got).steering == common_pb2.QUEUE
    for unknown in (
        conversations_pb2.UpdateConversationRequest(folder="none"),
        conversations_pb2.UpdateConversationRequest(profile="none"),
    ):
        unknown.conversation_id = made.conversation_id
        code = refused(functools.partial(api.conversations.Update, unknown))
        assert code is grpc.StatusCode.NOT_FOUND


@covers(tasks_pb2.FeedbackRequest, "task_id", "good", "text", "origin", "client_key")
def test_feedback(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "fields feedback")
    work.end(api, task_id)
    request = tasks_pb2.FeedbackRequest(
        task_id=task_id,
        good=False,
        text="too short",
        origin=common_pb2.Origin(principal="telegram:bot:7"),
        client_key="fields feedback",
    )
    for _ in range(2):
        task = api.tasks.Feedback(request)
        assert (task.HasField("good"), task.good) == (True, False)
    (told,) = [one for one in work.events(api, task_id) if one.HasField("feedback_given")]
    assert told.feedback_given.principal == "telegram:bot:7"
    assert (told.feedback_given.good, told.feedback_given.text) == (False, "too short")
    request.good, request.client_key = True, ""
    assert api.tasks.Feedback(request).good


@covers(conversations_pb2.UndoRequest, "conversation_id", "origin", "client_key")
def test_undo(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "fields undo")
    conversation_id = work.end(api, task_id).conversation_id
    request = conversations_pb2.UndoRequest(
        conversation_id=conversation_id,
        origin=common_pb2.Origin(principal="telegram:bot:9"),
        client_key="fields undo",
    )
    assert refused(lambda: api.conversations.Undo(request)) is grpc.StatusCode.PERMISSION_DENIED
    request.origin.Clear()
    for _ in range(2):
        assert api.conversations.Undo(request).task_id == task_id
    assert work.task(api, task_id).undone
    request.client_key = ""
    assert refused(lambda: api.conversations.Undo(request)) is grpc.StatusCode.FAILED_PRECONDITION


@covers(conversations_pb2.CompactConversationRequest, "conversation_id", "origin", "client_key")
def test_compact(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "fields compact")
    conversation_id = work.end(api, task_id).conversation_id
    request = conversations_pb2.CompactConversationRequest(
        conversation_id=conversation_id,
        origin=common_pb2.Origin(principal="telegram:bot:7"),
        client_key="fields compact",
    )
    begun = api.conversations.Compact(request)
    assert api.conversations.Compact(request) == begun
    assert begun.conversation_id == conversation_id
    ended = work.end(api, begun.task_id)
    assert (ended.kind, ended.principal) == ("compact", "telegram:bot:7")
    (first, *_) = work.events(api, begun.task_id)
    assert (first.seq, first.task_submitted.kind) == (begun.seq, "compact")


@covers(
    conversations_pb2.ExportConversationRequest,
    *(field.name for field in conversations_pb2.ExportConversationRequest.DESCRIPTOR.fields),
)
@covers(conversations_pb2.DeleteConversationRequest, "conversation_id", "origin", "client_key")
def test_export_and_delete(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "tool fields export")
    work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
    conversation_id = work.end(api, task_id).conversation_id
    work.end(api, work.submit(api, "fields second", conversation_id))
    request = conversations_pb2.ExportConversationRequest(
        conversation_id=conversation_id, reasoning=True
    )

    def export() -> str:
        return "".join(piece.text for piece in api.conversations.Export(request))

    assert "```text\ntool fields export\n" in export()
    assert "from-the-tool\n" in export()
    request.results = False
    assert work.ECHO in export()
    assert "from-the-tool\n" not in export()
    request.tools, request.last_turns = False, 1
    assert work.ECHO not in export()
    assert "```text\ntool fields export\n" not in export()
    request.format = conversations_pb2.ExportConversationRequest.JSON
    assert json.loads(export())["turns"][0]["entries"][-1]["text"] == "Paris."
    _delete(api, conversation_id)
    assert refused(export) is grpc.StatusCode.NOT_FOUND
    told = [one for one in work.all_events(api) if one.conversation_id == conversation_id]
    assert told[-1].conversation_deleted.principal == "local:owner"
    assert {one.task_submitted.text for one in told if one.HasField("task_submitted")} == {""}


def _delete(api: running_daemon.Api, conversation_id: str) -> None:
    request = conversations_pb2.DeleteConversationRequest(
        conversation_id=conversation_id,
        origin=common_pb2.Origin(principal="telegram:bot:9"),
        client_key="fields delete",
    )
    assert refused(lambda: api.conversations.Delete(request)) is grpc.StatusCode.PERMISSION_DENIED
    request.origin.Clear()
    for _ in range(2):
        assert api.conversations.Delete(request).conversation_id == conversation_id
