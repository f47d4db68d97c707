"""What makes a command read otherwise than it runs: hidden characters, look-alikes, padding.

Answers for the characters of the text alone; what they would run is judged elsewhere. Never repairs
the text: it is shown and run as it is, or not at all.
"""

import re
import unicodedata

from daemon.permission import findings

TEXT_BYTES = 64 * 1024
_PADDING = re.compile(r"[ \t]{24}|(?:\\?\n[ \t]*){8}")
"""More blank than indentation takes, by columns or by lines."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PLAIN = frozenset("\n\t ")
_SHOWN_AS_NOTHING = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180e\u180f\u2800\u3164\uffa0"
)
"""Letters and marks with no ink; so are the variation selectors."""


def refusal(text: str) -> str | None:
    """Why a text is refused before anything looks into it; None where it is not."""
    if "\0" in text:
        return "it holds a NUL byte"
    if len(text) > TEXT_BYTES:
        return f"it is longer than {TEXT_BYTES} bytes"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    return f"it is longer than {TEXT_BYTES} bytes" if size > TEXT_BYTES else None


def inspect(text: str, found: findings.Findings) -> None:
    """Find what hides or misleads."""
    if not text.isascii() or not text.replace("\n", "").replace("\t", "").isprintable():
        if any(is_hidden(character) for character in text):
            found.note(
                "hidden-characters",
                findings.NEVER_ALWAYS,
                "holds characters that hide or reorder what it says",
            )
        elif any(is_odd_space(character) for character in text):
            found.note("odd-spaces", findings.NEVER_ALWAYS, "holds spaces that the shell does not")
    if _PADDING.search(text):
        found.note("padding", findings.NEVER_ALWAYS, "hides its end behind blank space")


def is_misleading_name(name: str) -> bool:
    """Whether a program's name is written with letters that are not what they look like."""
    return not name.isascii()


def folded(name: str) -> str:
    """The name that a reader takes it for."""
    return unicodedata.normalize("NFKC", name)


def is_hidden(character: str) -> bool:
    """Whether a character shows nothing of itself, or changes where others stand."""
    if character in _PLAIN or character.isascii() and character.isprintable():
        return False
    if unicodedata.category(character) in _HIDDEN or character in _SHOWN_AS_NOTHING:
        return True
    return 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF


def is_odd_space(character: str) -> bool:
    """Whether it looks like a space and is none to a shell."""
    return not character.isascii() and unicodedata.category(character) == "Zs"
