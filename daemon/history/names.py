"""Names of files as a person reads them: one line of printable text, whatever their bytes are."""

_MOST_CHARS = 300
_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\\": "\\\\", '"': '\\"'}


def shown(path: bytes) -> str:
    """A path; in quotes, with what cannot be shown as its bytes, where it is no plain text."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or not text or text.startswith('"'):
        text = '"' + "".join(map(_byte, path.decode("utf-8", "surrogateescape"))) + '"'
    return text if len(text) <= _MOST_CHARS else text[: _MOST_CHARS - 1] + "…"


def _byte(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    if char.isprintable():
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
