"""`ducklm chat`: plans, thoughts and diffs as they come; undo, feedback, summary, export."""

import json
import pathlib

import grpc
import pytest

from bots import texts
from proto.ducklm.v1 import (
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("C-02")]
CHAT, T = updates.CONVERSATION, updates.TASK
IN_CHAT = ["chat", "--conversation", CHAT]
LONG_DIFF = "--- a/a.py\n+++ b/a.py\n" + "+line\n" * 60


def answered(task_id: str, kind: str = "answer", undone: bool = False) -> tasks_pb2.Task:
    return tasks_pb2.Task(task_id=task_id, state=common_pb2.COMPLETED, kind=kind, undone=undone)


@pytest.mark.spec("D-09")
@pytest.mark.spec("K-08")
def test_a_plan_is_shown_as_it_goes() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(
            updates.call_started(2, purpose="think"),
            updates.live(0, "I plan."),
            updates.call_finished(3, "I plan."),
            updates.call_started(4, "call-2", role="json_compiler", purpose="compile"),
            updates.live(0, "{", "call-2"),
            updates.call_finished(5, "{}", "call-2"),
            updates.directed(6, "plan", "compiler"),
            updates.planned(7, ("look", "tool", ""), ("say", "respond", "look")),
            updates.step_started(8, "look"),
            updates.tool_proposed(9),
            updates.tool_started(10, basis="read_only"),
            updates.tool_ended(11, "a\n"),
            updates.call_started(12, "call-3", role="critic", purpose="criticize"),
            updates.call_finished(13, "9 9 9", "call-3"),
            updates.step_judged(14, "look", "continue", 9),
            updates.step_ended(15, "look"),
            updates.step_started(16, "say"),
            updates.call_started(17, "call-4", purpose="write", step_id="say"),
            updates.live(0, "One file.", "call-4"),
            updates.call_finished(18, "One file.", "call-4"),
            updates.step_ended(19, "say"),
            updates.answered(20, "One file."),
            updates.state(21, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["files?", "/quit"])
    assert played.stdout == "I plan.\nOne file.\n"
    assert played.lines[1:] == [
        texts.TEXT_WITHDRAWN,
        "plan:",
        "  · goal of look",
        "  · goal of say (after look)",
        "▸ goal of look",
        "$ ls",
        "a",
        "[exit 0 · 1.5 s]",
        "✓ goal of look",
        "▸ goal of say",
        "✓ goal of say",
        "conversation conversation-1: continue it with ducklm chat --conversation conversation-1",
    ]


@pytest.mark.spec("D-21")
def test_ask_through_pipes_says_nothing_of_a_draft_that_it_did_not_write() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(
            updates.call_started(2, purpose="think"),
            updates.call_finished(3, "I look."),
            updates.directed(4, "fail"),
            updates.answered(5, "No."),
            updates.state(6, common_pb2.COMPLETED),
        )

    played = stage.play(["ask", "x"], script, setting=stage.PIPES)
    assert (played.stdout, played.stderr) == ("No.\n", "")


@pytest.mark.spec("H-11")
@pytest.mark.parametrize(
    ("typed", "shown"),
    [([], []), (["/thoughts on"], ["hm", "so: yes", "?"]), (["/thoughts on", "/thoughts off"], [])],
)
def test_thoughts_are_hidden_unless_they_are_asked_for(typed: list[str], shown: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(
            updates.call_started(2, purpose="think"),
            updates.live(0, "hm\nso: ", thinking=True),
            updates.live(7, "yes\n?", thinking=True),
            updates.live(0, "Yes."),
            updates.call_finished(3, "Yes.", reasoning="hm\nso: yes\n?"),
            updates.answered(4, "Yes."),
            updates.state(5, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=[*typed, "really?", "/quit"])
    assert played.stdout == "Yes.\n"
    assert played.lines[1 + len(typed) : -1] == shown


def test_thinking_has_the_status_line_while_it_is_hidden() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().send(
            updates.live(0, "hm", thinking=True, purpose="think"),
            updates.state(5, common_pb2.COMPLETED),
        )

    setting = stage.Setting(status_columns=80)
    assert texts.THINKING in stage.play(["chat"], script, typed=["?"], setting=setting).stderr


@pytest.mark.spec("D-11")
def test_a_long_diff_is_cut_and_whole_on_request() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        changed = updates.tool_ended(3, "ok", diff=LONG_DIFF)
        daemon.stream().send(
            updates.call_started(2), changed, updates.state(4, common_pb2.COMPLETED)
        )
        rows = [tasks_pb2.Task(task_id="t-2"), tasks_pb2.Task(task_id=T, commits=["c"])]
        request = daemon.answer("Tasks.List", tasks_pb2.ListTasksResponse(tasks=rows))
        assert request.conversation_id == CHAT
        found = events_pb2.ListEventsResponse(events=[changed.event])
        assert daemon.answer("Events.List", found).task_id == T

    played = stage.play(["chat"], script, typed=["write", "/diff"])
    assert "… 22 lines more: /diff, or ducklm diff task-1" in played.lines
    assert played.stderr.count("+line") == 38
    assert played.stdout.count("+line") == 60


def test_no_diff_says_so() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.answer("Tasks.List", tasks_pb2.ListTasksResponse(tasks=[tasks_pb2.Task()]))

    assert texts.DIFF_NONE in stage.play(IN_CHAT, script, typed=["/diff"]).lines
    alone = stage.play(["diff", T], _no_events)
    assert (alone.code, alone.lines) == (0, [texts.DIFF_NONE])


def _no_events(daemon: stage.Daemon) -> None:
    daemon.answer("Events.List", events_pb2.ListEventsResponse())


@pytest.mark.spec("K-08")
@pytest.mark.parametrize(("fault", "code"), [("", 0), ("a.py was changed since", 1)])
def test_undo_names_what_is_left_and_waits_for_the_project(fault: str, code: int) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=41))
        left = conversations_pb2.LeftCall(call_id="c", line="rm -r build\x1b")
        done = conversations_pb2.UndoResponse(task_id=T, commits=["1"], left=[left])
        request = daemon.answer("Conversations.Undo", done)
        assert (request.conversation_id, request.origin.channel) == (CHAT, "terminal")
        assert request.client_key
        stream = daemon.stream()
        assert (stream.request.after_seq, stream.request.task_id) == (41, T)
        stream.send(updates.state(42, common_pb2.COMPLETED), updates.reverted(43, fault))

    played = stage.play(["undo", CHAT], script)
    told = texts.REVERT_FAILED.format(why=fault) if fault else texts.REVERTED
    left = "cannot be taken back: rm -r build\\x1b"
    assert (played.code, played.lines) == (code, [texts.UNDONE, left, told])


@pytest.mark.spec("K-08")
def test_undo_in_the_chat_and_what_cannot_be_undone() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=41))
        daemon.answer("Conversations.Undo", conversations_pb2.UndoResponse(task_id=T))
        daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=43))
        daemon.refuse("Conversations.Undo", grpc.StatusCode.FAILED_PRECONDITION, "nothing is left")

    lines = stage.play(IN_CHAT, script, typed=["/undo", "/undo"]).lines
    assert lines[1:3] == [texts.UNDONE, "Not possible now: nothing is left"]


