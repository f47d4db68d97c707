"""The sequences of the context: what each holds, and the native effects that keep it so.

Keeps `residence`'s facts true: a sequence's tokens here are always those that were computed for it.

An answer is slowed by every other token in the context, so what is only remembered is parked: its
state is copied to the process's own memory when another prompt comes, and back when it is wanted.
That costs milliseconds; computing it anew would cost seconds. The copy is made beforehand, when
there is nothing to do, so that the other prompt need not wait for it.
"""

from collections.abc import Sequence

from daemon.models.worker import engine, residence

PARKED_BYTES = 256 * 1024 * 1024
"""What copies may take; beyond it the parked sequences used longest ago are forgotten."""


class Cache:
    """All sequences of one engine."""

    def __init__(
        self, native: engine.Engine, sequences: int, parked_bytes: int = PARKED_BYTES
    ) -> None:
        self._native = native
        self._parked_bytes = parked_bytes
        self._parked: dict[int, engine.Saved] = {}
        self._copies: dict[int, engine.Saved] = {}
        """Of sequences that are still in the context, each as it is there now."""
        self._uncopied: set[int] = set()
        """Those that a copy was tried of, in vain, since they last changed."""
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
        wanted = (sequence, choice.source)
        begins_inside = choice.source is not None and choice.source not in self._parked
        if not begins_inside:
            self._park_others(wanted)
        if choice.source is not None:
            keep = self._copy(choice.source, sequence, keep)
            self._park_others(wanted)
        elif sequence in self._parked:
            saved = self._parked.pop(sequence)
            keep = self._load(sequence, saved, len(self._tokens[sequence]), keep)
            del self._tokens[sequence][keep:]
        elif keep < len(self._tokens[sequence]):
            keep = self._trim(sequence, keep)
            del self._tokens[sequence][keep:]
        self._busy[sequence] = True
        self._touch(sequence)
        return sequence, keep

    def extend(self, sequence: int, tokens: list[int]) -> None:
        """These tokens were computed into the sequence."""
        self._changed(sequence)
        self._tokens[sequence] += tokens

    def release(self, sequence: int) -> None:
        """Its generation ended; what it holds stays for the next prompt."""
        self._busy[sequence] = False
        self._touch(sequence)

    def copy_idle(self) -> bool:
        """Copy one idle sequence beforehand; False where none is left to copy."""
        if not self.trims:
            return False
        for sequence, tokens in enumerate(self._tokens):
            done = self._parked.keys() | self._copies.keys() | self._uncopied
            if not tokens or self._busy[sequence] or sequence in done:
                continue
            saved = self._native.save(sequence)
            if saved is not None and self._make_room(len(saved), (sequence, None)):
                self._copies[sequence] = saved
            else:
                self._uncopied.add(sequence)
            return True
        return False

    def adopt(self, tokens: Sequence[int], saved: engine.Saved) -> bool:
        """Put a state that was computed before into an idle sequence; False where it does not
        fit."""
        sequence = residence.spare(self._residents())
        self._park_others((sequence, None))
        self._native.clear(sequence)
        self._parked.pop(sequence, None)
        self._changed(sequence)
        self._tokens[sequence] = []
        if not self._native.load(sequence, saved) or self._native.end(sequence) != len(tokens):
            self._native.clear(sequence)
            return False
        self._tokens[sequence] = list(tokens)
        self._touch(sequence)
        return True

    def beginning(self, tokens: Sequence[int]) -> engine.Saved | None:
        """A copy of what was computed for these tokens and for none after them; None where no
        sequence in the context begins so, or none is free to take them apart."""
        if not self.trims or not self._native.keeps:
            return None
        count, wanted = len(tokens), list(tokens)
        sources = (
            sequence
            for sequence, held in enumerate(self._tokens)
            if sequence not in self._parked and held[:count] == wanted
        )
        free = (
            sequence
            for sequence, held in enumerate(self._tokens)
            if not self._busy[sequence] and (not held or sequence in self._parked)
        )
        source, apart = next(sources, None), next(free, None)
        if source is None or apart is None:
            return None
        self._native.copy(source, apart, count)
        saved = self._native.save(apart)
        self._native.clear(apart)
        return saved

    def evict(self) -> bool:
        """Drop the idle sequence in the context that is worth least; False where there is none."""
        inside = [one for one in self._residents() if one.sequence not in self._parked]
        sequence = residence.to_evict(inside)
        if sequence is None:
            return False
        self._native.clear(sequence)
        copy = self._copies.pop(sequence, None)
        if copy is not None:
            self._parked[sequence] = copy
        else:
            self._tokens[sequence] = []
        return True

    def forget(self) -> None:
        """The context was made anew: what no copy was made of is in no sequence."""
        self._parked.update(self._copies)
        self._copies.clear()
        for sequence in range(len(self._tokens)):
            if sequence not in self._parked:
                self._tokens[sequence] = []
            self._busy[sequence] = False

    def _copy(self, source: int, target: int, keep: int) -> int:
        """Give a sequence the start of another; returns how many tokens it has."""
        self._native.clear(target)
        self._parked.pop(target, None)
        self._changed(target)
        saved = self._parked.get(source)
        if saved is None:
            self._native.copy(source, target, keep)
        else:
            keep = self._load(target, saved, len(self._tokens[source]), keep)
        self._tokens[target] = self._tokens[source][:keep]
        return keep

    def _load(self, sequence: int, saved: engine.Saved, held: int, keep: int) -> int:
        """Put a parked state into a sequence and trim it; 0 tokens where there is no room."""
        if not self._native.load(sequence, saved):
            self._native.clear(sequence)
            return 0
        return self._trim(sequence, keep) if keep < held else keep

    def _trim(self, sequence: int, keep: int) -> int:
        self._changed(sequence)
        if self._native.trim(sequence, keep):
            return keep
        self.trims = False
        self._native.clear(sequence)
        return 0

    def _park_others(self, wanted: tuple[int, int | None]) -> None:
        """Copy what is only remembered out of the context, and clear it there.

        `wanted` is the sequence that goes on, which stays, and the one it begins like, which is
        never forgotten for another.
        """
        if not self.trims:
            return
        goes_on, _ = wanted
        for sequence, tokens in enumerate(self._tokens):
            if sequence == goes_on or self._busy[sequence] or sequence in self._parked:
                continue
            saved = self._copies.pop(sequence, None)
            if saved is None and tokens:
                saved = self._native.save(sequence)
            if saved is not None and self._make_room(len(saved), wanted):
                self._parked[sequence] = saved
                self._native.clear(sequence)

    def _make_room(self, size_bytes: int, wanted: tuple[int, int | None]) -> bool:
        """Drop copies and forget parked sequences until one more fits; False where that does not
        help."""
        while self._held_bytes() + size_bytes > self._parked_bytes:
            if self._copies:
                self._copies.popitem()
                continue
            others = [sequence for sequence in self._parked if sequence not in wanted]
            if not others:
                return False
            oldest = min(others, key=lambda sequence: self._used[sequence])
            del self._parked[oldest]
            self._tokens[oldest] = []
        return True

    def _held_bytes(self) -> int:
        return sum(map(len, (*self._parked.values(), *self._copies.values())))

    def _changed(self, sequence: int) -> None:
        self._copies.pop(sequence, None)
        self._uncopied.discard(sequence)

    def _touch(self, sequence: int) -> None:
        self._clock += 1
        self._used[sequence] = self._clock

    def _residents(self) -> list[residence.Resident]:
        return [
            residence.Resident(sequence, tokens, self._busy[sequence], self._used[sequence])
            for sequence, tokens in enumerate(self._tokens)
        ]
