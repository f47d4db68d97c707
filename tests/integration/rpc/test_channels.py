"""What a bot is told to show, from the first word in a chat to the end of its task."""

import functools
from collections.abc import Callable, Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.integration.rpc import covered, work

_D = channels_pb2.Delivery
ACCOUNT = "telegram:77"
OWNERS = '[owner]\ntelegram = ["42"]\n[people]\ntelegram = ["5"]\n'
refused = covered.refused


@pytest.fixture(scope="module")
def owned() -> Iterator[running_daemon.RunningDaemon]:
    with running_daemon.running(work.SCRIPT, OWNERS) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def secret(owned: running_daemon.RunningDaemon) -> str:
    token = admin_pb2.Token
    scopes = [token.RUN, token.READ, token.APPROVE, token.CHANNEL]
    request = admin_pb2.CreateTokenRequest(
        name="bot", scopes=scopes, platform="telegram", account="77"
    )
    with owned.api() as api:
        return api.admin.CreateToken(request).secret


@pytest.fixture
def bot(owned: running_daemon.RunningDaemon, secret: str) -> Iterator[running_daemon.Api]:
    with owned.channel() as channel:
        yield running_daemon.Api(channel, secret)


def origin(user: str = "5", chat: str = "5", message: str = "") -> common_pb2.Origin:
    return common_pb2.Origin(principal=f"{ACCOUNT}:{user}", chat=chat, message_id=message)


def submit(bot: running_daemon.Api, text: str, where: common_pb2.Origin) -> str:
    return bot.tasks.Submit(tasks_pb2.SubmitRequest(text=text, origin=where)).task_id


def delivered(bot: running_daemon.Api, wanted: Callable[[_D], bool]) -> _D:
    """The first delivery of a new stream that is wanted."""
    stream = bot.channels.Deliveries(channels_pb2.DeliveriesRequest())
    try:
        return next(one for one in stream if wanted(one))
    finally:
        stream.cancel()


def of_task(task_id: str, kind: "_D.Kind.ValueType") -> Callable[[_D], bool]:
    return lambda one: one.task.task_id == task_id and one.kind == kind


def report(bot: running_daemon.Api, shown: _D, state: "_D.State.ValueType", *messages: str) -> _D:
    return bot.channels.Report(
        channels_pb2.ReportRequest(
            delivery_id=shown.delivery_id,
            revision=shown.revision,
            state=state,
            platform_ids=messages,
        )
    )


def listed(bot: running_daemon.Api, delivery_id: str) -> _D:
    page = bot.channels.ListDeliveries(channels_pb2.ListDeliveriesRequest())
    return next(one for one in page.deliveries if one.delivery_id == delivery_id)


@pytest.mark.spec("B-01")
def test_a_preview_becomes_the_end_of_its_task_once(bot: running_daemon.Api) -> None:
    task_id = submit(bot, "slow", origin(message="11"))
    shown = delivered(bot, of_task(task_id, _D.PREVIEW))
    assert (shown.chat, shown.reply_to, shown.state) == ("5", "11", _D.PENDING)
    assert shown.task.text == "slow"
    assert shown.seq > 0
    sent = report(bot, shown, _D.SENT, "20")
    assert (sent.state, list(sent.platform_ids)) == (_D.SENT, ["20"])
    work.end(bot, task_id)
    final = delivered(bot, of_task(task_id, _D.FINAL))
    assert (final.delivery_id, final.revision) == (shown.delivery_id, shown.revision + 1)
    assert (list(final.platform_ids), final.state) == (["20"], _D.PENDING)
    assert final.task.answer == work.SLOW_WORDS
    assert report(bot, shown, _D.SHOWN, "20").state == _D.PENDING, "that was the preview"
    done = report(bot, final, _D.SHOWN, "20")
    assert (done.state, done.shown_revision) == (_D.SHOWN, 2)
    assert listed(bot, final.delivery_id) == done


