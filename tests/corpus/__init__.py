"""Commands with the verdict that a careful policy gives: `commands.tsv` and `own.tsv`."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ORDER = ("allow-readonly", "ask", "ask-never-always", "hard-stop")


@dataclass(frozen=True)
class Row:
    """One command and what is expected of it."""

    id: str
    command: str
    expected: str


def rows(name: str) -> list[Row]:
    """The rows of one file."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()[1:]
    parts = [line.split("\t") for line in lines if line]
    return [Row(id, json.loads(text), expected) for id, text, expected, _ in parts]


def everything() -> list[Row]:
    """The rows of both files."""
    return [*rows("commands.tsv"), *rows("own.tsv")]


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "shell text": lambda text: f"sh -c {shlex.quote(text)}",
    "eval": lambda text: f"eval {shlex.quote(text)}",
    "subshell": lambda text: f"( {text}\n)",
    "condition": lambda text: f"if true; then\n{text}\nfi",
    "root shell": lambda text: f"sudo -n sh -c {shlex.quote(text)}",
    "timeout": lambda text: f"timeout 5 bash -c {shlex.quote(text)}",
    "here-document": lambda text: f"bash <<'DUCK_END'\n{text}\nDUCK_END\n",
    "substitution": lambda text: f'echo "$(\n{text}\n)"',
    "pipe": lambda text: f"printf %s {shlex.quote(text)} | sh",
    "function": lambda text: f"f() {{\n{text}\n}}; f",
    "python": lambda text: f"python3 -c {shlex.quote(f'import os; os.system({text!r})')}",
    "two shells": lambda text: f"sh -c {shlex.quote(f'bash -c {shlex.quote(text)}')}",
}
"""Ways to run a text inside another one."""
