"""Takes secrets out of text. Pure: the secrets are given, nothing is looked up."""

import base64
import json
import re
import string
from collections.abc import Iterable, Iterator

MASK = "[secret]"
_SHORTEST_SECRET_CHARS = 6
_BASE64_BYTES = 3
"""So many bytes are encoded together: where a secret begins decides how it looks."""
_IN_URL = string.ascii_letters.encode() + string.digits.encode() + b"_.-~"
_BEARER = re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}")


def _written_forms(secret: str) -> set[str]:
    """How a secret can stand in a line: as it is, escaped in JSON or a Python literal, or both;
    encoded for a mail, a URL, a dump or another system."""
    forms = {secret, "\0".join(secret)}  # the latter is what UTF-16 looks like, read as text
    for _ in range(2):
        forms |= {escaped for form in forms for escaped in _escaped(form)}
    data = secret.encode("utf-8", "surrogatepass")
    return forms | set(_encoded(data)) | set(_in_url(data))


def _escaped(text: str) -> Iterator[str]:
    yield json.dumps(text)[1:-1]
    yield json.dumps(text, ensure_ascii=False)[1:-1]
    data = text.encode("utf-8", "surrogatepass")
    of_text = [repr(one)[1:-1] for one in text]
    of_bytes = [repr(data[at : at + 1])[2:-1] for at in range(len(data))]
    for pieces in (of_text, of_bytes):
        yield "".join(pieces)
        yield "".join("\\'" if one == "'" else one for one in pieces)


def _encoded(data: bytes) -> Iterator[str]:
    yield data.hex()
    yield data.hex().upper()
    for before in range(_BASE64_BYTES):
        whole = base64.b64encode(bytes(before) + data).decode()
        same = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]  # whatever is around it
        yield same
        yield same.replace("+", "-").replace("/", "_")


def _in_url(data: bytes) -> Iterator[str]:
    """As the parts of a URL have it, as forms have it, and with every byte escaped."""
    for kept in (_IN_URL, _IN_URL + b"/", _IN_URL + b" ", b""):
        for code in ("%{:02X}", "%{:02x}"):
            written = "".join(chr(byte) if byte in kept else code.format(byte) for byte in data)
            yield from (written, written.replace(" ", "+"))


class Redactor:
    """Replaces registered secrets, and anything that stands where a bearer token stands."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: list[str] = []
        self._forms: list[str] = []
        for secret in secrets:
            self.register(secret)

    def register(self, secret: str) -> None:
        """From now on this text is taken out; too short a text would take out everything."""
        if len(secret) >= _SHORTEST_SECRET_CHARS:
            self._secrets.append(secret)
            self._spell()

    def forget(self, secret: str) -> None:
        """End one registration; a text that was registered twice is still taken out."""
        if secret in self._secrets:
            self._secrets.remove(secret)
            self._spell()

    def _spell(self) -> None:
        forms = {form for secret in self._secrets for form in _written_forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)

    def redact(self, text: str) -> str:
        """The text without secrets; the longest goes first."""
        for form in self._forms:
            if form in text:  # several times faster than one pattern of all forms
                text = text.replace(form, MASK)
        return _BEARER.sub(rf"\g<1>{MASK}", text)
