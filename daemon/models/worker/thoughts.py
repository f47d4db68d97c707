"""What a reasoning model thinks, told apart from what it answers.

Pure. A thought stands between two marks before the answer. A mark may be one control token, several
tokens, or plain text in pieces; however a stream is cut, the split is the same. A text is held back
only while it may become a mark, or is the space around a thought, which belongs to neither side.

Tokens that are parts of marks come as codes, single characters that no text has: so a mark made of
them counts wherever it stands, while one in plain text opens a thought only before anything was
said.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

_FIRST_CODE, _LAST_CODE = 0xFDD0, 0xFDEF
"""Noncharacters: Unicode keeps them for uses such as this."""
_NO_CODES = dict.fromkeys(range(_FIRST_CODE, _LAST_CODE + 1))
_NOT_OURS = dict.fromkeys(range(_FIRST_CODE, _LAST_CODE + 1), "\ufffd")
_PARAGRAPH = "\n\n"


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """How a family of models marks its thoughts.

    `inside` stands after the opening mark and before the closing one, `after` between that and the
    answer. `around` are marks that stand about an answer and are no part of it.
    """

    opening: str
    closing: str
    inside: str = ""
    after: str = ""
    around: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        return (self.opening, self.closing, *self.around)

    @property
    def close(self) -> str:
        """What ends an open thought, up to where the answer begins."""
        return self.inside + self.closing + self.after

    @property
    def empty(self) -> str:
        """A thought that is over before it began."""
        return self.opening + self.inside + self.close


FORMS = (
    Form("<think>", "</think>", "\n", "\n\n"),
    Form("<thinking>", "</thinking>", "\n", "\n\n"),
    Form("<thought>", "</thought>", "\n", "\n\n"),
    Form("<seed:think>", "</seed:think>"),
    Form("[THINK]", "[/THINK]"),
    Form("◁think▷", "◁/think▷"),
    Form("<|inner_prefix|>", "<|inner_suffix|>"),
    Form("<|channel>thought", "<channel|>", "\n"),
    Form(
        "<|START_THINKING|>",
        "<|END_THINKING|>",
        after="<|START_RESPONSE|>",
        around=("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ),
    Form(
        "<|channel|>analysis<|message|>",
        "<|end|>",
        after="<|start|>assistant<|channel|>final<|message|>",
        around=(
            "<|start|>assistant",
            "<|channel|>final<|message|>",
            "<|channel|>commentary<|message|>",
        ),
    ),
    Form(
        "<|open|>think<|sep|>",
        "<|close|>think<|sep|>",
        after="<|open|>response<|sep|>",
        around=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    ),
    Form(
        "<|think|>",
        "<|end|>",
        after="<|begin|>assistant<|content|>",
        around=("<|begin|>assistant", "<|content|>"),
    ),
)
"""DeepSeek R1, Qwen and most; two like it; Seed-OSS; Magistral; Kimi; Apertus; Gemma 4; Command A;
gpt-oss; Kimi K3; Solar."""


def marks() -> tuple[str, ...]:
    """All marks of all forms."""
    return tuple(mark for form in FORMS for mark in form.marks)


def used_by(template: str) -> Form | None:
    """The form that a chat template's source speaks of. What closes a thought among other parts
    may close any of them."""
    for form in FORMS:
        if form.opening in template or (form.closing in template and not form.around):
            return form
    return None


def opened_by(prompt: str) -> Form | None:
    """The form of the thought that the end of a prompt leaves open."""
    end = prompt.rstrip()
    return next((form for form in FORMS if end.endswith(form.opening)), None)


class Marks:
    """All marks, as they are spelled where some of their `parts` are tokens that come as codes."""

    def __init__(self, parts: Iterable[str] = ()) -> None:
        longest_first = sorted(set(parts), key=lambda part: (-len(part), part))
        self._codes = {part: chr(_FIRST_CODE + index) for index, part in enumerate(longest_first)}
        self.openings = {
            spelling: form for form in FORMS for spelling in self.spellings(form.opening)
        }
        self.closings = {form: self.spellings(form.closing) for form in FORMS}
        self.others = tuple(
            spelling
            for form in FORMS
            for mark in form.marks[1:]
            for spelling in self.spellings(mark)
        )
        self.coded = tuple(
            spelling
            for spelling in (*self.openings, *self.others)
            if spelling[0] in self._codes.values()
        )

    def code(self, part: str) -> str:
        """The code of a token's text."""
        return self._codes[part]

    def spellings(self, mark: str) -> tuple[str, ...]:
        """A mark as plain text and, where that differs, with codes."""
        coded = mark
        for part, code in self._codes.items():
            coded = coded.replace(part, code)
        return (mark,) if coded == mark else (mark, coded)


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """Some text of the stream, without marks."""

    text: str
    thinking: bool


