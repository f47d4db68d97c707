"""The ways in which a secret may stand somewhere without being there word for word."""

import base64
import json
import urllib.parse
from collections.abc import Iterator

_GROUP = 3
"""Base64 takes so many bytes together: where in a text a secret begins decides how it looks."""


def forms(secret: bytes) -> tuple[bytes, ...]:
    """As it is, in JSON, as Python and logs show it, base64, hex, URL and UTF-16 forms."""
    return tuple(dict.fromkeys(_forms(secret)))


def _forms(secret: bytes) -> Iterator[bytes]:
    text = secret.decode("utf-8", "surrogateescape")
    yield secret
    yield json.dumps(text)[1:-1].encode()
    yield repr(secret)[2:-1].encode()
    yield json.dumps(repr(secret)[2:-1])[1:-1].encode()
    yield from _base64(secret)
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    yield from (urllib.parse.quote(text, safe, errors="surrogateescape").encode() for safe in "/ ")
    yield urllib.parse.quote_plus(text, errors="surrogateescape").encode()
    yield "".join(f"%{byte:02X}" for byte in secret).encode()
    for coding in ("utf-16-le", "utf-16-be"):
        yield text.encode(coding, "surrogatepass")


def _base64(secret: bytes) -> Iterator[bytes]:
    """What of it is the same whatever stands before and after, for both alphabets."""
    for before in range(_GROUP):
        whole = base64.b64encode(b"\0" * before + secret)
        first = -(-before * 8 // 6)
        last = (before + len(secret)) * 8 // 6
        yield whole[first:last]
        yield whole[first:last].replace(b"+", b"-").replace(b"/", b"_")


def found(secret: bytes, data: bytes) -> list[bytes]:
    """The forms of a secret that are in some data."""
    return [form for form in forms(secret) if form in data]
