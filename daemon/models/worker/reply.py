"""What becomes of the tokens that a model generates: its answer, its thoughts, and their ends.

Pure. Thoughts have a budget of their own; one that is used up is closed by force, and the answer
goes on. A schema binds the answer alone: while it is open whether a thought comes, or one is not
over, the next token is free.
"""

import codecs
import dataclasses
from collections.abc import Iterator

from daemon.models.worker import pieces, thoughts

MARK_TOKENS = 48
"""What marks that are added by force may take, beside both budgets."""
_CLOSES = 2
"""A thought that is begun again after so many were closed counts as answer, so that it ends."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """How many tokens a reply may have, and whether a grammar binds its answer."""

    answer_tokens: int
    thinking_tokens: int
    grammar: bool


class Reply:
    """One reply as it grows. `inside` is the thought that the prompt leaves open."""

    def __init__(
        self, marks: thoughts.Marks, bounds: Bounds, inside: thoughts.Form | None = None
    ) -> None:
        self._bounds = bounds
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = thoughts.Splitter(marks, inside)
        self._thoughts, self._answer = pieces.Pieces(), pieces.Pieces()
        self._thinking_tokens = self._answer_tokens = 0
        self._undecided_tokens = 0
        self._closes = 0
        self.bound = bounds.grammar and inside is None
        """Whether the grammar binds the next token."""
        if self.bound:
            self._splitter.settle()

    @property
    def full(self) -> bool:
        """Whether the answer has all the tokens that it may have."""
        return self._answer_tokens >= self._bounds.answer_tokens and not self._splitter.undecided

    @property
    def must_answer(self) -> bool:
        """Whether the model may not end here: a grammar was asked for, and only thoughts came."""
        return self._bounds.grammar and not self.bound

    @property
    def answer(self) -> str:
        """The answer, as far as it was given out."""
        return self._answer.text()

    def take(self, data: bytes, code: str = "") -> str:
        """Take a token: its bytes or, where it is part of marks, its code. Returns the text that
        must follow it, or ""."""
        before = self._splitter.inside
        if code:
            self._add(self._splitter.feed(self._decoder.decode(b"", final=True)))
            self._add(self._splitter.feed_code(code))
        else:
            self._add(self._splitter.feed(self._decoder.decode(data)))
        inside = self._splitter.inside
        self._count(thinking=before is not None or inside is not None)
        if self.must_answer and before is not None and inside is None:
            self._bind()
            return before.after if before.after.strip() else ""
        if inside is not None and self._used_up:
            return self.close()
        return ""

    def close(self) -> str:
        """End an open thought by force; returns the text that does it."""
        form = self._splitter.inside
        assert form is not None, "only an open thought is closed"
        self._closes += 1
        self._decoder.reset()
        self._splitter.close()
        if self.must_answer:
            self._bind()
        return form.close

    def due(self, now: float, next_in: float) -> Iterator[thoughts.Segment]:
        """What should be sent now; `now` and `next_in` as for `pieces.Pieces.due`."""
        yield from _segments(
            self._thoughts.due(now, next_in) if not self._answers else self._thoughts.finish(),
            self._answer.due(now, next_in),
        )

    def finish(self) -> Iterator[thoughts.Segment]:
        """All that is left; a character that was never completed becomes U+FFFD."""
        self._add(self._splitter.feed(self._decoder.decode(b"", final=True)))
        self._add(self._splitter.finish())
        yield from _segments(self._thoughts.finish(), self._answer.finish())

    @property
    def _used_up(self) -> bool:
        return self._thinking_tokens >= self._bounds.thinking_tokens and self._closes < _CLOSES

    @property
    def _answers(self) -> bool:
        return self._splitter.inside is None

    def _bind(self) -> None:
        self._decoder.reset()
        self._splitter.settle()
        self.bound = True

    def _add(self, segments: list[thoughts.Segment]) -> None:
        """While a grammar waits for a thought's end, text beside it is nobody's."""
        for segment in segments:
            if segment.thinking:
                self._thoughts.add(segment.text)
            elif not self.must_answer:
                self._answer.add(segment.text)

    def _count(self, thinking: bool) -> None:
        """A mark counts when it is known to be one, and then not as answer."""
        self._undecided_tokens += 1
        if self._splitter.undecided:
            return
        if (thinking and self._closes < _CLOSES) or self._splitter.between:
            self._thinking_tokens += self._undecided_tokens
        else:
            self._answer_tokens += self._undecided_tokens
        self._undecided_tokens = 0


def _segments(thought: str, answer: str) -> Iterator[thoughts.Segment]:
    if thought:
        yield thoughts.Segment(thought, thinking=True)
    if answer:
        yield thoughts.Segment(answer, thinking=False)
