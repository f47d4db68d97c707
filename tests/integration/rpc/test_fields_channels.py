"""Every field of requests about chats and people is read back from what it did."""

from collections.abc import Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    artifacts_pb2,
    channels_pb2,
    common_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import covered, work

covers = covered.covers
refused = covered.refused
_Delivery = channels_pb2.Delivery
_ACCOUNT = "telegram:fields"


@pytest.fixture(scope="module")
def bot(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> Iterator[running_daemon.Api]:
    """The way of a bot of its own."""
    scopes = [admin_pb2.Token.RUN, admin_pb2.Token.READ, admin_pb2.Token.CHANNEL]
    request = admin_pb2.CreateTokenRequest(
        name="fields-bot", scopes=scopes, platform="telegram", account="fields"
    )
    secret = api.admin.CreateToken(request).secret
    with daemon.channel() as channel:
        yield running_daemon.Api(channel, secret)


def origin(chat: str, topic: str = "") -> common_pb2.Origin:
    """A person of the bot's in a chat."""
    return common_pb2.Origin(principal=f"{_ACCOUNT}:5", chat=chat, topic=topic)


@covers(
    channels_pb2.PostRequest,
    "origin",
    "text",
    "rows",
    "artifact_ids",
    "approval_id",
    "client_key",
)
@covers(common_pb2.ButtonRow, "buttons")
@covers(common_pb2.Button, "text", "data")
@covers(channels_pb2.DeliveriesRequest, "account")
@covers(channels_pb2.ListDeliveriesRequest, "states", "account", "page")
@covers(
    channels_pb2.ReportRequest,
    "delivery_id",
    "revision",
    "state",
    "platform_ids",
    "fault",
    "client_key",
)
@covers(channels_pb2.LookRequest, "origin")
def test_posts_and_reports(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    artifact = api.artifacts.Put(iter([artifacts_pb2.PutArtifactRequest(data=b"x")])).artifact_id
    task_id = work.submit(api, "`env echo asked`")
    approval_id = work.pending(api, task_id)
    here = origin("70", topic="4")
    here.reply_to = "9"
    request = channels_pb2.PostRequest(
        origin=here,
        text="**Grüße** 🦆",
        rows=[common_pb2.ButtonRow(buttons=[common_pb2.Button(text="Go", data="g:1")])],
        artifact_ids=[artifact],
        approval_id=approval_id,
        client_key="fields post",
    )
    posted = bot.channels.Post(request)
    assert bot.channels.Post(request) == posted
    assert (posted.account, posted.chat, posted.topic, posted.reply_to) == (
        _ACCOUNT,
        "70",
        "4",
        "9",
    )
    assert (posted.text, posted.principal) == (request.text, f"{_ACCOUNT}:5")
    assert (list(posted.rows), list(posted.artifact_ids)) == (list(request.rows), [artifact])
    assert posted.approval.approval_id == approval_id
    assert (posted.kind, posted.state, posted.revision) == (_Delivery.NOTICE, _Delivery.PENDING, 1)
    stream = bot.channels.Deliveries(channels_pb2.DeliveriesRequest(account=_ACCOUNT))
    assert next(iter(stream)) == posted
    stream.cancel()
    foreign = channels_pb2.DeliveriesRequest(account="telegram:another")
    assert refused(lambda: next(iter(bot.channels.Deliveries(foreign)))) is (
        grpc.StatusCode.PERMISSION_DENIED
    )
    report = channels_pb2.ReportRequest(
        delivery_id=posted.delivery_id,
        revision=1,
        state=_Delivery.FAILED,
        platform_ids=["31", "32"],
        fault="not so",
        client_key="fields report",
    )
    told = bot.channels.Report(report)
    assert bot.channels.Report(report) == told
    messages = ["31", "32"]
    assert (told.state, list(told.platform_ids)) == (_Delivery.FAILED, messages)
    assert told.fault == "not so"
    here.reply_to = "32"
    look = bot.channels.Look(channels_pb2.LookRequest(origin=here))
    assert look.replied_to == told
    page = channels_pb2.ListDeliveriesRequest(
        states=[_Delivery.FAILED], account=_ACCOUNT, page=common_pb2.Page(size=1)
    )
    assert list(api.channels.ListDeliveries(page).deliveries) == [told]
    page.account = "telegram:another"
    assert not api.channels.ListDeliveries(page).deliveries
    work.end_by_cancel(api, task_id)


@covers(channels_pb2.MoveChatRequest, "chat", "to", "client_key", "account")
def test_a_chat_that_moves(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    posted = bot.channels.Post(channels_pb2.PostRequest(origin=origin("-100"), text="open"))
    request = channels_pb2.MoveChatRequest(
        chat="-100", to="-1009", account=_ACCOUNT, client_key="fields move"
    )
    for _ in range(2):
        assert bot.channels.MoveChat(request).chat == "-1009"
    listed = api.channels.ListDeliveries(channels_pb2.ListDeliveriesRequest(account=_ACCOUNT))
    (moved,) = [one for one in listed.deliveries if one.delivery_id == posted.delivery_id]
    assert (moved.chat, moved.revision, moved.state) == ("-1009", 2, _Delivery.PENDING)
    request.account = "telegram:another"
    request.client_key = "fields move 2"
    assert refused(lambda: bot.channels.MoveChat(request)) is grpc.StatusCode.PERMISSION_DENIED


@covers(channels_pb2.SetCursorRequest, "name", "value", "client_key")
@covers(channels_pb2.GetCursorRequest, "name")
def test_cursors(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    request = channels_pb2.SetCursorRequest(name="menu", value="v" * 4096, client_key="cursor")
    for _ in range(2):
        assert bot.channels.SetCursor(request).value == request.value
    assert bot.channels.GetCursor(channels_pb2.GetCursorRequest(name="menu")).value == request.value
    assert bot.channels.GetCursor(channels_pb2.GetCursorRequest(name="other")).value == ""
    assert api.channels.GetCursor(channels_pb2.GetCursorRequest(name="menu")).value == ""


@covers(channels_pb2.PairRequest, "origin", "name", "client_key")
@covers(channels_pb2.DecidePairingRequest, "principal", "code", "allow", "origin", "client_key")
def test_people(api: running_daemon.Api, bot: running_daemon.Api) -> None:
    stranger = common_pb2.Origin(principal=f"{_ACCOUNT}:8", chat="8")
    submit = tasks_pb2.SubmitRequest(text="hello", origin=stranger)
    assert refused(lambda: bot.tasks.Submit(submit)) is grpc.StatusCode.PERMISSION_DENIED
    request = channels_pb2.PairRequest(origin=stranger, name="Ä\nB", client_key="pair")
    asked = bot.channels.Pair(request)
    assert bot.channels.Pair(request) == asked
    assert (asked.principal, asked.name) == (stranger.principal, "Ä B")
    assert (asked.state, len(asked.code)) == (channels_pb2.Person.ASKED, 6)
    decide = channels_pb2.DecidePairingRequest(
        code=asked.code, allow=True, client_key="let in", origin=common_pb2.Origin()
    )
    decide.origin.principal = f"{_ACCOUNT}:8"
    assert refused(lambda: api.channels.DecidePairing(decide)) is grpc.StatusCode.PERMISSION_DENIED
    decide.ClearField("origin")
    for _ in range(2):
        let_in = api.channels.DecidePairing(decide)
        assert (let_in.state, let_in.decided_by) == (channels_pb2.Person.ALLOWED, "local:owner")
    task_id = bot.tasks.Submit(submit).task_id
    work.end(api, task_id)
    decide = channels_pb2.DecidePairingRequest(principal=stranger.principal, allow=False)
    assert api.channels.DecidePairing(decide).state == channels_pb2.Person.REFUSED
    assert refused(lambda: bot.tasks.Submit(submit)) is grpc.StatusCode.PERMISSION_DENIED
    people = api.channels.ListPeople(channels_pb2.ListPeopleRequest()).people
    assert stranger.principal in [one.principal for one in people]
