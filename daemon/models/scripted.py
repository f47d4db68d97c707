"""The scripted slot: answers from a file, for tests and dry runs.

One JSON object a line: `{"role": "thinker"|…|"*", "match": regex on the last user or tool text,
"reply": text, "reasoning": what is thought before it, "chunk_ms": pause between words,
"repeat": false}`; all but role and reply are optional. A request without thinking gets no
reasoning. The first line that fits and was not used yet by this task for this role answers; a
repeating line is never used up. Which lines were used comes with the request: the slot remembers
nothing, so a restart forgets nothing.
"""

import asyncio
import dataclasses
import json
import pathlib
import re
from collections.abc import Sequence

from daemon.domain import errors, messages
from daemon.runtime import ports

CONTEXT_TOKENS = 32_768
_CHARS_PER_TOKEN = 4
_CHUNK_MS = 60_000
_ROLES = frozenset(role.value for role in messages.Role) | {"*"}


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One line of a script. `number` counts from 0 over the lines of the file, empty ones too."""

    number: int
    role: str
    reply: str
    match: re.Pattern[str] | None = None
    chunk_ms: int = 0
    repeat: bool = False
    reasoning: str = ""

    def fits(self, request: messages.ModelRequest) -> bool:
        """Whether the line may answer the request."""
        if self.role not in ("*", request.role.value):
            return False
        if not self.repeat and self.number in request.used_script_lines:
            return False
        return self.match is None or self.match.search(_asked(request)) is not None


class ScriptedModel:
    """A `ports.Model` over the lines of one file; make it with `load`."""

    def __init__(self, name: str, path: pathlib.Path, lines: Sequence[Line]) -> None:
        self._name = name
        self._path = path
        self._lines = tuple(lines)

    @classmethod
    def load(cls, name: str, path: pathlib.Path) -> "ScriptedModel":
        """Read and check the whole file; it blocks, so call it before the loop runs or beside it.

        Raises:
            errors.ConfigFault: each fault of the file, with its line counted from 1.
        """
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise errors.ConfigFault([f"{path}: cannot be read: {error}"]) from error
        lines, faults = [], []
        for number, row in enumerate(text.split("\n")):
            if not row.strip():
                continue
            parsed = parse(number, row)
            if isinstance(parsed, Line):
                lines.append(parsed)
            else:
                faults += [f"{path}:{number + 1}: {fault}" for fault in parsed]
        if faults:
            raise errors.ConfigFault(faults)
        return cls(name, path, lines)

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return CONTEXT_TOKENS

    async def generate(
        self, request: messages.ModelRequest, feed: ports.Feed
    ) -> messages.ModelResult:
        """See `ports.Model.generate`; the kind of its fault is SCRIPT."""
        line = next((line for line in self._lines if line.fits(request)), None)
        if line is None:
            raise errors.ModelFault(
                messages.ModelFaultKind.SCRIPT,
                f"The script {self._path} has no line left for the role {request.role.value}.",
            )
        reasoning = line.reasoning if request.thinking_tokens else ""
        pause_ms = 0
        for text, tell in ((reasoning, feed.thought), (line.reply, feed.text)):
            for word in _words(text, whole=not line.chunk_ms):
                await _pause(pause_ms)
                tell(word)
                pause_ms = line.chunk_ms
        return messages.ModelResult(
            text=line.reply,
            reasoning=reasoning,
            finish_reason="stop",
            slot=self._name,
            usage=messages.Usage(
                prompt_tokens=sum(_estimate(m.content) for m in request.messages),
                completion_tokens=_estimate(reasoning + line.reply),
            ),
            script_line=None if line.repeat else line.number,
        )

    async def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """An estimate that depends on nothing but the text."""
        return tuple(_estimate(text) for text in texts)

    async def stop(self) -> None:
        """Nothing runs."""


def parse(number: int, row: str) -> Line | list[str]:
    """One row of a script, or what is wrong with it, each a clause."""
    try:
        fields = json.loads(row)
    except ValueError as error:
        return [f"not JSON: {error}"]
    if not isinstance(fields, dict):
        return ["a line is one JSON object"]
    known = {"role", "match", "reply", "reasoning", "chunk_ms", "repeat"}
    faults = [f"unknown key {key!r}" for key in sorted(set(fields) - known)]
    role, reply, reasoning = (fields.get("role"), fields.get("reply"), fields.get("reasoning", ""))
    chunk_ms, repeat = fields.get("chunk_ms", 0), fields.get("repeat", False)
    if not isinstance(role, str) or role not in _ROLES:
        faults.append(f"role must be one of {', '.join(sorted(_ROLES))}")
    if not isinstance(reply, str):
        faults.append("reply must be a text")
    if not isinstance(reasoning, str):
        faults.append("reasoning must be a text")
    if type(chunk_ms) is not int or not 0 <= chunk_ms <= _CHUNK_MS:
        faults.append(f"chunk_ms must be an integer from 0 to {_CHUNK_MS}")
    if type(repeat) is not bool:
        faults.append("repeat must be true or false")
    match = _pattern(fields.get("match"), faults)
    if faults:
        return faults
    return Line(number, str(role), str(reply), match, chunk_ms, repeat, str(reasoning))


def _pattern(match: object, faults: list[str]) -> re.Pattern[str] | None:
    if match is None:
        return None
    if not isinstance(match, str):
        faults.append("match must be a regular expression")
        return None
    try:
        return re.compile(match)
    except re.error as error:
        faults.append(f"match is no regular expression: {error}")
        return None


def _words(text: str, whole: bool) -> list[str]:
    if whole:
        return [text] if text else []
    return re.findall(r"\s*\S+\s*$|\s*\S+|\s+$", text)


async def _pause(milliseconds: int) -> None:
    if milliseconds:
        await asyncio.sleep(milliseconds / 1000)


def _asked(request: messages.ModelRequest) -> str:
    for message in reversed(request.messages):
        if message.speaker in ("user", "tool"):
            return message.content
    return ""


def _estimate(text: str) -> int:
    return max(1, len(text) // _CHARS_PER_TOKEN)
