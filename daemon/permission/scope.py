"""What the shell would make of a word, as far as the text alone says it.

Answers for constants: variables that the text itself assigns, the home, the folder, braces and
tildes. What only the shell will know becomes `paths.UNKNOWN` in the text of a value; nothing is
looked up, and nothing unknown is taken for known.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from daemon.permission import findings, paths, shell_words

VALUES = 64
"""Values that one word may become; more are one unknown value."""
VALUE_CHARS = 8192
UNKNOWN = paths.UNKNOWN
_BLANKS = re.compile(r"[ \t\n]+")
_SLICE = re.compile(r":\s*(-?\d+)(?::\s*(\d+))?")
_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(-?\d{1,4}|[A-Za-z])\.\.(-?\d{1,4}|[A-Za-z])")


@dataclass(frozen=True, slots=True)
class Value:
    """One field of a command. `plain`: every byte stands in the source. `names`: the variables and
    `sources` the substitutions that it was made from."""

    text: str
    plain: bool = False
    globbed: bool = False
    names: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    odd: bool = False

    @property
    def known(self) -> bool:
        """Whether the text is all of it; it may still be a glob."""
        return UNKNOWN not in self.text and not self.odd

    @property
    def shortest(self) -> str:
        """The text where everything unknown turns out empty."""
        return self.text.replace(UNKNOWN, "")


@dataclass(slots=True)
class Scope:
    """What is known where a command stands; a subshell gets a copy."""

    place: findings.Place
    cwd: str
    variables: dict[str, str] = field(default_factory=dict)
    positional: tuple[str, ...] = ()

    @classmethod
    def at(cls, place: findings.Place) -> "Scope":
        """The shell's own beginning."""
        return cls(
            place,
            place.cwd,
            {
                "HOME": place.home,
                "PWD": place.cwd,
                "OLDPWD": place.cwd,
                "IFS": " \t\n",
                "PATH": "/usr/bin:/bin",
                "SHELL": "/bin/bash",
                "0": "bash",
            },
        )

    def copy(self) -> "Scope":
        """A scope whose changes do not come back."""
        return replace(self, variables=dict(self.variables))

    def assign(self, name: str, value: str) -> None:
        """Remember a variable; one that is unknown stays unknown."""
        self.variables[name] = value[:VALUE_CHARS]

    def move(self, folder: str) -> None:
        """Change the working folder."""
        self.variables["OLDPWD"] = self.cwd
        self.cwd = paths.absolute(folder, self.cwd)
        self.variables["PWD"] = self.cwd

    def expand(self, word: shell_words.Word) -> list[Value]:
        """The fields that a word becomes."""
        plain = word.plain
        if plain is not None:
            return [Value(plain, plain=True)]
        values = list(itertools.islice(self._fields(word), VALUES + 1))
        return values if len(values) <= VALUES else [Value(UNKNOWN, globbed=True)]

    def text(self, word: shell_words.Word) -> str:
        """A word as one text, for assignments and redirections."""
        return " ".join(value.text for value in self.expand(word))

    def body(self, text: str) -> str:
        """A here-document whose expansions are done as far as they are known."""
        quoted = '"' + text[:VALUE_CHARS].replace('"', '\\"') + '"'
        return self.text(shell_words.Lexer(quoted).word())

    def _fields(self, word: shell_words.Word) -> Iterator[Value]:
        pieces: list[tuple[str, bool]] = []
        names: set[str] = set()
        sources: list[str] = []
        odd = False
        for part in word.parts:
            if isinstance(part, shell_words.Literal):
                pieces.append((part.text, part.quoted))
            elif isinstance(part, shell_words.Parameter):
                names.add(part.name)
                odd = odd or _is_evaluated(part)
                sources.extend(substitutions(part.rest))
                pieces.append((self._parameter(part), part.quoted))
            elif isinstance(part, shell_words.Substitution):
                sources.append(part.source)
                pieces.append((UNKNOWN, True))
            else:
                sources.extend(substitutions(part.source))
                pieces.append((UNKNOWN, True))
                odd = True
        tilded = self._tilde(pieces, word)
        whole = frozenset(names)
        for text, globbed in _split(_braced(tilded), self._blanks()):
            yield Value(text, False, globbed, whole, tuple(sources), odd)

    def _blanks(self) -> re.Pattern[str]:
        """Where unquoted text is split."""
        separators = self.variables.get("IFS", "")
        if separators in ("", " \t\n") or UNKNOWN in separators:
            return _BLANKS
        return re.compile(f"[{re.escape(separators[:16])} \t\n]+")

    def _tilde(
        self, pieces: list[tuple[str, bool]], word: shell_words.Word
    ) -> list[tuple[str, bool]]:
        first = word.parts[0] if word.parts else None
        if not isinstance(first, shell_words.Literal) or first.quoted:
            return pieces
        text = first.text
        if "=~" in text:
            before, _, text = text.partition("=")
            return [(before + "=", False), *self._home(text), *pieces[1:]]
        return [*self._home(text), *pieces[1:]] if text.startswith("~") else pieces

    def _home(self, text: str) -> list[tuple[str, bool]]:
        user, slash, rest = text[1:].partition("/")
        user, comma, after = user.partition(",")
        known = {"": self.place.home, "+": self.cwd, "-": self.variables["OLDPWD"], "root": "/root"}
        home = known.get(user, f"/home/{user}")
        return [(home, True), (comma + after + slash + rest, False)]

    def _parameter(self, part: shell_words.Parameter) -> str:
        if part.prefix == "!" or part.prefix == "#":
            return UNKNOWN
        value = self._value(part)
        if part.rest:
            return self._operated(value, part.rest)
        return UNKNOWN if value is None else value

    def _value(self, part: shell_words.Parameter) -> str | None:
        if part.name in ("@", "*"):
            return " ".join(self.positional) if self.positional else None
        if part.name.isdigit() and part.name != "0":
            index = int(part.name[:4]) - 1
            return self.positional[index] if index < len(self.positional) else None
        return self.variables.get(part.name)

    def _operated(self, value: str | None, rest: str) -> str:
        """`${name<rest>}` for the operators whose outcome is plain; else unknown."""
        operator, given = (rest[:2], rest[2:]) if rest[0] == ":" else (rest[0], rest[1:])
        word = shell_words.Lexer(given).word()
        if operator in (":-", ":=", "-", "="):
            return value if value else self.text(word)
        if operator in (":+", "+"):
            return self.text(word)
        if operator in (":?", "?"):
            return value if value else f"{UNKNOWN}x{UNKNOWN}"
        if value is None or UNKNOWN in value:
            return UNKNOWN
        if match := _SLICE.fullmatch(rest):
            start = int(match[1])
            return value[start:][: int(match[2])] if match[2] else value[start:]
        return _trimmed(value, rest)