class Splitter:
    """Splits one stream; `inside` is the form of the thought that is open.

    It is fresh until the answer begins. Once marks were seen, the space before that is dropped.
    """

    def __init__(self, marks: Marks, inside: Form | None = None) -> None:
        self._marks = marks
        self._buffer = ""
        self._fresh = True
        self._marked = False
        self._settled = False
        self._begun = False
        """Whether the open thought has any text."""
        self._said = False
        """Whether the answer has any."""
        self.inside = inside

    @property
    def undecided(self) -> bool:
        """Whether what came last may become a mark before the answer."""
        return self.inside is None and self._fresh and bool(self._buffer.strip())

    @property
    def between(self) -> bool:
        """Whether a thought is over and the answer has not begun."""
        return self.inside is None and self._fresh and self._marked

    def feed(self, text: str) -> list[Segment]:
        """Take text that came; gives what is decided."""
        return self._take(text.translate(_NOT_OURS))

    def feed_code(self, code: str) -> list[Segment]:
        """Take a token that is part of marks, by its code."""
        return self._take(code)

    def close(self) -> None:
        """The open thought was ended by force; what was held of it is dropped."""
        self.inside = None
        self._buffer = ""
        self._fresh = self._marked = True

    def settle(self) -> None:
        """From here all is answer, whatever it looks like; what was held is dropped."""
        self._buffer = ""
        self.inside = None
        self._fresh = False
        self._settled = True

    def finish(self) -> list[Segment]:
        """No more comes: what was held back is what it looks like."""
        rest, self._buffer = self._buffer, ""
        if self.inside is not None:
            return list(self._thought(rest.rstrip()))
        return list(self._answer(rest.lstrip() if self._fresh and self._marked else rest))

    def _take(self, text: str) -> list[Segment]:
        if self._settled:
            return list(self._answer(text))
        self._buffer += text
        found: list[Segment] = []
        before = None
        while self._buffer and before != (state := (self._buffer, self.inside, self._fresh)):
            before = state
            found += self._step()
        return found

    def _step(self) -> Iterator[Segment]:
        if self.inside is not None:
            yield from self._think(self.inside)
        elif self._fresh:
            yield from self._begin()
        else:
            yield from self._speak()

    def _think(self, form: Form) -> Iterator[Segment]:
        spellings = self._marks.closings[form]
        at, mark = _first(self._buffer, spellings)
        if mark:
            text, self._buffer = self._buffer[:at], self._buffer[at + len(mark) :]
            yield from self._thought(text.rstrip())
            self.inside = None
            self._fresh = self._marked = True
            return
        sure = len(self._buffer) - _held(self._buffer, spellings)
        text = self._buffer[:sure].rstrip()
        self._buffer = self._buffer[len(text) :]
        yield from self._thought(text)

    def _begin(self) -> Iterator[Segment]:
        text = self._buffer.lstrip()
        opening = next((one for one in self._marks.openings if text.startswith(one)), None)
        other = next((one for one in self._marks.others if text.startswith(one)), None)
        if opening is not None:
            self._open(self._marks.openings[opening], text[len(opening) :])
        elif other is not None:
            self._marked, self._buffer = True, text[len(other) :]
        elif text and not _begins(text, (*self._marks.openings, *self._marks.others)):
            if _is_code(text[0]):
                self._buffer = text[1:]
                return
            self._fresh = False
            text = text if self._marked else self._buffer
            self._buffer = f"{_PARAGRAPH}{text}" if self._said else text
        yield from ()

    def _speak(self) -> Iterator[Segment]:
        at, mark = _first(self._buffer, self._marks.coded)
        if mark:
            text, rest = self._buffer[:at], self._buffer[at + len(mark) :]
            form = self._marks.openings.get(mark)
            if form is not None:
                self._open(form, rest)
            else:
                self._buffer = rest
        else:
            sure = len(self._buffer) - _held(self._buffer, self._marks.coded)
            text, self._buffer = self._buffer[:sure], self._buffer[sure:]
        yield from self._answer(text)

    def _open(self, form: Form, rest: str) -> None:
        self.inside, self._buffer = form, rest
        self._begun = False
        self._marked = True

    def _thought(self, text: str) -> Iterator[Segment]:
        text = text.translate(_NO_CODES)
        if not self._begun:
            text = text.lstrip()
        if text:
            self._begun = True
            yield Segment(text, thinking=True)

    def _answer(self, text: str) -> Iterator[Segment]:
        text = text.translate(_NO_CODES)
        if text:
            self._said = True
            yield Segment(text, thinking=False)


def _is_code(character: str) -> bool:
    return _FIRST_CODE <= ord(character) <= _LAST_CODE


def _first(text: str, marks: Iterable[str]) -> tuple[int, str]:
    """Where the first of the marks stands, and which it is; "" where none does."""
    found = [(at, mark) for mark in marks if (at := text.find(mark)) >= 0]
    return min(found, key=lambda one: (one[0], -len(one[1])), default=(0, ""))


def _begins(text: str, marks: Iterable[str]) -> bool:
    """Whether a mark may become of the text when more comes."""
    return any(mark.startswith(text) for mark in marks)


def _held(text: str, marks: Sequence[str]) -> int:
    """How many characters at the end may be the beginning of a mark."""
    longest = max(map(len, marks), default=1) - 1
    return next(
        (size for size in range(min(longest, len(text)), 0, -1) if _begins(text[-size:], marks)), 0
    )
