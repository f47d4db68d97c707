"""`ducklm chat`: the settings of a conversation, and what of them a new one takes over."""

import pytest

from bots import texts
from proto.ducklm.v1 import common_pb2, conversations_pb2
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("K-01")]
CHAT = updates.CONVERSATION


def conversation(
    mode: common_pb2.Mode.ValueType = common_pb2.BUILD,
    folder: str = "",
    steering: common_pb2.Steering.ValueType = common_pb2.QUEUE,
    profile: str = "",
) -> conversations_pb2.Conversation:
    return conversations_pb2.Conversation(
        conversation_id=CHAT, mode=mode, folder=folder, steering=steering, profile=profile
    )


def sends(daemon: stage.Daemon) -> common_pb2.Mode.ValueType:
    """Take a message of a conversation that it begins; its mode."""
    request = daemon.accept()
    assert request.conversation_id == ""
    daemon.stream().send(updates.state(2, common_pb2.COMPLETED))
    return request.mode


@pytest.mark.spec("K-04")
@pytest.mark.parametrize(
    ("typed", "folder"),
    [
        ("/project /p/../q", "/q"),
        ("/project ~", "/nonexistent"),
        ("/project ~/a b", "/nonexistent/a b"),
        ("/project ducks", "ducks"),
    ],
)
def test_a_project_by_its_folder_or_its_name(typed: str, folder: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        request = daemon.accept()
        assert (request.folder, request.conversation_id) == (folder, "")
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))
        request = daemon.answer("Conversations.Update", conversation(folder="/real"))
        assert (request.folder, request.HasField("mode")) == (folder, False)
        assert request.origin.channel == "terminal"
        assert request.client_key
        request = daemon.answer("Conversations.Update", conversation())
        assert (request.HasField("folder"), request.folder) == (True, "")

    played = stage.play(["chat"], script, typed=[typed, "hi", typed, "/project -"])
    assert f"project {folder}" in played.lines
    assert "project /real" in played.lines
    assert texts.PROJECT_NONE in played.lines


@pytest.mark.spec("B-09")
def test_steering_is_set_at_once_or_with_the_next_conversation() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        steers = conversation(steering=common_pb2.STEER)
        made = daemon.answer("Conversations.Create", steers)
        assert (made.steering, made.mode) == (common_pb2.STEER, common_pb2.MODE_UNSPECIFIED)
        request = daemon.accept()
        assert (request.conversation_id, request.folder) == (CHAT, "")
        assert request.client_key != made.client_key
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))
        daemon.answer("Conversations.Get", steers)
        request = daemon.answer("Conversations.Update", conversation())
        assert request.steering == common_pb2.QUEUE

    typed = ["/steer", "/steer on", "hi", "/steer", "/steer OFF", "/steer maybe"]
    played = stage.play(["chat"], script, typed=typed)
    told = [line for line in played.lines if "while a task runs" in line or "/steer" in line]
    off, on = texts.STEER_OFF, texts.STEER_ON
    assert told == [off, on, on, off, texts.STEER_UNKNOWN]


@pytest.mark.spec("K-03")
@pytest.mark.parametrize(
    ("before", "mode", "told"),
    [
        (conversation(), common_pb2.MODE_UNSPECIFIED, texts.CHAT_NEW),
        (conversation(common_pb2.YOLO), common_pb2.MODE_UNSPECIFIED, texts.CHAT_NEW),
        (
            conversation(common_pb2.PLAN),
            common_pb2.PLAN,
            "A new conversation begins with the next message: mode plan.",
        ),
    ],
)
def test_a_new_conversation_takes_over_all_but_yolo(
    before: conversations_pb2.Conversation, mode: common_pb2.Mode.ValueType, told: str
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        sends(daemon)
        assert daemon.answer("Conversations.Get", before).conversation_id == CHAT
        assert sends(daemon) == mode

    assert told in stage.play(["chat"], script, typed=["hi", "/new", "hi"]).lines


def test_a_new_conversation_takes_over_project_profile_and_steering() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        sends(daemon)
        before = conversation(common_pb2.PLAN, "/p", common_pb2.STEER, "brief")
        daemon.answer("Conversations.Get", before)
        made = daemon.answer("Conversations.Create", before)
        assert (made.mode, made.folder) == (common_pb2.PLAN, "/p")
        assert (made.profile, made.steering) == ("brief", common_pb2.STEER)
        daemon.accept()
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["hi", "/new", "hi"])
    assert (
        "A new conversation begins with the next message: "
        "project /p, mode plan, profile brief, messages join a running task." in played.lines
    )
