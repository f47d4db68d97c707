"""What flows from one command of a pipeline into the next, where the text says it.

Answers for constants only: `echo` and `printf` of plain words, and the filters that decode them.
"""

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from daemon.permission import scope, shell_words

FEED_CHARS = 16384
_MARK = re.compile(r"(%[sbqdi])")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|[\s\S])")


@dataclass(frozen=True, slots=True)
class Feed:
    """What stands on a command's input: the whole text if it is known, and names that it may list
    for `xargs`."""

    text: str | None = None
    names: tuple[scope.Value, ...] = ()


NOTHING = Feed()


def given(redirects: Sequence[shell_words.Redirect], where: scope.Scope) -> Feed | None:
    """The text that a here-document or here-string puts on the input."""
    for redirect in reversed(redirects):
        if redirect.operator == "<<<":
            return Feed(where.text(redirect.target))
        if redirect.operator in ("<<", "<<-"):
            body = redirect.body or ""
            return Feed(body if not redirect.expands else where.body(body))
    return None


def output(program: str, words: Sequence[scope.Value], taken: Feed) -> Feed:
    """What a command writes, as far as it is known."""
    names = tuple(w for w in words if not w.text.startswith("-"))
    if program in ("echo", "printf"):
        text = said(program, words)
        return Feed(text, names if text is None else (*names, *_fields(text)))
    if program in ("cat", "tee", "sudo", "sort", "uniq", "head", "tail") and taken.text is not None:
        return taken
    if taken.text is not None:
        return Feed(_filtered(program, [w.text for w in words], taken.text))
    if program in ("find", "fd", "du", "ls", "cat", "realpath", "readlink"):
        return Feed(None, _listed(program, names))
    return Feed(None, taken.names)


def _listed(program: str, names: tuple[scope.Value, ...]) -> tuple[scope.Value, ...]:
    if program != "ls":
        return names
    return tuple(scope.Value(f"{name.text}/*", globbed=True) for name in names)


def _fields(text: str) -> list[scope.Value]:
    return [scope.Value(field) for field in text.split()[:64]]


def said(program: str, words: Sequence[scope.Value]) -> str | None:
    """The text that echo or printf writes; None where it is not known."""
    if not all(word.known for word in words):
        return None
    texts = [word.text for word in words]
    if program == "echo":
        escaped = False
        while texts and texts[0] in ("-n", "-e", "-E", "-ne", "-en"):
            escaped = escaped or "e" in texts[0]
            texts = texts[1:]
        joined = " ".join(texts)
        return (_escaped(joined) if escaped else joined)[:FEED_CHARS]
    if texts and texts[0] == "--":
        texts = texts[1:]
    if not texts:
        return ""
    pattern, *values = texts
    return _formatted(_escaped(pattern), values)[:FEED_CHARS]


def _formatted(pattern: str, values: list[str]) -> str:
    """The format with its marks filled; values that are left over use it again."""
    out = ""
    left = list(values)
    for _ in range(64):
        pieces = _MARK.split(pattern)
        for index, piece in enumerate(pieces):
            if index % 2 == 0:
                out += piece
            elif left:
                value = left.pop(0)
                out += _escaped(value) if piece == "%b" else value
        if not left or len(pieces) == 1:
            break
    return out


def _escaped(text: str) -> str:
    return _ESCAPE.sub(_read_escape, text)


def _read_escape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xX" and len(code) > 1:
        return chr(int(code[1:], 16) or 0x20)
    if code[0].isdigit():
        return chr(int(code, 8) & 0xFF or 0x20)
    return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}.get(code, f"\\{code}")


def _filtered(program: str, words: list[str], text: str) -> str | None:
    try:
        if program == "base64" and any(w in ("-d", "-D", "--decode", "-di") for w in words):
            return base64.b64decode(text.strip().encode(), validate=False).decode(errors="replace")
        if program == "base32" and "-d" in words:
            return base64.b32decode(text.strip().encode()).decode(errors="replace")
        if program == "xxd" and any("r" in w for w in words):
            return bytes.fromhex(text.strip()).decode(errors="replace")
        if program == "openssl" and "-d" in words:
            return base64.b64decode(text.strip().encode()).decode(errors="replace")
    except (binascii.Error, ValueError):
        return None
    if program == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    if program == "tr" and len(words) == 2:
        return _translated(words[0], words[1], text)
    return None


def _translated(old: str, new: str, text: str) -> str | None:
    known = {("A-Z", "a-z"): str.lower, ("a-z", "A-Z"): str.upper}
    if (change := known.get((old, new))) is not None:
        return change(text)
    if old in ("A-Za-z", "a-zA-Z") and new in ("N-ZA-Mn-za-m", "n-za-mN-ZA-M"):
        return "".join(_rotated(character) for character in text)
    if len(old) == len(new) and "-" not in old + new and "[" not in old:
        return text.translate(str.maketrans(old, new))
    return None


def _rotated(character: str) -> str:
    if not (character.isascii() and character.isalpha()):
        return character
    first = ord("a") if character.islower() else ord("A")
    return chr((ord(character) - first + 13) % 26 + first)
