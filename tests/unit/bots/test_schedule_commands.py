"""`ducklm schedule`: lists, what one is called, runs, and what ends or allows something."""

import json
from collections.abc import Callable

import grpc
import pytest
from google.protobuf import json_format, message

from bots import texts
from proto.ducklm.v1 import approvals_pb2, common_pb2, schedules_pb2, tasks_pb2
from tests.unit.bots import scheduled, stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("K-14")]
RUN = schedules_pb2.Run
DIGEST_ID = scheduled.DIGEST.schedule_id
WAITING = tasks_pb2.Task(
    task_id=updates.TASK, state=common_pb2.AWAITING_APPROVAL, approval_ids=["approval-1"]
)
BEGUN = schedules_pb2.RunNowResponse(schedule_id=DIGEST_ID, task_id=updates.TASK)


@pytest.mark.parametrize("given", ["22cc", "BB22CC", "00aa11bb22cc", "Digest"])
def test_one_is_called_by_its_ids_end_or_its_name(given: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.BACKUP, scheduled.DIGEST)
        request = daemon.answer("Schedules.Get", scheduled.DIGEST)
        assert (request.schedule_id, request.origin.channel) == (DIGEST_ID, "terminal")

    assert stage.play(["schedule", "show", given], script).code == 0


@pytest.mark.parametrize("given", ["2cc", "aa11", "digest", "", "\x1b[2J"])
def test_what_is_no_name_of_one_teaches(given: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.BACKUP, scheduled.DIGEST)

    played = stage.play(["schedule", "delete", given, "--yes"], script)
    assert (played.code, played.stdout) == (2, "")
    assert played.lines == [texts.SCHEDULE_UNKNOWN.format(given=given.replace("\x1b", "\\x1b"))]


def test_what_may_be_several_is_none_of_them() -> None:
    other = schedules_pb2.Schedule(schedule_id="schedule-9922cc", name="x")
    named = schedules_pb2.Schedule(schedule_id="schedule-1", name="22cc")

    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, other, scheduled.DIGEST, named)

    played = stage.play(["schedule", "delete", "22cc", "--yes"], script)
    assert played.code == 2
    assert f"schedule-9922cc, {DIGEST_ID}, schedule-1." in played.stderr


@pytest.mark.parametrize(
    ("command", "method"),
    [("pause", "Schedules.Pause"), ("resume", "Schedules.Resume"), ("stop", "Schedules.Stop")],
)
def test_one_is_paused_resumed_and_stopped(command: str, method: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.DIGEST)
        request = daemon.answer(method, scheduled.DIGEST)
        assert (request.schedule_id, request.client_key) == (DIGEST_ID, "key-1")
        assert request.origin.channel == "terminal"

    played = stage.play(["schedule", command, "Digest"], script)
    assert (played.code, played.stdout) == (0, "".join(scheduled.LISTED.splitlines(True)[:2]))


@pytest.mark.parametrize(
    ("command", "method"),
    [("pause-all", "Schedules.PauseAll"), ("resume-all", "Schedules.ResumeAll")],
)
def test_all_are_paused_and_resumed(command: str, method: str) -> None:
    rows = schedules_pb2.ListSchedulesResponse(schedules=[scheduled.DIGEST, scheduled.BACKUP])

    def script(daemon: stage.Daemon) -> None:
        assert daemon.answer(method, rows).client_key == "key-1"

    assert stage.play(["schedule", command], script).stdout == scheduled.LISTED


@pytest.mark.parametrize(
    ("typed", "code"), [(["y"], 0), (["yes"], 0), ([""], 1), ([], 1), ([KeyboardInterrupt()], 1)]
)
def test_a_deletion_asks(typed: list[str | KeyboardInterrupt], code: int) -> None:
    def script(daemon: stage.Daemon) -> None:
        if code == 0:
            gone = schedules_pb2.DeleteScheduleResponse()
            assert daemon.answer("Schedules.Delete", gone).schedule_id == "schedule-1"

    played = stage.play(["schedule", "delete", "schedule-1"], script, typed=typed)
    told = texts.SCHEDULE_DELETED.format(id="schedule-1") if code == 0 else texts.DELETE_NOT
    assert (played.code, played.stdout, played.lines[-1]) == (code, "", told)


