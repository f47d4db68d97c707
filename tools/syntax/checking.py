"""Has a text checked in another process: bounded, and without a fault of the checker's own.

Never raises for a text, whatever it is: where nothing can be said, it says why.
"""

import asyncio
import contextlib
import enum
import os
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

import pydantic

from tools import contract
from tools.sandbox import launching, limits, powers, process, view

MOST_BYTES = 1024 * 1024
"""A longer text is not checked."""
_SECONDS = 10.0
_ANSWER_BYTES = 64 * 1024
_MESSAGE_CHARS = 300
_PROGRAM = str(Path(__file__).with_name("parsing.py"))
_FOLDER = "/usr"
"""Where node stands; it reads nothing there."""
_NODE_BOUNDS = limits.Limits(tasks=64, resident_bytes=1024**3, file_bytes=_ANSWER_BYTES)
_NODE_SAID = re.compile(r"^\[stdin\]:(?P<line>\d+)\n(?:.*\n)(?P<mark> *)\^", re.MULTILINE)
_NODE_FAULT = re.compile(r"^SyntaxError: (?P<message>.*)$", re.MULTILINE)
_OF_MODULES = re.compile("import|export|await")
_NO_JSON = re.compile(r"(?i)[tj]sconfig.*\.json|(devcontainer|settings|launch|tasks)\.json")
"""Programs read these with comments in them."""


class Language(enum.StrEnum):
    """What can be checked."""

    PYTHON = "python"
    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    HTML = "html"
    JAVASCRIPT = "javascript"


