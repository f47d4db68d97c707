"""Which sequence a prompt is put into."""

import pytest

from daemon.models.worker import residence

SYSTEM = list(range(100))
A = [*SYSTEM, *range(1000, 1200)]
B = [*SYSTEM, *range(2000, 2200)]


def resident(
    sequence: int, tokens: list[int], busy: bool = False, used: int = 0
) -> residence.Resident:
    return residence.Resident(sequence, tokens, busy, used)


CASES = {
    "nothing there is a cold start": (
        [1, 2, 3],
        [resident(0, []), resident(1, [])],
        residence.Choice(0, 0),
    ),
    "the next turn continues its own conversation": (
        [*A, 7, 8],
        [resident(0, B, used=9), resident(1, A, used=1), resident(2, [])],
        residence.Choice(1, len(A)),
    ),
    "an answer's end that is written differently is cut off": (
        [*A[:-5], 7, 8, 9],
        [resident(0, A), resident(1, [])],
        residence.Choice(0, len(A) - 5),
    ),
    "another conversation copies the shared prefix and leaves the first alone": (
        B,
        [resident(0, A, used=5), resident(1, [])],
        residence.Choice(1, 100, source=0),
    ),
    "the copy replaces what was used longest ago, never its source": (
        B,
        [resident(0, A, used=1), resident(1, [9] * 50, used=2), resident(2, [8] * 50, used=3)],
        residence.Choice(1, 100, source=0),
    ),
    "a busy sequence may be copied from": (
        B,
        [resident(0, A, busy=True), resident(1, [9] * 50)],
        residence.Choice(1, 100, source=0),
    ),
    "a busy sequence is never continued": (
        A,
        [resident(0, A[:-1], busy=True), resident(1, [])],
        residence.Choice(1, len(A) - 1, source=0),
    ),
    "the same prompt again leaves its last token to compute": (
        A,
        [resident(0, A), resident(1, [])],
        residence.Choice(0, len(A) - 1),
    ),
    "a few shared tokens are not worth a copy": (
        [0, 1, 2, 9, 9],
        [resident(0, A), resident(1, [])],
        residence.Choice(1, 0),
    ),
    "with one idle sequence alone even its tail is given up": (
        B,
        [resident(0, A)],
        residence.Choice(0, 100),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_choose(
    case: tuple[list[int], list[residence.Resident], residence.Choice],
) -> None:
    prompt, residents, expected = case
    assert residence.choose(prompt, residents, trims=True) == expected


UNTRIMMED = {
    "its very end can be continued": ([*A, 7], [resident(0, A), resident(1, [])], (0, len(A))),
    "an inner point cannot": ([*A[:-1], 7], [resident(0, A), resident(1, [])], (1, 0)),
    "nor is a prefix copied": (B, [resident(0, A), resident(1, [])], (1, 0)),
    "the same prompt again is cold": (A, [resident(0, A), resident(1, [])], (1, 0)),
}


@pytest.mark.parametrize("case", UNTRIMMED.values(), ids=UNTRIMMED.keys())
def test_choose_where_memory_cannot_be_trimmed(
    case: tuple[list[int], list[residence.Resident], tuple[int, int]],
) -> None:
    prompt, residents, (sequence, keep) = case
    expected = residence.Choice(sequence, keep)
    assert residence.choose(prompt, residents, trims=False) == expected


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        ([], [], 0),
        ([1], [], 0),
        ([1], [2], 0),
        ([1, 2, 3], [1, 2, 3], 3),
        ([1, 2, 3], [1, 2, 4], 2),
        ([1, 2], [1, 2, 4], 2),
        ([1, 9, 3, 4], [1, 2, 3, 4], 1),
    ],
)
def test_shared_prefix(left: list[int], right: list[int], shared: int) -> None:
    assert residence.shared_prefix(left, right) == shared
    assert residence.shared_prefix(right, left) == shared


def test_the_idle_sequence_used_longest_ago_is_evicted() -> None:
    residents = [
        resident(0, A, used=3),
        resident(1, A, busy=True, used=1),
        resident(2, B, used=2),
        resident(3, [], used=0),
    ]
    assert residence.to_evict(residents) == 2
    assert residence.to_evict([resident(0, A, busy=True), resident(1, [])]) is None
