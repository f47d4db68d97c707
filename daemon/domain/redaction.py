"""Takes secrets out of text. Pure: the secrets are given, nothing is looked up."""

import json
import re
from collections.abc import Iterable

MASK = "[secret]"
_SHORTEST_SECRET_CHARS = 6
_BEARER = re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}")


def _written_forms(secret: str) -> set[str]:
    """How a secret can stand in a line: as it is, escaped in JSON or a Python literal, or both."""
    forms = {secret}
    for _ in range(2):
        forms |= {escaped for form in forms for escaped in _escaped(form)}
    return forms


def _escaped(text: str) -> tuple[str, ...]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], repr(text)[1:-1]


class Redactor:
    """Replaces registered secrets, and anything that stands where a bearer token stands."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: list[str] = []
        self._pattern: re.Pattern[str] | None = None
        for secret in secrets:
            self.register(secret)

    def register(self, secret: str) -> None:
        """From now on this text is taken out; too short a text would take out everything."""
        if len(secret) >= _SHORTEST_SECRET_CHARS:
            self._secrets.append(secret)
            self._make_pattern()

    def forget(self, secret: str) -> None:
        """End one registration; a text that was registered twice is still taken out."""
        if secret in self._secrets:
            self._secrets.remove(secret)
            self._make_pattern()

    def _make_pattern(self) -> None:
        forms = {form for secret in self._secrets for form in _written_forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        pattern = "|".join(re.escape(one) for one in longest_first)
        self._pattern = re.compile(pattern) if pattern else None

    def redact(self, text: str) -> str:
        """The text without secrets."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        return _BEARER.sub(rf"\g<1>{MASK}", text)
