"""The step of continuous batching: plan a batch, compute it, choose each generation's next token.

One batch mixes the next token of every answer with a chunk of a prompt. Whatever fails in a batch
fails the generations in it and drops the context; the others are computed again.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from daemon.models.worker import (
    cache,
    engine,
    generation,
    protocol,
    sampling,
    schedule,
    thoughts,
    vocabulary as vocabularies,
)

_Chosen = list[tuple[generation.Generation, int]]


class Batcher:
    """Serves the active generations; `send` takes what goes to the host, `ended` those that end.

    `codes` are those of the tokens that are parts of marks.
    """

    def __init__(
        self,
        native: engine.Engine,
        words: vocabularies.Vocabulary,
        codes: Mapping[int, str],
        sequences: int,
        send: Callable[[protocol.FromWorker], None],
        ended: Callable[[generation.Generation], None],
    ) -> None:
        self._native = native
        self._words = words
        self._codes = codes
        self._send = send
        self._ended = ended
        self._speed = schedule.Speed()
        self.cache = cache.Cache(native, sequences)
        self.active: dict[int, generation.Generation] = {}
        self.steps = 0
        self.batch_calls: frozenset[int] = frozenset()
        """The calls in the batch that is being computed, and since when; read by the ticker."""
        self.batch_since = 0.0

    def admit(self, new: generation.Generation) -> None:
        new.expected = self.cache.expected(new.tokens)
        self.active[new.call] = new

    def warm_up(self) -> None:
        """Compute a few tokens and forget them: pages the weights in, and measures."""
        sequence = 0
        for count, decoding in ((16, 0), (1, 1), (1, 1)):
            started = time.monotonic()
            rows = [engine.Row(0, at, sequence, at == count - 1) for at in range(count)]
            if self._native.decode(rows) != engine.DECODED:
                self._native.renew()
                return
            self._native.clear(sequence)
            seconds = time.monotonic() - started
            self._speed = self._speed.after(seconds, 0 if decoding else count, decoding)

    def step(self) -> None:
        """Compute one batch. There must be an active generation."""
        for cancelled in [g for g in self.active.values() if g.cancelled]:
            self._finish(cancelled, "cancelled")
        chosen = self._plan()
        if not chosen:
            return
        started = time.monotonic()
        self.batch_since, self.batch_calls = started, frozenset(g.call for g, _ in chosen)
        code = self._compute(chosen)
        self.batch_calls = frozenset()
        self.steps += 1
        if code != engine.DECODED:
            self._broken(chosen, code)
            return
        self._measure(chosen, time.monotonic() - started)
        self._advance(chosen)

    def _plan(self) -> _Chosen:
        decoding = [g for g in self.active.values() if g.decoding]
        prompts = [g for g in self.active.values() if not g.decoding]
        if not prompts:
            return [(g, 1) for g in decoding]
        chunk = self._speed.chunk_tokens(bool(decoding), engine.BATCH_TOKENS - len(decoding))
        waiting = [schedule.Waiting(g.call, g.left(), g.passed) for g in prompts]
        picked = dict(schedule.prefill(waiting, chunk))
        chosen = [(g, 1) for g in decoding]
        for prompt in prompts:
            if prompt.call not in picked:
                prompt.passed += 1
                continue
            prompt.passed = 0
            if prompt.sequence is None:
                prompt.sequence, prompt.resident = self.cache.place(prompt.tokens)
                prompt.reused = min(prompt.resident, prompt.prompt_tokens)
            chosen.append((prompt, min(picked[prompt.call], prompt.left())))
        return chosen

    def _compute(self, chosen: _Chosen) -> int:
        rows = []
        for one, count in chosen:
            end = one.resident + count
            sequence = one.sequence
            assert sequence is not None
            rows += [
                engine.Row(one.tokens[at], at, sequence, at == len(one.tokens) - 1)
                for at in range(one.resident, end)
            ]
        code = self._native.decode(rows)
        while code == engine.NO_ROOM and self.cache.evict():
            code = self._native.decode(rows)
        return code

    def _advance(self, chosen: _Chosen) -> None:
        row = -1
        for one, count in chosen:
            assert one.sequence is not None
            row += count
            before, one.resident = one.resident, one.resident + count
            self.cache.extend(one.sequence, one.tokens[before : one.resident])
            if one.resident < len(one.tokens):
                if not one.answered:
                    self._send(protocol.Prefill(one.call, one.resident, one.prompt_tokens))
                continue
            try:
                token = one.sampler.next(self._native.context, row, one.reply.bound)
            except sampling.GrammarError as error:
                self._fail(one, "rejected", str(error))
                continue
            self._take(one, token)

    def _take(self, one: generation.Generation, token: int) -> None:
        if not self._words.ends(token):
            one.take(token)
            forced = one.reply.take(self._words.piece(token), self._codes.get(token, ""))
        elif one.reply.must_answer:
            forced = one.reply.close()
        else:
            self._finish(one, "stop")
            return
        one.force(self._words.own(forced, first=False))
        if one.reply.full or len(one.tokens) >= one.limit:
            self._finish(one, "length")
            return
        self._tell(one, one.reply.due(time.monotonic(), self._speed.decode_seconds))

    def _tell(self, one: generation.Generation, said: Iterable[thoughts.Segment]) -> None:
        for segment in said:
            self._send(protocol.Piece(one.call, segment.text, segment.thinking))

    def _measure(self, chosen: _Chosen, seconds: float) -> None:
        decoding = sum(g.decoding for g, _ in chosen)
        prompt = sum(count for g, count in chosen if not g.decoding)
        self._speed = self._speed.after(seconds, prompt, decoding)

    def _broken(self, chosen: _Chosen, code: int) -> None:
        """Drop the context; end those in the batch, compute the others again."""
        self._native.renew()
        self.cache.forget()
        for one, _ in chosen:
            one.sequence = None
            if one.cancelled:
                self._finish(one, "cancelled")
            elif code != engine.ABORTED:
                self._fail(one, "broken", f"The model could not compute a batch (code {code}).")
        for one in self.active.values():
            one.restart()

    def _finish(self, one: generation.Generation, reason: protocol.EndReason) -> None:
        self._tell(one, one.reply.finish())
        self._leave(one)
        self._send(one.done(reason))
        self._ended(one)

    def _fail(self, one: generation.Generation, kind: protocol.FailureKind, message: str) -> None:
        self._leave(one)
        self._send(protocol.Failed(one.call, kind, message))

    def _leave(self, one: generation.Generation) -> None:
        del self.active[one.call]
        if one.sequence is not None:
            self.cache.release(one.sequence)
        one.sampler.close()
