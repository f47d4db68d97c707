"""Grants, secrets and modes in the terminal: what is asked, what is sent, what is never shown."""

import json

import grpc
import pytest
from google.protobuf import timestamp_pb2

from bots import texts
from proto.ducklm.v1 import approvals_pb2, common_pb2, conversations_pb2, tasks_pb2
from tests.unit.bots import stage, updates

pytestmark = pytest.mark.timeout(30)
PASSWORD = "correct horse"
ASKED = "Type the password for sudo. It is not shown; Enter alone leaves it for later: "
WAITING = tasks_pb2.Task(
    task_id=updates.TASK, state=common_pb2.AWAITING_SECRET, secret="the password for sudo"
)
GRANT = approvals_pb2.Grant(
    grant_id="grant-1",
    tool="shell_exec",
    card="make\u202e all\nfolder: /p",
    principal="local:owner",
    folder="/p",
    granted_by="telegram:home:42",
    expires_at=timestamp_pb2.Timestamp(seconds=1_900_000_000),
    uses_left=7,
)
CHAT = updates.CONVERSATION


def waits(daemon: stage.Daemon) -> stage.Stream:
    daemon.greet()
    daemon.accept()
    stream = daemon.stream()
    stream.send(
        updates.tool_proposed(2, '{"command":"sudo id"}'),
        updates.secret_requested(3),
        updates.state(4, common_pb2.AWAITING_SECRET),
    )
    daemon.answer("Tasks.Get", WAITING)
    return stream


