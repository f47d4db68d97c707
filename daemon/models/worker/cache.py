"""The sequences of the context: what each holds, and the native effects that keep it so.

Keeps `residence`'s facts true: a sequence's tokens here are always those in native memory.
"""

from daemon.models.worker import engine, residence


class Cache:
    """All sequences of one engine."""

    def __init__(self, native: engine.Engine, sequences: int) -> None:
        self._native = native
        self._tokens: list[list[int]] = [[] for _ in range(sequences)]
        self._busy = [False] * sequences
        self._used = [0] * sequences
        self._clock = 0
        self.trims = native.trims

    def expected(self, prompt: list[int]) -> int:
        """How many tokens of a prompt would not be computed again."""
        return residence.choose(prompt, self._residents(), self.trims).keep

    def place(self, prompt: list[int]) -> tuple[int, int]:
        """Take a sequence for a prompt: its number, and how many tokens are there already."""
        choice = residence.choose(prompt, self._residents(), self.trims)
        sequence, keep = choice.sequence, choice.keep
        if choice.source is not None:
            self._native.clear(sequence)
            self._native.copy(choice.source, sequence, keep)
            self._tokens[sequence] = self._tokens[choice.source][:keep]
        elif keep < len(self._tokens[sequence]):
            if not self._native.trim(sequence, keep):
                self.trims = False
                self._native.clear(sequence)
                keep = 0
            del self._tokens[sequence][keep:]
        self._busy[sequence] = True
        self._touch(sequence)
        return sequence, keep

    def extend(self, sequence: int, tokens: list[int]) -> None:
        """These tokens were computed into the sequence."""
        self._tokens[sequence] += tokens

    def release(self, sequence: int) -> None:
        """Its generation ended; what it holds stays for the next prompt."""
        self._busy[sequence] = False
        self._touch(sequence)

    def evict(self) -> bool:
        """Drop the idle sequence that is worth least; False where there is none."""
        sequence = residence.to_evict(self._residents())
        if sequence is None:
            return False
        self._native.clear(sequence)
        self._tokens[sequence] = []
        return True

    def forget(self) -> None:
        """The context was made anew: nothing is in any sequence."""
        for sequence in range(len(self._tokens)):
            self._tokens[sequence] = []
            self._busy[sequence] = False

    def _touch(self, sequence: int) -> None:
        self._clock += 1
        self._used[sequence] = self._clock

    def _residents(self) -> list[residence.Resident]:
        return [
            residence.Resident(sequence, tokens, self._busy[sequence], self._used[sequence])
            for sequence, tokens in enumerate(self._tokens)
        ]
