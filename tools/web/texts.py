"""Makes text of bytes from the web, with nothing in it that is not seen. Knows no HTML."""

import codecs
import functools
import re

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_HEAD_BYTES = 2048
_FALLBACK = "cp1252"
_ALIASES = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
"""What pages that name the first are written in, as browsers know."""
_KNOWN = frozenset(
    (
        *("utf-8", "utf-16-le", "utf-16-be", "gb18030", "big5", "big5hkscs", "shift_jis", "cp932"),
        *("euc_jp", "euc_kr", "cp949", "iso2022_jp", "koi8-r", "koi8-u", "mac-roman"),
        *("mac-cyrillic", "tis-620", "cp866", "cp874"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{number}" for number in range(2, 17) if number != 12),
    )
)
"""Never one that is no plain code of characters (utf-7, punycode, escapes)."""
_UNSEEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U0010ffff]"
)
"""Controls, directions, joiners, tags, selectors, fillers, and what is private."""
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_BLANK_LINES = re.compile("\n{4,}")


def decode(body: bytes, content_type: str, names_inside: bool) -> str:
    """The text of a body: by its mark, else by its head, else (`names_inside`) by what it says of
    itself, else as UTF-8, else as what old pages are written in."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    sources = [content_type]
    if names_inside:
        sources.append(body[:_HEAD_BYTES].decode("latin-1"))
    for source in sources:
        named = _CHARSET.search(source)
        encoding = _encoding(named[1]) if named else ""
        if encoding:
            return body.decode(encoding, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        was_cut = error.start >= len(body) - 3 and not body[: error.start].isascii()
        return body.decode("utf-8" if was_cut else _FALLBACK, "replace")


def _encoding(name: str) -> str:
    """The codec of a name; empty for what no page is written in."""
    try:
        found = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return ""
    found = _ALIASES.get(found, found)
    return found if found in _KNOWN else ""


def clean(text: str) -> str:
    """A text of several lines without anything that is not seen."""
    text = _unseen().sub("", _LINE_ENDS.sub("\n", text))
    lines = "\n".join(one.rstrip(" \t") for one in text.split("\n"))
    return _BLANK_LINES.sub("\n\n\n", lines).strip("\n")


@functools.cache
def _unseen() -> re.Pattern[str]:
    """Compiled when it is first needed: every start of the daemon would wait for it."""
    return re.compile(_UNSEEN)


def line(text: str, limit_chars: int) -> str:
    """A text as one line, cut where it is too long."""
    one = " ".join(clean(text).split())
    return one if len(one) <= limit_chars else f"{one[: limit_chars - 1]}…"
