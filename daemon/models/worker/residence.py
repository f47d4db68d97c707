"""Which sequence a prompt is put into, so that as little as possible is computed again.

Pure. A sequence keeps its tokens after its answer (it is then idle). A new prompt

1. continues the idle sequence that it shares most with, if that loses next to nothing of it;
2. else copies the longest shared prefix from any sequence, busy or idle, into another;
3. else starts cold.

What a memory cannot do is respected: one that cannot be trimmed (recurrent, sliding window) is only
continued from its very end.
"""

import dataclasses
from collections.abc import Sequence

COPY_TOKENS = 8
"""A shorter shared prefix is not worth a copy."""
LOSS_TOKENS = 8
"""A tail this short is cut off without regret: an answer's end that is written differently."""


@dataclasses.dataclass(frozen=True, slots=True)
class Resident:
    """A sequence and what is in it. `used` grows with each use: the least was used longest ago."""

    sequence: int
    tokens: Sequence[int]
    busy: bool
    used: int


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """Put the prompt into `sequence`; `keep` of its tokens are there after it was prepared.

    With `source` set they are copied from there, else the sequence is trimmed to them.
    """

    sequence: int
    keep: int
    source: int | None = None


def shared_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading tokens are equal; compares slices, so it costs little on long prompts."""
    low, high = 0, min(len(left), len(right))
    if left[:high] == right[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def choose(prompt: Sequence[int], residents: Sequence[Resident], trims: bool) -> Choice:
    """Where the prompt goes. At least its last token is always left to compute.

    There must be an idle sequence.
    """
    most = len(prompt) - 1
    shared = {
        resident.sequence: min(shared_prefix(prompt, resident.tokens), most)
        for resident in residents
    }
    idle = [resident for resident in residents if not resident.busy]
    assert idle, "a prompt is placed only while a sequence is idle"
    usable = [r for r in idle if trims or shared[r.sequence] == len(r.tokens)]
    best = max(usable, key=lambda r: (shared[r.sequence], r.used), default=None)
    if best and shared[best.sequence] and _loses_little(best, shared[best.sequence]):
        return Choice(best.sequence, shared[best.sequence])
    source = max(residents, key=lambda r: (shared[r.sequence], r.used))
    if trims and shared[source.sequence] >= COPY_TOKENS:
        targets = [resident for resident in idle if resident.sequence != source.sequence]
        if targets:
            target = _least_valuable(targets)
            return Choice(target.sequence, shared[source.sequence], source.sequence)
        return Choice(source.sequence, shared[source.sequence])
    return Choice(_least_valuable(idle).sequence, 0)


def spare(residents: Sequence[Resident]) -> int:
    """The idle sequence that is worth least. There must be an idle one."""
    return _least_valuable([resident for resident in residents if not resident.busy]).sequence


def to_evict(residents: Sequence[Resident]) -> int | None:
    """The idle sequence to drop when cells run out, or None where none holds any."""
    idle = [resident for resident in residents if not resident.busy and resident.tokens]
    return _least_valuable(idle).sequence if idle else None


def _loses_little(resident: Resident, keep: int) -> bool:
    return len(resident.tokens) - keep <= max(LOSS_TOKENS, len(resident.tokens) // 20)


def _least_valuable(residents: Sequence[Resident]) -> Resident:
    return min(residents, key=lambda resident: (bool(resident.tokens), resident.used))
