"""A daemon that stops: every open call ends with a status and a sentence, and nothing is lost."""

import contextlib
from collections.abc import Iterable
from concurrent import futures

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import methods, work

STOPPING = "The daemon is stopping"


def last_words(stream: Iterable[events_pb2.Update]) -> tuple[grpc.StatusCode, str]:
    """How a stream has ended."""
    with pytest.raises(grpc.RpcError) as ended:
        for _ in stream:
            pass
    return methods.fault(ended.value)


@pytest.mark.spec("O-02")
def test_open_calls_end_in_a_sentence_and_their_tasks_go_on() -> None:
    with running_daemon.running(work.SCRIPT) as daemon:
        with contextlib.ExitStack() as stack:
            api = stack.enter_context(daemon.api())
            pool = stack.enter_context(futures.ThreadPoolExecutor(1))
            channel = stack.enter_context(daemon.channel())
            health = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            assert next(health).status == health_pb2.HealthCheckResponse.SERVING
            subscribed = api.events.Subscribe(events_pb2.SubscribeRequest())
            chat = api.tasks.Chat(
                tasks_pb2.ChatRequest(submit=tasks_pb2.SubmitRequest(text="slow chat"))
            )
            task_id = next(chat).event.task_id
            slow = tasks_pb2.SubmitRequest(text="slow ask", client_key="asked")
            asked = pool.submit(api.tasks.Ask, tasks_pb2.AskRequest(submit=slow))
            kept = api.tasks.Submit(slow)
            work.reach(api, kept.task_id, common_pb2.RUNNING)
            assert daemon.stop() == 0
            assert next(health).status == health_pb2.HealthCheckResponse.NOT_SERVING
            for stream in (subscribed, chat):
                code, sentence = last_words(stream)
                assert (code, sentence[: len(STOPPING)]) == (grpc.StatusCode.UNAVAILABLE, STOPPING)
            error = asked.exception(methods.CALL_S)
            assert isinstance(error, grpc.RpcError)
            assert methods.fault(error)[1].startswith(f"{STOPPING}; {kept.task_id} goes on")
        daemon.start()
        with daemon.api() as api:
            for going_on in (task_id, kept.task_id):
                assert work.end(api, going_on).answer == work.SLOW_WORDS
            assert api.tasks.Submit(slow) == kept


@pytest.mark.spec("O-02")
def test_a_write_while_it_drains_is_refused_in_a_sentence() -> None:
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(running_daemon.running(work.SCRIPT))
        api = stack.enter_context(daemon.api())
        task_id = work.submit(api, "`env sleep 2`")
        work.resolve(api, work.pending(api, task_id), approvals_pb2.ALLOW_ONCE)
        work.follow(api, task_id, lambda update: update.event.HasField("tool_call_started"))
        assert daemon.process is not None
        channel = stack.enter_context(daemon.channel())
        health = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(health).status == health_pb2.HealthCheckResponse.SERVING
        daemon.process.terminate()
        assert next(health).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert api.admin.Status(work.STATUS).draining
        with pytest.raises(grpc.RpcError) as refused:
            work.submit(api, "too late")
        code, sentence = methods.fault(refused.value)
        assert (code, sentence[: len(STOPPING)]) == (grpc.StatusCode.UNAVAILABLE, STOPPING)
        assert daemon.wait() == 0
