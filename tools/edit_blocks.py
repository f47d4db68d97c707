"""Reads search/replace blocks out of a model's text: which files, and which edits of each.

    src/app.py
    <<<<<<< SEARCH
    what is there
    =======
    what comes in its place
    >>>>>>> REPLACE

With or without code fences round the block or round the path. A path stays for the blocks that
follow. Pure; never guesses a path, and never takes a block that has no end.
"""

import re
from collections.abc import Iterator, Sequence

from tools import contract, edits

MOST_FILES = 32
MOST_BLOCKS = 128
_BEGIN = re.compile(r"<{5,9} ?SEARCH\s*")
_MIDDLE = re.compile(r"={7}\s*")
_END = re.compile(r">{5,9} ?REPLACE\s*")
_FENCE = re.compile(r"\s*(```|~~~)\s*[\w+.#-]*\s*")
_NAMED_FENCE = re.compile(r"\s*(?:```|~~~)[\w+.#-]*[ :](?P<path>[^\s`]+)\s*")
_LABEL = re.compile(r"(?i)(file|path|filename)\s*:\s*")
_QUOTED = re.compile(r"(?P<quote>`|\*\*|\"|')(?P<path>.+)(?P=quote):?")


class FileEdits(contract.Value):
    """The edits of one file, in their order."""

    path: str
    edits: tuple[edits.Edit, ...]


class NoBlocks(Exception):
    """A text whose blocks cannot be read; one sentence that says where and why."""


def parse(text: str) -> tuple[FileEdits, ...]:
    """The files in the order of their first block, each with its edits.

    Raises:
        NoBlocks: there is none, one is not whole, or nothing says which file it is of.
    """
    found: dict[str, list[edits.Edit]] = {}
    for count, (path, edit) in enumerate(_blocks(text.replace("\r\n", "\n").split("\n")), 1):
        found.setdefault(path, []).append(edit)
        if len(found) > MOST_FILES or count > MOST_BLOCKS:
            raise NoBlocks(f"more than {MOST_FILES} files or {MOST_BLOCKS} blocks at once")
    if not found:
        raise NoBlocks("there is no block that begins with a line <<<<<<< SEARCH")
    return tuple(FileEdits(path=path, edits=tuple(several)) for path, several in found.items())


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, edits.Edit]]:
    path, after, at = "", 0, 0
    while at < len(lines):
        if _END.fullmatch(lines[at]):
            raise NoBlocks(f"line {at + 1}: a block ends that has not begun")
        if not _BEGIN.fullmatch(lines[at]):
            at += 1
            continue
        path = _path(lines[after:at]) or path
        if not path:
            raise NoBlocks(
                f"line {at + 1}: the line above <<<<<<< SEARCH must be the path of the file, alone"
            )
        middle = _next(lines, at, _MIDDLE, "=======")
        end = _next(lines, middle, _END, ">>>>>>> REPLACE", begun=at)
        yield (
            path,
            edits.Edit(
                search=_text(lines[at + 1 : middle]), replace=_text(lines[middle + 1 : end])
            ),
        )
        at = after = end + 1


def _next(
    lines: Sequence[str], before: int, mark: re.Pattern[str], name: str, begun: int | None = None
) -> int:
    """The line of a mark behind another one of the same block."""
    first = before if begun is None else begun
    for index in range(before + 1, len(lines)):
        if mark.fullmatch(lines[index]):
            return index
        if _BEGIN.fullmatch(lines[index]) or (mark is _MIDDLE and _END.fullmatch(lines[index])):
            break
    raise NoBlocks(f"line {first + 1}: the block that begins here has no line {name}")


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _path(lines: Sequence[str]) -> str:
    """The path in the last line that says something, when it is nothing but a path."""
    for line in reversed(lines):
        if named := _NAMED_FENCE.fullmatch(line):
            return named["path"]
        if not line.strip() or _FENCE.fullmatch(line):
            continue
        said = _LABEL.sub("", line.strip().lstrip("#").strip(), count=1)
        if quoted := _QUOTED.fullmatch(said):
            return quoted["path"].strip("`")
        bare = said.removesuffix(":")
        is_talk = bare != said and not re.search(r"[./]", bare)
        return "" if is_talk or re.search(r"\s", bare) else bare
    return ""
