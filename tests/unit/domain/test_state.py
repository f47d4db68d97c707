"""The state table: every pair is listed or refused."""

import itertools

import pytest

from daemon.domain import ids, state

S = state.TaskState
TASK = ids.TaskId("task-1")

WAITS = (S.AWAITING_APPROVAL, S.AWAITING_SECRET, S.AWAITING_DECISION, S.MODEL_UNAVAILABLE, S.PARKED)
ENDS = (S.COMPLETED, S.FAILED, S.CANCELLED, S.MODEL_PROTOCOL_ERROR, S.BUDGET_EXHAUSTED)
LISTED = {
    (S.QUEUED, S.RUNNING),
    (S.QUEUED, S.CANCELLED),
    *((S.RUNNING, to) for to in (*WAITS, *ENDS)),
    *((waits, to) for waits in WAITS for to in (S.RUNNING, S.FAILED, S.CANCELLED)),
}


@pytest.mark.spec("L-02")
@pytest.mark.parametrize("pair", list(itertools.product(S, S)), ids="→".join)
def test_a_pair_is_listed_or_raises(pair: tuple[S, S]) -> None:
    if pair in LISTED:
        state.check(TASK, *pair)
        return
    with pytest.raises(state.ImpossibleTransition, match="task-1"):
        state.check(TASK, *pair)


@pytest.mark.spec("L-02")
def test_all_states_are_there_and_sorted_out() -> None:
    assert len(S) == 12
    assert frozenset(ENDS) == state.FINAL
    assert frozenset(WAITS) == state.WAITING
    assert set(S) == state.FINAL | state.WAITING | {S.QUEUED, S.RUNNING}
