"""`ducklm ask`: the answer on stdout, all else on stderr, and its exit codes."""

import json

import grpc
import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("D-21")]


def answers_paris(daemon: stage.Daemon) -> None:
    daemon.greet()
    request = daemon.accept(seq=7)
    assert request.text == "capital of France?"
    assert request.origin.channel == "terminal"
    assert request.client_key == "key-1"
    stream = daemon.stream()
    assert stream.request.after_seq == 6
    assert stream.request.task_id == updates.TASK
    stream.send(
        updates.submitted(7),
        updates.state(8, common_pb2.RUNNING),
        updates.call_started(9),
        updates.progress(events_pb2.Progress.PREFILL, 10, 20, 1200),
        updates.live(0, "Pa"),
        updates.live(2, "ris."),
        updates.call_finished(10, "Paris."),
        updates.answered(11, "Paris."),
        updates.state(12, common_pb2.COMPLETED),
    )


@pytest.mark.spec("C-02")
@pytest.mark.parametrize("setting", [stage.PIPES, stage.TERMINAL])
def test_the_answer_and_nothing_else_is_on_stdout(setting: stage.Setting) -> None:
    played = stage.play(["ask", "capital of France?"], answers_paris, setting=setting)
    assert (played.code, played.stdout) == (0, "Paris.\n")
    assert played.stderr == ""


def test_every_call_carries_the_token() -> None:
    played = stage.play(["ask", "capital of France?"], answers_paris, setting=stage.PIPES)
    wanted = ("authorization", f"Bearer {stage.TOKEN}")
    assert len(played.daemon.metadata) == 3
    assert all(wanted in metadata for metadata in played.daemon.metadata)
    assert stage.TOKEN not in played.stdout + played.stderr


def test_a_dash_reads_stdin() -> None:
    setting = stage.Setting(False, False, stdin="capital of France?")
    assert stage.play(["ask", "-"], answers_paris, setting=setting).stdout == "Paris.\n"


def test_json_is_the_answer_of_the_api() -> None:
    played = stage.play(["ask", "capital of France?", "--json"], answers_paris)
    assert json.loads(played.stdout) == {
        "taskId": updates.TASK,
        "conversationId": updates.CONVERSATION,
        "state": "COMPLETED",
        "answer": "Paris.",
    }


def test_no_wait_returns_with_the_task() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        assert daemon.accept().conversation_id == "c-9"

    played = stage.play(["ask", "hi", "--no-wait", "--conversation", "c-9"], script)
    assert played.code == 0
    assert played.stdout == "task task-1 in conversation conversation-1\n"


