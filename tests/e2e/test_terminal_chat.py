"""`ducklm chat` in a terminal, a person at its keys, against a real daemon that may restart."""

import re
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import common_pb2, tasks_pb2
from tests import running_daemon
from tests.e2e import terminal
from tests.integration.rpc import work

QUESTION = "[N]o / or say why not: "


@pytest.fixture
def chat(daemon: running_daemon.RunningDaemon) -> Iterator[terminal.Person]:
    with terminal.person(daemon, "chat") as typing:
        typing.sees("DuckLM 0.1.0. Type a message")
        typing.sees(terminal.PROMPT)
        yield typing


def last_task(api: running_daemon.Api) -> tasks_pb2.Task:
    request = tasks_pb2.ListTasksRequest()
    request.page.size = 1
    return api.tasks.List(request).tasks[0]


@pytest.mark.spec("C-02")
def test_ask_see_text_as_it_comes_and_go_on(chat: terminal.Person) -> None:
    chat.type("slow please\n")
    chat.sees("slow please\n")
    whole = chat.sees(terminal.PROMPT)
    assert work.SLOW_WORDS in whole
    assert whole.count("word5") == 1
    chat.type("and the capital?\n")
    assert "Paris.\n" in chat.sees(terminal.PROMPT)
    assert chat.leaves() == 0


@pytest.mark.spec("C-04")
def test_a_card_with_yes(chat: terminal.Person, api: running_daemon.Api) -> None:
    chat.type("`echo $((20 + 22)) allowed`\n")
    card = chat.sees(QUESTION)
    assert "shell_exec wants to run:" in card
    assert "echo $((20 + 22)) allowed" in card
    chat.type("y\n")
    chat.sees("42 allowed")
    chat.sees(terminal.PROMPT)
    assert last_task(api).state == common_pb2.COMPLETED


@pytest.mark.spec("C-04")
def test_a_card_with_no(chat: terminal.Person, api: running_daemon.Api) -> None:
    chat.type("`env echo not-this`\n")
    chat.sees(QUESTION)
    chat.type("\n")
    chat.sees("a command was not allowed")
    chat.sees(terminal.PROMPT)
    kinds = work.kinds(work.events(api, last_task(api).task_id))
    assert "tool_call_started" not in kinds
    assert last_task(api).state == common_pb2.FAILED


@pytest.mark.spec("C-04")
def test_a_card_with_no_and_a_reason(chat: terminal.Person, api: running_daemon.Api) -> None:
    chat.type("tool, please\n")
    assert work.ECHO in chat.sees(QUESTION)
    chat.type("r\n")
    chat.sees("Why not? ")
    chat.type("not today\n")
    assert "Paris.\n" in chat.sees(terminal.PROMPT)
    found = work.events(api, last_task(api).task_id)
    reasons = [one.approval_resolved.reason for one in found if one.HasField("approval_resolved")]
    assert reasons == ["not today"]
    assert "tool_call_started" not in work.kinds(found)


@pytest.mark.spec("L-05")
def test_ctrl_c_cancels_the_task_and_not_the_client(
    chat: terminal.Person, api: running_daemon.Api
) -> None:
    chat.type("endless talk\n")
    chat.sees("and and and")
    chat.type(terminal.CTRL_C)
    chat.sees("cancelling the task")
    chat.sees("cancelled")
    chat.sees(terminal.PROMPT)
    assert last_task(api).state == common_pb2.CANCELLED
    chat.type("still there?\n")
    assert "Paris.\n" in chat.sees(terminal.PROMPT)
    chat.type(terminal.CTRL_C)
    chat.sees("Press Ctrl-C again or Ctrl-D to leave.")
    assert chat.process.poll() is None


@pytest.mark.spec("C-03")
def test_a_daemon_that_restarts_underneath() -> None:
    with running_daemon.running(work.SCRIPT) as daemon, terminal.person(daemon, "chat") as chat:
        chat.sees(terminal.PROMPT)
        chat.type("slow before\n")
        chat.sees("word3")
        daemon.kill()
        chat.sees("connection lost, reconnecting")
        daemon.start()
        chat.sees("connected again")
        chat.sees("the daemon restarted; the task goes on")
        chat.sees("the text above was cut off; starting again")
        again = chat.sees(terminal.PROMPT)
        assert again.count(work.SLOW_WORDS) == 1
        assert len(re.findall("connection lost", chat.shown)) == 1
        chat.type("`env echo after-the-restart`\n")
        chat.sees(QUESTION)
        daemon.kill()
        daemon.start()
        chat.type("y\n")
        chat.sees("after-the-restart\n")
        chat.sees(terminal.PROMPT)
        assert chat.shown.count("shell_exec wants to run:") == 1
        assert chat.leaves() == 0
