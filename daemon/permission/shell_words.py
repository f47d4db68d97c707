"""A shell's words and operators from text, by a lexer of our own in one linear pass.

Answers for quotes, escapes, `$'…'`, expansions and here-documents; knows no grammar above them. It
reads what `shell_syntax` bounds, and reads the whole text again as a second opinion: what the two
see differently is not understood. It never expands anything and never raises on odd text: what it
cannot read is an `Opaque` part.
"""

import re
from dataclasses import dataclass

from daemon.permission import brackets

BLANKS = " \t"
TOKENS = 3000
"""Of one text; what is behind them is one opaque word."""
_METACHARACTERS = frozenset(" \t\n|&;()<>")
_OPERATORS = ("&&", "||", ";;&", ";;", ";&", "|&", "&", "|", ";", "(", ")", "\n")
_REDIRECTS = ("<<<", "<<-", "&>>", "<<", "<&", "<>", ">>", ">&", ">|", "&>", "<", ">")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED = re.compile(r"(!?#?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(.*)", re.DOTALL)
_ANSI = {
    **{"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r"},
    **{"t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?"},
}
_ANSI_CODE = re.compile(r"x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})")


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself; only what is not quoted can be a glob, a brace or a tilde."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name`, `${name}` or `${name<rest>}`; `prefix` is `!` or `#` where it stands first."""

    name: str
    prefix: str
    index: str
    rest: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Substitution:
    """A command whose output becomes text (`$(…)`, backticks), or a file (`<(…)`, `>(…)`)."""

    source: str
    is_file: bool
    quoted: bool


@dataclass(frozen=True, slots=True)
class Opaque:
    """Arithmetic, or something that this lexer does not read."""

    source: str


Part = Literal | Parameter | Substitution | Opaque


@dataclass(frozen=True, slots=True)
class Word:
    """One word as written, and its parts in order."""

    source: str
    parts: tuple[Part, ...]

    @property
    def plain(self) -> str | None:
        """The text, where every byte of it stands in the source; None where the shell decides."""
        if not all(isinstance(part, Literal) for part in self.parts) or self.is_active:
            return None
        if "\\\n" in self.source:  # a line that goes on within a word can change its quoting
            return None
        return unquoted(self)

    @property
    def is_active(self) -> bool:
        """Whether what is not quoted holds a glob, a brace or a tilde."""
        return is_active(
            "".join(p.text for p in self.parts if isinstance(p, Literal) and not p.quoted)
        )


