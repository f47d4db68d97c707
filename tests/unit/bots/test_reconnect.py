"""A daemon that goes away and comes back: nothing is lost, and nothing is shown twice."""

import grpc
import pytest

from bots import texts
from proto.ducklm.v1 import approvals_pb2, common_pb2, tasks_pb2
from tests.unit.bots import stage, updates

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("C-03")]


def test_two_restarts_in_one_answer_show_it_once() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(
            updates.submitted(1),
            updates.tool_proposed(2),
            updates.tool_started(3),
            updates.tool_ended(4, "a file"),
            updates.call_started(5),
            updates.live(0, "Once "),
        )
        daemon.stdout.wait_for("Once ")
        stream.lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 5
        stream.send(updates.live(0, "Once up"), updates.live(7, "on "))
        daemon.stdout.wait_for("upon ")
        stream.lose()
        daemon.stream().lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 5
        stream.send(
            updates.live(0, "Once upon a"),
            updates.call_finished(6, "Once upon a time"),
            updates.answered(7, "Once upon a time"),
            updates.state(8, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["a story"], setting=stage.PIPES)
    assert (played.code, played.stdout) == (0, "Once upon a time\n")
    assert played.stderr.count(texts.CONNECTION_LOST) == 2
    assert played.stderr.count("$ ls") == 1
    assert played.clock.sleeps == [0.1, 0.1, 0.2]


def test_on_a_terminal_the_text_goes_on_below_the_notice() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.call_started(2), updates.live(0, "Once "))
        daemon.stdout.wait_for("Once ")
        stream.lose()
        daemon.stream().send(
            updates.live(0, "Once upon"),
            updates.call_finished(3, "Once upon"),
            updates.answered(4, "Once upon"),
            updates.state(5, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["a story"])
    assert played.stdout == "Once \nupon\n"


def test_a_repeated_call_replaces_the_text_of_the_old_one() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.call_started(2), updates.live(0, "Once "))
        daemon.stdout.wait_for("Once ")
        stream.lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 2
        stream.send(
            updates.call_failed(3, "Once", fault="interrupted", message="the daemon stopped"),
            updates.call_started(4, "call-2", replaces="call-1"),
            updates.live(0, "Long ago", "call-2"),
            updates.call_finished(5, "Long ago", "call-2"),
            updates.answered(6, "Long ago"),
            updates.state(7, common_pb2.COMPLETED),
        )

    played = stage.play(["chat"], script, typed=["a story"])
    assert played.stdout == "Once \nLong ago\n"
    assert texts.TEXT_DROPPED in played.lines


def test_a_submit_whose_answer_was_lost_is_repeated_with_the_same_key() -> None:
    keys = []

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        for _ in range(3):
            request = daemon.refuse("Tasks.Submit", grpc.StatusCode.UNAVAILABLE)
            keys.append(request.client_key)
        keys.append(daemon.accept().client_key)
        daemon.stream().send(updates.answered(2, "ok"), updates.state(3, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["hi"])
    assert played.stdout == "ok\n"
    assert len(set(keys)) == 1
    assert played.stderr.count(texts.CONNECTION_LOST) == 1
    assert played.clock.sleeps == [0.1, 0.2, 0.4]


def test_a_daemon_that_stops_is_waited_for() -> None:
    stopping = (("x-correlation-id", "c-1"),)

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        unavailable = grpc.StatusCode.UNAVAILABLE
        daemon.refuse("Tasks.Submit", unavailable, "The daemon is stopping.", stopping)
        daemon.refuse("Tasks.Submit", unavailable)
        daemon.accept()
        daemon.stream().send(updates.answered(2, "ok"), updates.state(3, common_pb2.COMPLETED))

    played = stage.play(["ask", "hi"], script)
    assert (played.code, played.stdout) == (0, "ok\n")
    assert played.lines == [
        "The daemon cannot do this now: The daemon is stopping.",
        texts.CONNECTION_LOST,
        texts.CONNECTION_BACK,
    ]


def test_a_daemon_that_is_there_and_cannot_serve_is_given_up_soon() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        for _ in range(12):  # pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and then 2 s: 15 s
            daemon.refuse(
                "Tasks.Submit",
                grpc.StatusCode.UNAVAILABLE,
                "The disk is full.",
                (("x-correlation-id", "c-1"),),
            )

    played = stage.play(["ask", "hi"], script)
    assert played.code == 1
    told = "The daemon cannot do this now: The disk is full."
    assert played.lines == [told, f"{told} (correlation id c-1)"]


def test_an_answer_to_a_card_survives_a_restart() -> None:
    keys = []

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.approval_requested(2))
        pending = approvals_pb2.Approval(status=approvals_pb2.PENDING)
        daemon.answer("Approvals.Get", pending)
        keys.append(daemon.refuse("Approvals.Resolve", grpc.StatusCode.UNAVAILABLE).client_key)
        allowed = approvals_pb2.Approval(status=approvals_pb2.ALLOWED)
        keys.append(daemon.answer("Approvals.Resolve", allowed).client_key)
        stream.lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 2
        stream.send(updates.answered(5, "clean"), updates.state(6, common_pb2.COMPLETED))

    played = stage.play(["chat"], script, typed=["clean up", "y"])
    assert played.stdout == "clean\n"
    assert len(set(keys)) == 1
    assert len(played.person.questions) == 3  # the message, one card, the next message