def test_a_deletion_without_a_terminal_needs_to_be_sure() -> None:
    delete = ["schedule", "delete", "schedule-1"]
    played = stage.play(delete, stage.nothing, setting=stage.PIPES)
    assert (played.code, played.lines) == (2, [texts.SCHEDULE_DELETE_NOT_SURE])

    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.Delete", schedules_pb2.DeleteScheduleResponse())

    played = stage.play([*delete, "--yes", "--json"], script, setting=stage.PIPES)
    assert (played.code, played.stdout, played.stderr) == (0, "{}\n", "")


def test_runs_are_listed_over_pages() -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.listed(daemon, scheduled.DIGEST)
        page = schedules_pb2.ListRunsResponse(
            runs=[scheduled.RUNS[2][0]] * 100, next_page_token="p2"
        )
        request = daemon.answer("Schedules.ListRuns", page)
        assert (request.schedule_id, request.page.size, request.page.token) == (DIGEST_ID, 100, "")
        page = schedules_pb2.ListRunsResponse(runs=[scheduled.RUNS[0][0]], next_page_token="p3")
        request = daemon.answer("Schedules.ListRuns", page)
        assert (request.page.size, request.page.token) == (1, "p2")

    played = stage.play(["schedule", "runs", "Digest", "--limit", "101"], script)
    assert (played.code, len(played.stdout.splitlines())) == (0, 102)


def test_runs_of_all_as_json_and_none() -> None:
    def script(daemon: stage.Daemon) -> None:
        page = schedules_pb2.ListRunsResponse(runs=[row for row, _ in scheduled.RUNS])
        request = daemon.answer("Schedules.ListRuns", page)
        assert (request.schedule_id, request.page.size) == ("", 20)

    played = stage.play(["schedule", "runs", "--json"], script)
    parsed = [json_format.Parse(line, RUN()) for line in played.stdout.splitlines()]
    assert parsed == [row for row, _ in scheduled.RUNS]

    def none(daemon: stage.Daemon) -> None:
        daemon.answer("Schedules.ListRuns", schedules_pb2.ListRunsResponse())

    assert stage.play(["schedule", "runs"], none).lines == [texts.RUNS_NONE]


def begins(daemon: stage.Daemon, method: str, answer: message.Message = BEGUN) -> None:
    scheduled.head(daemon, 6)
    request = daemon.answer(method, answer)
    assert (request.schedule_id, request.client_key) == ("schedule-1", "key-1")


def test_a_run_begins_now() -> None:
    def script(daemon: stage.Daemon) -> None:
        begins(daemon, "Schedules.RunNow")

    assert stage.play(["schedule", "run", "schedule-1"], script).stdout == "task task-1\n"
    played = stage.play(["schedule", "run", "schedule-1", "--json"], script)
    assert json_format.Parse(played.stdout, schedules_pb2.RunNowResponse()) == BEGUN


def test_a_run_is_followed_to_its_answer() -> None:
    def script(daemon: stage.Daemon) -> None:
        begins(daemon, "Schedules.RunNow")
        stream = daemon.stream()
        assert (stream.request.after_seq, stream.request.task_id) == (6, updates.TASK)
        stream.send(updates.answered(7, "All well."), updates.state(8, common_pb2.COMPLETED))

    arguments = ["schedule", "run", "schedule-1", "--follow"]
    played = stage.play(arguments, script)
    assert (played.code, played.stdout) == (0, "All well.\n")
    played = stage.play([*arguments, "--json"], script)
    assert json.loads(played.stdout)["answer"] == "All well."


def test_a_run_that_goes_on_is_not_begun_twice() -> None:
    def script(daemon: stage.Daemon) -> None:
        scheduled.head(daemon, 6)
        code = grpc.StatusCode.FAILED_PRECONDITION
        daemon.refuse("Schedules.RunNow", code, "A run of it goes on.")

    played = stage.play(["schedule", "run", "schedule-1"], script)
    assert (played.code, played.lines) == (1, ["Not possible now: A run of it goes on."])


