"""Writes about conversations and answers: what each becomes, who may, and what is refused."""

import pathlib
from collections.abc import Iterator

import grpc
import pytest
from google.protobuf import message

from daemon.domain import decisions, errors, events, ids, inputs, principals, verdicts, views
from daemon.rpc import convert
from proto.ducklm.v1 import common_pb2, conversations_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import methods, recorded, served

C, T = recorded.CONVERSATION, recorded.TASK
EVERY = {methods.short(method): method for method in methods.every()}
KEPT = decisions.ConversationKept(conversation_id=C)
DUCKS = views.ProjectView(name="ducks", folder="/home/me/ducks", created_ms=0)
ORIGIN = common_pb2.Origin(principal=recorded.PERSON, channel="telegram", chat="7")


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


def keyed(name: str, request: message.Message) -> convert.Keyed:
    return convert.Keyed(
        credential=name,
        principal=recorded.PERSON,
        correlation_id="from-the-test",
        client_key="key",
        body_hash=convert.body_hash(request),
    )


_SUBMIT = tasks_pb2.SubmitRequest(text="x", origin=ORIGIN, folder="ducks", client_key="key")
_CREATE = conversations_pb2.CreateConversationRequest(
    title="t",
    origin=ORIGIN,
    client_key="key",
    mode=common_pb2.PLAN,
    folder="/home/me//ducks/",
    profile="brief",
    steering=common_pb2.STEER,
)
_UPDATE = conversations_pb2.UpdateConversationRequest(
    conversation_id=C,
    client_key="key",
    origin=ORIGIN,
    folder="",
    profile="",
    steering=common_pb2.QUEUE,
)
_DELETE = conversations_pb2.DeleteConversationRequest(
    conversation_id=C, origin=ORIGIN, client_key="key"
)
_COMPACT = conversations_pb2.CompactConversationRequest(
    conversation_id=C, origin=ORIGIN, client_key="key"
)
_UNDO = conversations_pb2.UndoRequest(conversation_id=C, origin=ORIGIN, client_key="key")
_FEEDBACK = tasks_pb2.FeedbackRequest(
    task_id=T, good=False, text=" wrong\n", origin=ORIGIN, client_key="key"
)
_HERE = principals.Origin(principal=recorded.PERSON, channel="telegram", chat="7")
_SUBMITTED = decisions.Submitted(task_id=T, conversation_id=C, seq=9)
_CHANGED = inputs.UpdateConversation(
    **keyed("bot", _UPDATE), conversation_id=C, folder="", profile="", steers=False
)
WRITES: dict[str, tuple[message.Message, inputs.RpcInput, decisions.Reply]] = {
    "Tasks/Submit": (
        _SUBMIT,
        inputs.SubmitTask(**keyed("bot", _SUBMIT), origin=_HERE, text="x", folder=DUCKS.folder),
        _SUBMITTED,
    ),
    "Tasks/Feedback": (
        _FEEDBACK,
        inputs.GiveFeedback(**keyed("bot", _FEEDBACK), task_id=T, good=False, text="wrong"),
        decisions.TaskKept(task_id=T),
    ),
    "Conversations/Create": (
        _CREATE,
        inputs.CreateConversation(
            **keyed("bot", _CREATE),
            title="t",
            mode=verdicts.Mode.PLAN,
            folder=DUCKS.folder,
            profile="brief",
            steers=True,
            place="telegram:home/7/",
        ),
        KEPT,
    ),
    "Conversations/Update": (_UPDATE, _CHANGED, KEPT),
    "Conversations/Delete": (
        _DELETE,
        inputs.DeleteConversation(**keyed("bot", _DELETE), conversation_id=C),
        KEPT,
    ),
    "Conversations/Compact": (
        _COMPACT,
        inputs.CompactConversation(**keyed("bot", _COMPACT), conversation_id=C, origin=_HERE),
        _SUBMITTED,
    ),
    "Conversations/Undo": (
        _UNDO,
        inputs.UndoExchange(**keyed("bot", _UNDO), conversation_id=C),
        decisions.Undone(task_id=T, commits=("1", "2"), left=()),
    ),
}
MORE = (("x-correlation-id", "from-the-test"),)


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("name", WRITES)
async def test_what_a_write_becomes(name: str, folder: pathlib.Path) -> None:
    request, wanted, reply = WRITES[name]
    box = recorded.Inbox(reply)
    store = recorded.Store(recorded.conversation(), [recorded.task()], projects=[DUCKS])
    async with recorded.serving(box, store, folder) as channel:
        await served.call(channel, EVERY[name], request, recorded.BOT, MORE)
    assert box.asked == [wanted]


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("name", WRITES)
async def test_a_refusal_is_told_as_it_is(name: str, folder: pathlib.Path) -> None:
    box = recorded.Inbox(errors.Refusal(errors.RefusalKind.STATE, "Not now."))
    store = recorded.Store(recorded.conversation(), projects=[DUCKS])
    async with recorded.serving(box, store, folder) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.call(channel, EVERY[name], WRITES[name][0], recorded.BOT)
    assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (refused.value.details() or "").startswith("Not now.")


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("name", ["Conversations/Delete", "Conversations/Undo"])
@pytest.mark.parametrize(
    ("token", "stated", "of", "may"),
    [
        (served.OWNER, "", recorded.PERSON, True),
        (served.OTHER, "", recorded.PERSON, False),
        (served.OTHER, "", principals.of_script("script"), True),
        (served.OTHER, recorded.PERSON, recorded.PERSON, False),
        (recorded.BOT, recorded.PERSON, recorded.PERSON, True),
        (recorded.BOT, "telegram:home:8", recorded.PERSON, False),
        (recorded.BOT, "", recorded.PERSON, False),
        (recorded.BOT, recorded.OWNER_IN_CHAT, recorded.PERSON, True),
        (recorded.BOT, "telegram:other:7", recorded.PERSON, False),
    ],
)
async def test_only_its_principal_and_an_owner_may(
    name: str, token: str, stated: str, of: str, may: bool, folder: pathlib.Path
) -> None:
    request, _, reply = WRITES[name]
    sent = type(request).FromString(request.SerializeToString())
    assert isinstance(
        sent, conversations_pb2.DeleteConversationRequest | conversations_pb2.UndoRequest
    )
    sent.origin.principal = stated
    box = recorded.Inbox(reply)
    store = recorded.Store(recorded.conversation(principals.Principal(of)))
    async with recorded.serving(box, store, folder) as channel:
        if may:
            await served.call(channel, EVERY[name], sent, token)
        else:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await served.call(channel, EVERY[name], sent, token)
            assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert len(box.asked) == may


