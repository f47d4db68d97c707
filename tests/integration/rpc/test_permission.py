"""Modes, grants, taint and chats by RPC: who may set what, and what is told of it."""

import contextlib
from collections.abc import Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import methods, work

OWNERS = '[owner]\ntelegram = ["42"]\n[people]\ntelegram = ["7"]\n'
_RUN, _APPROVE = admin_pb2.Token.RUN, admin_pb2.Token.APPROVE
_READ, _CHANNEL = admin_pb2.Token.READ, admin_pb2.Token.CHANNEL
OWNER, STRANGER = "telegram:home:42", "telegram:home:7"
SET_YOLO = "YOLO lets commands run unasked: "


@pytest.fixture(scope="module")
def owned() -> Iterator[running_daemon.RunningDaemon]:
    """A daemon that knows an owner in a chat, and has a bot's token and two scripts'."""
    with running_daemon.running(work.SCRIPT, OWNERS) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def secrets(owned: running_daemon.RunningDaemon) -> dict[str, str]:
    wanted = {
        "runner": [_RUN, _READ],
        "approver": [_RUN, _READ, _APPROVE],
        "bot": [_RUN, _READ, _APPROVE, _CHANNEL],
        "bot that may not approve": [_RUN, _READ, _CHANNEL],
    }
    made = {"owner": owned.token}
    with owned.api() as api:
        for name, scopes in wanted.items():
            request = admin_pb2.CreateTokenRequest(name=name.replace(" ", "-"), scopes=scopes)
            if _CHANNEL in scopes:
                request.platform, request.account = "telegram", "home"
            made[name] = api.admin.CreateToken(request).secret
    return made


@contextlib.contextmanager
def holding(daemon: running_daemon.RunningDaemon, secret: str) -> Iterator[running_daemon.Api]:
    with daemon.channel() as channel:
        yield running_daemon.Api(channel, secret)


def create(api: running_daemon.Api, origin: common_pb2.Origin) -> str:
    request = conversations_pb2.CreateConversationRequest(mode=common_pb2.YOLO, origin=origin)
    return api.conversations.Create(request).conversation_id


def update(api: running_daemon.Api, origin: common_pb2.Origin) -> str:
    made = api.conversations.Create(conversations_pb2.CreateConversationRequest(title="a"))
    request = conversations_pb2.UpdateConversationRequest(
        conversation_id=made.conversation_id, mode=common_pb2.YOLO, origin=origin
    )
    return api.conversations.Update(request).conversation_id


def submit(api: running_daemon.Api, origin: common_pb2.Origin) -> str:
    request = tasks_pb2.SubmitRequest(text="hello", mode=common_pb2.YOLO, origin=origin)
    return api.tasks.Submit(request).conversation_id


def yolos(api: running_daemon.Api) -> int:
    """How many conversations are in that mode."""
    request = conversations_pb2.ListConversationsRequest(page=common_pb2.Page(size=500))
    return sum(one.mode == common_pb2.YOLO for one in api.conversations.List(request).conversations)


WAYS = {"create": create, "update": update, "submit": submit}


@pytest.mark.spec("K-03")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("token", "principal", "refused"),
    [
        ("owner", "", ""),
        ("owner", OWNER, ""),
        ("owner", STRANGER, "in a chat only an owner"),
        ("runner", "", "needs a token with scope approve too"),
        ("approver", "", ""),
        ("bot", OWNER, ""),
        ("bot", STRANGER, "in a chat only an owner"),
        ("bot", "", "in a chat only an owner"),
        ("bot that may not approve", OWNER, "needs a token with scope approve too"),
    ],
)
def test_who_may_set_yolo(
    owned: running_daemon.RunningDaemon,
    secrets: dict[str, str],
    way: str,
    token: str,
    principal: str,
    refused: str,
) -> None:
    with holding(owned, secrets[token]) as api:
        origin = common_pb2.Origin(principal=principal)
        if not refused:
            got = conversations_pb2.GetConversationRequest(conversation_id=WAYS[way](api, origin))
            assert api.conversations.Get(got).mode == common_pb2.YOLO
            return
        before = yolos(api)
        with pytest.raises(grpc.RpcError) as error:
            WAYS[way](api, origin)
        code, sentence = methods.fault(error.value)
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert SET_YOLO in sentence
        assert refused in sentence
        assert yolos(api) == before


@pytest.mark.spec("K-03")
@pytest.mark.parametrize("mode", [common_pb2.PLAN, common_pb2.BUILD])
def test_whoever_may_run_may_set_a_stricter_mode(
    owned: running_daemon.RunningDaemon,
    secrets: dict[str, str],
    mode: common_pb2.Mode.ValueType,
) -> None:
    with holding(owned, secrets["runner"]) as api:
        made = api.conversations.Create(conversations_pb2.CreateConversationRequest(title="a"))
        assert made.mode == common_pb2.BUILD
        request = conversations_pb2.UpdateConversationRequest(
            conversation_id=made.conversation_id, mode=mode
        )
        changed = api.conversations.Update(request)
        assert (changed.mode, changed.title) == (mode, "a")
        found = work.all_events(api)
        (told,) = [
            one.conversation_updated
            for one in found
            if one.conversation_id == made.conversation_id and one.HasField("conversation_updated")
        ]
        assert (told.HasField("title"), told.mode) == (False, mode)


