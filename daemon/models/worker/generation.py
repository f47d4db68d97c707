"""One generation on its way: what is wanted, what is in memory, what was sent.

Holds state and counts; computes nothing native.
"""

import time

from daemon.models.worker import prefixes, protocol, reply, sampling


class Generation:
    """From the call's frame to its Done. `tokens` is the prompt and what came after it so far,
    thoughts and answer."""

    def __init__(
        self,
        call: int,
        prompt: list[int],
        sampler: sampling.Sampler,
        said: reply.Reply,
        limit: int,
        prefix: prefixes.Prefix | None = None,
    ) -> None:
        self.call = call
        self.tokens = list(prompt)
        self.prompt_tokens = len(prompt)
        self.limit = limit
        """The most tokens that it may grow to."""
        self.prefix = prefix
        self.reply = said
        self.sampler = sampler
        self.sequence: int | None = None
        self.resident = 0
        """How many of the tokens are in the sequence."""
        self.reused = 0
        self.passed = 0
        self.expected = 0
        """How many tokens were in the cache when it was admitted."""
        self.ahead = -1
        """How many were ahead of it when the host was last told."""
        self.cancelled = False
        self._received = self._admitted = self._first = time.monotonic()

    @property
    def answered(self) -> int:
        return len(self.tokens) - self.prompt_tokens

    @property
    def decoding(self) -> bool:
        """Whether exactly its newest token is left to compute."""
        return self.answered > 0 and self.resident == len(self.tokens) - 1

    def admit(self) -> None:
        """It has its place, and what is done from now on is done for it."""
        self._admitted = time.monotonic()

    def left(self) -> int:
        """How many tokens are to be computed before the next one can be chosen."""
        known = self.resident if self.sequence is not None else self.expected
        return len(self.tokens) - known

    def take(self, token: int) -> None:
        """Its next token was chosen."""
        if not self.answered:
            self._first = time.monotonic()
        self.tokens.append(token)

    def force(self, tokens: list[int]) -> None:
        """These tokens come next, whatever the model would choose."""
        self.tokens += tokens

    def restart(self) -> None:
        """The context was dropped: all is computed again, the text that was sent stays."""
        self.sequence = None
        self.resident = self.expected = 0

    def done(self, reason: protocol.EndReason) -> protocol.Done:
        now = time.monotonic()
        first = self._first if self.answered else now
        return protocol.Done(
            call=self.call,
            reason=reason,
            prompt_tokens=self.prompt_tokens,
            reused_tokens=self.reused,
            completion_tokens=self.answered,
            queued_ms=_milliseconds(self._admitted - self._received),
            prefill_ms=_milliseconds(first - self._admitted),
            decode_ms=_milliseconds(now - first),
        )


def _milliseconds(seconds: float) -> int:
    return max(0, round(seconds * 1000))
