"""The prompt under a budget, over pieces that are already counted.

One system message, first, always the same bytes. When earlier exchanges do not all fit, the oldest
go in blocks: dropping one a turn would change the start of every prompt and waste the cache.
"""

from collections.abc import Sequence

from daemon.domain import inputs, messages

_MESSAGE_OVERHEAD_TOKENS = 8
"""What a template adds around one message, at the most."""
_DROP_BLOCK_PIECES = 16


def _cost(pieces: tuple[inputs.Piece, ...]) -> int:
    return sum(piece.tokens + _MESSAGE_OVERHEAD_TOKENS for piece in pieces)


def bound_tokens(text: str) -> int:
    """At least as many tokens as any tokenizer makes of a text: one a byte."""
    return len(text.encode())


def surely_fits(texts: Sequence[str], context_tokens: int) -> bool:
    """Whether texts fit whatever their tokens are, so that nobody need count them.

    An answer never has more than half of the context.
    """
    bound = sum(bound_tokens(text) + _MESSAGE_OVERHEAD_TOKENS for text in texts)
    return bound <= context_tokens // 2


def answer_budget(context_tokens: int, wanted_tokens: int) -> int:
    """How many tokens the answer may have: what is wanted, at most half of the context."""
    return max(1, min(wanted_tokens, context_tokens // 2))


def compose(
    system: str, gathered: inputs.ContextGathered, answer_tokens: int, shrinks: int
) -> tuple[messages.Message, ...]:
    """The messages of a model call. Each shrink halves what earlier exchanges may take."""
    room = gathered.context_tokens - answer_tokens - gathered.system_tokens
    room -= _MESSAGE_OVERHEAD_TOKENS + _cost(gathered.turn)
    room >>= shrinks
    history = gathered.history
    while history and _cost(history) > room:
        history = history[_DROP_BLOCK_PIECES:]
    said = (*history, *gathered.turn)
    return (
        messages.Message(speaker="system", content=system),
        *(messages.Message(speaker=piece.speaker, content=piece.text) for piece in said),
    )
