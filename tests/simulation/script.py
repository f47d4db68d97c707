"""What the scripted thinker says: lines of a script, and the directives that ask for tools."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """One line of a script, as the scripted slot reads it."""

    reply: str
    match: str | None = None
    chunk_ms: int = 0
    repeat: bool = False
    role: str = "thinker"


def text(lines: Iterable[Line]) -> str:
    """The script file's text."""
    return "".join(
        json.dumps({key: value for key, value in asdict(line).items() if value is not None}) + "\n"
        for line in lines
    )


def use(tool: str, journal: Path, file: Path | None = None, words: str = "") -> str:
    """A directive that calls a testing tool."""
    arguments = {"journal": str(journal)}
    if file is not None:
        arguments |= {"file": str(file), "text": words}
    return json.dumps({"kind": "tool", "tool": f"testing_{tool}", "arguments": arguments})