@dataclass(frozen=True, slots=True)
class Operator:
    text: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2>file` and its kin; `body` is the text of a here-document, which may expand."""

    descriptor: str
    operator: str
    target: Word
    body: str | None = None

    @property
    def expands(self) -> bool:
        """Whether the shell expands the here-document: its delimiter has no quoted part."""
        return not any(isinstance(p, Literal) and p.quoted for p in self.target.parts)


Token = Word | Operator | Redirect


def is_active(text: str) -> bool:
    """Whether unquoted text is more than itself: a glob, a brace, a tilde."""
    if text == "[":
        return False
    if text.startswith("~") or any(mark in text for mark in ("*", "?", "[", "=~", ":~")):
        return True
    return "{" in text and ("," in text or ".." in text)


class Lexer:
    """Reads tokens from one text; `position` is where it stands."""

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        self._awaited: list[tuple[int, bool]] = []
        self.tokens: list[Token] = []
        self.comments = 0

    def read(self) -> list[Token]:
        """All tokens up to the end of the text."""
        while self.position < len(self.text):
            self._step()
            if len(self.tokens) >= TOKENS:
                rest = self.text[self.position :]
                self.tokens.append(Word(rest, (Opaque(rest),)))
                break
        return self.tokens

    def _step(self) -> None:
        text, at = self.text, self.position
        if text.startswith("\\\n", at):
            self.position += 2
        elif text[at] in BLANKS:
            self.position += 1
        elif text[at] == "#":
            end = text.find("\n", at)
            self.position = len(text) if end < 0 else end
            self.comments += 1
        elif text.startswith(("<(", ">("), at) or not self._redirect():
            self._operator_or_word()

    def _operator_or_word(self) -> None:
        for operator in _OPERATORS if self.text[self.position] in "|&;()\n" else ():
            if self.text.startswith(operator, self.position):
                self.tokens.append(Operator(operator))
                self.position += len(operator)
                if operator == "\n":
                    self._here_documents()
                    self._skip_newlines()
                return
        self.tokens.append(self.word())

    def _skip_newlines(self) -> None:
        while self.text.startswith("\n", self.position):
            self.position += 1

    def _redirect(self) -> bool:
        text, at = self.text, self.position
        if text[at] not in "<>&0123456789":
            return False
        start = at
        while at < len(text) and at - start < 4 and text[at].isdigit() and text[at].isascii():
            at += 1
        operator = next((o for o in _REDIRECTS if text.startswith(o, at)), None)
        if operator is None or (at > start and operator.startswith("&")):
            return False
        self.position = at + len(operator)
        while self.position < len(text) and text[self.position] in BLANKS:
            self.position += 1
        target = self.word()
        if operator in ("<<", "<<-"):
            self._awaited.append((len(self.tokens), operator == "<<-"))
        self.tokens.append(Redirect(text[start:at], operator, target))
        return True

    def _here_documents(self) -> None:
        for index, dedent in self._awaited:
            redirect = self.tokens[index]
            if isinstance(redirect, Redirect):
                body = self._here_document(unquoted(redirect.target), dedent)
                self.tokens[index] = Redirect(
                    redirect.descriptor, redirect.operator, redirect.target, body
                )
        self._awaited = []

    def _here_document(self, delimiter: str, dedent: bool) -> str:
        lines: list[str] = []
        while self.position < len(self.text):
            end = self.text.find("\n", self.position)
            end = len(self.text) if end < 0 else end
            line = self.text[self.position : end]
            self.position = min(end + 1, len(self.text))
            line = line.lstrip("\t") if dedent else line
            if line == delimiter:
                break
            lines.append(line)
        return "".join(f"{line}\n" for line in lines)

    def word(self) -> Word:
        """The word that starts here; empty where an operator or the end does."""
        start = self.position
        parts: list[Part] = []
        while self.position < len(self.text):
            character = self.text[self.position]
            if self.text.startswith(("<(", ">("), self.position) and not parts:
                parts.append(self._parenthesised(2, is_file=True, quoted=False))
            elif character in _METACHARACTERS:
                break
            else:
                self._part(parts, character)
        return Word(self.text[start : self.position], tuple(_joined(parts)))

    def _part(self, parts: list[Part], character: str) -> None:
        text, at = self.text, self.position
        if character == "\\":
            self._escaped(parts)
        elif character == "'":
            end = text.find("'", at + 1)
            parts.append(Literal(text[at + 1 : end], quoted=True) if end > 0 else Opaque("'"))
            self.position = end + 1 if end > 0 else len(text)
        elif character == '"':
            self._double_quoted(parts)
        elif character == "`":
            parts.append(self._backticks(quoted=False))
        elif character == "$":
            self._dollar(parts, quoted=False)
        else:
            self._unquoted(parts)

    def _escaped(self, parts: list[Part]) -> None:
        """A run of characters that each stand behind a backslash."""
        text, at = self.text, self.position
        kept: list[str] = []
        while at < len(text) and text[at] == "\\":
            if not text.startswith("\\\n", at):
                kept.append(text[at + 1 : at + 2] or "\\")
            at += 2
        if kept:
            parts.append(Literal("".join(kept), quoted=True))
        if at > len(text):
            parts.append(Opaque("\\"))
        self.position = min(at, len(text))

    def _unquoted(self, parts: list[Part]) -> None:
        text, start = self.text, self.position
        at = start
        while at < len(text) and text[at] not in _METACHARACTERS and text[at] not in "\\'\"`$":
            at += 1
        parts.append(Literal(text[start:at], quoted=False))
        self.position = at

    def _double_quoted(self, parts: list[Part]) -> None:
        self.position += 1
        kept: list[str] = []
        parts.append(Literal("", quoted=True))
        while self.position < len(self.text):
            character = self.text[self.position]
            if character == '"':
                self.position += 1
                parts.append(Literal("".join(kept), quoted=True))
                return
            if character == "\\":
                following = self.text[self.position + 1 : self.position + 2]
                if following != "\n":
                    kept.append(following if following in '$`"\\' else f"\\{following}")
                self.position += 2
            elif character in "$`":
                parts.append(Literal("".join(kept), quoted=True))
                kept = []
                if character == "$":
                    self._dollar(parts, quoted=True)
                else:
                    parts.append(self._backticks(quoted=True))
            else:
                kept.append(character)
                self.position += 1
        self.position = len(self.text)
        parts.append(Literal("".join(kept), quoted=True))
        parts.append(Opaque('"'))

    def _backticks(self, quoted: bool) -> Part:
        start = self.position + 1
        at = start
        while at < len(self.text) and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        self.position = min(at + 1, len(self.text))
        if at >= len(self.text):
            return Opaque("`")
        source = re.sub(r"\\([\\`$])", r"\1", self.text[start:at])
        return Substitution(source, is_file=False, quoted=quoted)

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        text, at = self.text, self.position
        following = text[at + 1 : at + 2]
        if following == "'" and not quoted:
            self._ansi_c(parts)
        elif following == '"' and not quoted:
            self.position += 1
            self._double_quoted(parts)
        elif text.startswith("$((", at) or following == "[":
            self._skip_nested(at + 1)
            parts.append(Opaque(text[at : self.position]))
        elif following == "(":
            parts.append(self._parenthesised(2, is_file=False, quoted=quoted))
        elif following == "{":
            self._braced(parts, quoted)
        elif match := _NAME.match(text, at + 1):
            parts.append(Parameter(match[0], "", "", "", quoted))
            self.position = match.end()
        elif following and following in "0123456789@*#?$!-_":
            parts.append(Parameter(following, "", "", "", quoted))
            self.position = at + 2
        else:
            is_cut = text.startswith("\\\n", at + 1)
            parts.append(Opaque("$") if is_cut else Literal("$", quoted=True))
            self.position = at + 1

    def _braced(self, parts: list[Part], quoted: bool) -> None:
        start = self.position + 2
        end = self._skip_nested(self.position + 1)
        match = _BRACED.fullmatch(self.text[start : end - 1])
        if match is None:
            parts.append(Opaque(self.text[start:end]))
        else:
            prefix, name, index, rest = match.groups()
            parts.append(Parameter(name, prefix, index or "", rest, quoted))

    def _ansi_c(self, parts: list[Part]) -> None:
        at = self.position + 2
        kept: list[str] = []
        while at < len(self.text) and self.text[at] != "'":
            character = self.text[at]
            at += 1
            if character != "\\":
                kept.append(character)
            elif code := _ANSI_CODE.match(self.text, at):
                digits = code[code.lastindex or 0]
                number = int(digits, 8) & 0xFF if code.lastindex == 4 else int(digits, 16)
                kept.append(chr(number) if 0 < number < 0xD800 else "\N{REPLACEMENT CHARACTER}")
                at = code.end()
            else:
                following = self.text[at : at + 1]
                kept.append(_ANSI.get(following, f"\\{following}"))
                at += 1
        parts.append(Literal("".join(kept), quoted=True))
        if at >= len(self.text):
            parts.append(Opaque("$'"))
        self.position = min(at + 1, len(self.text))

    def _parenthesised(self, opening: int, is_file: bool, quoted: bool) -> Part:
        start = self.position + opening
        end = self._skip_nested(self.position + opening - 1)
        if end > len(self.text) or self.text[end - 1 : end] != ")":
            return Opaque(self.text[start:])
        return Substitution(self.text[start : end - 1], is_file, quoted)

    def _skip_nested(self, opening: int) -> int:
        """Go behind the bracket that closes the one at `opening`."""
        self.position = brackets.behind(self.text, opening)
        return self.position


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring literals of the same kind as one."""
    joined: list[Part] = []
    texts: list[str] = []
    for index, part in enumerate(parts):
        if not isinstance(part, Literal):
            joined.append(part)
            continue
        texts.append(part.text)
        following = parts[index + 1] if index + 1 < len(parts) else None
        if not isinstance(following, Literal) or following.quoted != part.quoted:
            joined.append(Literal("".join(texts), part.quoted))
            texts = []
    return joined


def unquoted(word: Word) -> str:
    """The literal text of a word, whatever else it holds left out."""
    return "".join(part.text for part in word.parts if isinstance(part, Literal))
