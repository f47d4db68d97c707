"""Every field of every request is read back from what it did; what is not known is refused."""

from collections.abc import Callable, Iterator

import grpc
import pytest
from google.protobuf import descriptor, message

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import methods, served, work

EVERY = methods.every()
COVERED: set[str] = set()
UNKNOWN_FIELD = b"\xc0\xa9\x07\x01"  # number 15000, a varint
Test = Callable[..., None]


def covers(kind: type[message.Message], *names: str) -> Callable[[Test], Test]:
    """Notes which fields of a message a test reads back."""
    COVERED.update(f"{kind.DESCRIPTOR.name}.{name}" for name in names)
    return lambda test: pytest.mark.spec("D-02")(test)


def fields(kind: descriptor.Descriptor, seen: set[str]) -> Iterator[str]:
    if kind.full_name in seen:
        return
    seen.add(kind.full_name)
    for field in kind.fields:
        yield f"{kind.name}.{field.name}"
        if field.message_type is not None:
            yield from fields(field.message_type, seen)


@pytest.mark.spec("D-02")
def test_no_field_of_a_request_is_left_out_here() -> None:
    seen: set[str] = set()
    sent = {name for one in EVERY for name in fields(one.descriptor.input_type, seen)}
    assert sent == COVERED


@covers(common_pb2.Origin, *(field.name for field in common_pb2.Origin.DESCRIPTOR.fields))
@covers(tasks_pb2.SubmitRequest, "text", "origin", "conversation_id", "attachments", "client_key")
def test_submit(api: running_daemon.Api) -> None:
    made = api.conversations.Create(conversations_pb2.CreateConversationRequest())
    parts = iter([artifacts_pb2.PutArtifactRequest(data=b"attached")])
    attached = api.artifacts.Put(parts).artifact_id
    origin = common_pb2.Origin(
        principal="telegram:bot:42",
        channel="telegram",
        chat="chat 1",
        topic="topic 2",
        message_id="message 3",
        reply_to="message 0",
        forwarded=True,
    )
    request = tasks_pb2.SubmitRequest(
        text="Grüße, 鴨 🦆\n\ttab",
        origin=origin,
        conversation_id=made.conversation_id,
        attachments=[attached],
        client_key="fields submit",
    )
    kept = api.tasks.Submit(request)
    (event,) = [one for one in work.events(api, kept.task_id) if one.HasField("task_submitted")]
    assert event.seq == kept.seq
    assert event.conversation_id == kept.conversation_id == made.conversation_id
    assert event.task_submitted.text == request.text
    assert event.task_submitted.origin == origin
    assert list(event.task_submitted.attachments) == [attached]
    assert work.task(api, kept.task_id).text == request.text
    assert work.task(api, kept.task_id).principal == "telegram:bot:42"
    assert api.tasks.Submit(request) == kept


@covers(tasks_pb2.AskRequest, "submit")
@covers(tasks_pb2.ChatRequest, "submit")
@covers(tasks_pb2.GetTaskRequest, "task_id")
def test_ask_and_chat_submit_what_they_hold(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="fields ask", client_key="fields ask")
    answer = api.tasks.Ask(tasks_pb2.AskRequest(submit=submit))
    updates = list(api.tasks.Chat(tasks_pb2.ChatRequest(submit=submit)))
    assert updates[-1].event.task_id == answer.task_id
    task = work.task(api, answer.task_id)
    assert (task.task_id, task.text) == (answer.task_id, "fields ask")
    assert (task.answer, task.state) == (answer.answer, answer.state)


@covers(tasks_pb2.ListTasksRequest, "conversation_id", "states", "page")
@covers(common_pb2.Page, "size", "token")
@covers(tasks_pb2.CancelRequest, "task_id", "client_key")
def test_lists_of_tasks(api: running_daemon.Api) -> None:
    made = api.conversations.Create(conversations_pb2.CreateConversationRequest())
    ids = [work.submit(api, "endless", made.conversation_id) for _ in range(5)]
    request = tasks_pb2.CancelRequest(task_id=ids[3], client_key="fields cancel")
    assert api.tasks.Cancel(request).task_id == ids[3]
    assert api.tasks.Cancel(request).state == common_pb2.CANCELLED
    listing = tasks_pb2.ListTasksRequest(conversation_id=made.conversation_id)
    listing.states.append(common_pb2.CANCELLED)
    assert [task.task_id for task in api.tasks.List(listing).tasks] == [ids[3]]
    del listing.states[:]
    listing.page.size = 2
    pages = []
    while True:
        answer = api.tasks.List(listing)
        pages.append([task.task_id for task in answer.tasks])
        listing.page.token = answer.next_page_token
        if not answer.next_page_token:
            break
    assert pages == [[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]
    for task_id in ids:
        api.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id))


