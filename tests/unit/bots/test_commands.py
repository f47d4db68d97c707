"""The lists and the single commands: what they ask for, print and exit with."""

import json

import grpc
import pytest
from google.protobuf import message, timestamp_pb2

from bots.terminal import faults
from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("D-21")]
AT = timestamp_pb2.Timestamp(seconds=1_900_000_000)
TASK = tasks_pb2.Task(
    task_id="t-1",
    state=common_pb2.FAILED,
    reason="denied\x1b[2J",
    text="rm\nall",
    created_at=AT,
    updated_at=AT,
)
APPROVAL = approvals_pb2.Approval(
    approval_id="a-1",
    task_id="t-1",
    tool="shell_exec",
    card="rm -r build",
    status=approvals_pb2.ALLOWED,
    decided_by="local:owner",
)


def test_tasks_are_listed_over_pages() -> None:
    def script(daemon: stage.Daemon) -> None:
        first = tasks_pb2.ListTasksResponse(tasks=[TASK] * 100, next_page_token="p2")
        request = daemon.answer("Tasks.List", first)
        assert (request.page.size, request.page.token) == (100, "")
        second = tasks_pb2.ListTasksResponse(tasks=[TASK] * 20, next_page_token="p3")
        request = daemon.answer("Tasks.List", second)
        assert (request.page.size, request.page.token) == (20, "p2")
        assert request.conversation_id == "c-1"

    played = stage.play(["tasks", "--limit", "120", "--conversation", "c-1"], script)
    lines = played.stdout.splitlines()
    assert (played.code, len(lines)) == (0, 120)
    assert lines[0].endswith("  t-1  [failed: denied\\x1b[2J]  rm\\nall")


