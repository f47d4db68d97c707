"""Whatever breaks behind a method, its caller gets our sentence and a correlation id, no more."""

import asyncio
import base64
import dataclasses
import pathlib
import re
import typing
from collections.abc import AsyncIterator, Callable, Sequence

import grpc
import pytest
import structlog.testing

from daemon.decide import turn
from daemon.domain import decisions, deliveries, errors, events, ids, inputs, world
from daemon.rpc import backend
from daemon.runtime import bus, clock, contents, inbox
from daemon.storage import in_memory
from tests import running_daemon
from tests.integration.rpc import methods, served

SECRET = "correct-horse-battery-staple"
EVERY = methods.every()
Fault = Callable[[], BaseException]
RAISED: dict[str, Fault] = {
    "a fault of the program": lambda: RuntimeError(SECRET),
    "a missing key": lambda: KeyError(SECRET),
    "a fault of the system": lambda: OSError(5, SECRET, SECRET),
    "bytes that are no text": lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    "a group": lambda: ExceptionGroup(SECRET, [ValueError(SECRET)]),
}
_HEAD_SEQ = 5


class _Broken:
    """A store and artifacts whose every use raises."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def __getattr__(self, name: str) -> typing.Any:
        raise self._fault()


class _BrokenInbox(inbox.Inbox):
    def __init__(self, fault: Fault) -> None:
        super().__init__(8)
        self._fault = fault

    async def ask(self, given: inputs.RpcInput) -> decisions.Reply:
        raise self._fault()


def broken(fault: Fault) -> backend.Backend:
    """A backend of which nothing works."""
    store: typing.Any = _Broken(fault)
    publish = bus.Bus(store, clock.SystemClock(), _HEAD_SEQ, 8)

    def grants() -> Sequence[world.Grant]:
        raise fault()

    def rules() -> turn.Rules:
        raise fault()

    def state() -> world.World:
        raise fault()

    def zone() -> str:
        raise fault()

    return backend.Backend(
        _BrokenInbox(fault),
        store,
        store,
        contents.Contents(store),
        publish,
        1024,
        served.empty_vault(),
        grants,
        lambda principal: True,
        folders=store,
        history=store,
        rules=rules,
        state=state,
        zone=zone,
    )


@pytest.fixture(autouse=True)
def logged() -> typing.Iterator[list[typing.MutableMapping[str, typing.Any]]]:
    """What is logged meanwhile."""
    with structlog.testing.capture_logs() as kept:
        yield kept


@pytest.fixture
def folder() -> typing.Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


@dataclasses.dataclass(frozen=True)
class Said:
    """All that a caller can see of a failed call."""

    code: grpc.StatusCode
    sentence: str
    metadata: dict[str, str]

    def everything(self) -> str:
        return f"{self.sentence} {self.metadata}"


async def outcomes(
    fault: Fault, folder: pathlib.Path, more: methods.Metadata = ()
) -> AsyncIterator[tuple[methods.Method, Said]]:
    """What each method says when what is behind it raises."""
    look = served.Look(folder, fault())
    async with served.serving(broken(fault), served.two_tokens(), look) as channel:
        for method in EVERY:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await served.call(channel, method, served.valid(method), more=more)
            metadata = {key: str(value) for key, value in caught.value.trailing_metadata()}
            yield method, Said(caught.value.code(), caught.value.details() or "", metadata)


def hidden_forms(secret: str) -> list[str]:
    raw = secret.encode()
    return [secret, base64.b64encode(raw).decode(), raw.hex(), secret.replace("-", "%2D")]


@pytest.mark.acceptance(24)
@pytest.mark.parametrize("kind", RAISED)
async def test_no_text_of_an_exception_leaves(kind: str, folder: pathlib.Path) -> None:
    async for method, said in outcomes(RAISED[kind], folder):
        assert said.code is grpc.StatusCode.INTERNAL, method.name
        assert said.sentence.startswith("Something went wrong in the daemon"), method.name
        assert not [form for form in hidden_forms(SECRET) if form in said.everything()]
        assert re.fullmatch(r"[0-9a-f]{32}", said.metadata["x-correlation-id"])
        assert said.metadata["x-correlation-id"] in said.sentence


async def test_a_fault_of_the_store_is_told_as_such(folder: pathlib.Path) -> None:
    sentence = "The disk is full: nothing was kept."
    async for method, said in outcomes(lambda: errors.StorageFull(sentence), folder):
        assert said.code is grpc.StatusCode.UNAVAILABLE, method.name
        assert said.sentence.startswith(sentence), method.name


async def test_a_deadline_inside_is_told_as_such(folder: pathlib.Path) -> None:
    async for method, said in outcomes(lambda: TimeoutError(SECRET), folder):
        assert said.code is grpc.StatusCode.DEADLINE_EXCEEDED, method.name
        assert SECRET not in said.everything()


async def test_a_cancelled_wait_inside_still_ends_the_call(folder: pathlib.Path) -> None:
    async for method, said in outcomes(lambda: asyncio.CancelledError(SECRET), folder):
        assert said.code is grpc.StatusCode.UNAVAILABLE, method.name
        assert SECRET not in said.everything()


async def test_a_given_correlation_id_comes_back(folder: pathlib.Path) -> None:
    more = (("x-correlation-id", "From-Here-42"),)
    async for _, said in outcomes(lambda: RuntimeError(SECRET), folder, more):
        assert said.metadata["x-correlation-id"] == "From-Here-42"
        assert "From-Here-42" in said.sentence


@pytest.mark.parametrize("given", ["", "-", "a b", "x" * 65, "<script>", "a=b;c", "../x"])
async def test_a_correlation_id_that_is_none_is_replaced(given: str, folder: pathlib.Path) -> None:
    more = (("x-correlation-id", given),)
    async for _, said in outcomes(lambda: RuntimeError(SECRET), folder, more):
        assert re.fullmatch(r"[0-9a-f]{32}", said.metadata["x-correlation-id"])


POSTED = events.Recorded(
    1,
    1,
    None,
    ids.ConversationId(""),
    "",
    events.NoticePosted(
        delivery_id=ids.DeliveryId("d"),
        target=deliveries.Target(account="telegram:7", chat="1"),
        text=None,
    ),
)


@pytest.mark.parametrize("method", EVERY, ids=methods.short)
async def test_a_token_without_the_scope_may_not(
    method: methods.Method, folder: pathlib.Path
) -> None:
    needed = served.scope(method)
    store: typing.Any = in_memory.InMemoryStore()
    await store.commit([POSTED], [])  # so that a stream of deliveries has a first one
    backing = broken(lambda: RuntimeError(SECRET))
    backing = dataclasses.replace(backing, store=store)
    look = served.Look(folder)
    async with served.serving(backing, served.by_scope(needed), look) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await served.call(channel, method, served.valid(method), "all but it")
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
        assert f"lacks the scope {needed}" in (refused.value.details() or "")
        code = grpc.StatusCode.OK
        try:
            await served.call(channel, method, served.valid(method), "it alone")
        except grpc.aio.AioRpcError as error:
            code = error.code()
        assert code is not grpc.StatusCode.PERMISSION_DENIED