@covers(conversations_pb2.CreateConversationRequest, "title", "origin", "client_key")
@covers(conversations_pb2.UpdateConversationRequest, "conversation_id", "title", "client_key")
@covers(conversations_pb2.GetConversationRequest, "conversation_id")
@covers(conversations_pb2.ListConversationsRequest, "page")
def test_conversations(api: running_daemon.Api) -> None:
    request = conversations_pb2.CreateConversationRequest(
        title="First",
        origin=common_pb2.Origin(principal="matrix:bot:@a:b"),
        client_key="fields create",
    )
    made = api.conversations.Create(request)
    assert (made.title, made.principal) == ("First", "matrix:bot:@a:b")
    assert api.conversations.Create(request) == made
    for title in ("Second", ""):
        changed = api.conversations.Update(
            conversations_pb2.UpdateConversationRequest(
                conversation_id=made.conversation_id,
                title=title,
                client_key=f"fields update {title}",
            )
        )
        assert changed.title == title
        got = conversations_pb2.GetConversationRequest(conversation_id=made.conversation_id)
        assert api.conversations.Get(got) == changed
    page = common_pb2.Page(size=1)
    first = api.conversations.List(conversations_pb2.ListConversationsRequest(page=page))
    assert [one.conversation_id for one in first.conversations] == [made.conversation_id]
    page.token = first.next_page_token
    second = api.conversations.List(conversations_pb2.ListConversationsRequest(page=page))
    assert made.conversation_id not in [one.conversation_id for one in second.conversations]


@covers(approvals_pb2.ListApprovalsRequest, "status", "page")
@covers(approvals_pb2.GetApprovalRequest, "approval_id")
@covers(approvals_pb2.ResolveRequest, "approval_id", "answer", "reason", "origin", "client_key")
def test_approvals(api: running_daemon.Api) -> None:
    approval_id = work.pending(api, work.submit(api, "`echo fields`"))
    request = approvals_pb2.ResolveRequest(
        approval_id=approval_id,
        answer=approvals_pb2.DENY,
        reason="not now",
        origin=common_pb2.Origin(principal="telegram:bot:7"),
        client_key="fields resolve",
    )
    resolved = api.approvals.Resolve(request)
    assert api.approvals.Resolve(request) == resolved
    assert (resolved.status, resolved.reason) == (approvals_pb2.DENIED, "not now")
    assert resolved.decided_by == "telegram:bot:7"
    assert api.approvals.Get(approvals_pb2.GetApprovalRequest(approval_id=approval_id)) == resolved
    listing = approvals_pb2.ListApprovalsRequest(status=approvals_pb2.DENIED)
    listing.page.size = 1
    assert list(api.approvals.List(listing).approvals) == [resolved]
    for status in (approvals_pb2.APPROVAL_STATUS_UNSPECIFIED, approvals_pb2.PENDING):
        waiting = api.approvals.List(approvals_pb2.ListApprovalsRequest(status=status)).approvals
        assert approval_id not in [one.approval_id for one in waiting]


@covers(events_pb2.ListEventsRequest, "after_seq", "task_id", "limit")
@covers(
    events_pb2.SubscribeRequest,
    *("after_seq", "from_now", "task_id", "conversation_id", "events_only"),
)
def test_events(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "fields events")
    conversation_id = work.end(api, task_id).conversation_id
    found = work.events(api, task_id)
    after = events_pb2.ListEventsRequest(after_seq=found[0].seq, task_id=task_id, limit=2)
    assert list(api.events.List(after).events) == found[1:3]
    request = events_pb2.SubscribeRequest(
        after_seq=found[1].seq, conversation_id=conversation_id, events_only=True
    )
    assert next(work.updates(api, request)).event == found[2]
    other_id = work.submit(api, "slow fields")
    now = events_pb2.SubscribeRequest(from_now=True, after_seq=1, task_id=other_id)
    assert next(work.updates(api, now)).event.seq != 2
    work.end(api, other_id)


@covers(admin_pb2.CreateTokenRequest, "name", "scopes", "platform", "account", "client_key")
@covers(admin_pb2.ListTokensRequest, "revoked", "page")
@covers(admin_pb2.RevokeTokenRequest, "token_id", "client_key")
def test_tokens(api: running_daemon.Api) -> None:
    older = admin_pb2.CreateTokenRequest(name="older", scopes=[admin_pb2.Token.RUN])
    api.admin.CreateToken(older)
    scopes = [admin_pb2.Token.RUN, admin_pb2.Token.CHANNEL]
    request = admin_pb2.CreateTokenRequest(
        name="fields", scopes=scopes, platform="matrix", account="home", client_key="fields token"
    )
    made = api.admin.CreateToken(request).token
    assert (made.name, list(made.scopes)) == ("fields", scopes)
    assert made.principal == "matrix:home:bot"
    assert api.admin.CreateToken(request).token == made
    first = admin_pb2.ListTokensRequest(page=common_pb2.Page(size=1))
    assert list(api.admin.ListTokens(first).tokens) == [made]
    ending = admin_pb2.RevokeTokenRequest(token_id=made.token_id, client_key="fields revoke")
    revoked = api.admin.RevokeToken(ending)
    assert api.admin.RevokeToken(ending) == revoked
    assert made not in api.admin.ListTokens(admin_pb2.ListTokensRequest()).tokens
    first.revoked = True
    page = api.admin.ListTokens(first)
    assert list(page.tokens) == [revoked]
    first.page.token = page.next_page_token
    (next_one,) = api.admin.ListTokens(first).tokens
    assert next_one.name == "older"


