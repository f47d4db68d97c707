"""The pure projector: rows before stay as they are, and only what changed comes out."""

import pytest

from daemon.domain import state
from daemon.storage import projections
from tests.contract.storage import histories


def projected(history: histories.History, upto: int) -> projections.Rows:
    rows = projections.Rows()
    rows.adopt(projections.project(rows, history.recorded[:upto]).changed)
    return rows


def test_it_does_not_matter_how_a_history_is_cut(seed: int) -> None:
    history = histories.random_history(seed, 400)
    whole, piecewise = projected(history, len(history.recorded)), projections.Rows()
    for one in history.recorded:
        piecewise.adopt(projections.project(piecewise, [one]).changed)
    assert piecewise.tasks == whole.tasks
    assert piecewise.approvals == whole.approvals
    assert piecewise.conversations == whole.conversations


def test_rows_before_stay_as_they_are(seed: int) -> None:
    history = histories.random_history(seed, 400)
    rows, same = projected(history, 200), projected(history, 200)
    projections.project(rows, history.recorded[200:])
    assert rows == same


def test_the_rows_that_events_name_are_all_that_they_need(seed: int) -> None:
    history = histories.random_history(seed, 400)
    rows = projected(history, 300)
    needed = projections.named(history.recorded[300:])
    few = projections.Rows(
        tasks={key: rows.tasks[key] for key in needed.tasks},
        approvals={key: rows.approvals[key] for key in needed.approvals},
        conversations={key: rows.conversations[key] for key in needed.conversations},
    )
    rest = history.recorded[300:]
    assert projections.project(few, rest).changed == projections.project(rows, rest).changed


def test_what_began_cannot_begin_again() -> None:
    play = histories.Play(1)
    play.submit(play.begin_conversation())
    rows = projected(play.history, 2)
    for one in play.history.recorded:
        with pytest.raises(ValueError, match="began before"):
            projections.project(rows, [one])


def test_a_call_that_nobody_saw_end_is_shown_until_it_is_settled() -> None:
    history = histories.random_history(11, 4000)
    rows, shown, settled = projections.Rows(), 0, 0
    for one in history.recorded:
        before = rows.tasks.get(one.task_id) if one.task_id else None
        rows.adopt(projections.project(rows, [one]).changed)
        after = rows.tasks.get(one.task_id) if one.task_id else None
        if before is not None and after is not None:
            grew = len(after.view.unknown_calls) - len(before.view.unknown_calls)
            shown, settled = shown + (grew > 0), settled + (grew < 0)
            if grew > 0:
                assert after.view.unknown_calls[-1].tool
    assert shown > settled > 0
    live = [row.view for row in rows.tasks.values() if row.view.state not in state.FINAL]
    assert live
