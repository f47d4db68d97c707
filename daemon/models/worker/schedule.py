"""Who is in the next batch, and with how many tokens.

Pure. Every answer that is being written gets its next token in each batch. What is left of the
batch's time goes to prompts: the shortest rest first, so that a short question does not wait behind
a long document, but none is passed over more than PASSES times in a row. A batch is meant to last
TARGET_SECONDS, well under the 0.35 s that nobody should wait without a token.
"""

import dataclasses
from collections.abc import Sequence

TARGET_SECONDS = 0.22
FIRST_CHUNK_TOKENS = 32
LEAST_CHUNK_TOKENS = 8
PASSES = 4
_WEIGHT = 0.4


@dataclasses.dataclass(frozen=True, slots=True)
class Speed:
    """Measured seconds for a decode-only batch, and for each prompt token on top of it."""

    decode_seconds: float = 0.0
    prompt_token_seconds: float = 0.0

    def after(self, seconds: float, prompt_tokens: int, decode_tokens: int) -> "Speed":
        """The estimate after one more batch."""
        if not prompt_tokens:
            return Speed(_mix(self.decode_seconds, seconds), self.prompt_token_seconds)
        own = seconds - (self.decode_seconds if decode_tokens else 0.0)
        each = max(own, seconds / 10) / prompt_tokens
        return Speed(self.decode_seconds, _mix(self.prompt_token_seconds, each))

    def chunk_tokens(self, decoding: bool, most: int) -> int:
        """How many prompt tokens fit the next batch, at most `most`."""
        if not self.prompt_token_seconds:
            return min(FIRST_CHUNK_TOKENS, most)
        left = TARGET_SECONDS - (self.decode_seconds if decoding else 0.0)
        return max(LEAST_CHUNK_TOKENS, min(most, int(left / self.prompt_token_seconds)))


@dataclasses.dataclass(frozen=True, slots=True)
class Waiting:
    """A prompt with tokens left to compute, and how many batches it was passed over for others."""

    call: int
    left: int
    passed: int


def prefill(waiting: Sequence[Waiting], chunk: int) -> list[tuple[int, int]]:
    """The (call, tokens) of the next batch; `waiting` is in order of arrival.

    The first one gets all that it needs of the chunk. Others join only if they fit as a whole: a
    part of a long prompt would make the short one wait for it.
    """
    if not waiting:
        return []
    overdue = [prompt for prompt in waiting if prompt.passed >= PASSES]
    first = overdue[0] if overdue else min(waiting, key=lambda prompt: prompt.left)
    chosen = [(first.call, min(first.left, chunk))]
    room = chunk - chosen[0][1]
    for prompt in sorted(waiting, key=lambda prompt: prompt.left):
        if prompt.call != first.call and prompt.left <= room:
            chosen.append((prompt.call, prompt.left))
            room -= prompt.left
    return chosen


def admits(reserved: Sequence[int], wanted: int, places: int, cells: int) -> bool:
    """Whether one more generation that may grow to `wanted` tokens may start beside the others."""
    return len(reserved) < places and (not reserved or sum(reserved) + wanted <= cells)


def _mix(old: float, new: float) -> float:
    return new if not old else old + _WEIGHT * (new - old)
