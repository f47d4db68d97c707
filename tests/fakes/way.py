"""A way to a daemon that hands on every call as it is, but for those that a test has hang.

A call that hangs is taken and neither handed on nor answered: to who called, the daemon is there
and says nothing. It ends with its caller's deadline, or when nothing is to hang any more. Runs on a
thread of its own.
"""

import asyncio
import contextlib
import functools
import threading
import typing
from collections.abc import AsyncIterator, Iterator

import grpc
from grpc import aio

START_S = 20.0
_Context: typing.TypeAlias = "aio.ServicerContext[typing.Any, typing.Any]"


class Way(grpc.GenericRpcHandler):
    """Hands on what comes; `hang` and `release` may be called from any thread."""

    def __init__(self, daemon: str) -> None:
        self._daemon = daemon
        self._channel: aio.Channel | None = None
        self.address = ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._hangs: dict[str, bytes] = {}
        self._released = asyncio.Event()
        self.hung = 0  # how many calls were left without an answer

    def hang(self, method: str, part: bytes = b"") -> None:
        """Have the calls of a method, as `Service/Method`, hang whose request holds this."""
        self._hangs = {method: part}

    def release(self) -> None:
        """Let nothing hang any more; what did is told so."""
        self._hangs = {}
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._let_go)

    def _let_go(self) -> None:
        self._released.set()
        self._released = asyncio.Event()

    async def serve(self, ready: threading.Event, ended: asyncio.Event) -> None:
        """Serve until it is to end."""
        self._loop = asyncio.get_running_loop()
        server = aio.server(handlers=(self,))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self.address = f"127.0.0.1:{port}"
        async with aio.insecure_channel(self._daemon) as self._channel:
            ready.set()
            await ended.wait()
            await server.stop(None)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> typing.Any:
        method = str(handler_call_details.method)
        return grpc.stream_stream_rpc_method_handler(functools.partial(self._hand_on, method))

    async def _hand_on(
        self, method: str, requests: AsyncIterator[bytes], context: _Context
    ) -> AsyncIterator[bytes]:
        given = [one async for one in requests]
        part = self._hangs.get(method.rpartition(".")[2])
        if part is not None and part in b"".join(given):
            self.hung += 1
            await self._released.wait()
            await context.abort(grpc.StatusCode.UNAVAILABLE, "It hung.")
        assert self._channel is not None
        metadata = tuple(context.invocation_metadata() or ())
        token = [(key, value) for key, value in metadata if key == "authorization"]
        hand_on: typing.Any = self._channel.stream_stream(method)
        call = hand_on(iter(given), metadata=token)
        try:
            async for one in call:
                yield one
        except aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "")
        finally:
            call.cancel()


@contextlib.contextmanager
def running(daemon: str) -> Iterator[Way]:
    """A way to the daemon at an address; it is ended for sure."""
    way, ready, ended = Way(daemon), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(
        target=lambda: loop.run_until_complete(way.serve(ready, ended)), name="way"
    )
    thread.start()
    try:
        assert ready.wait(START_S), "the way to the daemon is not open"
        yield way
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_S)
        loop.close()