@pytest.mark.spec("K-03")
def test_in_plan_nothing_is_written_and_in_yolo_nothing_is_asked(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="`touch planned`", mode=common_pb2.PLAN)
    planned = api.tasks.Submit(submit)
    assert "approval_requested" not in work.kinds(
        [update.event for update in work.reach(api, planned.task_id)]
    )
    submit = tasks_pb2.SubmitRequest(text="`env echo at once`", mode=common_pb2.YOLO)
    (started,) = _told(work.reach(api, api.tasks.Submit(submit).task_id), "tool_call_started")
    assert (started.tool_call_started.basis, started.tool_call_started.approval_id) == ("yolo", "")


def _told(updates: list[events_pb2.Update], kind: str) -> list[events_pb2.Event]:
    return [one.event for one in updates if one.event.WhichOneof("kind") == kind]


@pytest.mark.spec("D-12")
def test_always_runs_the_same_unasked_until_it_is_taken_back(api: running_daemon.Api) -> None:
    text = "`env echo always the same`"
    task_id = work.submit(api, text)
    approval_id = work.pending(api, task_id)
    resolved = work.resolve(api, approval_id, approvals_pb2.ALLOW_ALWAYS, client_key="always")
    again = work.resolve(api, approval_id, approvals_pb2.ALLOW_ALWAYS, client_key="always")
    assert resolved.grant_id == again.grant_id != ""
    (told,) = [
        one.grant_created for one in work.events(api, task_id) if one.HasField("grant_created")
    ]
    assert (told.grant_id, told.card) == (resolved.grant_id, resolved.card)
    work.end(api, task_id)
    (started,) = _told(work.reach(api, work.submit(api, text)), "tool_call_started")
    assert started.tool_call_started.basis == "grant"
    assert started.tool_call_started.grant_id == resolved.grant_id
    (left,) = [
        one.uses_left
        for one in api.approvals.ListGrants(approvals_pb2.ListGrantsRequest()).grants
        if one.grant_id == resolved.grant_id
    ]
    assert left == told.uses - 1
    revoke = approvals_pb2.RevokeGrantRequest(grant_id=resolved.grant_id)
    assert api.approvals.RevokeGrant(revoke).grant_id == resolved.grant_id
    asks = work.pending(api, work.submit(api, text))
    assert work.resolve(api, asks, approvals_pb2.DENY).grant_id == ""


@pytest.mark.spec("D-12")
def test_a_forwarded_message_taints_its_task(api: running_daemon.Api) -> None:
    origin = common_pb2.Origin(chat="c", message_id="m-1", forwarded=True)
    request = tasks_pb2.SubmitRequest(text="`env echo forwarded`", origin=origin)
    task_id = api.tasks.Submit(request).task_id
    approval_id = work.pending(api, task_id)
    source = common_pb2.TaintSource(kind="forwarded", source_id="m-1")
    assert list(work.task(api, task_id).taint) == [source]
    tainted = [one for one in work.events(api, task_id) if one.HasField("task_tainted")]
    assert [list(one.task_tainted.sources) for one in tainted] == [[source]]
    work.resolve(api, approval_id, approvals_pb2.DENY)
    assert not work.task(api, work.submit(api, "hello")).taint


@pytest.mark.spec("C-04")
def test_a_bot_answers_only_where_it_was_asked(
    owned: running_daemon.RunningDaemon, secrets: dict[str, str]
) -> None:
    here = common_pb2.Origin(principal=STRANGER, channel="telegram", chat="7")
    there = common_pb2.Origin(principal=OWNER, channel="telegram", chat="another")
    with holding(owned, secrets["bot"]) as bot, owned.api() as api:
        request = tasks_pb2.SubmitRequest(text="`env echo where`", origin=here)
        task_id = bot.tasks.Submit(request).task_id
        approval_id = work.pending(bot, task_id)
        got = api.approvals.Get(approvals_pb2.GetApprovalRequest(approval_id=approval_id))
        assert list(got.places) == ["telegram:home/7/"]

        def resolve(by: running_daemon.Api, origin: common_pb2.Origin) -> str:
            answer = approvals_pb2.ResolveRequest(
                approval_id=approval_id, answer=approvals_pb2.ALLOW_ONCE, origin=origin
            )
            return by.approvals.Resolve(answer).decided_by

        with pytest.raises(grpc.RpcError) as refused:
            resolve(bot, there)
        code, sentence = methods.fault(refused.value)
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert sentence.startswith("It is not shown in this chat")
        terminal = common_pb2.Origin(channel="terminal")
        assert resolve(api, terminal) == "local:owner"  # the owner at the machine answers anywhere
        assert work.end(api, task_id).state == common_pb2.COMPLETED
