"""`ducklm chat`: streaming, Ctrl-C, commands at the prompt."""

import json

import grpc
import pytest

from bots import texts
from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("C-02")]
CTRL_C = KeyboardInterrupt()


def completes(stream: stage.Stream, text: str, first_seq: int) -> None:
    stream.send(
        updates.call_started(first_seq, f"call-{first_seq}"),
        updates.live(0, text, f"call-{first_seq}"),
        updates.call_finished(first_seq + 1, text, f"call-{first_seq}"),
        updates.answered(first_seq + 2, text),
        updates.state(first_seq + 3, common_pb2.COMPLETED),
    )


@pytest.mark.spec("C-03")
def test_text_is_shown_as_it_comes() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.call_started(2), updates.live(0, "One "))
        daemon.stdout.wait_for("One ")
        stream.send(updates.live(4, "two"))
        daemon.stdout.wait_for("One two")
        stream.send(
            updates.call_finished(3, "One two three"),
            updates.answered(4, "One two three"),
            updates.state(5, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["count"])
    assert (played.code, played.stdout) == (0, "One two three\n")
    assert played.lines[0].startswith("DuckLM 0.1.0.")


def test_the_conversation_goes_on_and_new_begins_another() -> None:
    conversations = []

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        for seq in (1, 11, 21):
            if seq == 21:  # what the new one is to take over
                daemon.answer("Conversations.Get", conversations_pb2.Conversation())
            conversations.append(daemon.accept(seq).conversation_id)
            completes(daemon.stream(), "ok", seq)

    played = stage.play(["chat"], script, typed=["a", "b", "", "/new", "//c"])
    assert conversations == ["", updates.CONVERSATION, ""]
    assert played.stdout == "ok\nok\nok\n"
    assert "ducklm chat --conversation conversation-1" in played.lines[-1]


def test_a_directive_is_not_shown_and_a_tool_is() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        directive = '{"kind":"tool","tool":"shell_exec","arguments":{"command":"ls"}}'
        daemon.stream().send(
            updates.call_started(2),
            updates.live(0, directive[:10]),
            updates.live(10, directive[10:]),
            updates.call_finished(3, directive),
            updates.tool_proposed(4),
            updates.tool_started(5),
            updates.live(0, "a\nb\n", "tool-1", tool=True),
            updates.tool_ended(6, "a\nb\n"),
            updates.call_started(7, "call-2"),
            updates.live(0, "Two files.", "call-2"),
            updates.call_finished(8, "Two files.", "call-2"),
            updates.answered(9, "Two files."),
            updates.state(10, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["files?"])
    assert played.stdout == "Two files.\n"
    assert played.lines[1:5] == ["$ ls", "a", "b", "[exit 0 · 1.5 s]"]


def test_progress_has_a_line_of_its_own_that_gives_way() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(
            updates.progress(events_pb2.Progress.LOADING, elapsed_ms=2100),
            updates.progress(events_pb2.Progress.PREFILL, 128, 512, 3000),
        )
        completes(stream, "ok", 2)

    setting = stage.Setting(status_columns=80)
    played = stage.play(["chat"], script, typed=["hi"], setting=setting)
    clear = "\r\x1b[K"
    shown = f"{clear}loading the model 2 s{clear}reading 128/512 3 s{clear}"
    assert shown in played.stderr
    assert played.stdout == "ok\n"


def test_ctrl_c_cancels_the_task_and_not_the_chat() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.call_started(2), updates.live(0, "Once upon"))
        daemon.stdout.wait_for("Once upon")
        daemon.press_ctrl_c(stream)
        request = daemon.answer("Tasks.Cancel", tasks_pb2.Task(state=common_pb2.CANCELLED))
        assert request.task_id == updates.TASK
        again = daemon.stream()
        assert again.request.after_seq == 2
        again.send(
            updates.live(0, "Once upon"),
            updates.call_failed(3, "Once upon", fault="cancelled"),
            updates.state(4, common_pb2.CANCELLED),
        )
        daemon.accept(11)
        completes(daemon.stream(), "still here", 11)

    played = stage.play(["chat"], script, typed=["a story", "and now?"])
    assert played.code == 0
    assert played.stdout == "Once upon\nstill here\n"
    assert texts.CANCELLING in played.lines
    assert "cancelled" in played.lines


def test_a_second_ctrl_c_leaves_a_task_that_does_not_end() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.press_ctrl_c(daemon.stream())
        daemon.answer("Tasks.Cancel", tasks_pb2.Task(state=common_pb2.RUNNING))
        daemon.press_ctrl_c(daemon.stream())

    played = stage.play(["chat"], script, typed=["a story"])
    assert played.code == 0
    assert texts.LEFT_BEHIND in played.lines


def test_ctrl_c_at_a_card_cancels_the_task() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(updates.approval_requested(2))
        pending = approvals_pb2.Approval(status=approvals_pb2.PENDING)
        daemon.answer("Approvals.Get", pending)
        daemon.answer("Tasks.Cancel", tasks_pb2.Task(state=common_pb2.CANCELLED))
        again = daemon.stream()
        assert again.request.after_seq == 2
        again.send(updates.state(3, common_pb2.CANCELLED))

    played = stage.play(["chat"], script, typed=["clean up", CTRL_C])
    assert played.code == 0
    assert "cancelled" in played.lines


def test_ctrl_c_twice_at_the_prompt_leaves() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        completes(daemon.stream(), "ok", 2)

    played = stage.play(["chat"], script, typed=[CTRL_C, "hi", CTRL_C, CTRL_C, "not sent"])
    assert played.code == 0
    assert played.lines.count(texts.CHAT_QUIT_HINT) == 2
    assert played.person.lines == ["not sent"]


def test_a_refused_message_ends_neither_the_chat_nor_the_conversation() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.refuse(
            "Tasks.Submit",
            grpc.StatusCode.INVALID_ARGUMENT,
            "the text is too long\x1b[2J (correlation id c-17)",
            (("x-correlation-id", "c-17"),),
        )
        daemon.accept()
        completes(daemon.stream(), "ok", 2)

    played = stage.play(["chat"], script, typed=["x" * 100, "hi"])
    assert played.stdout == "ok\n"
    told = "The daemon does not take this: the text is too long\\x1b[2J (correlation id c-17)"
    assert told in played.lines


def test_commands_at_the_prompt() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet(pending=2)

    played = stage.play(["chat"], script, typed=["/help", "/nonsense x", "/waiting", "/quit", "z"])
    assert "2 approval(s) wait: ducklm approvals" in played.lines
    assert texts.CHAT_HELP in played.stderr
    assert "Unknown command /nonsense; /help lists them." in played.lines
    assert texts.CHAT_NOTHING_WAITS in played.lines
    assert played.person.lines == ["z"]


def test_through_pipes_messages_are_lines_and_approvals_are_left() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(
            updates.approval_requested(2), updates.state(3, common_pb2.AWAITING_APPROVAL)
        )
        waiting = tasks_pb2.Task(
            task_id=updates.TASK,
            state=common_pb2.AWAITING_APPROVAL,
            approval_ids=["approval-1"],
        )
        daemon.answer("Tasks.Get", waiting)
        assert daemon.accept(11).text == "y"
        completes(daemon.stream(), "why?", 11)

    played = stage.play(["chat"], script, typed=["clean up", "y"], setting=stage.PIPES)
    assert (played.code, played.stdout) == (4, "why?\n")
    assert set(played.person.questions) == {""}


def test_json_is_every_update() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        completes(daemon.stream(), "ok", 2)

    played = stage.play(["chat", "--json"], script, typed=["hi"])
    rows = [json.loads(line) for line in played.stdout.splitlines()]
    assert [next(iter(row)) for row in rows] == ["event", "live", "event", "event", "event"]
    assert rows[3]["event"]["answerGiven"] == {"text": "ok"}


def test_without_a_token_the_chat_ends_and_says_where_one_is_looked_for() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.refuse("Admin.Status", grpc.StatusCode.UNAUTHENTICATED, "no token")

    played = stage.play(["chat"], script, setting=stage.Setting(environ={}))
    assert played.code == 2
    assert "$DUCKLM_TOKEN, else /nonexistent/.local/state/ducklm/token" in played.stderr
    assert "authorization" not in dict(played.daemon.metadata[0])
