"""No registered secret and no bearer token is left in a text, however it was written down."""

import base64
import json
import urllib.parse
from collections.abc import Callable

import pytest

from daemon.domain import redaction
from tests import spelled

MOST_LEFT = 9
"""What may be left: quotes and the like, and letters of base64 that hold bits of what is around."""
SECRETS = ("hunter2-hunter2", 'quo"ted\\secret', "pässwörd🦆", "line\nbreak-secret", "a+b*c(d)")


@pytest.mark.spec("D-20")
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "written",
    [
        str,
        json.dumps,
        lambda text: json.dumps(text, ensure_ascii=False),
        repr,
        lambda text: json.dumps(repr(text)),
        lambda text: json.dumps(json.dumps(text)),
    ],
    ids=["plain", "json", "json with letters", "repr", "repr in json", "json in json"],
)
def test_a_secret_is_taken_out(secret: str, written: Callable[[str], str]) -> None:
    redactor = redaction.Redactor((secret,))
    text = redactor.redact(f"before {written(secret)} after")
    assert text.startswith("before ")
    assert text.endswith(" after")
    assert redaction.MASK in text
    assert secret not in text
    assert written(secret).strip("\"'") not in text


CODED: dict[str, Callable[[bytes], str]] = {
    "bytes": repr,
    "bytes in json": lambda data: json.dumps(repr(data)),
    "hex": bytes.hex,
    "HEX": lambda data: data.hex().upper(),
    "base64": lambda data: base64.b64encode(data).decode(),
    "base64, one before": lambda data: base64.b64encode(b"u" + data).decode(),
    "base64, two before": lambda data: base64.b64encode(b"u:" + data).decode(),
    "base64 for URLs": lambda data: base64.urlsafe_b64encode(b"me:" + data + b"@").decode(),
    "path": urllib.parse.quote,
    "query": urllib.parse.quote_plus,
    "wholly escaped": lambda data: "".join(f"%{byte:02x}" for byte in data),
    "UTF-16 as text": lambda data: "".join(f"{one}\0" for one in data.decode()),
    "UTF-16 in json": lambda data: json.dumps("\0".join(data.decode())),
}


@pytest.mark.spec("D-20")
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("code", CODED)
def test_a_coded_secret_is_taken_out(secret: str, code: str) -> None:
    data = secret.encode()
    written = CODED[code](data)
    text = redaction.Redactor((secret,)).redact(f"before {written} after")
    assert redaction.MASK in text
    assert spelled.found(data, text.encode()) == []
    assert len(text) <= len(f"before  after{redaction.MASK}") + MOST_LEFT


def test_the_longest_secret_goes_first() -> None:
    redactor = redaction.Redactor(("secret-1", "secret-1-and-more"))
    assert redactor.redact("secret-1-and-more secret-1") == "[secret] [secret]"


def test_a_secret_may_be_registered_later() -> None:
    redactor = redaction.Redactor()
    assert redactor.redact("hunter2") == "hunter2"
    redactor.register("hunter2")
    assert redactor.redact("hunter2") == "[secret]"


def test_too_short_a_secret_would_take_out_everything() -> None:
    assert redaction.Redactor(("a", "", "12345")).redact("a 12345") == "a 12345"


@pytest.mark.spec("D-20")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Bearer abcdefgh12345678", "Bearer [secret]"),
        ("authorization: bearer  abc.def-ghi_jkl~mno", "authorization: bearer  [secret]"),
        ('{"a":"Bearer abcdefgh=="}', '{"a":"Bearer [secret]"}'),
        ("a bearer of news", "a bearer of news"),
    ],
)
def test_what_stands_where_a_token_stands(text: str, redacted: str) -> None:
    assert redaction.Redactor().redact(text) == redacted