async def test_a_deletion_again_is_asked_though_it_is_gone(folder: pathlib.Path) -> None:
    box = recorded.Inbox(KEPT)
    async with recorded.serving(box, recorded.Store(), folder) as channel:
        await served.call(channel, EVERY["Conversations/Delete"], _DELETE, served.OWNER)
    assert len(box.asked) == 1


_SHELL = '{"command":"rm -r build\\necho \\u001b[2J"}'
_FILE = '{"path":"' + "x" * 300 + '"}'


def _proposed(number: int, tool: str) -> events.ToolCallProposed:
    return events.ToolCallProposed(
        task_id=T,
        call_id=ids.CallId(f"call-{number}"),
        tool=tool,
        arguments=ids.ContentId(f"content-{number}"),
    )


@pytest.mark.spec("K-08")
async def test_undo_names_each_call_that_is_left(folder: pathlib.Path) -> None:
    log = [_proposed(number, "shell_exec" if number % 2 else "file_write") for number in range(450)]
    left = tuple(ids.CallId(f"call-{number}") for number in (401, 2, 3))
    texts = {"content-2": _FILE, "content-401": _SHELL}
    box = recorded.Inbox(decisions.Undone(task_id=T, commits=("1",), left=left))
    store = recorded.Store(recorded.conversation(), logs={T: log}, texts=texts)
    async with recorded.serving(box, store, folder) as channel:
        done = await served.call(channel, EVERY["Conversations/Undo"], _UNDO, served.OWNER)
    assert isinstance(done, conversations_pb2.UndoResponse)
    assert (done.task_id, list(done.commits)) == (T, ["1"])
    assert [(one.call_id, one.tool, one.arguments_json) for one in done.left] == [
        ("call-2", "file_write", _FILE),
        ("call-3", "shell_exec", ""),
        ("call-401", "shell_exec", _SHELL),
    ]
    lines = [one.line for one in done.left]
    assert lines[0] == ('file_write {"path":"' + "x" * 300)[:199] + "…"
    assert lines[1:] == ["shell_exec (forgotten)", "rm -r build\\necho \\x1b[2J"]


