"""Plans, diffs, purposes and thoughts as terminal text that does nothing to a terminal."""

import pytest
from hypothesis import given, strategies as st

from bots import render, texts, views
from proto.ducklm.v1 import common_pb2
from tests.unit.bots import test_render

T = "task-1"
S = views.StepStatus
DIFF = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\x1b[2J\n+new\n \tsame\n"


def step(status: S = S.WAITING, after: tuple[str, ...] = (), attempt: int = 1) -> views.PlanStep:
    return views.PlanStep("a", "count\nthem", "tool", after, status, attempt)


TABLE: list[tuple[views.View, str]] = [
    (
        views.PlanShown(T, (step(), step(after=("a", "b")))),
        "plan:\n  · count\\nthem\n  · count\\nthem (after a, b)",
    ),
    (views.PlanShown(T, (), step(S.RUNNING, ("a",))), "▸ count\\nthem"),
    (views.PlanShown(T, (), step(S.RUNNING, attempt=2)), "▸ count\\nthem (attempt 2)"),
    (views.PlanShown(T, (), step(S.DONE, attempt=2)), "✓ count\\nthem"),
    (views.PlanShown(T, (), step(S.FAILED)), "✗ count\\nthem: failed"),
    (views.PlanShown(T, (), step(S.SKIPPED)), "– count\\nthem: not run"),
    (views.PlanShown(T, (), views.PlanStep("b", "", "", (), S.DONE)), "✓ b"),
    (views.TextDropped(T, "c", again=False), texts.TEXT_WITHDRAWN),
    (views.ThoughtPiece(T, "c", "hm\x1b"), "hm\\x1b"),
    (views.FilesChanged(T, "c", ("a\n", "b"), ""), "changed: a, b"),
    (
        views.FilesChanged(T, "c", ("x",), DIFF),
        "changed: x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\\x1b[2J\n+new\n \tsame",
    ),
    (
        views.Progress(T, views.Stage.READING, 5, 9, 2000, "criticize"),
        "judging: reading 5/9 2 s",
    ),
    (views.Progress(T, views.Stage.WRITING, 0, 0, 0, "compile"), "compiling: writing"),
    (views.Progress(T, views.Stage.WRITING, 0, 0, 0, "think"), "writing"),
    (views.Progress(T, views.Stage.WRITING, 0, 0, 0, "of a newer daemon"), "writing"),
]


@pytest.mark.spec("D-18")
@pytest.mark.parametrize(("view", "text"), TABLE)
def test_views(view: views.View, text: str) -> None:
    assert render.view_text(view) == text


def test_a_diff_is_coloured_by_its_lines() -> None:
    shown = render.view_text(views.FilesChanged(T, "c", ("x",), DIFF), render.COLOURED).split("\n")
    marks = [line.split("m")[0] for line in shown]
    assert marks == ["\x1b[2", "\x1b[1", "\x1b[1", "\x1b[2", "\x1b[31", "\x1b[32", " \tsa"]


@pytest.mark.parametrize(("lines", "left"), [(40, 0), (41, 1), (1000, 960)])
def test_a_diff_is_bounded_and_says_where_the_rest_is(lines: int, left: int) -> None:
    view = views.FilesChanged(T, "c", ("x",), "+y\n" * lines)
    shown = render.view_text(view).split("\n")
    if left:
        assert shown.pop() == f"… {left} lines more: /diff, or ducklm diff task-1"
    assert shown == ["changed: x"] + ["+y"] * (lines - left)
    assert len(render.changes(view, render.PLAIN).split("\n")) == lines + 1


@given(st.text(alphabet=test_render.HOSTILE + " \n+-@"))
def test_no_view_lets_a_foreign_character_through(text: str) -> None:
    planned = views.PlanStep(text, text, text, (text,))
    for view in (
        views.PlanShown(T, (planned,)),
        views.PlanShown(T, (), planned),
        views.FilesChanged(text, text, (text,), text),
        views.ThoughtPiece(T, text, text),
        views.Progress(T, views.Stage.WRITING, 0, 0, 0, text),
    ):
        assert test_render.harmless(render.view_text(view))


def test_every_status_and_steering_has_words() -> None:
    assert set(texts.PLAN_MARKS) == set(texts.PLAN_STATUSES) == {one.value for one in S}
    assert set(common_pb2.Steering.keys()) == {"STEERING_UNSPECIFIED", "QUEUE", "STEER"}
