"""The same client_key and body is the same answer; with another body it is refused."""

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent import futures

import grpc
import pytest
from google.protobuf import message

from daemon.domain import decisions, world
from daemon.rpc import backend
from daemon.runtime import bus, clock, contents, inbox, loop
from daemon.storage import in_memory
from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    tasks_pb2,
)
from tests import rules, running_daemon
from tests.integration.rpc import methods, served, work

PARALLEL = 32
Send = Callable[[message.Message], message.Message]
SUBMIT = tasks_pb2.SubmitRequest(text="hello", client_key="one key")


def conflict(send: Callable[[], object]) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        send()
    code, sentence = methods.fault(refused.value)
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert sentence.startswith("This client_key was used for another request.")


@pytest.mark.spec("L-05")
def test_submit(api: running_daemon.Api) -> None:
    request = tasks_pb2.SubmitRequest(text="once", client_key="submit")
    first = api.tasks.Submit(request)
    assert api.tasks.Submit(request) == first
    work.end(api, first.task_id)
    assert api.tasks.Submit(request) == first
    request.text = "twice"
    conflict(lambda: api.tasks.Submit(request))
    changed = tasks_pb2.SubmitRequest(text="once", client_key="submit")
    changed.origin.chat = "elsewhere"
    conflict(lambda: api.tasks.Submit(changed))


@pytest.mark.spec("L-05")
def test_without_a_key_each_is_a_task_of_its_own(api: running_daemon.Api) -> None:
    assert work.submit(api, "again") != work.submit(api, "again")


@pytest.mark.spec("L-05")
def test_a_refused_request_uses_up_no_key(api: running_daemon.Api) -> None:
    with pytest.raises(grpc.RpcError):
        api.tasks.Submit(tasks_pb2.SubmitRequest(text=" ", client_key="refused first"))
    api.tasks.Submit(tasks_pb2.SubmitRequest(text="mended", client_key="refused first"))


@pytest.mark.spec("L-05")
def test_submit_in_parallel_is_one_task(
    api: running_daemon.Api, daemon: running_daemon.RunningDaemon
) -> None:
    request = tasks_pb2.SubmitRequest(text="in parallel", client_key="parallel")

    def once(_: int) -> tasks_pb2.SubmitResponse:
        with daemon.api() as own:
            return own.tasks.Submit(request)

    with futures.ThreadPoolExecutor(PARALLEL) as pool:
        answers = list(pool.map(once, range(PARALLEL)))
    assert all(answer == answers[0] for answer in answers)
    found = work.events(api, after_seq=answers[0].seq - 1)
    submitted = [one for one in found if one.task_submitted.text == "in parallel"]
    assert [one.seq for one in submitted] == [answers[0].seq]


@pytest.mark.spec("L-05")
def test_create_and_update_conversations(api: running_daemon.Api) -> None:
    create = conversations_pb2.CreateConversationRequest(title="a", client_key="create")
    made = api.conversations.Create(create)
    assert api.conversations.Create(create).conversation_id == made.conversation_id
    create.title = "b"
    conflict(lambda: api.conversations.Create(create))
    update = conversations_pb2.UpdateConversationRequest(
        conversation_id=made.conversation_id, title="c", client_key="update"
    )
    first = api.conversations.Update(update)
    assert api.conversations.Update(update) == first
    update.title = "d"
    conflict(lambda: api.conversations.Update(update))


@pytest.mark.spec("L-05")
def test_cancel(api: running_daemon.Api) -> None:
    request = tasks_pb2.CancelRequest(task_id=work.submit(api, "endless"), client_key="cancel")
    for _ in range(2):
        assert api.tasks.Cancel(request).state == common_pb2.CANCELLED
    request.task_id = work.submit(api, "endless")
    conflict(lambda: api.tasks.Cancel(request))
    request.client_key = "cancel the other"
    assert api.tasks.Cancel(request).state == common_pb2.CANCELLED


@pytest.mark.spec("L-05")
def test_resolve(api: running_daemon.Api) -> None:
    task_id = work.submit(api, "`env echo once`")
    approval_id = work.pending(api, task_id)
    for _ in range(2):
        resolved = work.resolve(api, approval_id, approvals_pb2.ALLOW_ONCE, client_key="resolve")
        assert resolved.status == approvals_pb2.ALLOWED
    conflict(lambda: work.resolve(api, approval_id, approvals_pb2.DENY, client_key="resolve"))
    assert work.end(api, task_id).state == common_pb2.COMPLETED
    kinds = work.kinds(work.events(api, task_id))
    assert kinds.count("approval_resolved") == kinds.count("tool_call_started") == 1


@pytest.mark.spec("L-05")
def test_a_key_of_one_method_is_used_for_all(api: running_daemon.Api) -> None:
    task_id = api.tasks.Submit(tasks_pb2.SubmitRequest(text="x", client_key="shared")).task_id
    cancel = tasks_pb2.CancelRequest(task_id=task_id, client_key="shared")
    conflict(lambda: api.tasks.Cancel(cancel))


class _Nothing:
    """Performs no action: tasks stay where they are."""

    def perform(self, action: decisions.Action) -> None:
        pass


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


@contextlib.asynccontextmanager
async def two_tokens(folder: pathlib.Path) -> AsyncIterator[grpc.aio.Channel]:
    """A daemon's loop over a store in memory, for two tokens."""
    store = in_memory.InMemoryStore()
    kept = contents.Contents(store)
    box = inbox.Inbox(PARALLEL)
    publish = bus.Bus(store, clock.SystemClock(), 0, PARALLEL)
    used = rules.plain({})
    parts = (kept, clock.SystemClock(), clock.SystemChance(), box, publish)
    running = loop.RuntimeLoop(used, world.World(), store, *parts)
    backing = backend.Backend(
        box,
        store,
        store.artifacts,
        kept,
        publish,
        1024,
        served.empty_vault(),
        lambda: tuple(running.world.grants.values()),
        used.owners.is_owner,
        rules=lambda: used,
        state=lambda: running.world,
    )
    serving = asyncio.create_task(running.run(_Nothing()))
    try:
        look = served.Look(folder)
        async with served.serving(backing, served.two_tokens(), look) as channel:
            yield channel
    finally:
        serving.cancel()
        await asyncio.wait((serving,))


@pytest.mark.spec("L-05")
async def test_a_key_belongs_to_its_token(folder: pathlib.Path) -> None:
    (submit,) = [one for one in methods.every() if one.name.endswith("Tasks/Submit")]
    other = tasks_pb2.SubmitRequest(text="another body", client_key=SUBMIT.client_key)
    async with two_tokens(folder) as channel:
        owners = await served.call(channel, submit, SUBMIT)
        scripts = await served.call(channel, submit, other, served.OTHER)
        assert await served.call(channel, submit, SUBMIT) == owners
        assert await served.call(channel, submit, other, served.OTHER) == scripts
        assert owners != scripts
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.call(channel, submit, other)
        assert refused.value.code() is grpc.StatusCode.ALREADY_EXISTS
