"""One GET on one connection: the request is the same for everybody, the answer bounded.

Sends no cookie, no referrer and no credential. Follows nothing; connects nothing.
"""

import http.client
import io
import socket
import time
import typing
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from tools import contract
from tools.web import bounds, urls

USER_AGENT = "DuckLM/1 (a personal agent, fetching one page for its owner)"
_PIECE_BYTES = 16 * 1024
_READ_AHEAD_BYTES = 8 * 1024
_COMPRESSED = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""What is asked for, and how zlib is told."""
_RAW_DEFLATE = -15


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: the head with names in small letters, the body without its compression.

    `cut` says in a few words why the body is not whole; empty when it is.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    cut: str = ""


class _Wire(io.RawIOBase):
    """What comes over a connection, counted and timed."""

    def __init__(self, opened: socket.socket, deadline: float, first_byte: float) -> None:
        self._opened = opened
        self._deadline = deadline
        self._until = min(deadline, first_byte)
        self.left_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: typing.Any) -> int:
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        room = memoryview(buffer)[: self.left_bytes]
        if not room:
            raise _TooMuch
        self._opened.settimeout(seconds)
        count = self._opened.recv_into(room)
        self._until = self._deadline
        self.left_bytes -= count
        return count

    def makefile(self, mode: str) -> io.BufferedReader:
        """What http.client asks a socket for."""
        return io.BufferedReader(self, _READ_AHEAD_BYTES)


class _TooMuch(Exception):
    """More came than may."""


def get(
    opened: socket.socket, url: urls.Url, accept: str, limits: bounds.Bounds, deadline: float
) -> "Exchange":
    """Ask for the address, and read the head of the answer.

    Raises:
        ToolFault: there is none within the bounds.
    """
    first_byte = time.monotonic() + limits.first_byte_seconds
    wire = _Wire(opened, deadline, first_byte)
    wire.left_bytes = limits.header_bytes
    response = http.client.HTTPResponse(typing.cast(socket.socket, wire), method="GET")
    try:
        opened.settimeout(max(0.001, first_byte - time.monotonic()))
        opened.sendall(_request(url, accept))
        response.begin()
    except _TooMuch as error:
        raise contract.ToolFault(
            f"{url.host} sent more than {limits.header_bytes} bytes before the page."
        ) from error
    except TimeoutError as error:
        raise contract.ToolFault(f"{url.host} did not answer in time.") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise contract.ToolFault(f"{url.host} gave no proper answer.") from error
    return Exchange(wire, response, url, limits)


def _request(url: urls.Url, accept: str) -> bytes:
    lines = (
        f"GET {url.target} HTTP/1.1",
        f"Host: {url.authority}",
        f"User-Agent: {USER_AGENT}",
        f"Accept: {accept}",
        "Accept-Encoding: gzip, deflate",
        "Connection: close",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")


class Exchange:
    """An answer whose head has come."""

    def __init__(
        self,
        wire: _Wire,
        response: http.client.HTTPResponse,
        url: urls.Url,
        limits: bounds.Bounds,
    ) -> None:
        self._wire = wire
        self._response = response
        self._url = url
        self._limits = limits
        self.head = Answer(
            response.status,
            {name.lower(): value.strip() for name, value in response.getheaders()},
        )

    def whole(self) -> Answer:
        """The answer with its body, as much of it as the bounds let through.

        Raises:
            ToolFault: it is compressed in a way that was not asked for, or wrongly.
        """
        named = self.head.headers.get("content-encoding", "").lower()
        if named not in ("", "identity", *_COMPRESSED):
            raise contract.ToolFault(f"{self._url.host} sent a compression that was not asked for.")
        self._wire.left_bytes = self._limits.wire_bytes
        body = _Body(_COMPRESSED.get(named), self._limits.body_bytes)
        try:
            cut = self._read(body)
        except zlib.error as error:
            raise contract.ToolFault(f"{self._url.host} sent a broken compression.") from error
        return Answer(self.head.status, self.head.headers, bytes(body.data), cut)

    def _read(self, body: "_Body") -> str:
        """Read to the end or a bound; returns why it is not whole."""
        try:
            while piece := self._response.read1(_PIECE_BYTES):
                if not body.take(piece):
                    return f"only the first {self._limits.body_bytes} bytes were read"
        except _TooMuch:
            return f"only the first {self._limits.wire_bytes} bytes that were sent were read"
        except TimeoutError:
            return "it did not come to its end in time"
        except (OSError, ValueError, http.client.HTTPException):
            return "the connection ended before the page did"
        ended = self._response.length in (None, 0)
        return "" if ended else "the connection ended before the page did"


class _Body:
    """A body as it grows, no larger than it may be, whatever its compression promises."""

    def __init__(self, window: int | None, limit_bytes: int) -> None:
        self.data = bytearray()
        self._window = window
        self._limit = limit_bytes
        self._inflate = zlib.decompressobj(window) if window is not None else None

    def take(self, piece: bytes) -> bool:
        """Take what came next; False when that was too much."""
        room = self._limit - len(self.data)
        if self._inflate is None:
            self.data += piece[:room]
            return len(piece) <= room
        while piece:
            try:
                self.data += self._inflate.decompress(piece, room + 1)
            except zlib.error:
                if self.data or self._window != _COMPRESSED["deflate"]:
                    raise
                self._window = _RAW_DEFLATE
                self._inflate = zlib.decompressobj(_RAW_DEFLATE)
                continue
            if len(self.data) > self._limit:
                del self.data[self._limit :]
                return False
            piece = self._inflate.unconsumed_tail
            room = self._limit - len(self.data)
        return True
