"""The pure projector: rows before stay as they are, and only what changed comes out."""

import pytest

from daemon.domain import events, fold, fold_said, ids, state, world
from daemon.storage import added_rows, delivery_rows, projections
from tests.contract.storage import histories


def projected(history: histories.History, upto: int) -> projections.Rows:
    rows = projections.Rows()
    rows.adopt(projections.project(rows, history.recorded[:upto]).changed)
    return rows


def test_it_does_not_matter_how_a_history_is_cut(seed: int) -> None:
    history = histories.random_history(seed, 400)
    whole, piecewise = projected(history, len(history.recorded)), projections.Rows()
    added = added_rows.Added()
    for one in history.recorded:
        draft = projections.project(piecewise, [one])
        piecewise.adopt(draft.changed)
        added.adopt(draft.added)
    assert added == projections.project(projections.Rows(), history.recorded).added
    assert piecewise.tasks == whole.tasks
    assert piecewise.approvals == whole.approvals
    assert piecewise.conversations == whole.conversations


def test_what_is_said_of_every_task_is_what_its_fold_said() -> None:
    """Of the live, the ended and those that ended without an answer; each event by itself."""
    history = histories.random_history(12, 6000)
    rows, added, folded = projections.Rows(), added_rows.Added(), world.World()
    expected: dict[ids.TaskId | None, tuple[world.Said, ...]] = {}
    for one in history.recorded:
        draft = projections.project(rows, [one])
        rows.adopt(draft.changed)
        added.adopt(draft.added)
        before = folded.tasks.get(one.task_id) if one.task_id else None
        fold.apply(folded, one)
        after = folded.tasks.get(one.task_id) if one.task_id else None
        expected[one.task_id] = said_until(before, after, one.event, expected.get(one.task_id, ()))
    found: dict[ids.TaskId | None, tuple[world.Said, ...]] = dict.fromkeys(expected, ())
    for row in added.said.values():
        found[row.task_id] += row.said
    assert found == expected
    kinds = {said.kind for each in found.values() for said in each}
    assert kinds == {"note", "skill", "call", "plan", "step", "refused", "steered", "words"}


def said_until(
    before: world.Task | None,
    after: world.Task | None,
    event: events.Event,
    known: tuple[world.Said, ...],
) -> tuple[world.Said, ...]:
    """What was said of a task; the event by which it leaves may be the late end of a call."""
    if after is not None:
        return after.said
    if before is None or not isinstance(event, events.ToolCallEnded):
        return known
    call = before.call(event.call_id)
    assert call is not None
    said = fold_said.of_call(call, event)
    return known if said is None else (*known, said)


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
        runs={key: rows.runs[key] for key in needed.runs & rows.runs.keys()},
    )
    rest = history.recorded[300:]
    shown = delivery_rows.named(few, rest) & rows.deliveries.keys()
    few.deliveries.update((key, rows.deliveries[key]) for key in shown)
    some, all_of_them = projections.project(few, rest), projections.project(rows, rest)
    assert (some.changed, some.added) == (all_of_them.changed, all_of_them.added)


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