@pytest.mark.parametrize(
    ("state", "reason", "told"),
    [
        (common_pb2.FAILED, "the command was denied", "failed: the command was denied"),
        (common_pb2.CANCELLED, "", "cancelled"),
        (common_pb2.BUDGET_EXHAUSTED, "", "stopped: its budget is used up"),
        (common_pb2.MODEL_PROTOCOL_ERROR, "", "failed: the model's output could not be used"),
    ],
)
def test_a_task_that_does_not_complete_is_exit_code_1(
    state: common_pb2.TaskState.ValueType, reason: str, told: str
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(updates.submitted(1), updates.state(2, state, reason))

    played = stage.play(["ask", "hi"], script, setting=stage.PIPES)
    assert (played.code, played.stdout, played.lines) == (1, "", [told])


def waits_for_approval(daemon: stage.Daemon) -> stage.Stream:
    daemon.greet()
    daemon.accept()
    stream = daemon.stream()
    stream.send(
        updates.submitted(1),
        updates.tool_proposed(2, '{"command":"rm -r build"}'),
        updates.approval_requested(3),
        updates.state(4, common_pb2.AWAITING_APPROVAL),
    )
    task = tasks_pb2.Task(
        task_id=updates.TASK,
        state=common_pb2.AWAITING_APPROVAL,
        approval_ids=["approval-1"],
    )
    daemon.answer("Tasks.Get", task)
    return stream


@pytest.mark.spec("C-04")
def test_without_a_terminal_an_approval_is_left_and_exit_code_4() -> None:
    def script(daemon: stage.Daemon) -> None:
        waits_for_approval(daemon)

    played = stage.play(["ask", "clean up"], script, typed=["y"], setting=stage.PIPES)
    assert (played.code, played.stdout) == (4, "")
    assert "  | rm -r build" in played.lines
    assert "Waits for you: ducklm approve approval-1, or ducklm deny approval-1" in played.lines
    assert played.person.questions == []


@pytest.mark.spec("C-04")
def test_without_a_terminal_json_names_the_approvals() -> None:
    def script(daemon: stage.Daemon) -> None:
        waits_for_approval(daemon)

    played = stage.play(["ask", "clean up", "--json"], script, setting=stage.PIPES)
    told = json.loads(played.stdout)
    assert (told["state"], told["approvalIds"]) == ("AWAITING_APPROVAL", ["approval-1"])


def test_follow_waits_for_others_to_decide() -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = waits_for_approval(daemon)
        daemon.stderr.wait_for("Waits for you")
        stream.send(
            updates.approval_resolved(5, by="telegram:bot:7"),
            updates.state(6, common_pb2.RUNNING),
            updates.answered(7, "clean"),
            updates.state(8, common_pb2.COMPLETED),
        )

    played = stage.play(["ask", "clean up", "--follow"], script, setting=stage.PIPES)
    assert (played.code, played.stdout) == (0, "clean\n")
    assert "approval allowed by telegram:bot:7" in played.lines


@pytest.mark.spec("C-04")
def test_on_a_terminal_it_asks() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.approval_requested(2))
        daemon.answer("Approvals.Get", approvals_pb2.Approval(status=approvals_pb2.PENDING))
        allowed = approvals_pb2.Approval(status=approvals_pb2.ALLOWED)
        request = daemon.answer("Approvals.Resolve", allowed)
        assert request.answer == approvals_pb2.ALLOW_ONCE
        stream.send(updates.answered(5, "clean"), updates.state(6, common_pb2.COMPLETED))

    played = stage.play(["ask", "clean up"], script, typed=["y"])
    assert (played.code, played.stdout) == (0, "clean\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ask", "  "], "There is nothing to ask"),
        (["ask", "bad \udcff byte"], "not valid UTF-8"),
        (["--address", "example.com:7411", "ask", "hi"], "example.com is not this machine"),
        (["--address", "7411", "ask", "hi"], "neither unix:/PATH nor HOST:PORT"),
    ],
)
def test_bad_input_is_exit_code_2_without_a_call(arguments: list[str], sentence: str) -> None:
    played = stage.play(arguments, stage.nothing)
    assert (played.code, played.stdout) == (2, "")
    assert sentence in played.stderr


def test_a_daemon_that_is_not_there_is_told_at_once() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.refuse("Admin.Status", grpc.StatusCode.UNAVAILABLE, "connection refused")

    played = stage.play(["ask", "hi"], script)
    assert (played.code, played.clock.sleeps) == (3, [])
    assert "Start it with ./scripts/run or ducklmd" in played.stderr
    assert "unix:/nonexistent/.local/state/ducklm/ducklmd.sock" in played.stderr


def test_a_daemon_that_stays_away_is_given_up_after_patience() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        for _ in range(35):  # pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and then 2 s: a minute
            daemon.stream().lose()

    played = stage.play(["ask", "hi"], script, setting=stage.PIPES)
    assert (played.code, max(played.clock.sleeps)) == (3, 2.0)
    assert "The daemon has been away for 60 s. Task task-1 goes on" in played.stderr
    assert played.stderr.count("connection lost") == 1


def test_text_for_a_terminal_is_inert_and_text_for_a_pipe_keeps_its_joiners() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        text = "\x1b]0;title\x07 a\u200db \u202ec"
        daemon.stream().send(updates.answered(2, text), updates.state(3, common_pb2.COMPLETED))

    shown = stage.play(["ask", "hi"], script).stdout
    assert shown == "\\x1b]0;title\\x07 a\\u200db \\u202ec\n"
    piped = stage.play(["ask", "hi"], script, setting=stage.PIPES).stdout
    assert piped == "\\x1b]0;title\\x07 a\u200db \u202ec\n"