@pytest.mark.spec("B-04")
def test_a_card_is_answered_where_it_is_shown_and_by_its_message_alone(
    bot: running_daemon.Api,
) -> None:
    task_id = submit(bot, "`env echo card`", origin(chat="-100", user="5", message="12"))
    card = delivered(bot, of_task(task_id, _D.APPROVAL))
    assert (card.chat, card.approval.status) == ("-100", approvals_pb2.PENDING)
    assert "env echo card" in card.approval.card
    report(bot, card, _D.SHOWN, "30")

    def press(where: common_pb2.Origin) -> approvals_pb2.Approval:
        return bot.approvals.Resolve(
            approvals_pb2.ResolveRequest(
                approval_id=card.approval.approval_id,
                answer=approvals_pb2.ALLOW_ONCE,
                origin=where,
            )
        )

    for forged in (("5", "-100", "30"), ("42", "-100", "31"), ("42", "42", "30")):
        code = refused(functools.partial(press, origin(*forged)))
        assert code is grpc.StatusCode.PERMISSION_DENIED, forged
    assert press(origin("42", "-100", "30")).status == approvals_pb2.ALLOWED
    work.end(bot, task_id)
    changed = listed(bot, card.delivery_id)
    assert (changed.revision, changed.state) == (2, _D.PENDING)
    assert changed.approval.decided_by == f"{ACCOUNT}:42"


@pytest.mark.spec("K-01")
def test_a_chat_goes_on_with_its_conversation_until_a_new_one(bot: running_daemon.Api) -> None:
    def conversation(chat: str) -> str:
        return work.task(bot, submit(bot, "hello", origin(chat=chat))).conversation_id

    first = conversation("-7")
    assert conversation("-7") == first != conversation("-8")
    looked = bot.channels.Look(channels_pb2.LookRequest(origin=origin(chat="-7")))
    assert (looked.conversation_id, looked.allowed, looked.owner) == (first, True, False)
    assert list(looked.owners) == ["42"]
    update = conversations_pb2.UpdateConversationRequest(
        conversation_id=first, steering=common_pb2.STEER
    )
    bot.conversations.Update(update)
    create = conversations_pb2.CreateConversationRequest(origin=origin(chat="-7"))
    made = bot.conversations.Create(create)
    assert made.steering == common_pb2.STEER, "it takes that over"
    assert conversation("-7") == made.conversation_id != first


def test_all_that_one_event_changes_comes(bot: running_daemon.Api) -> None:
    posts = 120  # more than a page
    for number in range(posts):
        bot.channels.Post(channels_pb2.PostRequest(text=f"{number}", origin=origin(chat="-50")))
    bot.channels.MoveChat(channels_pb2.MoveChatRequest(chat="-50", to="-51"))
    stream = bot.channels.Deliveries(channels_pb2.DeliveriesRequest(), timeout=60)
    there = (one for one in stream if one.chat == "-51")
    found = {next(there).text for _ in range(posts)}
    stream.cancel()
    assert found == {f"{number}" for number in range(posts)}


def test_a_stream_brings_what_comes_and_what_was_left_open(
    owned: running_daemon.RunningDaemon, secret: str, bot: running_daemon.Api
) -> None:
    stream = bot.channels.Deliveries(channels_pb2.DeliveriesRequest())
    stream.initial_metadata()
    task_id = submit(bot, "hello", origin(message="15"))
    kinds = []
    for one in stream:
        if one.task.task_id == task_id:
            kinds.append(one.kind)
            if one.kind == _D.FINAL:
                break
    stream.cancel()
    assert kinds in ([_D.PREVIEW, _D.FINAL], [_D.FINAL])
    owned.kill()
    owned.start()
    with owned.channel() as channel:
        again = running_daemon.Api(channel, secret)
        left = delivered(again, of_task(task_id, _D.FINAL))
        report(again, left, _D.GONE, "50")
        notices = again.admin.Status(work.STATUS).notices
        assert any("the chat 5 cannot be reached" in one for one in notices)