@pytest.mark.spec("B-10")
def test_feedback_is_about_the_last_answer() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        rows = [answered("c-1", "compact"), answered("t-3", undone=True), answered("t-2")]
        request = daemon.answer("Tasks.List", tasks_pb2.ListTasksResponse(tasks=rows))
        assert list(request.states) == [common_pb2.COMPLETED]
        request = daemon.answer("Tasks.Feedback", answered("t-2"))
        assert (request.task_id, request.HasField("good"), request.good) == ("t-2", True, False)
        assert request.text == "too  long"
        assert request.origin.channel == "terminal"

    typed = ["/feedback", "/feedback so-so", "/feedback BAD too  long"]
    lines = stage.play(IN_CHAT, script, typed=typed).lines
    assert lines[1:4] == [texts.FEEDBACK_UNKNOWN, texts.FEEDBACK_UNKNOWN, texts.FEEDBACK_KEPT]


@pytest.mark.spec("D-16")
def test_feedback_by_command() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Tasks.Feedback", answered("t-2"))
        assert (request.task_id, request.good, request.text) == ("t-2", True, "short")

    played = stage.play(["feedback", "t-2", "good", "short", "--json"], script)
    assert json.loads(played.stdout)["taskId"] == "t-2"
    assert stage.play(["feedback", "t-2", "fine"], stage.nothing).code == 2


@pytest.mark.spec("K-02")
def test_compact_is_followed_like_a_task() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        begun = conversations_pb2.CompactConversationResponse(task_id="t-9", seq=12)
        request = daemon.answer("Conversations.Compact", begun)
        assert request.conversation_id == CHAT
        stream = daemon.stream()
        assert (stream.request.after_seq, stream.request.task_id) == (11, "t-9")
        stream.send(
            updates.call_started(13, purpose="summarize"),
            updates.call_finished(14, "They spoke of ducks."),
            updates.update(
                15,
                events_pb2.Event(conversation_compacted=events_pb2.ConversationCompacted()),
            ),
            updates.state(16, common_pb2.COMPLETED),
        )

    played = stage.play(IN_CHAT, script, typed=["/compact"])
    assert played.stdout == ""
    assert played.lines[1:3] == [texts.COMPACTING, texts.CONVERSATION_COMPACTED]


@pytest.mark.parametrize("typed", ["/undo", "/compact", "/export", "/feedback good"])
def test_what_needs_a_conversation_says_so(typed: str) -> None:
    played = stage.play(["chat"], lambda daemon: daemon.greet(), typed=[typed])
    assert {texts.CHAT_NONE_YET, texts.ANSWER_NONE} & set(played.lines)


@pytest.mark.spec("K-01")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", conversations_pb2.ExportConversationRequest.MARKDOWN),
        ("a b.json", conversations_pb2.ExportConversationRequest.JSON),
    ],
)
def test_export_to_a_new_file(
    tmp_path: pathlib.Path,
    name: str,
    kind: conversations_pb2.ExportConversationRequest.Format.ValueType,
) -> None:
    path = tmp_path / name

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        for _ in range(2):
            assert daemon.export("# a\r\n", "b\x1b").format == kind

    lines = stage.play(IN_CHAT, script, typed=[f"/export {path}", f"/export {path}"]).lines
    assert path.read_bytes() == b"# a\r\nb\x1b"
    assert path.stat().st_mode & 0o777 == 0o600
    assert lines[1] == f"Written to {path}."
    assert lines[2] == f"{path} cannot be written: File exists."
