"""Streams: from where one asks, without gap or repeat, live text first; none holds up another."""

import contextlib
import itertools
import json
from collections.abc import Iterator

import grpc
import pytest

from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import methods, work

SUBSCRIBERS = 64
_REQUEST = events_pb2.SubscribeRequest


def until_final(
    api: running_daemon.Api, request: events_pb2.SubscribeRequest
) -> list[events_pb2.Update]:
    """The updates up to a task's final state."""
    seen = []
    for update in work.updates(api, request):
        seen.append(update)
        if work.state_of(update) in work.FINAL:
            break
    return seen


def live_text(updates: list[events_pb2.Update]) -> str:
    """The live pieces as one text; each begins where the one before ended."""
    text = ""
    for update in updates:
        if update.HasField("live"):
            assert update.live.offset == len(text)
            text += update.live.text
    return text


def events_of(updates: list[events_pb2.Update]) -> list[events_pb2.Event]:
    return [update.event for update in updates if update.HasField("event")]


def first_live(updates: Iterator[events_pb2.Update]) -> events_pb2.LiveText:
    return next(update.live for update in updates if update.HasField("live"))


@pytest.mark.spec("C-03")
def test_from_the_beginning_without_gap_or_repeat(api: running_daemon.Api) -> None:
    work.end(api, work.submit(api, "something to see"))
    head_seq = api.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq
    stream = work.updates(api, _REQUEST(events_only=True))
    found = [update.event.seq for update in itertools.islice(stream, head_seq)]
    stream.close()
    assert found == list(range(1, head_seq + 1))


@pytest.mark.spec("C-03")
def test_from_any_event_on(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "resume me")
    work.end(api, task_id)
    whole = work.events(api, task_id)
    for event in whole[:-1]:
        request = _REQUEST(after_seq=event.seq, task_id=task_id)
        rest = events_of(until_final(api, request))
        assert rest == whole[whole.index(event) + 1 :]


@pytest.mark.spec("C-03")
def test_from_now_shows_nothing_that_was(api: running_daemon.Api) -> None:
    work.end(api, work.submit(api, "past"))
    head_seq = api.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq
    stream = api.events.Subscribe(_REQUEST(from_now=True, events_only=True))
    stream.initial_metadata()
    task_id = work.submit(api, "slow present")
    first = next(stream).event
    stream.cancel()
    assert first.seq > head_seq
    work.end(api, task_id)


@pytest.mark.spec("C-03")
def test_by_task_and_by_conversation(api: running_daemon.Api) -> None:
    first = api.tasks.Submit(tasks_pb2.SubmitRequest(text="slow one"))
    other = api.tasks.Submit(tasks_pb2.SubmitRequest(text="slow other"))
    mine = until_final(api, _REQUEST(after_seq=first.seq - 1, task_id=first.task_id))
    spoken = _REQUEST(after_seq=first.seq - 1, conversation_id=other.conversation_id)
    theirs = until_final(api, spoken)
    assert {event.task_id for event in events_of(mine)} == {first.task_id}
    assert {event.conversation_id for event in events_of(theirs)} == {other.conversation_id}
    tasks = {update.live.task_id for update in mine + theirs if update.HasField("live")}
    assert tasks <= {first.task_id, other.task_id}


@pytest.mark.spec("D-18")
def test_live_text_comes_before_its_outcome_with_right_offsets(api: running_daemon.Api) -> None:
    seen = work.reach(api, work.submit(api, "slow please"))
    kinds = [update.event.WhichOneof("kind") or update.WhichOneof("kind") for update in seen]
    finished = kinds.index("model_call_finished")
    assert kinds.index("model_call_started") < kinds.index("live") < finished
    assert "live" not in kinds[finished:]
    text = live_text(seen)
    assert len(text.split()) > 3
    assert work.SLOW_WORDS.startswith(text)
    (outcome,) = [one.event for one in seen if one.event.HasField("model_call_finished")]
    assert outcome.model_call_finished.text == work.SLOW_WORDS


@pytest.mark.spec("D-18")
def test_events_only_leaves_out_live_text(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "slow again")
    seen = until_final(api, _REQUEST(task_id=task_id, events_only=True))
    assert len(events_of(seen)) == len(seen)


@pytest.mark.spec("D-18")
def test_who_comes_late_first_gets_the_text_so_far(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "slow for late ones")
    early = work.updates(api, _REQUEST(task_id=task_id))
    before = [first_live(early) for _ in range(4)]
    late = work.updates(api, _REQUEST(task_id=task_id))
    piece = first_live(late)
    assert piece.offset == 0
    assert piece.text.startswith("".join(one.text for one in before))
    rest = [first_live(late) for _ in range(2)]
    assert [one.offset for one in rest] == [
        len(piece.text),
        len(piece.text) + len(rest[0].text),
    ]
    early.close()
    late.close()
    work.end(api, task_id)


