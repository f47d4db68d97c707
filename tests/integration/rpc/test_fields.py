"""Every field of every request is read back from what it did."""

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import (
    covered,
    methods,
    test_fields_channels,
    test_fields_conversations,
    test_fields_files,
    test_fields_profiles,
    test_fields_projects,
    test_fields_schedules,
    work,
)

EVERY = methods.every()
OTHERS = (
    test_fields_channels,
    test_fields_conversations,
    test_fields_files,
    test_fields_profiles,
    test_fields_projects,
    test_fields_schedules,
)
"""The modules that cover fields too."""
covers = covered.covers
refused = covered.refused


@pytest.mark.spec("D-02")
def test_no_field_of_a_request_is_left_out_here() -> None:
    seen: set[str] = set()
    sent = {name for one in EVERY for name in covered.fields(one.descriptor.input_type, seen)}
    for module in OTHERS:
        assert module.__doc__
    assert sent == covered.COVERED


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
        speaker="Ä",
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
    asked = tasks_pb2.SubmitRequest(text="`env echo fields`")
    asked.origin.principal = "telegram:bot:7"
    approval_id = work.pending(api, api.tasks.Submit(asked).task_id)
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


@covers(tasks_pb2.SubmitRequest, "mode")
@covers(conversations_pb2.CreateConversationRequest, "mode")
@covers(conversations_pb2.UpdateConversationRequest, "mode", "origin")
def test_modes(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="fields mode", mode=common_pb2.PLAN)
    got = conversations_pb2.GetConversationRequest(
        conversation_id=api.tasks.Submit(submit).conversation_id
    )
    assert api.conversations.Get(got).mode == common_pb2.PLAN
    create = conversations_pb2.CreateConversationRequest(title="kept", mode=common_pb2.YOLO)
    made = api.conversations.Create(create)
    assert made.mode == common_pb2.YOLO
    update = conversations_pb2.UpdateConversationRequest(
        conversation_id=made.conversation_id,
        mode=common_pb2.YOLO,
        origin=common_pb2.Origin(principal="telegram:bot:9"),
    )
    assert refused(lambda: api.conversations.Update(update)) is grpc.StatusCode.PERMISSION_DENIED
    update.mode = common_pb2.BUILD
    changed = api.conversations.Update(update)
    assert (changed.title, changed.mode) == ("kept", common_pb2.BUILD)


@covers(approvals_pb2.RevokeGrantRequest, "grant_id", "origin", "client_key")
def test_grants(api: running_daemon.Api) -> None:
    asked = tasks_pb2.SubmitRequest(text="`env echo granted`")
    asked.origin.principal = "telegram:bot:7"
    task_id = api.tasks.Submit(asked).task_id
    approval_id = work.pending(api, task_id)
    always = work.resolve(api, approval_id, approvals_pb2.ALLOW_ALWAYS)
    grants = api.approvals.ListGrants(approvals_pb2.ListGrantsRequest()).grants
    (grant,) = [one for one in grants if one.grant_id == always.grant_id]
    assert (grant.tool, grant.principal) == ("shell_exec", "telegram:bot:7")
    assert (grant.card, grant.folder) == (always.card, always.folder)
    assert grant.granted_by == "local:owner"
    request = approvals_pb2.RevokeGrantRequest(
        grant_id=grant.grant_id,
        origin=common_pb2.Origin(principal="telegram:bot:7"),
        client_key="fields revoke grant",
    )
    work.end(api, task_id)
    for _ in range(2):
        assert api.approvals.RevokeGrant(request).grant_id == grant.grant_id
    assert grant not in api.approvals.ListGrants(approvals_pb2.ListGrantsRequest()).grants
    revoked = [one for one in work.all_events(api) if one.HasField("grant_revoked")]
    (told,) = [one for one in revoked if one.grant_revoked.grant_id == grant.grant_id]
    assert told.grant_revoked.principal == "telegram:bot:7"


@covers(projects_pb2.TrustRequest, "folder", "origin", "client_key")
def test_trust(api: running_daemon.Api) -> None:
    request = projects_pb2.TrustRequest(folder="/a//project/./", client_key="fields trust")
    for _ in range(2):
        assert api.projects.Trust(request).folder == "/a/project"
    request.folder = "/another"
    assert refused(lambda: api.projects.Trust(request)) is grpc.StatusCode.ALREADY_EXISTS
    request.origin.principal = "telegram:bot:9"
    request.ClearField("client_key")
    assert refused(lambda: api.projects.Trust(request)) is grpc.StatusCode.PERMISSION_DENIED


@covers(approvals_pb2.ProvideSecretRequest, "task_id", "secret", "origin", "client_key")
def test_secret() -> None:
    with work.with_sudo("pass phrase") as daemon, daemon.api() as api:
        asked = tasks_pb2.SubmitRequest(text="`sudo id`")
        asked.origin.principal, asked.origin.chat = "telegram:bot:7", "7"
        task_id = api.tasks.Submit(asked).task_id
        work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
        work.reach(api, task_id, common_pb2.AWAITING_SECRET)

        def waits() -> list[bool]:
            listed = api.channels.ListDeliveries(channels_pb2.ListDeliveriesRequest())
            return [one.waits for one in listed.deliveries if one.kind == one.NOTICE]

        assert waits() == [True]
        request = approvals_pb2.ProvideSecretRequest(
            task_id=task_id,
            secret=b"pass phrase",
            origin=common_pb2.Origin(principal="telegram:bot:8"),
            client_key="fields secret",
        )
        provide = api.approvals.ProvideSecret
        assert refused(lambda: provide(request)) is grpc.StatusCode.PERMISSION_DENIED
        request.origin.principal = "telegram:bot:7"
        for _ in range(2):
            assert provide(request).task_id == task_id
        assert work.end(api, task_id).answer.startswith("as root")
        assert waits() == [False]
        (told,) = [one for one in work.events(api, task_id) if one.HasField("secret_provided")]
        assert told.secret_provided.principal == "telegram:bot:7"


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


@covers(tasks_pb2.DecideRequest, "task_id", "decision", "call_id", "client_key", "origin")
def test_decide() -> None:
    with running_daemon.running(work.SCRIPT) as daemon:
        with daemon.api() as api:
            task_id = work.submit(api, "`env sleep 2`")
            work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
            work.follow(api, task_id, lambda update: update.event.HasField("tool_call_started"))
        daemon.kill()
        daemon.start()
        with daemon.api() as api:
            _decide(api, task_id)


def _decide(api: running_daemon.Api, task_id: str) -> None:
    work.reach(api, task_id, common_pb2.AWAITING_DECISION)
    (unknown,) = work.task(api, task_id).unknown_outcomes
    assert (unknown.tool, unknown.arguments_json) == ("shell_exec", '{"command":"env sleep 2"}')
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
    request.origin.principal = "telegram:bot:7"
    with pytest.raises(grpc.RpcError) as refused:
        api.tasks.Decide(request)
    assert methods.fault(refused.value)[0] is grpc.StatusCode.PERMISSION_DENIED
    request.origin.principal = "local:owner"
    api.tasks.Decide(request)
    assert api.tasks.Decide(request).task_id == task_id
    assert work.end(api, task_id).state == common_pb2.COMPLETED
    (told,) = [one for one in work.events(api, task_id) if one.HasField("task_decided")]
    assert told.task_decided.decision == "mark_done"
    assert told.task_decided.principal == "local:owner"
    assert told.task_decided.call_id == unknown.call_id
