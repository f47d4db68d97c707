"""Takes a running command's output as it comes: bounded, as text, without the secret it was given.

Passes pieces on live; never lets a secret out, not even one cut in two by a read.
"""

import asyncio
import codecs
from typing import BinaryIO

from tools import contract

KEPT_CHARS = 8 * 1024 * 1024
"""Output beyond this is counted, not kept."""
_READ_BYTES = 64 * 1024
MARK = b"[secret]"
"""Stands where the secret stood."""


class Cover:
    """Replaces a secret in a stream of bytes; holds back what may be its beginning."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What can be let out by now."""
        if not self._secret:
            return data
        text = (self._held + data).replace(self._secret, MARK)
        most = min(len(text), len(self._secret) - 1)
        kept = next((n for n in range(most, 0, -1) if self._secret.startswith(text[-n:])), 0)
        self._held = text[len(text) - kept :]
        return text[: len(text) - kept]

    def rest(self) -> bytes:
        """What was held back and turned out to be no secret."""
        rest, self._held = self._held, b""
        return rest


class Collected:
    """The output so far, bounded, passed on as it comes."""

    def __init__(self, output: contract.Output, most_bytes: int, secret: bytes = b"") -> None:
        self._output = output
        self._room_bytes = most_bytes
        self._cover = Cover(secret)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pieces: list[str] = []
        self._kept_chars = 0
        self._dropped_chars = 0

    async def read(self, pipe: BinaryIO) -> None:
        """Take what comes until every process that holds the other end is gone, or until there
        is more than anybody should read on for: `overflowed` then."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while self._room_bytes >= 0 and (data := await reader.read(_READ_BYTES)):
                self._room_bytes -= len(data)
                self._add(self._decoder.decode(self._cover.feed(data)))
        finally:
            transport.close()
            self._add(self._decoder.decode(self._cover.rest(), final=True))

    def _add(self, piece: str) -> None:
        room = KEPT_CHARS - self._kept_chars
        kept = piece[:room]
        self._dropped_chars += len(piece) - len(kept)
        if kept:
            self._kept_chars += len(kept)
            self._pieces.append(kept)
            self._output(kept)

    @property
    def overflowed(self) -> bool:
        """Whether reading ended because there was too much."""
        return self._room_bytes < 0

    def text(self) -> str:
        """The output, and how much of it was not kept."""
        text = "".join(self._pieces)
        if self._dropped_chars:
            text += f"\n… {self._dropped_chars} more characters were not kept"
        return text
