"""Length-prefixed frames: 4 bytes of big-endian length, then that many bytes.

Sans-I/O and shared by both ends; it knows nothing of what a frame says.
"""

import struct
from collections.abc import Iterator

_HEADER = struct.Struct(">I")
FRAME_BYTES = 16 * 1024 * 1024
"""The largest payload. A longer prompt than this fits no context anyway."""


class FrameError(ValueError):
    """What was read cannot be a frame: the other end is broken and must be ended."""


def wrap(payload: bytes) -> bytes:
    """The payload as it goes over the pipe.

    Raises:
        FrameError: the payload is larger than FRAME_BYTES.
    """
    if len(payload) > FRAME_BYTES:
        raise FrameError(f"a frame of {len(payload)} bytes exceeds the {FRAME_BYTES} allowed")
    return _HEADER.pack(len(payload)) + payload


class Unwrapper:
    """Cuts a byte stream, fed in parts of any size, into payloads."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield each payload that is now complete.

        Raises:
            FrameError: a length exceeds FRAME_BYTES.
        """
        self._buffer += data
        while len(self._buffer) >= _HEADER.size:
            (length,) = _HEADER.unpack_from(self._buffer)
            if length > FRAME_BYTES:
                raise FrameError(f"a frame announces {length} bytes; {FRAME_BYTES} are allowed")
            end = _HEADER.size + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[_HEADER.size : end])
            del self._buffer[:end]
            yield payload
