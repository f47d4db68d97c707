"""The yardstick of `overhead`: llama.cpp's low-level API in a loop, with nothing around it.

A process of its own: questions come in as JSON lines, measurements go out as JSON lines. It reuses
the common start of the prompt before, decodes greedily, and does no work on the text.
"""

import json
import sys
import time

from llama_cpp import llama_cpp


class Raw:
    """One model, one context, one sequence."""

    def __init__(self, path: str, context_tokens: int, threads: int) -> None:
        llama_cpp.llama_backend_init()
        self._quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self._quiet, None)
        parameters = llama_cpp.llama_model_default_params()
        self._model = llama_cpp.llama_model_load_from_file(path.encode(), parameters)
        chosen = llama_cpp.llama_context_default_params()
        chosen.n_ctx = context_tokens
        chosen.n_threads = chosen.n_threads_batch = threads
        chosen.no_perf = True
        self._context = llama_cpp.llama_init_from_model(self._model, chosen)
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        chain = llama_cpp.llama_sampler_chain_default_params()
        self._sampler = llama_cpp.llama_sampler_chain_init(chain)
        llama_cpp.llama_sampler_chain_add(self._sampler, llama_cpp.llama_sampler_init_greedy())
        self._resident: list[int] = []

    def _tokens(self, text: str) -> list[int]:
        data = text.encode()
        buffer = (llama_cpp.llama_token * (len(data) + 8))()
        count = llama_cpp.llama_tokenize(
            self._vocabulary, data, len(data), buffer, len(buffer), False, True
        )
        return list(buffer[:count])

    def _decode(self, tokens: list[int]) -> None:
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        if llama_cpp.llama_decode(self._context, batch) != 0:
            raise RuntimeError("llama_decode failed")

    def answer(self, text: str, most_tokens: int) -> dict[str, float]:
        """Generate one answer; seconds to its first token, and tokens a second after it."""
        began = time.perf_counter()
        tokens = self._tokens(text)
        shared = 0
        for old, new in zip(self._resident, tokens[:-1], strict=False):
            if old != new:
                break
            shared += 1
        memory = llama_cpp.llama_get_memory(self._context)
        llama_cpp.llama_memory_seq_rm(memory, 0, shared, -1)
        self._decode(tokens[shared:])
        token = llama_cpp.llama_sampler_sample(self._sampler, self._context, -1)
        first = time.perf_counter()
        made = 1
        self._resident = list(tokens)
        while made < most_tokens and not llama_cpp.llama_vocab_is_eog(self._vocabulary, token):
            self._resident.append(token)
            self._decode([token])
            token = llama_cpp.llama_sampler_sample(self._sampler, self._context, -1)
            made += 1
        rate = (made - 1) / (time.perf_counter() - first)
        return {"first_seconds": first - began, "rate": rate, "tokens": made}


def main() -> None:
    """Answer questions until standard input ends."""
    path, context_tokens, threads = sys.argv[1:4]
    raw = Raw(path, int(context_tokens), int(threads))
    for line in sys.stdin:
        question = json.loads(line)
        answered = raw.answer(question["text"], question["most_tokens"])
        sys.stdout.write(json.dumps(answered) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