def rehearses(daemon: stage.Daemon) -> stage.Stream:
    begins(daemon, "Schedules.Rehearse")
    stream = daemon.stream()
    stream.send(
        updates.tool_proposed(7, '{"command":"rm -r build"}'),
        updates.approval_requested(8, always=True),
        updates.state(9, common_pb2.AWAITING_APPROVAL),
    )
    return stream


@pytest.mark.spec("C-04")
@pytest.mark.parametrize(
    ("typed", "answer", "state", "code"),
    [
        ("a", approvals_pb2.ALLOW_ALWAYS, common_pb2.COMPLETED, 0),
        ("y", approvals_pb2.ALLOW_ONCE, common_pb2.COMPLETED, 0),
        ("", approvals_pb2.DENY, common_pb2.FAILED, 1),
    ],
)
def test_a_command_is_allowed_by_its_card(
    typed: str,
    answer: approvals_pb2.Answer.ValueType,
    state: common_pb2.TaskState.ValueType,
    code: int,
) -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = rehearses(daemon)
        daemon.answer("Approvals.Get", approvals_pb2.Approval(status=approvals_pb2.PENDING))
        status = approvals_pb2.DENIED if code else approvals_pb2.ALLOWED
        request = daemon.answer("Approvals.Resolve", approvals_pb2.Approval(status=status))
        assert request.answer == answer
        stream.send(updates.answered(10, "So it is."), updates.state(11, state))

    played = stage.play(["schedule", "allow", "schedule-1"], script, typed=[typed])
    assert (played.code, played.stdout) == (code, "So it is.\n")
    assert played.lines[0] == texts.SCHEDULE_REHEARSES
    assert "  | rm -r build" in played.lines
    assert played.person.questions == [texts.APPROVE_PROMPT_ALWAYS]


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_nobody_is_asked_it_is_left_for_always(more: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        rehearses(daemon)
        daemon.answer("Tasks.Get", WAITING)

    arguments = ["schedule", "allow", "schedule-1", *more]
    played = stage.play(arguments, script, setting=stage.PIPES)
    assert played.code == 4
    assert "  | rm -r build" in played.lines
    if more:
        assert json.loads(played.stdout)["approvalIds"] == ["approval-1"]
    else:
        assert played.lines[-1] == texts.SCHEDULE_REHEARSAL_LEFT


CHATS: list[tuple[str, Callable[[stage.Daemon], None], str]] = [
    ("/schedule", scheduled.listed, texts.SCHEDULES_NONE),
    ("/schedule list", scheduled.listed, texts.SCHEDULES_NONE),
    ("/schedule show 'no such'", scheduled.listed, "No schedule is called no such,"),
    ('/schedule add "every day', stage.nothing, texts.SCHEDULE_QUOTES),
    ("/schedule edit schedule-1", stage.nothing, texts.SCHEDULE_NO_CHANGE),
    ("/schedule fly", stage.nothing, ""),
    ("/schedule pause", stage.nothing, ""),
]


@pytest.mark.parametrize(("typed", "then", "says"), CHATS, ids=[typed for typed, _, _ in CHATS])
def test_the_chat_has_the_same_commands_and_goes_on(
    typed: str, then: Callable[[stage.Daemon], None], says: str
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        then(daemon)
        scheduled.listed(daemon, scheduled.DIGEST)

    played = stage.play(["chat"], script, typed=[typed, "/schedule list"])
    assert played.code == 0
    assert says in played.stderr
    assert played.stdout == "".join(scheduled.LISTED.splitlines(True)[:2])


def test_the_chat_asks_before_it_keeps_and_follows_a_rehearsal() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        scheduled.keeps(daemon)
        scheduled.head(daemon, 6)
        daemon.answer("Schedules.Rehearse", BEGUN)
        daemon.stream().send(
            updates.answered(7, "Not needed."), updates.state(8, common_pb2.COMPLETED)
        )

    add = '/schedule add "fridays at 8" "What is new?"'
    typed = [add, "y", "/schedule allow schedule-1"]
    played = stage.play(["chat"], script, typed=typed)
    assert texts.SCHEDULE_PROMPT in played.person.questions
    assert played.stdout.endswith("Not needed.\n")