def _is_evaluated(part: shell_words.Parameter) -> bool:
    """Whether the shell reads part of an expansion as code: a name, a subscript, a prompt."""
    if part.prefix == "!" or part.index not in ("", "[@]", "[*]"):
        return True
    rest = part.rest
    if not rest or _SLICE.fullmatch(rest):
        return False
    return not rest.startswith((":-", ":=", ":+", ":?", *"-=+?#%/^,"))


def _trimmed(value: str, rest: str) -> str:
    for operator in ("%%", "%", "##", "#"):
        if rest.startswith(operator):
            pattern = rest[len(operator) :]
            if not shell_words.is_active(pattern) and not set(pattern) & set("\\'\"$`"):
                return (
                    value.removesuffix(pattern) if "%" in operator else value.removeprefix(pattern)
                )
            return _cut(value, operator, pattern)
    return UNKNOWN


def _cut(value: str, operator: str, pattern: str) -> str:
    """The two usual cuts: `%/*` to the folder, `##*/` to the name."""
    if pattern == "/*" and "%" in operator:
        return value.partition("/")[0] if operator == "%%" else value.rpartition("/")[0]
    if pattern == "*/" and "#" in operator:
        return value.rpartition("/")[2] if operator == "##" else value.partition("/")[2]
    return UNKNOWN


def substitutions(source: str) -> list[str]:
    """The commands that would run inside an expansion that is not read further."""
    if "$(" not in source and "`" not in source:
        return []
    found: list[str] = []
    for token in shell_words.Lexer(f'"{source[:VALUE_CHARS]}"').read():
        if isinstance(token, shell_words.Word):
            for part in token.parts:
                if isinstance(part, shell_words.Substitution):
                    found.append(part.source)
                elif isinstance(part, shell_words.Parameter):
                    found.extend(substitutions(part.rest))
                elif isinstance(part, shell_words.Opaque) and part.source.startswith("$("):
                    found.extend(substitutions(part.source[3:]))
    return found


def _braced(pieces: list[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    """Brace expansion; quoted text is kept out of it by standing aside as one private mark."""
    kept: list[tuple[str, bool]] = []
    text = ""
    for piece, quoted in pieces:
        if quoted:
            text += f"\ue000{len(kept)}\ue001"
            kept.append((piece, True))
        else:
            text += piece
    outcomes = [text]
    for _ in range(8):
        widened = list(itertools.islice((o for t in outcomes for o in _once(t)), VALUES + 2))
        if widened == outcomes:
            break
        outcomes = widened
    for outcome in outcomes:
        parts = re.split(r"\ue000(\d{1,4})\ue001", outcome)
        yield [
            kept[int(part)] if index % 2 and int(part) < len(kept) else (part, False)
            for index, part in enumerate(parts)
        ]


def _once(text: str) -> Iterator[str]:
    for match in _BRACES.finditer(text):
        inner = match[1]
        if "," in inner:
            choices: list[str] = inner.split(",")
        elif span := _RANGE.fullmatch(inner):
            choices = _between(span[1], span[2])
        else:
            continue
        for choice in choices[: VALUES + 1]:
            yield text[: match.start()] + choice + text[match.end() :]
        return
    yield text


def _between(first: str, last: str) -> list[str]:
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = sorted((int(first), int(last)))
        return [str(number) for number in range(low, min(high, low + VALUES) + 1)]
    low, high = sorted((ord(first[0]), ord(last[0])))
    return [chr(code) for code in range(low, high + 1)]


def _split(
    outcomes: Iterator[list[tuple[str, bool]]], blanks: re.Pattern[str]
) -> Iterator[tuple[str, bool]]:
    """Fields by blanks in unquoted text, each with whether it is a glob."""
    for pieces in outcomes:
        text, globbed, seen = "", False, False
        for piece, quoted in pieces:
            if quoted:
                text, seen = text + piece, True
                continue
            first, *others = blanks.split(piece)
            text += first
            globbed = globbed or _has_glob(first)
            for other in others:
                if text or seen:
                    yield text, globbed
                text, seen, globbed = other, False, _has_glob(other)
        if text or seen:
            yield text, globbed


def _has_glob(text: str) -> bool:
    return any(mark in text for mark in "*?[")