@pytest.mark.spec("C-03")
def test_dropping_a_stream_cancels_no_task(api: running_daemon.Api) -> None:
    chat = api.tasks.Chat(tasks_pb2.ChatRequest(submit=tasks_pb2.SubmitRequest(text="slow chat")))
    task_id = next(chat).event.task_id
    first_live(iter(chat))
    chat.cancel()
    task = work.end(api, task_id)
    assert (task.state, task.answer) == (common_pb2.COMPLETED, work.SLOW_WORDS)


@pytest.mark.spec("C-03")
def test_dropping_an_ask_cancels_no_task(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="slow ask", client_key="dropped ask")
    with pytest.raises(grpc.RpcError) as dropped:
        api.tasks.Ask(tasks_pb2.AskRequest(submit=submit), timeout=0.3)
    assert methods.fault(dropped.value)[0] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert api.tasks.Ask(tasks_pb2.AskRequest(submit=submit)).answer == work.SLOW_WORDS


def test_chat_stays_while_the_task_waits_and_ends_with_it(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="`env echo waited`")
    chat = api.tasks.Chat(tasks_pb2.ChatRequest(submit=submit))
    seen = []
    for update in chat:
        seen.append(update)
        if update.event.HasField("approval_requested"):
            approval_id = update.event.approval_requested.approval_id
            work.resolve(api, approval_id, approvals_pb2.ALLOW_ONCE)
    assert work.state_of(seen[-1]) == common_pb2.COMPLETED
    output = [update.live.text for update in seen if update.live.tool]
    assert "".join(output) in ("", "waited\n")


@pytest.mark.spec("L-03")
def test_at_the_cap_one_more_is_refused_and_room_comes_back() -> None:
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(running_daemon.running(work.SCRIPT))
        api = stack.enter_context(daemon.api())
        work.end(api, work.submit(api, "something to see"))
        streams = [api.events.Subscribe(_REQUEST()) for _ in range(SUBSCRIBERS)]
        for stream in streams:
            assert next(stream).event.seq == 1
        for call in (
            lambda: next(api.events.Subscribe(_REQUEST())),
            lambda: api.tasks.Ask(tasks_pb2.AskRequest(submit=tasks_pb2.SubmitRequest(text="x"))),
        ):
            with pytest.raises(grpc.RpcError) as refused:
                call()
            code, sentence = methods.fault(refused.value)
            assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert sentence.startswith(f"{SUBSCRIBERS} streams are open already.")
        assert work.kinds(work.events(api)).count("task_submitted") == 1
        kept = api.tasks.Submit(tasks_pb2.SubmitRequest(text="writes need no stream"))
        for stream in streams:
            stream.cancel()
        assert _room(api)
        assert work.end(api, kept.task_id).state == common_pb2.COMPLETED
        assert "call_broke" not in daemon.log_text()


def _room(api: running_daemon.Api) -> bool:
    """Whether one more stream is taken, within a bounded number of tries."""
    for _ in range(200):
        with contextlib.suppress(grpc.RpcError):
            return next(work.updates(api, _REQUEST())).event.seq == 1
    return False


@pytest.mark.spec("C-03")
def test_who_does_not_read_holds_up_nobody() -> None:
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(running_daemon.running(work.SCRIPT))
        api = stack.enter_context(daemon.api())
        stuck = [api.events.Subscribe(_REQUEST()) for _ in range(8)]
        large = "x" * 100_000  # as much as fits the model's context
        ids = [work.submit(api, f"{large} {number}") for number in range(30)]
        for task_id in ids:
            assert work.end(api, task_id).state == common_pb2.COMPLETED
        head_seq = api.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq
        for stream in stuck:
            found = [update.event.seq for update in itertools.islice(_events(stream), head_seq)]
            assert found == list(range(1, head_seq + 1))
            stream.cancel()


def _events(stream: Iterator[events_pb2.Update]) -> Iterator[events_pb2.Update]:
    return (update for update in stream if update.HasField("event"))


@pytest.mark.spec("D-20")
def test_the_callers_correlation_id_is_in_the_events_and_the_log(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    submit = tasks_pb2.SubmitRequest(text="unscripted")
    kept = api.tasks.Submit(submit, metadata=(("x-correlation-id", "Trace-Me-42"),))
    assert work.end(api, kept.task_id).state == common_pb2.FAILED
    found = work.events(api, kept.task_id)
    assert {event.correlation_id for event in found} == {"Trace-Me-42"}
    rows = [json.loads(line) for line in daemon.log_text().splitlines()]
    (failed,) = [row for row in rows if row.get("correlation_id") == "Trace-Me-42"]
    assert failed["event"] == "model_call_failed"


def test_a_correlation_id_that_is_none_is_in_no_event(api: running_daemon.Api) -> None:
    submit = tasks_pb2.SubmitRequest(text="hello")
    kept = api.tasks.Submit(submit, metadata=(("x-correlation-id", "a b; DROP"),))
    work.end(api, kept.task_id)
    (replaced,) = {event.correlation_id for event in work.events(api, kept.task_id)}
    assert replaced.isalnum()
    assert len(replaced) == 32
