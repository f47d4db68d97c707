"""The prompt under a budget, over pieces that are already counted.

One system message, first: the fixed part, always the same bytes, then the summary of what is not
told any more. When not all fits, old results are told in fewer words, then the oldest exchanges go;
both in large blocks, because to drop a little every turn would change the start of every prompt and
waste the cache. What is being answered now is never shortened: what does not fit is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from daemon.domain import inputs, messages

_MESSAGE_OVERHEAD_TOKENS = 8
"""What a template adds around one message, at the most."""
_DROP_BLOCK_EXCHANGES = 8
_KEPT_EXCHANGES = 2
"""How many of the last exchanges are never summarized."""
_SUMMARY_SHARE = 8
"""A summary has at most this part of the context."""
_MOST_SUMMARY_TOKENS = 512
_LEAST_ANSWER_SHARE = 8
"""An answer has at least this part of the context, where what is told leaves no more."""
_RESULT_EIGHTHS = 5
"""One result has at most these eighths of the context."""
_SHORT_CHARS = 240
_LEFT_OUT = "\n… {chars} characters left out …\n"
SUMMARY = "\n\nSummary of what was said before:\n"

_Pieces = tuple[inputs.Piece, ...]
_Messages = tuple[messages.Message, ...]


@dataclass(frozen=True)
class TooLong:
    """What has to be told does not fit, whatever is left out; both in tokens."""

    needed: int
    limit: int


@dataclass(frozen=True)
class ToSummarize:
    """The messages that ask for a summary up to an exchange, and how long that may be."""

    messages: _Messages
    tokens: int
    up_to_seq: int


def _cost(pieces: Sequence[inputs.Piece]) -> int:
    return sum([piece.tokens for piece in pieces]) + _MESSAGE_OVERHEAD_TOKENS * len(pieces)


def bound_tokens(text: str) -> int:
    """At least as many tokens as any tokenizer makes of a text: one a byte."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def surely_fits(bounds: Sequence[int], context_tokens: int) -> bool:
    """Whether texts fit whatever their tokens are, so that nobody need count them; `bounds` are
    theirs.

    An answer never has more than half of the context.
    """
    return sum(bounds) + _MESSAGE_OVERHEAD_TOKENS * len(bounds) <= context_tokens // 2


def answer_budget(context_tokens: int, wanted_tokens: int) -> int:
    """How many tokens the answer may have: what is wanted, at most half of the context."""
    return max(1, min(wanted_tokens, context_tokens // 2))


def least_answer(context_tokens: int, tokens: int) -> int:
    """How few tokens an answer may have so that more can be told; `tokens` is what it should."""
    return max(1, min(tokens, context_tokens // _LEAST_ANSWER_SHARE))


def result_chars(limit_chars: int, context_tokens: int) -> int:
    """How many characters of one tool's result are told: in a small context fewer than the limit.

    In lists of numbers each character is a token; what is left beside one holds the fixed part and
    an answer.
    """
    return min(limit_chars, context_tokens * _RESULT_EIGHTHS // 8)


def compose(
    system: str, gathered: inputs.ContextGathered, answer_tokens: int, shrinks: int
) -> _Messages | TooLong:
    """The messages of a model call. Each shrink halves what earlier exchanges may take."""
    room = gathered.context_tokens - answer_tokens - _fixed(gathered)
    turn = gathered.turn
    cost = _cost(turn)
    if cost > room:
        turn = _shortened(turn)
        cost = _cost(turn)
    if cost > room:
        return TooLong(gathered.context_tokens - room + cost, gathered.context_tokens)
    room = (room - cost) >> shrinks
    history = gathered.history
    if _cost(history) > room:
        history = _shortened(history)
    while history and _cost(history) > room:
        history = _without_oldest(history)
    return (_system(system, gathered.summary), *_told(history), *_told(turn))


def to_summarize(
    system: str, gathered: inputs.ContextGathered, prompt: str, forced: bool
) -> ToSummarize | None:
    """What of the history is to be summarized now, or None when it need not be; `prompt` asks.

    Unless forced, only when it takes more than half of the context. The last exchanges stay.
    """
    limit = gathered.context_tokens
    if not forced and _cost(gathered.history) + _fixed(gathered) <= limit // 2:
        return None
    exchanges = [tuple(pieces) for _, pieces in groupby(gathered.history, lambda one: one.seq)]
    kept = 0 if forced else _KEPT_EXCHANGES
    exchanges = exchanges[: len(exchanges) - kept]
    tokens = max(1, min(_MOST_SUMMARY_TOKENS, limit // _SUMMARY_SHARE))
    room = limit - tokens - _fixed(gathered) - bound_tokens(prompt) - _MESSAGE_OVERHEAD_TOKENS
    taken: list[inputs.Piece] = []
    for exchange in exchanges:
        pieces = exchange if _cost(exchange) <= room else _shortened(exchange)
        if _cost(taken) + _cost(pieces) > room:
            break
        taken += pieces
    if not taken:
        return None
    asking = messages.Message(speaker="user", content=prompt)
    said = (_system(system, gathered.summary), *_told(taken), asking)
    return ToSummarize(messages=said, tokens=tokens, up_to_seq=taken[-1].seq)


def _fixed(gathered: inputs.ContextGathered) -> int:
    summary = 0
    if gathered.summary is not None:
        summary = gathered.summary.tokens + bound_tokens(SUMMARY)
    return gathered.system_tokens + summary + 2 * _MESSAGE_OVERHEAD_TOKENS


def _system(system: str, summary: inputs.Piece | None) -> messages.Message:
    told = "" if summary is None else SUMMARY + summary.text
    return messages.Message(speaker="system", content=system + told)


def _told(pieces: Sequence[inputs.Piece]) -> _Messages:
    return tuple([messages.Message(one.speaker, one.text) for one in pieces])


def _without_oldest(history: _Pieces) -> _Pieces:
    seqs = list(dict.fromkeys(piece.seq for piece in history))
    gone = frozenset(seqs[:_DROP_BLOCK_EXCHANGES])
    return tuple(piece for piece in history if piece.seq not in gone)


def _shortened(pieces: _Pieces) -> _Pieces:
    """All that may be told in fewer words, in fewer words."""
    return tuple(_short(piece) if piece.shortens else piece for piece in pieces)


def _short(piece: inputs.Piece) -> inputs.Piece:
    left = len(piece.text) - 2 * _SHORT_CHARS
    if left <= len(_LEFT_OUT):
        return piece
    note = _LEFT_OUT.replace("{chars}", str(left))
    text = piece.text[:_SHORT_CHARS] + note + piece.text[-_SHORT_CHARS:]
    return replace(piece, text=text, tokens=min(piece.tokens, bound_tokens(text)))
