"""Text to tokens and back, by the loaded model's vocabulary.

The one promise: `content` never gives a token that steers the model. Native tokenizers keep control
tokens out of plain text, but not those that a file calls "user defined", so those that the
template uses are kept out here.
"""

import ctypes
import re
from collections.abc import Iterable

from llama_cpp import llama_cpp

_PIECE_BYTES = 512
_SENTINEL = "\n"


class Vocabulary:
    """A view of the vocabulary; the pointer belongs to the engine and must outlive it."""

    def __init__(self, pointer: int) -> None:
        self._pointer = pointer
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self._ends = {
            token for token in range(self.size()) if llama_cpp.llama_vocab_is_eog(pointer, token)
        }
        attributes = [llama_cpp.llama_vocab_get_attr(pointer, t) for t in range(self.size())]
        control = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_UNKNOWN
        self.controls = {t for t, attribute in enumerate(attributes) if attribute & control}
        self._defined = {
            token
            for token, attribute in enumerate(attributes)
            if attribute & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
        }
        self._prefixes_space = llama_cpp.llama_vocab_type(pointer) == llama_cpp.LLAMA_VOCAB_TYPE_SPM
        self._steering = self.controls | (self._ends & self._defined)
        self._literals = self._pattern()

    def size(self) -> int:
        return int(llama_cpp.llama_vocab_n_tokens(self._pointer))

    def forbid(self, template: str, marks: Iterable[str]) -> None:
        """Keep the user-defined tokens that this template's text or these marks use out of
        contents."""
        used = {token for token in self._defined if self.text(token) in template}
        used |= self._defined & {token for mark in marks for token in self.own(mark, first=False)}
        self._steering = self._steering | used
        self._literals = self._pattern()

    def steers(self, token: int) -> bool:
        """Whether a content may not have this token."""
        return token in self._steering

    def ends(self, token: int) -> bool:
        """Whether the token ends a generation."""
        return token in self._ends

    def has_controls(self, *texts: str) -> bool:
        """Whether each text is exactly one control token."""
        return all(
            len(tokens := self.own(text)) == 1 and tokens[0] in self._steering for text in texts
        )

    def parts(self, mark: str, defined: bool) -> dict[int, str]:
        """The control tokens and, if wanted, the user-defined ones that a trusted text has, each
        with its own text."""
        special = self.controls | self._defined if defined else self.controls
        found = {token: self.text(token) for token in self.own(mark, first=False)}
        return {token: text for token, text in found.items() if token in special and text in mark}

    def begin(self) -> int | None:
        """The token that prompts of this model begin with, if they do."""
        if not llama_cpp.llama_vocab_get_add_bos(self._pointer):
            return None
        token = int(llama_cpp.llama_vocab_bos(self._pointer))
        return token if token >= 0 else None

    def begin_text(self) -> str:
        return self.text(int(llama_cpp.llama_vocab_bos(self._pointer)))

    def end_text(self) -> str:
        return self.text(int(llama_cpp.llama_vocab_eos(self._pointer)))

    def text(self, token: int) -> str:
        """The token's own text, as the file has it; "" for a token that is not."""
        if token < 0:
            return ""
        return bytes(llama_cpp.llama_vocab_get_text(self._pointer, token) or b"").decode(
            "utf-8", "replace"
        )

    def piece(self, token: int) -> bytes:
        """The bytes that the token stands for; none for a control token."""
        length = llama_cpp.llama_token_to_piece(
            self._pointer, token, self._buffer, _PIECE_BYTES, 0, False
        )
        if length < 0:
            return b""
        return self._buffer.raw[:length]

    def own(self, text: str, first: bool = True) -> list[int]:
        """Tokens of trusted text: literals of control tokens become those tokens."""
        return self._tokenize(text, special=True, first=first)

    def content(self, text: str, first: bool = False) -> list[int]:
        """Tokens of untrusted text: nothing in it becomes a token that steers the model."""
        tokens = self._tokenize(text, special=False, first=first)
        if self._steering.isdisjoint(tokens):
            return tokens
        parts: list[int] = []
        for part in self._literals.split(text):
            for half in (part[:1], part[1:]) if self._literals.fullmatch(part) else (part,):
                tokens = self._tokenize(half, special=False, first=first and not parts)
                parts += [token for token in tokens if token not in self._steering]
        return parts

    def _pattern(self) -> re.Pattern[str]:
        literals = sorted(filter(None, map(self.text, self._steering)), key=len, reverse=True)
        return re.compile(f"({'|'.join(map(re.escape, literals)) or '(?!)'})")

    def _tokenize(self, text: str, special: bool, first: bool) -> list[int]:
        """Sentencepiece puts a space before any text; behind a sentinel it does not."""
        if not text:
            return []
        if self._prefixes_space and not first:
            sentinel = self._call(_SENTINEL, special)
            tokens = self._call(_SENTINEL + text, special)
            if tokens[: len(sentinel)] == sentinel:
                return tokens[len(sentinel) :]
        return self._call(text, special)

    def _call(self, text: str, special: bool) -> list[int]:
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (llama_cpp.llama_token * room)()
            count = llama_cpp.llama_tokenize(
                self._pointer, data, len(data), buffer, room, False, special
            )
            if count >= 0:
                return list(buffer[:count])
            room = -count
