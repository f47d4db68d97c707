"""Messages to the tokens of a prompt, each content apart from the template's own text.

Remembers what it tokenized, and the very tokens of each answer: an answer's text, tokenized anew,
often gives other tokens than were generated, and the cache would break at the first difference.
Thoughts are none of it: no later prompt has them.

Thinking is turned on and off here: by the template's own switch; where it has none, a thought is
closed before it began.
"""

import collections
import dataclasses
from collections.abc import Sequence

from daemon.models.worker import template, thoughts, vocabulary

REMEMBERED_TOKENS = 400_000


@dataclasses.dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's tokens, and the thought that its end leaves open."""

    tokens: list[int]
    inside: thoughts.Form | None


class Prompter:
    """Builds prompts for one model."""

    def __init__(self, words: vocabulary.Vocabulary, form: template.Template) -> None:
        self._words = words
        self._form = form
        self._thoughts = thoughts.opened_by(form.beginning) or thoughts.used_by(form.source)
        self._begin = words.begin()
        self._contents: collections.OrderedDict[str, list[int]] = collections.OrderedDict()
        self._own: dict[str, list[int]] = {}
        self._remembered = 0

    @property
    def notes(self) -> list[str]:
        """What the template cannot do about thinking, each a sentence."""
        form = self._form
        notes = []
        if self._thoughts is not None and not form.switch:
            notes.append(
                "The chat template cannot turn thinking off; an empty thought is put before the "
                "answer instead."
            )
        if form.switches_early:
            notes.append(
                "The chat template turns thinking off at the beginning of a prompt; prompts with "
                "and without thinking share no cache."
            )
        return notes

    def prompt(
        self, messages: Sequence[tuple[str, str]], thinks: bool = False, opens: bool = False
    ) -> Prompt:
        """The prompt; it begins with the model's first token exactly once.

        With `opens` a thought is open at its end wherever the model `thinks`.

        Raises:
            template.TemplateError: the template cannot take these messages.
        """
        runs = self._form.render(messages, thinks)
        end = runs[-1].text if runs and runs[-1].own else ""
        inside = thoughts.opened_by(end)
        more, left = self._turned(inside, thinks, opens)
        if more:
            runs.append(template.Run(more, own=True))
        return Prompt(self._tokens(template.joined(runs)), left)

    def fixed(self, text: str, thinks: bool = False) -> list[int]:
        """How a prompt begins whose first message, the system's, begins with the text.

        A prompt may go on otherwise at its very end, where a token spans what follows.
        """
        try:
            runs = self._form.render((("system", text), ("user", "")), thinks)
        except template.TemplateError:
            return []
        told = next((at for at, run in enumerate(runs) if not run.own), None)
        return [] if told is None else self._tokens(template.joined(runs[: told + 1]))

    def _turned(
        self, inside: thoughts.Form | None, thinks: bool, opens: bool
    ) -> tuple[str, thoughts.Form | None]:
        """What a prompt's end wants to turn thinking on or off, and the thought then open."""
        form = self._thoughts
        if thinks and opens and inside is None and form is not None:
            return form.opening + form.inside, form
        if thinks:
            return "", inside
        if inside is not None:
            return inside.close, None
        if form is not None and not self._form.switch:
            return form.empty, None
        return "", None

    def _tokens(self, runs: Sequence[template.Run]) -> list[int]:
        tokens: list[int] = []
        for run in runs:
            if run.own:
                tokens += self._template_text(run.text, first=not tokens)
            else:
                tokens += self.content(run.text)
        if self._begin is not None and tokens[:1] != [self._begin]:
            tokens.insert(0, self._begin)
        return tokens

    def content(self, text: str) -> list[int]:
        """The tokens of one content."""
        known = self._contents.get(text)
        if known is not None:
            self._contents.move_to_end(text)
            return known
        tokens = self._words.content(text)
        self._remember(text, tokens)
        return tokens

    def answered(self, text: str, tokens: list[int]) -> None:
        """Remember by which tokens, the last of those given, an answer was generated."""
        tokens = self._last(text, tokens)
        if not tokens or any(self._words.steers(token) for token in tokens):
            return
        for form in {text, text.strip()}:
            self._forget(form)
            self._remember(form, tokens)

    def _last(self, text: str, tokens: list[int]) -> list[int]:
        """The last tokens that are exactly the text; none where a token is only in part."""
        pieces: list[bytes] = []
        left = len(data := text.encode("utf-8", "replace"))
        while left > 0 and len(pieces) < len(tokens):
            pieces.append(self._words.piece(tokens[-len(pieces) - 1]))
            left -= len(pieces[-1])
        exact = left == 0 and b"".join(reversed(pieces)) == data
        return tokens[-len(pieces) :] if exact and pieces else []

    def _template_text(self, text: str, first: bool) -> list[int]:
        """A template has few texts of its own, but its dates would pile up over months."""
        key = text if first else f"\0{text}"
        if key not in self._own:
            if len(self._own) >= 256:
                self._own.clear()
            self._own[key] = self._words.own(text, first)
        return self._own[key]

    def _remember(self, text: str, tokens: list[int]) -> None:
        self._contents[text] = tokens
        self._remembered += len(tokens)
        while self._remembered > REMEMBERED_TOKENS and len(self._contents) > 1:
            self._forget(next(iter(self._contents)))

    def _forget(self, text: str) -> None:
        tokens = self._contents.pop(text, None)
        if tokens is not None:
            self._remembered -= len(tokens)
