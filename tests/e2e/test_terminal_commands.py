"""`ducklm` without a terminal, against a real daemon: exit codes, JSON, answers alone on stdout."""

import json

import pytest
from google.protobuf import json_format

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    common_pb2,
    events_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.e2e import terminal
from tests.integration.rpc import work


@pytest.mark.spec("D-21")
def test_ask_prints_the_answer_and_nothing_else(daemon: running_daemon.RunningDaemon) -> None:
    done = terminal.run(daemon, "ask", "What is the capital of France?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Paris.\n", "")


@pytest.mark.spec("D-21")
def test_ask_reads_the_question_from_stdin(daemon: running_daemon.RunningDaemon) -> None:
    done = terminal.run(daemon, "ask", "-", typed="from stdin\n")
    assert (done.returncode, done.stdout) == (0, "Paris.\n")


@pytest.mark.spec("D-21")
def test_ask_as_json_is_the_apis_own_answer(daemon: running_daemon.RunningDaemon) -> None:
    done = terminal.run(daemon, "ask", "--json", "What is the capital of France?")
    answer = json_format.Parse(done.stdout, tasks_pb2.AskResponse())
    assert (answer.state, answer.answer) == (common_pb2.COMPLETED, "Paris.")
    assert done.stderr == ""


@pytest.mark.spec("D-21")
def test_a_failed_task_is_exit_code_1(daemon: running_daemon.RunningDaemon) -> None:
    done = terminal.run(daemon, "ask", "unscripted")
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no line left for the role thinker" in done.stderr


@pytest.mark.spec("D-21")
def test_what_waits_for_a_human_is_exit_code_4(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    done = terminal.run(daemon, "ask", "`env echo run-by-approve`")
    assert (done.returncode, done.stdout) == (4, "")
    listed = terminal.run(daemon, "approvals", "--json")
    (row,) = [
        json_format.Parse(line, approvals_pb2.Approval()) for line in listed.stdout.splitlines()
    ]
    assert row.approval_id in done.stderr
    assert "echo run-by-approve" in done.stderr
    approved = terminal.run(daemon, "approve", row.approval_id)
    assert approved.returncode == 0
    assert "run-by-approve" in work.end(api, row.task_id).answer
    late = terminal.run(daemon, "deny", row.approval_id)
    assert late.returncode == 1
    assert "already allowed" in late.stderr


@pytest.mark.spec("D-21")
def test_without_a_daemon_it_is_exit_code_3(daemon: running_daemon.RunningDaemon) -> None:
    done = terminal.run(daemon, "--address", "127.0.0.1:1", "ask", "hello?")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("The daemon cannot be reached at 127.0.0.1:1.")


@pytest.mark.spec("D-21")
def test_bad_input_is_exit_code_2(daemon: running_daemon.RunningDaemon) -> None:
    for arguments in (("ask", " "), ("ask", "x", "--conversation", "none"), ("cancel", "none")):
        done = terminal.run(daemon, *arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr
    too_long = terminal.run(daemon, "ask", "-", typed="x" * 2_000_000)
    assert too_long.returncode == 1
    assert "The text has 2000000 bytes; at most 1048576 are taken." in too_long.stderr


@pytest.mark.spec("D-21")
def test_an_error_of_the_daemon_is_told_with_its_correlation_id_once(
    daemon: running_daemon.RunningDaemon,
) -> None:
    done = terminal.run(daemon, "cancel", "task-none")
    assert done.stderr.count("correlation id") == 1
    wrong = terminal.run(daemon, "--state", str(daemon.root / "elsewhere"), "status")
    assert wrong.returncode == 3
    refused = terminal.run(daemon, "status", token="wrong")
    assert refused.returncode == 2
    assert refused.stderr.startswith("The daemon does not know this token.")
    assert refused.stderr.count("correlation id") == 1


@pytest.mark.spec("D-21")
def test_lists_and_status_as_json(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    task_id = work.submit(api, "to be listed")
    work.end(api, task_id)
    tasks = terminal.run(daemon, "tasks", "--json").stdout.splitlines()
    assert task_id in [json_format.Parse(line, tasks_pb2.Task()).task_id for line in tasks]
    listed = terminal.run(daemon, "events", "--task", task_id, "--json").stdout.splitlines()
    found = [json_format.Parse(line, events_pb2.Event()) for line in listed]
    assert found == work.events(api, task_id)
    status = json_format.Parse(
        terminal.run(daemon, "status", "--json").stdout, admin_pb2.StatusResponse()
    )
    assert status.state_folder == str(daemon.state)
    chat = terminal.run(daemon, "chat", "--json", typed="What is the capital?\n")
    assert chat.returncode == 0
    assert all(json.loads(line) for line in chat.stdout.splitlines())
