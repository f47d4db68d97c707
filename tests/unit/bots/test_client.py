"""The bots' client against a daemon that does not answer: every call ends, and may be repeated."""

import asyncio
import contextlib
import typing
from collections.abc import AsyncIterator

import grpc
import pytest
from grpc import aio

from bots import client
from proto.ducklm.v1 import artifacts_pb2, conversations_pb2

SHORT_S = 0.2
LONG_S = 5.0
_Context: typing.TypeAlias = "aio.ServicerContext[typing.Any, typing.Any]"


class Silent(grpc.GenericRpcHandler):
    """Gives one piece to each call, and then nothing for as long as the caller stays."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> typing.Any:
        return grpc.stream_stream_rpc_method_handler(self._hold)

    async def _hold(self, requests: AsyncIterator[bytes], _: _Context) -> AsyncIterator[bytes]:
        async for _request in requests:
            pass
        yield conversations_pb2.ExportPiece(text="one").SerializeToString()
        await asyncio.Event().wait()


@contextlib.asynccontextmanager
async def silent() -> AsyncIterator[client.Client]:
    server = aio.server(handlers=(Silent(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    daemon = client.Client(client.Place(f"127.0.0.1:{port}", "token"))
    try:
        yield daemon
    finally:
        await daemon.close()
        await server.stop(None)


async def piece() -> AsyncIterator[artifacts_pb2.PutArtifactRequest]:
    yield artifacts_pb2.PutArtifactRequest(data=b"x")


async def ask(daemon: client.Client, kind: str) -> None:
    match kind:
        case "call":
            await daemon.call(daemon.conversations.Undo, conversations_pb2.UndoRequest(), SHORT_S)
        case "send":
            await daemon.send(daemon.artifacts.Put, piece(), SHORT_S)
        case _:
            request = conversations_pb2.ExportConversationRequest()
            pieces = daemon.stream(daemon.conversations.Export, request, SHORT_S)
            async for one in pieces:
                assert one.text == "one"


@pytest.mark.parametrize("kind", ["call", "send", "stream"])
async def test_a_call_that_is_not_answered_ends_and_may_be_repeated(kind: str) -> None:
    async with silent() as daemon, asyncio.timeout(LONG_S):
        with pytest.raises(client.CallFault) as raised:
            await ask(daemon, kind)
    assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert raised.value.lost


async def test_a_stream_that_may_be_quiet_is_not_ended() -> None:
    request = conversations_pb2.ExportConversationRequest()
    async with silent() as daemon:
        pieces = daemon.stream(daemon.conversations.Export, request, None)
        async with contextlib.aclosing(pieces):
            assert (await anext(pieces)).text == "one"
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(2 * SHORT_S):
                    await anext(pieces)