@pytest.mark.parametrize("code", [grpc.StatusCode.CANCELLED, grpc.StatusCode.OK])
def test_a_stream_that_a_stopping_daemon_ends_is_resumed(code: grpc.StatusCode) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.lose(code)
        daemon.stream().send(updates.answered(2, "ok"), updates.state(3, common_pb2.COMPLETED))

    assert stage.play(["chat"], script, typed=["hi"]).stdout == "ok\n"


def test_any_other_end_of_the_stream_is_told() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        daemon.stream().lose(grpc.StatusCode.RESOURCE_EXHAUSTED)

    played = stage.play(["ask", "hi"], script)
    assert played.code == 1
    assert "A limit is reached: no reason was given" in played.stderr


def test_ctrl_c_while_the_daemon_is_away_says_that_nothing_was_cancelled() -> None:
    def interrupt(count: int) -> None:
        if count == 3:
            raise KeyboardInterrupt

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        for _ in range(3):
            daemon.stream().lose()
        daemon.refuse("Tasks.Cancel", grpc.StatusCode.UNAVAILABLE)

    clock = stage.Clock(on_sleep=interrupt)
    played = stage.play(["chat"], script, typed=["hi"], clock=clock)
    assert played.code == 0
    assert texts.CANCEL_UNREACHABLE.format(id=updates.TASK) in played.lines


def test_ctrl_c_while_a_message_cannot_be_sent_returns_to_the_prompt() -> None:
    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.refuse("Tasks.Submit", grpc.StatusCode.UNAVAILABLE)

    played = stage.play(["chat"], script, typed=["hi"], clock=stage.Clock(on_sleep=interrupt))
    assert played.code == 0
    assert texts.SUBMIT_GIVEN_UP in played.lines


def test_events_follow_resumes_without_repeat() -> None:
    def script(daemon: stage.Daemon) -> None:
        stream = daemon.stream()
        assert (stream.request.after_seq, stream.request.events_only) == (3, True)
        stream.send(updates.submitted(4))
        daemon.stdout.wait_for("task_submitted")
        stream.lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 4
        stream.send(updates.submitted(4), updates.answered(5, "ok"))
        daemon.stdout.wait_for("answer_given")
        daemon.press_ctrl_c(stream)

    played = stage.play(["events", "--follow", "--after", "3"], script)
    assert played.code == 0
    assert [line.split()[0] for line in played.stdout.splitlines()] == ["4", "5"]


def test_the_task_left_behind_is_not_final() -> None:
    """A restart while a task waits: the state is asked anew before a decision is."""

    def script(daemon: stage.Daemon) -> None:
        daemon.greet()
        daemon.accept()
        stream = daemon.stream()
        stream.send(updates.state(2, common_pb2.PARKED))
        daemon.refuse("Tasks.Get", grpc.StatusCode.UNAVAILABLE)
        daemon.answer("Tasks.Get", tasks_pb2.Task(state=common_pb2.RUNNING))
        stream.lose()
        stream = daemon.stream()
        assert stream.request.after_seq == 2
        stream.send(updates.answered(3, "ok"), updates.state(4, common_pb2.COMPLETED))

    assert stage.play(["ask", "hi"], script).stdout == "ok\n"
