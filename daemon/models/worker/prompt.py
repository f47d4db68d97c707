"""Messages to the tokens of a prompt, each content apart from the template's own text.

Remembers what it tokenized, and the very tokens of each answer: an answer's text, tokenized anew,
often gives other tokens than were generated, and the cache would break at the first difference.
"""

import collections
from collections.abc import Sequence

from daemon.models.worker import template, vocabulary

REMEMBERED_TOKENS = 400_000


class Prompter:
    """Builds prompts for one model."""

    def __init__(self, words: vocabulary.Vocabulary, form: template.Template) -> None:
        self._words = words
        self._form = form
        self._begin = words.begin()
        self._contents: collections.OrderedDict[str, list[int]] = collections.OrderedDict()
        self._own: dict[str, list[int]] = {}
        self._remembered = 0

    def tokens(self, messages: Sequence[tuple[str, str]]) -> list[int]:
        """The prompt's tokens; it begins with the model's first token exactly once.

        Raises:
            template.TemplateError: the template cannot take these messages.
        """
        tokens: list[int] = []
        for run in self._form.render(messages):
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
        """Remember by which tokens a text was generated."""
        if any(self._words.steers(token) for token in tokens):
            return
        for form in {text, text.strip()}:
            self._forget(form)
            self._remember(form, tokens)

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
