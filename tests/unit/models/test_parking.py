"""What is only remembered leaves the context and comes back; the native part is a model of it."""

import ctypes
from collections.abc import Callable
from typing import cast

import pytest

from daemon.models.worker import cache, engine

BYTES_A_TOKEN = 10
A, B, C = list(range(100, 140)), list(range(200, 240)), list(range(300, 340))
A_THEN_B = [*A[:20], *B]


class Context:
    """The tokens that native memory holds a sequence."""

    trims = True
    keeps = True

    def __init__(self, fits_back: bool = True) -> None:
        self.held: dict[int, int] = {}
        self.saves = 0
        self._fits_back = fits_back

    def save(self, sequence: int) -> engine.Saved | None:
        self.saves += 1
        return (ctypes.c_uint8 * (BYTES_A_TOKEN * self.held[sequence]))()

    def load(self, sequence: int, saved: engine.Saved) -> bool:
        if self._fits_back:
            self.held[sequence] = len(saved) // BYTES_A_TOKEN
        return self._fits_back

    def clear(self, sequence: int) -> None:
        self.held.pop(sequence, None)

    def end(self, sequence: int) -> int:
        return self.held.get(sequence, 0)

    def copy(self, source: int, target: int, keep: int) -> None:
        assert self.held[source] >= keep
        assert target not in self.held
        self.held[target] = keep

    def trim(self, sequence: int, keep: int) -> bool:
        assert self.held[sequence] >= keep
        self.held[sequence] = keep
        return True


class Rig:
    """A cache over such a context, and prompts that are answered at once."""

    def __init__(self, parked_bytes: int = 10_000, fits_back: bool = True) -> None:
        self.context = Context(fits_back)
        native = cast(engine.Engine, self.context)
        self.cache = cache.Cache(native, 4, parked_bytes)

    def rest(self) -> None:
        """Nothing to do for a while."""
        while self.cache.copy_idle():
            pass

    def answer(self, prompt: list[int]) -> int:
        """Compute a prompt; returns how many of its tokens were there already."""
        sequence, keep = self.cache.place(prompt)
        assert self.context.held.get(sequence, 0) == keep
        self.cache.extend(sequence, prompt[keep:])
        self.context.held[sequence] = len(prompt)
        self.cache.release(sequence)
        return keep


def test_only_what_goes_on_is_in_the_context() -> None:
    rig = Rig()
    for prompt in (A, B, C):
        rig.answer(prompt)
        assert list(rig.context.held.values()) == [len(prompt)]


def test_what_was_parked_is_not_computed_again() -> None:
    rig = Rig()
    for prompt in (A, B, C):
        assert rig.answer(prompt) == 0
    for prompt in (A, B, C, C):
        assert rig.answer([*prompt, 1, 2]) >= len(prompt)


def test_a_parked_beginning_is_shared() -> None:
    rig = Rig()
    rig.answer(A)
    assert rig.answer(A_THEN_B) == 20
    assert rig.answer([*A, 1]) == len(A)


@pytest.mark.parametrize("parked_bytes", [0, BYTES_A_TOKEN * len(A), BYTES_A_TOKEN * len(A) * 2])
def test_a_bound_forgets_and_never_breaks(parked_bytes: int) -> None:
    rig = Rig(parked_bytes)
    for prompt in (A, B, C, A, B, A_THEN_B, C, A, [*A, 1], [*A_THEN_B, 7]):
        rig.answer(prompt)


def test_what_does_not_fit_back_is_computed_again() -> None:
    rig = Rig(fits_back=False)
    rig.answer(A)
    rig.answer(B)
    assert rig.answer([*A, 1]) == 0
    assert rig.answer([*A, 1, 2]) == len(A) + 1


def test_what_is_parked_outlives_the_context() -> None:
    rig = Rig()
    rig.answer(A)
    rig.answer(B)
    rig.context.held.clear()
    rig.cache.forget()
    assert rig.answer([*A, 1]) == len(A)
    assert rig.answer([*B, 1]) == 0


def test_what_was_copied_while_idle_is_parked_without_a_copy() -> None:
    rig = Rig()
    rig.answer(A)
    rig.rest()
    assert rig.context.saves == 1
    rig.answer(B)
    assert rig.context.saves == 1
    assert list(rig.context.held.values()) == [len(B)]
    assert rig.answer([*A, 1]) == len(A)


def test_a_copy_of_what_has_changed_since_is_not_used() -> None:
    rig = Rig()
    rig.answer(A)
    rig.rest()
    longer = [*A, 1, 2, 3]
    rig.answer(longer)
    rig.answer(B)
    assert rig.answer([*longer, 4]) == len(longer)


def forget(cache_: cache.Cache) -> None:
    cache_.forget()


def evict(cache_: cache.Cache) -> None:
    assert cache_.evict()


@pytest.mark.parametrize("lose", [forget, evict])
def test_a_copy_outlives_the_context_and_an_eviction(lose: Callable[[cache.Cache], None]) -> None:
    rig = Rig()
    rig.answer(A)
    rig.rest()
    lose(rig.cache)
    rig.context.held.clear()
    assert rig.answer([*A, 1]) == len(A)


def test_idle_copies_come_to_an_end_where_there_is_no_room() -> None:
    rig = Rig(parked_bytes=BYTES_A_TOKEN * len(A))
    for prompt in (A, B, C):
        rig.answer(prompt)
        rig.rest()
    saves = rig.context.saves
    rig.rest()
    assert rig.context.saves == saves


def test_a_beginning_is_taken_apart_from_what_follows_it() -> None:
    rig = Rig()
    rig.answer(A)
    before = dict(rig.context.held)
    saved = rig.cache.beginning(A[:20])
    assert saved is not None
    assert len(saved) == BYTES_A_TOKEN * 20
    assert rig.context.held == before
    assert rig.answer([*A, 1]) == len(A)


def test_a_beginning_that_is_in_no_sequence_is_not_to_be_had() -> None:
    rig = Rig()
    rig.answer(A)
    assert rig.cache.beginning(B[:20]) is None
    assert rig.cache.beginning([*A, 1]) is None


def test_an_adopted_state_is_gone_on_from() -> None:
    rig = Rig()
    assert rig.cache.adopt(A[:20], (ctypes.c_uint8 * (BYTES_A_TOKEN * 20))())
    assert rig.answer(A_THEN_B) == 20


def test_adopting_forgets_what_was_used_longest_ago_and_nothing_else() -> None:
    rig = Rig()
    prompts = (A, B, C, [*range(400, 440)])
    for prompt in prompts:
        rig.answer(prompt)
        rig.rest()
    new = [*range(500, 520)]
    assert rig.cache.adopt(new, (ctypes.c_uint8 * (BYTES_A_TOKEN * 20))())
    assert rig.cache.expected([*new, 1]) == len(new)
    assert rig.cache.expected([*A, 1]) == 0
    for prompt in prompts[1:]:
        assert rig.cache.expected([*prompt, 1]) == len(prompt)


@pytest.mark.parametrize(("fits_back", "tokens"), [(False, 20), (True, 19), (True, 21)])
def test_a_state_that_does_not_fit_is_not_adopted(fits_back: bool, tokens: int) -> None:
    rig = Rig(fits_back=fits_back)
    assert not rig.cache.adopt(A[:tokens], (ctypes.c_uint8 * (BYTES_A_TOKEN * 20))())
    assert rig.context.held == {}
    assert rig.answer(A) == 0
