"""Where a bracket of the shell's closes, quotes and case patterns observed.

Pure over text, in one pass; answers a position and never raises.
"""

import re

_CASE = re.compile(r"(?<![\w-])(case|esac)(?![\w-])")
_CLOSING = {"(": ")", "{": "}", "[": "]"}


def behind(text: str, opening: int) -> int:
    """The position behind the bracket that closes the one at `opening`; the end where none does."""
    at, depth, cases = opening + 1, 1, 0
    closing = _CLOSING[text[opening]]
    is_command = closing == ")"
    while at < len(text) and depth:
        character = text[at]
        if is_command and character in "ce" and (word := _CASE.match(text, at)):
            cases += 1 if word[0] == "case" else -1
        if character == "\\":
            at += 1
        elif character == "'" and is_command:
            at = text.find("'", at + 1)
            if at < 0:
                return len(text)
        elif character == '"' and is_command:
            at = _behind_quotes(text, at)
        elif character == text[opening]:
            depth += 1
        elif character == closing and not (cases > 0 and depth == 1):
            depth -= 1
        at += 1
    return len(text) if depth else min(at, len(text))


def _behind_quotes(text: str, at: int) -> int:
    """Where the double quotes end that open at `at`; substitutions in them are not entered."""
    at += 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at
