"""One program and its words as the rules look at them: options, operands, paths, hosts.

Answers for what a word may name, seen as suspiciously as needed: a path behind `=`, glued to an
option, or inside a piece of code counts. Never judges.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from daemon.permission import hosts, paths, scope

_PIECES = re.compile(r"(?<![\w.\-/~*?\]+])(?:~|/)[^\s'\"`;|&<>(){},:=@\\]*")
_SEPARATORS = re.compile(r"[=:,@]")
_TEXT_CHARS = 16384
_PIECES_OF_A_WORD = 64


class Access(StrEnum):
    """What a command does with a path; `any` where nobody knows."""

    READ = "read"
    WRITE = "write"
    ANY = "any"


@dataclass
class Invocation:
    """A program with its words; `paths_of` are (text, access) where a schema knows them."""

    program: str
    words: Sequence[scope.Value]
    where: scope.Scope
    path_names: paths.PathNames
    is_network: bool = False
    known_paths: Sequence[tuple[str, Access]] | None = None
    known_operands: Sequence[scope.Value] | None = None
    text: str = ""
    _kinds: dict[str, frozenset[paths.Kind]] = field(default_factory=dict)

    @cached_property
    def operands(self) -> list[scope.Value]:
        """The words that are no options, as far as can be told without a schema."""
        if self.known_operands is not None:
            return list(self.known_operands)
        operands: list[scope.Value] = []
        ended = False
        for word in self.words:
            if ended or word.text == "-" or not word.text.startswith(("-", "+")):
                operands.append(word)
            elif word.text == "--":
                ended = True
        return operands

    @cached_property
    def _options(self) -> tuple[frozenset[str], frozenset[str], str]:
        """Short and whole words, long names, and every letter of clustered flags."""
        whole: set[str] = set()
        letters: list[str] = []
        for word in self.words:
            text = word.text
            if text == "--":
                break
            if text.startswith("-") and len(text) > 1:
                whole.add(text.partition("=")[0])
                if not text.startswith("--"):
                    letters.append(re.split(r"[^A-Za-z0-9]", text[1:], maxsplit=1)[0])
        longs = frozenset(name for name in whole if name.startswith("--"))
        return frozenset(whole), longs, "".join(letters)

    def has_option(self, option: str) -> bool:
        """Whether an option is given: alone, in a cluster, or as a long one cut short."""
        whole, longs, letters = self._options
        if option in whole:
            return True
        if option.startswith("--"):
            return any(len(name) > 3 and option.startswith(name) for name in longs)
        if len(option) == 2:
            return option[1] in letters
        return any(word.startswith(option) for word in whole) if len(option) > 3 else False

    @cached_property
    def candidates(self) -> tuple[tuple[str, Access], ...]:
        """Every path that the words may name."""
        if self.known_paths is not None:
            return tuple(self.known_paths)
        found = [(text, Access.ANY) for word in self.words for text in _paths_in(word.text)]
        found.extend((path, Access.ANY) for path in self._below_folders())
        return tuple(found)

    def _below_folders(self) -> Iterator[str]:
        """Operands of a program that first goes to the folder behind -C or --directory."""
        for index, word in enumerate(self.words[:_PIECES_OF_A_WORD]):
            name, equals, given = word.text.partition("=")
            if name in ("-C", "--directory", "--chdir", "-D") and not equals:
                given = self.words[index + 1].text if index + 1 < len(self.words) else ""
            if given and name in ("-C", "--directory", "--chdir", "-D"):
                yield from (f"{given}/{other.text}" for other in self.words[:_PIECES_OF_A_WORD])

    def kinds(self, path: str) -> frozenset[paths.Kind]:
        """What a path may be, in this call's folder."""
        known = self._kinds.get(path)
        if known is None:
            home = self.where.place.home
            expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
            known = paths.classify(expanded, self.where.place, self.path_names, self.where.cwd)
            self._kinds[path] = known
        return known

    def has_target(self, kinds: frozenset[paths.Kind], access: Sequence[Access]) -> bool:
        """Whether a path of one of the kinds is used in one of the ways (any, where none given)."""
        return any(
            kinds & self.kinds(path) for path, how in self.candidates if not access or how in access
        )

    @cached_property
    def hosts(self) -> frozenset[hosts.Kind]:
        """The kinds of the hosts that the words name."""
        ports = self.where.place.ports
        found: set[hosts.Kind] = set()
        for word in self.words:
            text = word.shortest[:_TEXT_CHARS]
            for name, port in re.findall(r"/dev/(?:tcp|udp)/([^/]+)/(\d+)", text):
                found |= hosts.kinds(f"{name}:{port}", ports)
            if self.is_network or "://" in text or re.search(r"\d\.\d+\.\d", text):
                found |= hosts.kinds(text, ports)
        if self.is_network:
            port = next((w.text for w in self.words if w.text.isdigit() and len(w.text) < 6), "")
            for word in self.words if port else ():
                found |= hosts.kinds(f"{word.shortest[:256]}:{port}", ports)
        return frozenset(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """The variables that the words are made from."""
        return frozenset(name for word in self.words for name in word.names)

    @cached_property
    def mentioned(self) -> str:
        """All that the command says, in one text, for words that must not be said."""
        parts = [self.program]
        for word in self.words:
            parts.extend((re.sub(r"\[(\w)\]", r"\1", word.shortest), *word.sources))
        return "\n".join((*parts, re.sub(r"\[(\w)\]", r"\1", self.text))).lower()


def _paths_in(text: str) -> Iterator[str]:
    text = text[:_TEXT_CHARS]
    seen = {text}
    if not text.startswith("-"):
        yield text
    elif len(text) > 2 and not text.startswith("--"):
        seen.add(text[2:])
        yield text[2:]
    pieces = [*_SEPARATORS.split(text)[1:], *(match[0] for match in _PIECES.finditer(text))]
    for piece in pieces[:_PIECES_OF_A_WORD]:
        if piece and piece not in seen:
            seen.add(piece)
            yield piece
