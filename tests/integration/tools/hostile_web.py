"""A small internet on loopback: a server that answers byte for byte what a test wants, and names.

`Names` stands for the look-up, `Internet.open` for the network: public addresses lead to the
server by a real socket, and every address that was ever asked for is written down.
"""

import asyncio
import contextlib
import gzip
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from tools.web import addresses, connecting

PUBLIC = ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946")
"""Addresses of the public internet; nothing is ever sent to them."""

Writer = asyncio.StreamWriter
Handler = Callable[[Writer], Awaitable[None]]


def raw(head: Sequence[str], body: bytes = b"") -> bytes:
    return "".join(f"{line}\r\n" for line in (*head, "")).encode("latin-1") + body


def page(body: bytes | str, kind: str = "text/html; charset=utf-8", *more: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    head = ("HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(data)}", *more)
    return raw(head, data)


def redirect(location: str, status: int = 302) -> bytes:
    return raw((f"HTTP/1.1 {status} Found", f"Location: {location}", "Content-Length: 0"))


def bomb(megabytes: int) -> bytes:
    """So many megabytes of spaces in a thousandth of their size."""
    packed = gzip.compress(b" " * (megabytes << 20))
    return page(packed, "text/plain", "Content-Encoding: gzip")


async def endless_body(writer: Writer) -> None:
    writer.write(raw(("HTTP/1.1 200 OK", "Content-Type: text/plain")))
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_head(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-Filler: " + b"y" * 4000 + b"\r\n")
        await writer.drain()


async def endless_continue(writer: Writer) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        await writer.drain()


async def silence(writer: Writer) -> None:
    await asyncio.Event().wait()


async def half_a_page(writer: Writer) -> None:
    """The beginning of a body, and then nothing."""
    writer.write(raw(("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 1000")))
    writer.write(b"the beginning")
    await writer.drain()
    await asyncio.Event().wait()


async def half_a_head(writer: Writer) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: te")
    await writer.drain()
    await asyncio.Event().wait()


class Server:
    """Answers each path as it is told; an answer is bytes, or what writes them."""

    def __init__(self, answers: Mapping[str, bytes | Handler]) -> None:
        self.answers = dict(answers)
        self.requests: list[bytes] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                await self._answer(reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.requests.append(request)
        path = request.split(b" ", 2)[1].decode().partition("?")[0]
        answer = self.answers.get(path, raw(("HTTP/1.1 404 Not Found", "Content-Length: 0")))
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
        else:
            await answer(writer)

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextlib.asynccontextmanager
async def running(
    answers: Mapping[str, bytes | Handler], context: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A server on a free port of loopback; none of its connections outlives it."""
    server = Server(answers)
    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        tasks.add(asyncio.create_task(server.serve(reader, writer)))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.sleep(0)  # what was aborted closes in the next round


class Internet:
    """Names and addresses. A name has its answers one look-up after the other, the last for ever;
    each is the addresses of a public host where nothing else is said."""

    def __init__(self, server: Server, names: Mapping[str, Sequence[Sequence[str]]]) -> None:
        self._server = server
        self._names = names
        self.asked: list[str] = []
        self.opened: list[tuple[str, int]] = []

    def resolve(self, host: str, port: int) -> Sequence[str]:
        answers = self._names.get(host)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        number = min(self.asked.count(host), len(answers) - 1)
        self.asked.append(host)
        return answers[number]

    def open(self, address: addresses.Address, port: int, seconds: float) -> socket.socket:
        self.opened.append((str(address), port))
        if str(address) not in PUBLIC and (str(address), port) != self._own:
            raise ConnectionRefusedError(111, "Connection refused")
        return connecting.open_socket(ipaddress.ip_address("127.0.0.1"), self._server.port, seconds)

    @property
    def _own(self) -> tuple[str, int]:
        return "127.0.0.1", self._server.port

    @property
    def forbidden(self) -> list[tuple[str, int]]:
        """Every connection that was tried and should not have been."""
        return [one for one in self.opened if one[0] not in PUBLIC and one != self._own]