_ENDINGS = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".json": Language.JSON,
    ".toml": Language.TOML,
    ".yaml": Language.YAML,
    ".yml": Language.YAML,
    ".html": Language.HTML,
    ".htm": Language.HTML,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
}
_NAMES = {Language.PYTHON: f"Python {sys.version_info[0]}.{sys.version_info[1]}"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a check. `fault` is empty when there is none; `why` says why nobody knows."""

    fault: str = ""
    why: str = ""


class _Fault(contract.Value):
    line: int = 0
    column: int = 0
    message: str = ""

    def told(self, name: str) -> str:
        """`path:line:col: message`, as far as it is known."""
        message = " ".join(self.message.split())[:_MESSAGE_CHARS]
        place = f"{name}:{self.line}:{self.column or 1}" if self.line else name
        return f"{place}: {message}" if message else ""


def language_of(path: str) -> Language | None:
    """The language of a file by its name; None when it is not checked."""
    name = PurePath(path).name
    language = _ENDINGS.get(PurePath(name).suffix.lower())
    return None if language is Language.JSON and _NO_JSON.fullmatch(name) else language


def told(language: Language) -> str:
    """A language as a person reads it."""
    return _NAMES.get(language, language.value)


class Checker:
    """Checks texts. `node` is the program that reads JavaScript, by path; None looks for it."""

    def __init__(self, node: str | None = None, found: launching.Powers | None = None) -> None:
        self._node = node
        self._powers = found
        self._probing = asyncio.Lock()

    async def written(self, files: Sequence[tuple[str, bytes]]) -> list[str]:
        """The faults in files that were written, each by its path and content, as lines; what is
        not known of in time is left out."""
        said: list[str] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS):
                for path, data in files:
                    said += await self._faults(path, data)
        return said

    async def _faults(self, path: str, data: bytes) -> list[str]:
        language = language_of(path)
        if language is None:
            return []
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return []
        name = "".join(one if one.isprintable() else "?" for one in path)
        answer = await self.check(language, text, name)
        return [f"Wrong syntax: {answer.fault}"] if answer.fault else []

    async def check(self, language: Language, text: str, name: str) -> Answer:
        """What is wrong with a text; `name` stands before a fault, and its ending may say more."""
        data = text.removeprefix("\ufeff").encode(errors="replace")
        if len(data) > MOST_BYTES:
            return Answer(why=f"it has more than {MOST_BYTES} bytes")
        try:
            async with asyncio.timeout(_SECONDS):
                if language is Language.JAVASCRIPT:
                    return await self._javascript(data, name)
                return await _parsed(language, data, name)
        except TimeoutError:
            return Answer(why=f"it took longer than {_SECONDS:.0f} seconds")
        except (OSError, process.NotConfined) as error:
            return Answer(why=f"its checker cannot be started: {error}")

    def _program(self) -> str:
        node = shutil.which("node") if self._node is None else self._node
        return os.path.realpath(node) if node else ""

    async def _javascript(self, data: bytes, name: str) -> Answer:
        node = self._program()
        if not node:
            return Answer(why="JavaScript needs node on the PATH, and there is none")
        async with self._probing:
            if self._powers is None:
                self._powers = await powers.probe(_NODE_BOUNDS)
        if self._powers.kind is launching.Kind.NONE:
            return Answer(why="node runs only in a sandbox, and this machine gives none")
        kinds = {".mjs": (True,), ".cjs": (False,)}.get(PurePath(name).suffix, (False, True))
        faults: list[_Fault] = []
        for is_module in kinds:
            fault = await _by_node(self._powers, node, data, is_module)
            if fault is None:
                return Answer()
            faults.append(fault)
        first, last = faults[0], faults[-1]
        fault = last if _OF_MODULES.search(first.message) else first
        if not fault.message:
            return Answer(why="node did not say what it found")
        return Answer(fault=fault.told(name))


async def _parsed(language: Language, data: bytes, name: str) -> Answer:
    command = (sys.executable, "-I", _PROGRAM, language.value)
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env={}, cwd="/"
    )
    try:
        said, _ = await child.communicate(data)
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    if child.returncode or len(said) > _ANSWER_BYTES:
        return Answer(why="its parser gave up: it is too deep, too large or too odd")
    try:
        return Answer(fault=_Fault.model_validate_json(said).told(name))
    except pydantic.ValidationError:
        return Answer(why="its parser's answer cannot be read")


async def _by_node(found: launching.Powers, node: str, data: bytes, module: bool) -> _Fault | None:
    """What `node --check` says of a text; None when it takes it.

    Raises:
        OSError, process.NotConfined: it cannot be started.
    """
    options = ("--input-type=module",) if module else ()
    with contextlib.ExitStack() as held:
        opened = [os.memfd_create("ducklm", os.MFD_CLOEXEC) for _ in range(2)]
        opened.append(os.open(_FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        opened.append(os.open(node, os.O_PATH | os.O_CLOEXEC))
        for one in opened:
            held.callback(os.close, one)
        given_fd, said_fd, folder_fd, node_fd = opened
        os.write(given_fd, data)
        os.lseek(given_fd, 0, os.SEEK_SET)
        seen = view.View(
            _FOLDER,
            folder_fd,
            read_only=True,
            network=False,
            masks=await asyncio.to_thread(view.masks, _FOLDER, ()),
            held=((node, node_fd),),
        )
        command = launching.Command(
            ("node", *options, "--check", "-"), node, node_fd, {"PATH": "/usr/bin:/bin"}
        )
        launch = launching.confined(found, command, seen, _NODE_BOUNDS, held)
        started = await process.start(launch, _NODE_BOUNDS, os.dup(said_fd), given_fd, folder_fd)
        try:
            ending = await started.wait()
        finally:
            await asyncio.shield(started.end())
        if ending.code == 0:
            return None
        return _node_fault(os.pread(said_fd, _ANSWER_BYTES, 0).decode("utf-8", "replace"))


def _node_fault(said: str) -> _Fault:
    message, place = _NODE_FAULT.search(said), _NODE_SAID.search(said)
    if message is None:
        return _Fault()
    if place is None:
        return _Fault(message=message["message"])
    return _Fault(
        line=int(place["line"]), column=len(place["mark"]) + 1, message=message["message"]
    )