@pytest.mark.spec("K-04")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        (name, given)
        for name in ("Tasks/Submit", "Conversations/Create", "Conversations/Update")
        for given in ("geese", "/home/me", "/home/me/ducks/..", "../ducks", "/")
    ],
)
async def test_only_a_named_project_can_be_worked_in(
    name: str, given: str, folder: pathlib.Path
) -> None:
    request = WRITES[name][0]
    sent = type(request).FromString(request.SerializeToString())
    assert isinstance(
        sent,
        tasks_pb2.SubmitRequest
        | conversations_pb2.CreateConversationRequest
        | conversations_pb2.UpdateConversationRequest,
    )
    sent.folder = given
    box = recorded.Inbox(KEPT)
    store = recorded.Store(recorded.conversation(), projects=[DUCKS])
    async with recorded.serving(box, store, folder) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.call(channel, EVERY[name], sent, recorded.BOT)
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert (refused.value.details() or "").startswith(f"There is no project {given}. ")
    assert box.asked == []


@pytest.mark.parametrize(
    ("name", "request_sent", "says"),
    [
        (
            "Tasks/Feedback",
            tasks_pb2.FeedbackRequest(task_id=T, text="well"),
            "Say what the answer is worth: good is true or false.",
        ),
        (
            "Conversations/Update",
            conversations_pb2.UpdateConversationRequest(conversation_id=C, origin=ORIGIN),
            "Set the fields to change, one or more of: title, mode, folder, profile, steering.",
        ),
        (
            "Conversations/Update",
            conversations_pb2.UpdateConversationRequest(
                conversation_id=C, steering=common_pb2.STEERING_UNSPECIFIED
            ),
            "steering is one of QUEUE, STEER.",
        ),
        (
            "Conversations/Export",
            conversations_pb2.ExportConversationRequest(conversation_id=C, last_turns=-1),
            "last_turns is 0 or more, not -1.",
        ),
    ],
)
async def test_what_a_request_lacks(
    name: str, request_sent: message.Message, says: str, folder: pathlib.Path
) -> None:
    box = recorded.Inbox(KEPT)
    store = recorded.Store(recorded.conversation())
    async with recorded.serving(box, store, folder) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.call(channel, EVERY[name], request_sent)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (refused.value.details() or "").startswith(says)
    assert box.asked == []


@pytest.mark.spec("K-01")
async def test_what_a_conversation_and_a_task_show(folder: pathlib.Path) -> None:
    view = recorded.conversation(folder="/p").but(
        {"mode": verdicts.Mode.YOLO, "profile": "brief", "steers": True, "summarized_seq": 7}
    )
    task = recorded.task().but({"folder": "/p", "commits": ("1",), "undone": True, "good": False})
    async with recorded.serving(recorded.Inbox(KEPT), recorded.Store(view, [task]), folder) as way:
        asked = conversations_pb2.GetConversationRequest(conversation_id=C)
        shown = await served.call(way, EVERY["Conversations/Get"], asked)
        told = await served.call(way, EVERY["Tasks/Get"], tasks_pb2.GetTaskRequest(task_id=T))
    assert isinstance(shown, conversations_pb2.Conversation)
    assert (shown.folder, shown.profile) == ("/p", "brief")
    assert (shown.steering, shown.summarized_seq) == (common_pb2.STEER, 7)
    assert isinstance(told, tasks_pb2.Task)
    assert (told.kind, told.folder, list(told.commits)) == ("answer", "/p", ["1"])
    assert (told.undone, told.HasField("good"), told.good) == (True, True, False)
