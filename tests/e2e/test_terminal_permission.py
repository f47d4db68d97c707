"""Grants, modes and passwords from a terminal with a person at the keys, against a real daemon."""

import contextlib
import pathlib
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2, tasks_pb2
from tests import running_daemon, spelled
from tests.e2e import terminal
from tests.integration.rpc import work

QUESTION = "Run it? [y]es, once / [N]o / or say why not: "
QUESTION_ALWAYS = "Run it? [y]es, once / [a]lways / [N]o / or say why not: "
PASSWORD = "correct horse \u00e4 7"
ASKED = "Type the password for sudo. It is not shown; Enter alone leaves it for later: "


@pytest.fixture
def chat(daemon: running_daemon.RunningDaemon) -> Iterator[terminal.Person]:
    with chatting(daemon) as typing:
        yield typing


@contextlib.contextmanager
def chatting(daemon: running_daemon.RunningDaemon) -> Iterator[terminal.Person]:
    with terminal.person(daemon, "chat") as typing:
        typing.sees(terminal.PROMPT)
        yield typing


def last_task(api: running_daemon.Api) -> tasks_pb2.Task:
    request = tasks_pb2.ListTasksRequest()
    request.page.size = 1
    return api.tasks.List(request).tasks[0]


@pytest.mark.spec("D-12")
def test_always_is_unasked_until_it_is_taken_back(
    chat: terminal.Person, api: running_daemon.Api
) -> None:
    command = "`env echo e2e-always`"
    chat.type(f"{command}\n")
    chat.sees(QUESTION_ALWAYS)
    chat.type("a\n")
    chat.sees("allowed always by local:owner: this call runs unasked until ")
    chat.sees(terminal.PROMPT)
    chat.type(f"{command}\n")
    unasked = chat.sees(terminal.PROMPT)
    assert "$ env echo e2e-always (allowed always before)" in unasked
    assert "\ne2e-always\n" in unasked
    assert "Run it?" not in unasked
    chat.type("/grants\n")
    assert "env echo e2e-always" in chat.sees(terminal.PROMPT)
    (grant,) = api.approvals.ListGrants(approvals_pb2.ListGrantsRequest()).grants
    chat.type(f"/revoke {grant.grant_id}\n")
    chat.sees("is taken back: its call asks again.")
    chat.sees(terminal.PROMPT)
    chat.type(f"{command}\n")
    chat.sees(QUESTION_ALWAYS)
    chat.type("n\n")
    chat.sees("a command was not allowed")
    chat.sees(terminal.PROMPT)
    assert chat.leaves() == 0


@pytest.mark.spec("C-04")
def test_a_sentence_is_a_no_with_that_reason(
    chat: terminal.Person, api: running_daemon.Api
) -> None:
    chat.type("tool, please\n")
    assert work.ECHO in chat.sees(QUESTION_ALWAYS)
    chat.type("look at the file instead\n")
    assert "Paris.\n" in chat.sees(terminal.PROMPT)
    found = work.events(api, last_task(api).task_id)
    (resolved,) = [one.approval_resolved for one in found if one.HasField("approval_resolved")]
    assert (resolved.outcome, resolved.reason) == ("denied", "look at the file instead")
    assert "tool_call_started" not in work.kinds(found)


@pytest.mark.spec("C-04")
def test_the_card_shows_what_hides_and_offers_no_always(chat: terminal.Person) -> None:
    chat.type("`touch a\u202eb; echo c`\n")
    card = chat.sees(QUESTION)
    assert "\u202e" not in card.split("wants to run:")[1]
    assert "202e" in card
    assert "because: does several things at once, and not only reads" in card
    assert "expires 20" in card
    chat.type("a\n")
    chat.sees("“Always” is not possible for this one.")
    chat.sees(QUESTION)
    chat.type("n\n")
    chat.sees(terminal.PROMPT)


