"""Approvals and decisions in the chat: nothing but a clear yes lets a call run."""

import grpc
import pytest

from bots import texts
from bots.terminal import prompts
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("C-04")]
PENDING = approvals_pb2.Approval(status=approvals_pb2.PENDING)


def asks(daemon: stage.Daemon, always: bool = False) -> stage.Stream:
    daemon.greet()
    daemon.accept()
    stream = daemon.stream()
    stream.send(
        updates.tool_proposed(2, '{"command":"rm -r build"}'),
        updates.approval_requested(3, always=always),
        updates.state(4, common_pb2.AWAITING_APPROVAL),
    )
    daemon.answer("Approvals.Get", PENDING)
    return stream


@pytest.mark.parametrize(
    ("typed", "always", "answer", "reason"),
    [
        (["y"], False, approvals_pb2.ALLOW_ONCE, ""),
        (["YES"], False, approvals_pb2.ALLOW_ONCE, ""),
        ([""], False, approvals_pb2.DENY, ""),
        (["n"], False, approvals_pb2.DENY, ""),
        (["a"], True, approvals_pb2.ALLOW_ALWAYS, ""),
        (["a", "y"], False, approvals_pb2.ALLOW_ONCE, ""),
        (["a", ""], False, approvals_pb2.DENY, ""),
        (["r", "use git clean"], False, approvals_pb2.DENY, "use git clean"),
        (["r use git clean"], False, approvals_pb2.DENY, "use git clean"),
        (["no, keep it"], False, approvals_pb2.DENY, "keep it"),
        (["please keep it"], False, approvals_pb2.DENY, "please keep it"),
        (["yy", "ok", "n"], False, approvals_pb2.DENY, ""),
    ],
)
def test_an_answer_reaches_the_daemon(
    typed: list[str], always: bool, answer: approvals_pb2.Answer.ValueType, reason: str
) -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = asks(daemon, always)
        denied = answer == approvals_pb2.DENY
        status = approvals_pb2.DENIED if denied else approvals_pb2.ALLOWED
        request = daemon.answer("Approvals.Resolve", approvals_pb2.Approval(status=status))
        assert request.approval_id == "approval-1"
        assert (request.answer, request.reason) == (answer, reason)
        assert request.client_key
        stream.send(
            updates.approval_resolved(5, "denied" if denied else "allowed"),
            updates.state(6, common_pb2.FAILED if denied else common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["clean up", *typed])
    assert "  | rm -r build" in played.lines
    assert "  because: every command asks" in played.lines
    assert ("[a]lways" in played.person.questions[1]) == always
    assert played.person.discarded == len(typed)
    assert "approval allowed" not in played.stderr  # the person knows
    assert played.code == 0


@pytest.mark.parametrize("typed", ["yes please", "y; rm", "ja", "1", "true", "y y", "always yes"])
def test_what_is_not_a_plain_yes_is_none(typed: str) -> None:
    answer = prompts.read_answer(typed)
    assert answer is None or answer.answer == approvals_pb2.DENY


def test_ctrl_d_at_a_card_leaves_it_waiting() -> None:
    def script(daemon: stage.Daemon) -> None:
        asks(daemon)

    played = stage.play(["chat"], script, typed=["clean up"])
    assert played.code == 0
    assert "Waits for you: ducklm approve approval-1, or ducklm deny approval-1" in played.lines


def test_a_card_that_somebody_else_decided_is_told_and_not_asked() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.approval_requested(2))
        decided = approvals_pb2.Approval(
            status=approvals_pb2.DENIED, decided_by="telegram:bot:7", reason="no"
        )
        daemon.answer("Approvals.Get", decided)
        stream.send(
            updates.approval_resolved(3, "denied", "telegram:bot:7"),
            updates.state(4, common_pb2.FAILED),
        )

    played = stage.play(["chat"], script, typed=["clean up"])
    assert "This approval was already denied by telegram:bot:7. (no)" in played.lines
    assert played.stderr.count("telegram:bot:7") == 1
    assert played.person.questions == [texts.CHAT_PROMPT, texts.CHAT_PROMPT]


