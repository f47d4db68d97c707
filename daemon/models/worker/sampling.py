"""One request's sampler chain, and how its next token is chosen.

With a grammar the token is chosen freely first and then checked alone; only where the grammar
refuses it is the whole vocabulary filtered. That is quicker by far, and nothing is ever accepted
that the grammar has not passed: native code aborts on a token it does not expect.
"""

import ctypes
import dataclasses
import math

import numpy as np
from llama_cpp import llama_cpp

_PENALTY_TOKENS = 64
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class GrammarError(Exception):
    """The grammar cannot be used, or leaves no token; `str(error)` is one sentence."""


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """How tokens are chosen; temperature 0 is greedy and the rest is then unused."""

    temperature: float
    top_p: float
    top_k: int
    min_p: float
    repeat_penalty: float
    seed: int


class Sampler:
    """Owns native samplers; `close` frees them.

    Raises:
        GrammarError: native code refuses the grammar.
    """

    def __init__(self, vocabulary: int, size: int, choice: Choice, grammar: str | None) -> None:
        self._vocabulary = vocabulary
        self._size = size
        self._grammar = None
        if grammar is not None:
            self._grammar = llama_cpp.llama_sampler_init_grammar(
                vocabulary, grammar.encode(), b"root"
            )
            if not self._grammar:
                raise GrammarError("The schema makes no grammar that llama.cpp can use.")
        self._chain = _chain(size, choice)
        self._greedy = choice.temperature == 0
        self._candidates = np.zeros(size if grammar is not None else 1, _CANDIDATE)
        self._ids = np.arange(len(self._candidates), dtype=np.int32)

    def next(self, context: int, row: int, bound: bool = True) -> int:
        """Choose and accept the token that follows the batch's `row`; one that is not `bound` is
        none of the grammar's."""
        bound = bound and self._grammar is not None
        if not bound and not self._greedy:
            return int(llama_cpp.llama_sampler_sample(self._chain, context, row))
        pointer = llama_cpp.llama_get_logits_ith(context, row)
        logits = np.ctypeslib.as_array(pointer, (self._size,))
        token = self._free(logits)
        if not bound:
            return token
        if not self._allows(token):
            token = self._bounded(logits)
        llama_cpp.llama_sampler_accept(self._grammar, token)
        llama_cpp.llama_sampler_accept(self._chain, token)
        return token

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._chain)
        if self._grammar:
            llama_cpp.llama_sampler_free(self._grammar)
        self._grammar = None

    def _free(self, logits: np.ndarray) -> int:
        if self._greedy:
            return int(logits.argmax())
        self._fill(logits)
        return self._apply(self._chain, self._candidates)

    def _allows(self, token: int) -> bool:
        one = np.array([(token, 1.0, 0.0)], _CANDIDATE)
        self._apply(self._grammar, one)
        return math.isfinite(one["logit"][0])

    def _bounded(self, logits: np.ndarray) -> int:
        self._fill(logits)
        self._apply(self._grammar, self._candidates)
        if not np.isfinite(self._candidates["logit"]).any():
            raise GrammarError("The schema leaves no token that the model could go on with.")
        if self._greedy:
            return int(self._candidates["logit"].argmax())
        return self._apply(self._chain, self._candidates)

    def _fill(self, logits: np.ndarray) -> None:
        self._candidates["id"] = self._ids
        self._candidates["logit"] = logits

    def _apply(self, sampler: object, candidates: np.ndarray) -> int:
        """Run a sampler over candidates, in place; the token that it selected, or -1."""
        data = ctypes.cast(candidates.ctypes.data, llama_cpp.llama_token_data_p)
        array = llama_cpp.llama_token_data_array(data, len(candidates), -1, False)
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
        return int(array.data[array.selected].id) if array.selected >= 0 else -1


def _chain(size: int, choice: Choice) -> object:
    parameters = llama_cpp.llama_sampler_chain_default_params()
    parameters.no_perf = True
    chain = llama_cpp.llama_sampler_chain_init(parameters)
    if choice.temperature == 0:
        stages = [llama_cpp.llama_sampler_init_greedy()]
    else:
        stages = [
            llama_cpp.llama_sampler_init_top_k(choice.top_k) if choice.top_k else None,
            llama_cpp.llama_sampler_init_top_p(choice.top_p, 1) if choice.top_p < 1 else None,
            llama_cpp.llama_sampler_init_min_p(choice.min_p, 1) if choice.min_p else None,
            llama_cpp.llama_sampler_init_temp(choice.temperature),
            llama_cpp.llama_sampler_init_dist(choice.seed),
        ]
        if choice.repeat_penalty != 1:
            penalty = llama_cpp.llama_sampler_init_penalties(
                size, _PENALTY_TOKENS, choice.repeat_penalty, 0.0, 0.0
            )
            stages.insert(0, penalty)
    for stage in stages:
        if stage is not None:
            llama_cpp.llama_sampler_chain_add(chain, stage)
    return chain
