"""The embedded model through the whole stack: it answers, streams, remembers, dies and goes on."""

from collections.abc import Iterator

import psutil
import pytest

from proto.ducklm.v1 import common_pb2, events_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import work

CAPITAL = "What is the capital of France?"
LONG = "Write a long story about a duck that crosses the sea."
ANSWER_S = 150.0
PROCESS_S = 20.0

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    """A daemon with nothing configured but the length of an answer."""
    with running_daemon.running(daemon_toml="[limits]\nanswer_tokens = 48\n") as started:
        yield started


@pytest.fixture(scope="module")
def api(daemon: running_daemon.RunningDaemon) -> Iterator[running_daemon.Api]:
    with daemon.api(ANSWER_S) as opened:
        yield opened


def ask(api: running_daemon.Api, text: str, conversation_id: str = "") -> tasks_pb2.AskResponse:
    submit = tasks_pb2.SubmitRequest(text=text, conversation_id=conversation_id)
    return api.tasks.Ask(tasks_pb2.AskRequest(submit=submit))


def worker_of(daemon: running_daemon.RunningDaemon) -> psutil.Process:
    """The model's process."""
    children = psutil.Process(daemon.pid).children()
    (worker,) = [one for one in children if "daemon.models.worker" in one.cmdline()]
    return worker


def has_text(update: events_pb2.Update) -> bool:
    return bool(update.live.text)


def finished(updates: list[events_pb2.Update]) -> list[events_pb2.ModelCallFinished]:
    kinds = [update.event for update in updates if update.event.HasField("model_call_finished")]
    return [event.model_call_finished for event in kinds]


@pytest.mark.spec("C-07")
def test_ask_and_chat_about_a_capital(api: running_daemon.Api) -> None:
    answer = ask(api, CAPITAL)
    assert answer.state == common_pb2.COMPLETED
    assert "Paris" in answer.answer
    chat = tasks_pb2.ChatRequest(submit=tasks_pb2.SubmitRequest(text=CAPITAL))
    updates = list(api.tasks.Chat(chat))
    pieces = [update.live.text for update in updates if update.HasField("live")]
    assert pieces
    (call,) = finished(updates)
    assert call.text.startswith("".join(pieces))
    assert call.slot == "embedded"
    assert call.completion_tokens > 0
    assert "Paris" in call.text


@pytest.mark.spec("D-06")
def test_a_second_turn_reuses_the_first(api: running_daemon.Api) -> None:
    first = ask(api, "My duck is called Emil. Say hello to my duck.")
    second = ask(api, "What is my duck called?", first.conversation_id)
    assert second.conversation_id == first.conversation_id
    assert second.state == common_pb2.COMPLETED
    counts = []
    for answer in (first, second):
        updates = work.reach(api, answer.task_id)
        (call,) = finished(updates)
        counts.append(call)
    assert counts[1].reused_tokens >= counts[0].prompt_tokens
    assert counts[1].reused_tokens < counts[1].prompt_tokens


@pytest.mark.spec("D-19")
def test_a_killed_model_costs_one_retry(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    task_id = work.submit(api, LONG)
    work.follow(api, task_id, has_text)
    worker = worker_of(daemon)
    worker.kill()
    updates = work.reach(api, task_id)
    assert work.state_of(updates[-1]) == common_pb2.COMPLETED
    events = [update.event for update in updates if update.HasField("event")]
    (failed,) = [one.model_call_failed for one in events if one.HasField("model_call_failed")]
    assert failed.fault == "died"
    assert "SIGKILL" in failed.message
    assert failed.text
    started = [one.model_call_started for one in events if one.HasField("model_call_started")]
    assert [one.attempt for one in started] == [1, 2]
    assert started[1].replaces_call_id == started[0].call_id == failed.call_id
    assert len(finished(updates)) == 1
    assert worker_of(daemon).pid != worker.pid
    assert api.admin.Status(work.STATUS).tasks_running == 0


@pytest.mark.spec("L-05")
def test_a_cancelled_answer_is_kept_as_far_as_it_came(api: running_daemon.Api) -> None:
    task_id = work.submit(api, LONG)
    work.follow(api, task_id, has_text)
    cancelled = api.tasks.Cancel(tasks_pb2.CancelRequest(task_id=task_id))
    assert cancelled.state == common_pb2.CANCELLED
    updates = work.follow(api, task_id, lambda one: one.event.HasField("model_call_failed"))
    failed = updates[-1].event.model_call_failed
    assert (failed.fault, bool(failed.text)) == ("cancelled", True)
    assert work.task(api, task_id).state == common_pb2.CANCELLED
    assert "Paris" in ask(api, CAPITAL).answer


def test_the_daemon_takes_its_model_along(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    """The last test of its daemon, which it stops."""
    assert ask(api, CAPITAL).state == common_pb2.COMPLETED
    worker = worker_of(daemon)
    assert daemon.stop() == 0
    psutil.wait_procs([worker], PROCESS_S)
    assert not worker.is_running()