@pytest.mark.spec("K-03")
def test_plan_writes_nothing_and_yolo_asks_nothing(
    chat: terminal.Person, api: running_daemon.Api
) -> None:
    chat.type("/mode plan\n")
    chat.sees("plan: it looks and plans; nothing that changes anything runs.")
    chat.type("`env echo planned > e2e-planned`\n")
    planned = chat.sees(terminal.PROMPT) + chat.sees(terminal.PROMPT)
    assert "Run it?" not in planned
    kinds = work.kinds(work.events(api, last_task(api).task_id))
    assert "tool_call_started" not in kinds
    assert "approval_requested" not in kinds
    chat.type("/mode yolo\n")
    chat.sees("yolo: normal commands run unasked in this conversation.")
    chat.sees(terminal.PROMPT)
    chat.type("`env echo e2e-yolo`\n")
    done = chat.sees(terminal.PROMPT)
    assert "$ env echo e2e-yolo (unasked: this conversation is in mode yolo)" in done
    assert "Run it?" not in done


@pytest.fixture(scope="module")
def elevating() -> Iterator[running_daemon.RunningDaemon]:
    with work.with_sudo(PASSWORD) as daemon:
        yield daemon


def wants_password(chat: terminal.Person) -> None:
    chat.type("`sudo id -u`\n")
    assert "as root" in chat.sees(QUESTION)
    chat.type("y\n")
    chat.sees(ASKED)


def traces(root: pathlib.Path) -> list[str]:
    """The files of a daemon that hold the password in some form; the stand-in for sudo does."""
    forms = spelled.forms(PASSWORD.encode())
    files = [path for path in root.rglob("*") if path.is_file()]
    return [str(path) for path in files if any(form in path.read_bytes() for form in forms)]


@pytest.mark.spec("D-15")
def test_a_password_is_not_shown_and_not_kept(elevating: running_daemon.RunningDaemon) -> None:
    with chatting(elevating) as chat, elevating.api() as api:
        wants_password(chat)
        chat.type(f"{PASSWORD}\n")
        chat.sees("as root: ")
        chat.sees(terminal.PROMPT)
        task = last_task(api)
        assert task.state == common_pb2.COMPLETED
        chat.type("\x10\x10")  # up in the history: before the yes comes the command
        chat.sees("`sudo id -u`")
        chat.type("\x15")  # the line is empty again
        assert chat.leaves() == 0
        assert PASSWORD not in chat.shown
        assert "horse" not in chat.shown
    assert traces(elevating.root) == []


@pytest.mark.spec("D-15")
def test_ctrl_c_at_the_password_gives_nothing(elevating: running_daemon.RunningDaemon) -> None:
    with chatting(elevating) as chat, elevating.api() as api:
        wants_password(chat)
        chat.type("half of it")
        chat.type(terminal.CTRL_C)
        chat.sees("Left waiting: ducklm secret ")
        chat.sees(terminal.PROMPT)
        task = last_task(api)
        assert task.state == common_pb2.AWAITING_SECRET
        chat.type("/waiting\n")
        chat.sees(ASKED)
        chat.type("\n")
        chat.sees("Left waiting: ducklm secret ")
        chat.sees(terminal.PROMPT)
        assert "half of it" not in chat.shown
        chat.type("/help\n")  # typed at the prompt, it is seen again
        assert "/help\n" in chat.sees(terminal.PROMPT)
        given = terminal.run(elevating, "secret", task.task_id, "--stdin", typed=f"{PASSWORD}\n")
        assert given.returncode == 0, given.stderr
        assert work.end(api, task.task_id).answer.startswith("as root: ")
        assert PASSWORD not in given.stdout + given.stderr


@pytest.mark.spec("D-15")
def test_the_secret_command_asks_in_a_terminal(elevating: running_daemon.RunningDaemon) -> None:
    with elevating.api() as api:
        task_id = work.submit(api, "`sudo id -g`")
        work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
        work.reach(api, task_id, common_pb2.AWAITING_SECRET)
        with terminal.person(elevating, "secret", task_id) as typing:
            typing.sees(ASKED)
            typing.type(f"{PASSWORD}\n")
            typing.sees(task_id)
            assert typing.process.wait(terminal.PATIENCE_S) == 0
            assert "horse" not in typing.shown
        assert work.end(api, task_id).answer.startswith("as root: ")