@pytest.mark.spec("D-15")
def test_a_secret_is_asked_for_handed_on_and_wiped() -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = waits(daemon)
        request = daemon.answer("Approvals.ProvideSecret", tasks_pb2.Task())
        assert (request.task_id, request.secret) == (updates.TASK, PASSWORD.encode())
        assert request.client_key
        stream.send(updates.answered(6, "uid 0"), updates.state(7, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["`sudo id`", PASSWORD])
    assert played.stdout == "uid 0\n"
    assert played.person.questions[1] == ASKED
    assert "a secret is needed: the password for sudo" in played.lines
    assert PASSWORD not in played.stdout + played.stderr
    assert played.person.handed_out == [bytearray(len(PASSWORD))]
    assert played.person.discarded == 1


@pytest.mark.spec("D-15")
@pytest.mark.parametrize("typed", [[KeyboardInterrupt()], [""], []])
def test_nothing_given_leaves_the_task_waiting(typed: list[str | KeyboardInterrupt]) -> None:
    def script(daemon: stage.Daemon) -> None:
        waits(daemon)

    played = stage.play(["chat"], script, typed=["`sudo id`", *typed])
    assert "Left waiting: ducklm secret task-1, or /waiting in the chat." in played.lines
    assert texts.CANCELLING not in played.lines
    assert played.code == 0


@pytest.mark.spec("D-15")
def test_a_secret_that_comes_too_late_is_told() -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = waits(daemon)
        code = grpc.StatusCode.FAILED_PRECONDITION
        daemon.refuse("Approvals.ProvideSecret", code, "task-1 does not wait for a password.")
        stream.send(updates.state(6, common_pb2.FAILED, "nobody gave the password in time"))

    played = stage.play(["chat"], script, typed=["`sudo id`", PASSWORD])
    assert "Not possible now: task-1 does not wait for a password." in played.lines
    assert "failed: nobody gave the password in time" in played.lines
    assert played.person.handed_out == [bytearray(len(PASSWORD))]


@pytest.mark.spec("D-15")
def test_a_secret_that_is_refused_is_wiped_too() -> None:
    def script(daemon: stage.Daemon) -> None:
        waits(daemon)
        daemon.refuse("Approvals.ProvideSecret", grpc.StatusCode.PERMISSION_DENIED, "Not you.")

    played = stage.play(["chat"], script, typed=["`sudo id`", PASSWORD])
    assert played.person.handed_out == [bytearray(len(PASSWORD))]
    assert PASSWORD not in played.stderr


@pytest.mark.spec("D-15")
def test_without_a_person_a_secret_is_waited_for_elsewhere() -> None:
    def script(daemon: stage.Daemon) -> None:
        waits(daemon)

    played = stage.play(["ask", "`sudo id`", "--json"], script, setting=stage.PIPES)
    assert played.code == 4
    assert json.loads(played.stdout)["secret"] == "the password for sudo"
    assert "Left waiting: ducklm secret task-1, or /waiting in the chat." in played.lines


@pytest.mark.spec("D-15")
@pytest.mark.parametrize(
    ("arguments", "typed", "stdin"),
    [
        ([], [PASSWORD], ""),
        (["--stdin"], [], PASSWORD),
        (["--stdin"], [], f"{PASSWORD}\n"),
    ],
)
def test_the_secret_command(arguments: list[str], typed: list[str], stdin: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Tasks.Get", WAITING)
        request = daemon.answer("Approvals.ProvideSecret", tasks_pb2.Task(task_id="task-1"))
        assert (request.task_id, request.secret) == ("task-1", PASSWORD.encode())

    setting = stage.Setting(interactive=not stdin, stdin=stdin)
    played = stage.play(["secret", "task-1", *arguments], script, typed=typed, setting=setting)
    assert played.code == 0
    assert "task-1" in played.stdout
    assert PASSWORD not in played.stdout + played.stderr
    assert played.person.questions == [ASKED] * len(typed)


@pytest.mark.spec("D-15")
@pytest.mark.parametrize(
    ("task", "setting", "typed", "code", "said"),
    [
        (tasks_pb2.Task(), stage.TERMINAL, [], 1, "Task task-1 waits for no secret."),
        (
            WAITING,
            stage.PIPES,
            [],
            2,
            "There is no terminal to type it in. Pipe it in: ducklm secret TASK --stdin",
        ),
        (
            WAITING,
            stage.TERMINAL,
            [KeyboardInterrupt()],
            4,
            "Left waiting: ducklm secret task-1, or /waiting in the chat.",
        ),
    ],
)
def test_the_secret_command_gives_nothing(
    task: tasks_pb2.Task,
    setting: stage.Setting,
    typed: list[str | KeyboardInterrupt],
    code: int,
    said: str,
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Tasks.Get", task)

    played = stage.play(["secret", "task-1"], script, typed=typed, setting=setting)
    assert (played.code, played.stdout) == (code, "")
    assert said in played.lines


@pytest.mark.spec("D-12")
@pytest.mark.parametrize("in_chat", [False, True])
def test_grants_are_listed_with_what_runs(in_chat: bool) -> None:
    def script(daemon: stage.Daemon) -> None:
        if in_chat:
            daemon.greet()
        daemon.answer("Approvals.ListGrants", approvals_pb2.ListGrantsResponse(grants=[GRANT]))

    arguments, typed = (["chat"], ["/grants"]) if in_chat else (["grants", "list"], [])
    lines = stage.play(arguments, script, typed=typed).stdout.splitlines()
    assert lines[0].startswith("grant-1  until 2030-03-17 ")
    assert lines[0].endswith("7 times more, allowed by telegram:home:42:")
    assert lines[1:] == [
        "  | make\\u202e all",
        "  | folder: /p",
        "  for local:owner, in /p",
    ]


@pytest.mark.spec("D-12")
def test_no_grants_and_grants_for_programs() -> None:
    def none(daemon: stage.Daemon) -> None:
        daemon.answer("Approvals.ListGrants", approvals_pb2.ListGrantsResponse())

    assert stage.play(["grants", "list"], none).lines == [texts.GRANTS_NONE]

    def one(daemon: stage.Daemon) -> None:
        daemon.answer("Approvals.ListGrants", approvals_pb2.ListGrantsResponse(grants=[GRANT]))

    played = stage.play(["grants", "list", "--json"], one)
    assert json.loads(played.stdout)["grantId"] == "grant-1"


@pytest.mark.spec("D-12")
@pytest.mark.parametrize("in_chat", [False, True])
def test_a_grant_is_taken_back(in_chat: bool) -> None:
    def script(daemon: stage.Daemon) -> None:
        if in_chat:
            daemon.greet()
        answer = approvals_pb2.RevokeGrantResponse(grant_id="grant-1")
        request = daemon.answer("Approvals.RevokeGrant", answer)
        assert (request.grant_id, bool(request.client_key)) == ("grant-1", True)

    arguments, typed = (["chat"], ["/revoke grant-1"]) if in_chat else (["grants", "revoke"], [])
    played = stage.play(arguments + ["grant-1"] * (not in_chat), script, typed=typed)
    assert "grant-1 is taken back: its call asks again." in played.lines


@pytest.mark.spec("D-12")
def test_approving_always_says_how_to_take_it_back() -> None:
    def script(daemon: stage.Daemon) -> None:
        answer = approvals_pb2.Approval(
            status=approvals_pb2.ALLOWED, decided_by="local:owner", grant_id="grant-1"
        )
        request = daemon.answer("Approvals.Resolve", answer)
        assert request.answer == approvals_pb2.ALLOW_ALWAYS

    played = stage.play(["approve", "approval-1", "--always"], script)
    assert played.stdout.splitlines()[1] == (
        "From now on it runs unasked. Take that back: ducklm grants revoke grant-1"
    )


def conversation(mode: common_pb2.Mode.ValueType) -> conversations_pb2.Conversation:
    return conversations_pb2.Conversation(conversation_id=CHAT, mode=mode)


@pytest.mark.spec("K-03")
@pytest.mark.parametrize("name", ["plan", "build", "yolo"])
def test_the_mode_command_sets_and_says_what_it_does(name: str) -> None:
    number = common_pb2.Mode.Value(name.upper())

    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Conversations.Update", conversation(number))
        assert (request.conversation_id, request.mode) == (CHAT, number)
        assert not request.HasField("title")
        assert request.client_key

    played = stage.play(["mode", CHAT, name], script)
    assert (played.code, played.lines) == (0, [texts.MODES[name.upper()]])


@pytest.mark.spec("K-03")
def test_the_mode_command_shows() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Conversations.Get", conversation(common_pb2.PLAN))
        assert request.conversation_id == CHAT

    assert stage.play(["mode", CHAT], script).lines == [texts.MODES["PLAN"]]


@pytest.mark.spec("K-03")
def test_a_mode_that_is_none_is_told_before_any_call() -> None:
    played = stage.play(["mode", CHAT, "root"], stage.nothing)
    assert (played.code, played.lines) == (2, ["The mode must be one of: plan, build, yolo."])


@pytest.mark.spec("K-03")
def test_the_chats_mode_before_its_first_message_and_after() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        first = daemon.accept()
        assert (first.mode, first.conversation_id) == (common_pb2.YOLO, "")
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))
        request = daemon.answer("Conversations.Update", conversation(common_pb2.PLAN))
        assert (request.conversation_id, request.mode) == (CHAT, common_pb2.PLAN)
        daemon.answer("Conversations.Get", conversation(common_pb2.PLAN))
        second = daemon.accept()
        assert (second.mode, second.conversation_id) == (common_pb2.MODE_UNSPECIFIED, CHAT)
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))

    typed = ["/mode", "/mode YOLO", "/mode", "hi", "/mode plan", "/mode", "again"]
    played = stage.play(["chat"], script, typed=typed)
    told = [line for line in played.lines if line in texts.MODES.values()]
    assert told == [texts.MODES[name] for name in ("BUILD", "YOLO", "YOLO", "PLAN", "PLAN")]


@pytest.mark.spec("K-03")
def test_a_new_conversation_is_never_yolo_by_inheritance() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        assert daemon.accept().mode == common_pb2.MODE_UNSPECIFIED
        daemon.stream().send(updates.state(2, common_pb2.COMPLETED))

    stage.play(["chat"], script, typed=["/mode yolo", "/new", "hi"])


@pytest.mark.parametrize("typed", ["/grants x", "/revoke", "/nothing", "/new x", "/undo it"])
def test_commands_with_wrong_words_do_nothing(typed: str) -> None:
    played = stage.play(["chat"], lambda daemon: daemon.greet(), typed=[typed])
    assert f"Unknown command {typed.split()[0]}; /help lists them." in played.lines