@pytest.mark.parametrize("by_status", [False, True])
def test_an_answer_that_came_too_late_is_told(by_status: bool) -> None:
    decided = approvals_pb2.Approval(status=approvals_pb2.ALLOWED, decided_by="telegram:bot:7")

    def script(daemon: stage.Daemon) -> None:
        stream = asks(daemon)
        if by_status:
            daemon.answer("Approvals.Resolve", decided)
        else:
            daemon.refuse("Approvals.Resolve", grpc.StatusCode.FAILED_PRECONDITION, "decided")
            daemon.answer("Approvals.Get", decided)
        stream.send(updates.state(5, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["clean up", "n"])
    assert "This approval was already allowed by telegram:bot:7." in played.lines


def test_a_card_hides_nothing() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        card = "ls\u00a0-l \u202egpj.exe\r\x1b[1A\nrm x"
        daemon.stream().send(updates.approval_requested(2, card))
        daemon.answer("Approvals.Get", PENDING)

    played = stage.play(["chat"], script, typed=["go"])
    assert "  | ls\\xa0-l \\u202egpj.exe\\x0d\\x1b[1A" in played.lines
    assert "  | rm x" in played.lines


def unknown(daemon: stage.Daemon) -> stage.Stream:
    daemon.greet()
    daemon.accept()
    stream = daemon.stream()
    stream.send(
        updates.tool_proposed(2, '{"command":"make install"}'),
        updates.tool_started(3),
        updates.tool_ended(4, "", None, events_pb2.ToolCallEnded.OUTCOME_UNKNOWN),
        updates.state(5, common_pb2.AWAITING_DECISION),
    )
    daemon.answer("Tasks.Get", undecided())
    return stream


def undecided() -> tasks_pb2.Task:
    call = tasks_pb2.UnknownOutcome(
        call_id="tool-1", tool="shell_exec", arguments_json='{"command":"make install"}'
    )
    return tasks_pb2.Task(
        task_id=updates.TASK,
        state=common_pb2.AWAITING_DECISION,
        text="install it",
        unknown_outcomes=[call],
    )


@pytest.mark.parametrize(
    ("typed", "decision"),
    [
        (["d"], tasks_pb2.MARK_DONE),
        (["g"], tasks_pb2.RUN_AGAIN),
        (["a"], tasks_pb2.ABANDON),
        (["y", "done"], tasks_pb2.MARK_DONE),
    ],
)
def test_an_unknown_outcome_is_asked(
    typed: list[str], decision: tasks_pb2.TaskDecision.ValueType
) -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = unknown(daemon)
        request = daemon.answer("Tasks.Decide", tasks_pb2.Task())
        assert (request.decision, request.call_id) == (decision, "tool-1")
        stream.send(updates.state(6, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["install it", *typed])
    assert "[nobody saw how it ended · 1.5 s]" in played.lines
    assert "  make install" in played.lines


@pytest.mark.parametrize("typed", [["install it", ""], ["install it", "later"], ["install it"]])
def test_a_decision_may_wait(typed: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        unknown(daemon)

    played = stage.play(["chat"], script, typed=typed)
    assert texts.DECIDE_LEFT_UNKNOWN.format(id=updates.TASK) in played.lines


def test_waiting_takes_it_up_again() -> None:
    def script(daemon: stage.Daemon) -> None:
        unknown(daemon)
        waiting = tasks_pb2.ListTasksResponse(tasks=[undecided()])
        request = daemon.answer("Tasks.List", waiting)
        assert request.conversation_id == updates.CONVERSATION
        assert common_pb2.AWAITING_DECISION in request.states
        daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=9))
        daemon.answer("Tasks.Get", undecided())
        assert daemon.answer("Tasks.Decide", tasks_pb2.Task()).decision == tasks_pb2.RUN_AGAIN
        stream = daemon.stream()
        assert stream.request.after_seq == 9
        stream.send(updates.approval_requested(10))
        daemon.answer("Approvals.Get", PENDING)
        allowed = approvals_pb2.Approval(status=approvals_pb2.ALLOWED)
        daemon.answer("Approvals.Resolve", allowed)
        stream.send(updates.answered(12, "installed"), updates.state(13, common_pb2.COMPLETED))

    typed = ["install it", "later", "/waiting", "g", "y"]
    played = stage.play(["chat"], script, typed=typed)
    assert played.stdout == "installed\n"
    assert "> install it" in played.lines


def test_waiting_asks_for_an_approval_left_before() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        task = tasks_pb2.Task(
            task_id=updates.TASK,
            state=common_pb2.AWAITING_APPROVAL,
            approval_ids=["approval-1"],
        )
        daemon.answer("Tasks.List", tasks_pb2.ListTasksResponse(tasks=[task]))
        daemon.answer("Events.List", events_pb2.ListEventsResponse(head_seq=9))
        daemon.answer("Tasks.Get", task)
        approval = approvals_pb2.Approval(
            approval_id="approval-1", card="rm -r build", status=approvals_pb2.PENDING
        )
        daemon.answer("Approvals.Get", approval)
        daemon.answer("Approvals.Get", approval)
        denied = approvals_pb2.Approval(status=approvals_pb2.DENIED)
        assert daemon.answer("Approvals.Resolve", denied).answer == approvals_pb2.DENY
        daemon.stream().send(updates.state(10, common_pb2.FAILED, "denied"))

    played = stage.play(["chat", "--conversation", "c-1"], script, typed=["/waiting", "n"])
    assert "  | rm -r build" in played.lines
    assert "failed: denied" in played.lines


@pytest.mark.parametrize("state", [common_pb2.MODEL_UNAVAILABLE, common_pb2.PARKED])
def test_a_task_without_a_model_can_be_tried_again(
    state: common_pb2.TaskState.ValueType,
) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.state(2, state, "the worker died"))
        daemon.answer("Tasks.Get", tasks_pb2.Task(task_id=updates.TASK, state=state))
        assert daemon.answer("Tasks.Decide", tasks_pb2.Task()).decision == tasks_pb2.RETRY
        stream.send(updates.answered(4, "ok"), updates.state(5, common_pb2.COMPLETED))

    assert stage.play(["chat"], script, typed=["hi", "t"]).stdout == "ok\n"


def test_what_somebody_else_decided_meanwhile_is_not_asked() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.state(2, common_pb2.AWAITING_DECISION))
        daemon.answer("Tasks.Get", tasks_pb2.Task(state=common_pb2.RUNNING))
        stream.send(updates.answered(4, "ok"), updates.state(5, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["hi"])
    assert played.stdout == "ok\n"
    assert played.person.questions == [texts.CHAT_PROMPT, texts.CHAT_PROMPT]