@pytest.mark.parametrize(
    ("command", "method", "empty", "sentence"),
    [
        ("tasks", "Tasks.List", tasks_pb2.ListTasksResponse(), "No task yet."),
        (
            "approvals",
            "Approvals.List",
            approvals_pb2.ListApprovalsResponse(),
            "No approval waits.",
        ),
        (
            "conversations",
            "Conversations.List",
            conversations_pb2.ListConversationsResponse(),
            "No conversation yet.",
        ),
    ],
)
def test_an_empty_list_says_so_on_stderr(
    command: str, method: str, empty: message.Message, sentence: str
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer(method, empty)

    played = stage.play([command], script)
    assert (played.code, played.stdout, played.lines) == (0, "", [sentence])
    silent = stage.play([command, "--json"], script)
    assert (silent.code, silent.stdout, silent.stderr) == (0, "", "")


@pytest.mark.spec("C-04")
def test_approvals_show_their_cards() -> None:
    def script(daemon: stage.Daemon) -> None:
        response = approvals_pb2.ListApprovalsResponse(approvals=[APPROVAL])
        assert daemon.answer("Approvals.List", response).status == approvals_pb2.PENDING

    lines = stage.play(["approvals"], script).stdout.splitlines()
    assert lines == [
        "shell_exec wants to run:",
        "  | rm -r build",
        "  approval a-1",
        "  task t-1",
    ]


def test_json_is_one_object_a_line() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Tasks.List", tasks_pb2.ListTasksResponse(tasks=[TASK, TASK]))

    rows = stage.play(["tasks", "--json"], script).stdout.splitlines()
    assert [json.loads(row)["taskId"] for row in rows] == ["t-1", "t-1"]
    assert "\x1b" not in rows[0]


def test_conversations() -> None:
    def script(daemon: stage.Daemon) -> None:
        rows = [
            conversations_pb2.Conversation(conversation_id="c-1", title="ducks", updated_at=AT),
            conversations_pb2.Conversation(conversation_id="c-2", updated_at=AT),
        ]
        response = conversations_pb2.ListConversationsResponse(conversations=rows)
        daemon.answer("Conversations.List", response)

    lines = stage.play(["conversations"], script).stdout.splitlines()
    assert lines[0].endswith("  c-1  ducks")
    assert lines[1].endswith("  c-2  (untitled)")


def test_status() -> None:
    def script(daemon: stage.Daemon) -> None:
        slot = admin_pb2.SlotStatus(
            name="embedded",
            state="ready",
            roles=["thinker", "critic"],
            context_tokens=8192,
            detail="smol.gguf",
        )
        response = admin_pb2.StatusResponse(
            version="0.1.0",
            started_at=AT,
            state_folder="/s",
            head_seq=41,
            tasks_running=1,
            approvals_pending=2,
            resident_bytes=86_000_000,
            slots=[slot],
            notices=["CPU build on a machine with a GPU\x07"],
            draining=True,
        )
        daemon.answer("Admin.Status", response)

    shown = stage.play(["status"], script).stdout
    assert "version       0.1.0\n" in shown
    assert "tasks         1 running, 0 queued, 0 waiting\n" in shown
    assert "model         embedded: ready (thinker, critic; 8192 tokens) smol.gguf\n" in shown
    assert "notice        CPU build on a machine with a GPU\\x07\n" in shown
    assert shown.endswith("The daemon is stopping.\n")


@pytest.mark.spec("C-04")
@pytest.mark.parametrize(
    ("arguments", "answer", "reason", "status"),
    [
        (["approve", "a-1"], approvals_pb2.ALLOW_ONCE, "", approvals_pb2.ALLOWED),
        (["approve", "a-1", "--always"], approvals_pb2.ALLOW_ALWAYS, "", approvals_pb2.ALLOWED),
        (["deny", "a-1"], approvals_pb2.DENY, "", approvals_pb2.DENIED),
        (["deny", "a-1", "--reason", "no"], approvals_pb2.DENY, "no", approvals_pb2.DENIED),
    ],
)
def test_approve_and_deny(
    arguments: list[str],
    answer: approvals_pb2.Answer.ValueType,
    reason: str,
    status: approvals_pb2.ApprovalStatus.ValueType,
) -> None:
    def script(daemon: stage.Daemon) -> None:
        response = approvals_pb2.Approval(status=status, decided_by="local:owner")
        request = daemon.answer("Approvals.Resolve", response)
        assert (request.approval_id, request.answer, request.reason) == ("a-1", answer, reason)
        assert request.origin.channel == "terminal"
        assert request.client_key

    played = stage.play(arguments, script)
    word = "denied" if answer == approvals_pb2.DENY else "allowed"
    assert (played.code, played.stdout) == (0, f"approval {word} by local:owner\n")


@pytest.mark.spec("C-04")
def test_a_decision_that_came_too_late_says_who_decided() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.refuse("Approvals.Resolve", grpc.StatusCode.FAILED_PRECONDITION, "decided")
        daemon.answer("Approvals.Get", APPROVAL)

    played = stage.play(["deny", "a-1"], script)
    assert (played.code, played.stdout) == (1, "")
    assert played.lines == ["This approval was already allowed by local:owner."]


def test_cancel() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Tasks.Cancel", TASK)
        assert request.task_id == "t-1"
        assert request.client_key

    assert "t-1" in stage.play(["cancel", "t-1"], script).stdout


@pytest.mark.parametrize(
    ("word", "decision"),
    [
        ("mark-done", tasks_pb2.MARK_DONE),
        ("run-again", tasks_pb2.RUN_AGAIN),
        ("abandon", tasks_pb2.ABANDON),
        ("retry", tasks_pb2.RETRY),
    ],
)
def test_decide(word: str, decision: tasks_pb2.TaskDecision.ValueType) -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Tasks.Decide", TASK)
        assert (request.decision, request.call_id) == (decision, "call-7")

    assert stage.play(["decide", "t-1", word, "--call", "call-7"], script).code == 0


def test_decide_takes_no_other_word() -> None:
    played = stage.play(["decide", "t-1", "maybe"], stage.nothing)
    assert played.code == 2
    assert "mark-done, run-again, abandon, retry" in played.stderr


def events(first: int, last: int) -> events_pb2.ListEventsResponse:
    rows = [updates.submitted(seq).event for seq in range(first, last + 1)]
    return events_pb2.ListEventsResponse(events=rows, head_seq=700)


def test_events_are_the_last_ones() -> None:
    def script(daemon: stage.Daemon) -> None:
        assert daemon.answer("Events.List", events(1, 1)).limit == 1
        request = daemon.answer("Events.List", events(698, 700))
        assert (request.after_seq, request.limit) == (697, 3)

    lines = stage.play(["events", "--limit", "3"], script).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["698", "699", "700"]
    assert lines[0].endswith("task-1  task_submitted text=hello")


def test_events_of_a_task_are_its_last_ones() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Events.List", events(1, 500))
        assert (request.after_seq, request.task_id) == (0, "t-1")
        assert daemon.answer("Events.List", events(501, 510)).after_seq == 500

    played = stage.play(["events", "--task", "t-1", "--limit", "2", "--json"], script)
    rows = [json.loads(line) for line in played.stdout.splitlines()]
    assert [row["seq"] for row in rows] == ["509", "510"]


def test_an_event_is_one_inert_line_whatever_it_holds() -> None:
    ended = updates.tool_ended(701, "a\nb\x1b[2J" + "x" * 200).event
    asked = updates.approval_requested(703).event
    asked.approval_requested.reasons.append("as root")
    unknown = events_pb2.Event(seq=702)

    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Events.List", events_pb2.ListEventsResponse(events=[ended, unknown, asked]))

    lines = stage.play(["events", "--after", "700"], script).stdout.splitlines()
    assert "outcome=FINISHED" in lines[0]
    assert "text=a\\nb\\x1b[2Jxxx" in lines[0]
    assert "exit_code=0" in lines[0]
    assert lines[1].endswith("an event of a kind unknown to this client")
    assert lines[2].endswith("reasons=every command asks; as root")


@pytest.mark.parametrize("code", list(grpc.StatusCode))
def test_every_status_is_one_sentence_and_an_exit_code(code: grpc.StatusCode) -> None:
    if code is grpc.StatusCode.OK:
        return

    def script(daemon: stage.Daemon) -> None:
        daemon.refuse("Admin.Status", code, "why\nnot")

    played = stage.play(["status", "--json"], script)
    assert played.stdout == ""
    assert len(played.lines) == 1
    assert played.lines[0][0].isupper()
    assert played.code in {faults.Exit.FAILED, faults.Exit.USAGE, faults.Exit.UNREACHABLE}


def test_what_is_not_a_command_is_exit_code_2() -> None:
    for arguments in (["nonsense"], ["ask"], ["tasks", "--limit", "0"], ["events", "--after", "x"]):
        assert stage.play(arguments, stage.nothing).code == 2
