"""The bots' way to the daemon: asynchronous stubs with the bot's token and a deadline on each call.

Answers for: the channel (a socket, loopback, or TLS with a CA of its own), the token, and that a
failed call is a `CallFault`. The terminal client is synchronous and shares none of this. It must
never retry what may not be repeated: callers say so with a client key.
"""

import asyncio
import contextlib
import dataclasses
import pathlib
import typing
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

import grpc
from grpc import aio

from proto.ducklm.v1 import (
    admin_pb2_grpc,
    approvals_pb2_grpc,
    artifacts_pb2,
    artifacts_pb2_grpc,
    channels_pb2_grpc,
    conversations_pb2_grpc,
    events_pb2_grpc,
    projects_pb2_grpc,
    schedules_pb2_grpc,
    tasks_pb2_grpc,
)

UNARY_TIMEOUT_S: typing.Final = 20.0
SEND_TIMEOUT_S: typing.Final = 120.0  # for all pieces of what is sent
IDLE_TIMEOUT_S: typing.Final = 20.0  # for the next piece of a stream that has an end
RECEIVE_LIMIT_BYTES: typing.Final = 32 * 1024 * 1024
FIRST_PAUSE_S: typing.Final = 0.2
PAUSE_LIMIT_S: typing.Final = 3.0
SAID_BEFORE: typing.Final = grpc.StatusCode.ALREADY_EXISTS
REFUSED: typing.Final = grpc.StatusCode.FAILED_PRECONDITION
_CORRELATION: typing.Final = "(correlation id"

_R = typing.TypeVar("_R")
_Any: typing.TypeAlias = typing.Any  # the stubs are generic, the classes at run time are not


class CallFault(Exception):
    """A call that the daemon, or the way to it, did not serve. `sentence` is for people."""

    def __init__(self, code: grpc.StatusCode, sentence: str) -> None:
        super().__init__(code.name)
        self.code = code
        self.sentence = sentence

    @property
    def lost(self) -> bool:
        """Whether the same call may well succeed later."""
        return self.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def fault_of(error: aio.AioRpcError) -> CallFault:
    """The fault that a gRPC error stands for, its sentence without what only logs need."""
    sentence = (error.details() or "").split(_CORRELATION, 1)[0].strip()
    return CallFault(error.code(), sentence)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the daemon is: `unix:PATH` or HOST:PORT; `ca` a file for TLS."""

    address: str
    token: str = dataclasses.field(repr=False)
    ca: pathlib.Path | None = None


class Client:
    """Every service that bots use, over one channel."""

    def __init__(self, place: Place) -> None:
        options = (
            ("grpc.max_receive_message_length", RECEIVE_LIMIT_BYTES),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.min_reconnect_backoff_ms", 500),
            ("grpc.max_reconnect_backoff_ms", 2000),
            ("grpc.enable_http_proxy", 0),
            ("grpc.keepalive_time_ms", 20_000),
            ("grpc.keepalive_timeout_ms", 5_000),
        )
        if place.ca is None:
            self._channel = aio.insecure_channel(place.address, options=options)
        else:
            trust = grpc.ssl_channel_credentials(place.ca.read_bytes())
            self._channel = aio.secure_channel(place.address, trust, options=options)
        self._metadata = (("authorization", f"Bearer {place.token}"),)
        self.tasks: _Any = tasks_pb2_grpc.TasksStub(self._channel)
        self.events: _Any = events_pb2_grpc.EventsStub(self._channel)
        self.approvals: _Any = approvals_pb2_grpc.ApprovalsStub(self._channel)
        self.conversations: _Any = conversations_pb2_grpc.ConversationsStub(self._channel)
        self.projects: _Any = projects_pb2_grpc.ProjectsStub(self._channel)
        self.artifacts: _Any = artifacts_pb2_grpc.ArtifactsStub(self._channel)
        self.channels: _Any = channels_pb2_grpc.ChannelsStub(self._channel)
        self.schedules: _Any = schedules_pb2_grpc.SchedulesStub(self._channel)
        self.admin: _Any = admin_pb2_grpc.AdminStub(self._channel)

    async def call(
        self,
        method: Callable[..., Awaitable[_R]],
        request: object,
        timeout_s: float = UNARY_TIMEOUT_S,
    ) -> _R:
        """Make a unary call; raises CallFault."""
        try:
            return await method(request, metadata=self._metadata, timeout=timeout_s)
        except aio.AioRpcError as error:
            raise fault_of(error) from None

    async def patiently(self, method: Callable[..., Awaitable[_R]], request: object) -> _R:
        """Repeat a call until the daemon answers it; for reads, and writes with a client key.

        Raises:
            CallFault: the daemon refused it.
        """
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                return await self.call(method, request)
            except CallFault as fault:
                if not fault.lost:
                    raise
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, PAUSE_LIMIT_S)

    async def stream(
        self,
        method: Callable[..., _Any],
        request: object,
        idle_s: float | None = IDLE_TIMEOUT_S,
    ) -> AsyncGenerator[_Any]:
        """What a stream brings until it ends or is closed; raises CallFault.

        None as `idle_s` is for a stream that may have nothing to say for as long as it likes: that
        the daemon is there still is found out by the channel's own probes.
        """
        running = method(request, metadata=self._metadata)
        try:
            while True:
                async with asyncio.timeout(idle_s):
                    one = await running.read()
                if one is aio.EOF:
                    return
                yield one
        except TimeoutError:
            raise CallFault(grpc.StatusCode.DEADLINE_EXCEEDED, "") from None
        except aio.AioRpcError as error:
            raise fault_of(error) from None
        finally:
            running.cancel()

    async def artifact(self, artifact_id: str, most_bytes: int) -> bytes | None:
        """The bytes of an artifact; None where there are more than that. Raises CallFault."""
        data = bytearray()
        request = artifacts_pb2.GetArtifactRequest(artifact_id=artifact_id)
        async with contextlib.aclosing(self.stream(self.artifacts.Get, request)) as pieces:
            async for piece in pieces:
                data += piece.data
                if len(data) > most_bytes:
                    return None
        return bytes(data)

    async def send(
        self,
        method: Callable[..., _Any],
        pieces: AsyncIterator[_Any],
        timeout_s: float = SEND_TIMEOUT_S,
    ) -> _Any:
        """Make a call that takes a stream; raises CallFault."""
        try:
            return await method(pieces, metadata=self._metadata, timeout=timeout_s)
        except aio.AioRpcError as error:
            raise fault_of(error) from None

    async def close(self) -> None:
        await self._channel.close()
