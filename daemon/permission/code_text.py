"""Shell commands that may hide in a piece of code: its string literals, and what it does to trees.

Answers only for finding suspects; it is no parser of any language, so it can make a judgement
stricter and never milder.
"""

import re
from collections.abc import Iterator

CODE_CHARS = 16384
LITERALS = 64
_LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`\n]*)`")
_QUOTING = re.compile(r"(?:qx|qw|%x|q)[{(\[/|]([^})\]/|\n]*)[})\]/|]")
_DESTROYS = re.compile(r"rmtree|rm_rf|rm_r\b|remove_tree|removedirs|rmdir|unlink|rmSync|rimraf")
_RUNS = re.compile(r"(?:(?:^|[\d$/;{}])\s*e\s+|!|\bshell\s+|\bsystem\s+)([^\n]+)")
_FORKS = re.compile(r"\bfork\b")
_ENDS = re.compile(r"getppid|\bppid\b|kill\w*\W{1,4}-1\b", re.IGNORECASE)
_LOOPS = re.compile(r"\b(while|for|loop|until|forever)\b")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|.)")


def literals(code: str) -> list[str]:
    """The string literals of the code, with simple escapes read."""
    found: list[str] = []
    for match in _LITERAL.finditer(code[:CODE_CHARS]):
        found.append(_unescaped(next((g for g in match.groups() if g is not None), "")))
        if len(found) >= LITERALS:
            break
    found.extend(match[1] for match in _QUOTING.finditer(code[:CODE_CHARS]))
    return found[:LITERALS]


def _unescaped(text: str) -> str:
    def read(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] in "xu" and len(escape) > 1:
            return chr(int(escape[1:], 16))
        if len(escape) == 3:
            return chr(int(escape, 8) & 0xFF)
        return {"n": "\n", "t": "\t"}.get(escape, escape)

    return _ESCAPE.sub(read, text).replace("\0", "")


def suspects(code: str) -> Iterator[str]:
    """Texts that could reach a shell: each literal, and all of them as the words of one command."""
    found = literals(code)
    yield from found
    if len(found) > 1:
        yield " ".join(found)
    if _DESTROYS.search(code):
        yield from (f"rm -rf {text}" for text in found)
    yield from (match[1] for match in _RUNS.finditer(code[:CODE_CHARS]))
    stripped = code[:CODE_CHARS].lstrip("!:.\\ ")
    if stripped != code:
        yield stripped


def hard_stops(code: str) -> Iterator[tuple[str, str]]:
    """What the words of the code alone forbid: a rule's name and its reason."""
    if _FORKS.search(code) and _LOOPS.search(code):
        yield "fork-bomb", "starts processes without end"
    if _ENDS.search(code):
        yield "parent-process", "reaches for the process that runs it, or for every process"