@covers(artifacts_pb2.PutArtifactRequest, "data")
@covers(artifacts_pb2.GetArtifactRequest, "artifact_id")
def test_artifacts(api: running_daemon.Api) -> None:
    parts = [b"", b"a" * 600_000, b"b"]
    sent = iter([artifacts_pb2.PutArtifactRequest(data=part) for part in parts])
    kept = api.artifacts.Put(sent)
    request = artifacts_pb2.GetArtifactRequest(artifact_id=kept.artifact_id)
    got = b"".join(chunk.data for chunk in api.artifacts.Get(request))
    assert got == b"".join(parts)
    assert kept.size_bytes == len(got)


@covers(tasks_pb2.DecideRequest, "task_id", "decision", "call_id", "client_key")
def test_decide() -> None:
    with running_daemon.running(work.SCRIPT) as daemon:
        with daemon.api() as api:
            task_id = work.submit(api, "`sleep 2`")
            work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
            work.follow(api, task_id, lambda update: update.event.HasField("tool_call_started"))
        daemon.kill()
        daemon.start()
        with daemon.api() as api:
            _decide(api, task_id)


def _decide(api: running_daemon.Api, task_id: str) -> None:
    work.reach(api, task_id, common_pb2.AWAITING_DECISION)
    (unknown,) = work.task(api, task_id).unknown_outcomes
    assert (unknown.tool, unknown.arguments_json) == ("shell_exec", '{"command":"sleep 2"}')
    request = tasks_pb2.DecideRequest(
        task_id=task_id,
        decision=tasks_pb2.MARK_DONE,
        call_id="call-of-another",
        client_key="fields decide",
    )
    with pytest.raises(grpc.RpcError) as refused:
        api.tasks.Decide(request)
    code, sentence = methods.fault(refused.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert unknown.call_id in sentence
    request.call_id = unknown.call_id
    api.tasks.Decide(request)
    assert api.tasks.Decide(request).task_id == task_id
    assert work.end(api, task_id).state == common_pb2.COMPLETED
    (told,) = [one for one in work.events(api, task_id) if one.HasField("task_decided")]
    assert told.task_decided.decision == "mark_done"
    assert told.task_decided.principal == "local:owner"
    assert told.task_decided.call_id == unknown.call_id


def refusal(
    daemon: running_daemon.RunningDaemon, method: methods.Method, request: message.Message
) -> tuple[grpc.StatusCode, str]:
    with daemon.channel() as channel, pytest.raises(grpc.RpcError) as refused:
        method.call(channel, [request], methods.bearer(daemon.token))
    return methods.fault(refused.value)


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("method", EVERY, ids=methods.short)
def test_an_unknown_field_is_refused(
    daemon: running_daemon.RunningDaemon, method: methods.Method
) -> None:
    plain = served.valid(method)
    request = type(plain).FromString(plain.SerializeToString() + UNKNOWN_FIELD)
    code, sentence = refusal(daemon, method, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence.startswith(f"{request.DESCRIPTOR.name} has no field with number 15000.")


@pytest.mark.spec("D-02")
def test_an_unknown_field_deep_inside_is_refused(daemon: running_daemon.RunningDaemon) -> None:
    (ask,) = [method for method in EVERY if method.name.endswith("Tasks/Ask")]
    origin = common_pb2.Origin.FromString(UNKNOWN_FIELD)
    submit = tasks_pb2.SubmitRequest(text="hello", origin=origin)
    code, sentence = refusal(daemon, ask, tasks_pb2.AskRequest(submit=submit))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence.startswith("Origin has no field with number 15000.")


def _numbered(kind: type[message.Message], field: str) -> message.Message:
    """A request whose enum field holds the number 99."""
    found = kind.DESCRIPTOR.fields_by_name[field]
    tag = bytes([found.number << 3])
    return kind.FromString(tag + b"\x63")


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(
    ("name", "request_of", "known"),
    [
        ("Tasks/Decide", _numbered(tasks_pb2.DecideRequest, "decision"), "MARK_DONE"),
        ("Tasks/List", _numbered(tasks_pb2.ListTasksRequest, "states"), "QUEUED"),
        ("Approvals/Resolve", _numbered(approvals_pb2.ResolveRequest, "answer"), "ALLOW_ONCE"),
        ("Approvals/List", _numbered(approvals_pb2.ListApprovalsRequest, "status"), "PENDING"),
    ],
)
def test_an_unknown_enum_number_is_refused(
    daemon: running_daemon.RunningDaemon, name: str, request_of: message.Message, known: str
) -> None:
    (method,) = [method for method in EVERY if methods.short(method) == name]
    code, sentence = refusal(daemon, method, request_of)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "cannot be 99; it is one of " in sentence
    assert known in sentence
