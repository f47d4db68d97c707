"""Cancelled at any moment: nothing of the task starts afterwards, each call gets its one result."""

import pytest

from daemon.domain import decisions, events, messages, state
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case
from tools import contract

S = state.TaskState
Kind = messages.ModelFaultKind
pytestmark = pytest.mark.spec("L-05")

THINKING = [moves.submit("hi"), moves.gathered()]
ASKED = [moves.submit("run `ls`"), moves.inspected()]
SHELL_RUNS = [*ASKED, moves.allow(), moves.inspected()]
LOST = [*SHELL_RUNS, moves.restart()]
GONE = [*THINKING, moves.faults(Kind.UNAVAILABLE)]
NOW = "now cancelled"

CASES = {
    "queued": Case(
        given=[moves.submit(), moves.submit(chat=0)],
        when=moves.cancel(),
        events=[NOW],
        reply="task",
    ),
    "gathering": Case(given=[moves.submit()], when=moves.cancel(), events=[NOW], reply="task"),
    "the model answers": Case(
        given=THINKING,
        when=moves.cancel(),
        events=[NOW],
        actions=["cancel call"],
        reply="task",
    ),
    "being inspected": Case(
        given=[moves.submit("run `ls`")],
        when=moves.cancel(),
        events=["tool ended cancelled", NOW],
        actions=["release call"],
        reply="task",
    ),
    "awaiting approval": Case(
        given=ASKED,
        when=moves.cancel(),
        events=["approval withdrawn", "tool ended cancelled", NOW],
        actions=["release call"],
        reply="task",
    ),
    "approved, being inspected again": Case(
        given=[*ASKED, moves.allow()],
        when=moves.cancel(),
        events=["approval withdrawn", "tool ended cancelled", NOW],
        actions=["release call"],
        reply="task",
    ),
    "the tool runs": Case(
        given=SHELL_RUNS,
        when=moves.cancel(),
        events=[NOW],
        actions=["cancel call"],
        reply="task",
    ),
    "awaiting a decision": Case(given=LOST, when=moves.cancel(), events=[NOW], reply="task"),
    "without a model": Case(given=GONE, when=moves.cancel(), events=[NOW], reply="task"),
    "cancelled already, and its call still runs": Case(
        given=[*SHELL_RUNS, moves.cancel()], when=moves.cancel(), reply="task"
    ),
    "ended": Case(given=[*THINKING, moves.says("x")], when=moves.cancel(), reply="task"),
    "never there": Case(
        given=THINKING, when=moves.cancel(task_id="task-x"), reply="refused not_found"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_cancelled(case: Case) -> None:
    scene = case.check()
    if case.reply == "task" and NOW in case.events:
        assert scene.state() is S.CANCELLED


BEGIN = (
    decisions.GatherContext,
    decisions.CallModel,
    decisions.InspectCall,
    decisions.CallTool,
    decisions.ReconcileCall,
)

BEFORE = {
    "gathering": [moves.submit()],
    "thinking": THINKING,
    "inspecting": [moves.submit("run `ls`")],
    "asking": ASKED,
    "allowed": [*ASKED, moves.allow()],
    "running": SHELL_RUNS,
    "lost": LOST,
    "away": GONE,
}
LATE = {
    "gathered": moves.gathered(),
    "not gathered": moves.not_gathered(Kind.DIED),
    "failed": moves.faults(Kind.DIED),
    "said": moves.says("late"),
    "wanted": moves.wants("look"),
    "inspected": moves.inspected(),
    "not inspected": moves.not_inspected(),
    "ran": moves.ran(),
    "stopped": moves.stopped(events.CallOutcome.CANCELLED),
    "reconciled": moves.reconciled(contract.Reconciled.NOT_DONE),
    "allowed": moves.allow(),
    "denied": moves.deny("no"),
    "expired": moves.approval_timer(),
    "timed out": moves.budget_timer(),
    "retried": moves.decide(events.Decision.RETRY),
    "run again": moves.decide(events.Decision.RUN_AGAIN),
    "aborted": moves.abort(),
    "restarted": moves.restart(),
}


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("before", BEFORE)
def test_nothing_starts_after_a_cancel(before: str, late: str) -> None:
    scene = scenes.Scene().given([*BEFORE[before], moves.cancel()])
    scene.given([moves.later(2 * 24 * 3600)])
    then = scene.when(LATE[late])
    actions = [one for step in then.steps for one in step.actions]
    assert not [one for one in actions if isinstance(one, BEGIN)]
    assert not [line for line in then.events if line.startswith("now ")]


@pytest.mark.parametrize(
    ("before", "late", "ended"),
    [
        (THINKING, moves.says("too late"), "model finished"),
        (THINKING, moves.wants("fire"), "model finished"),
        (THINKING, moves.faults(Kind.DIED, cancelled=True), "model failed cancelled"),
        (SHELL_RUNS, moves.ran(), "tool ended finished"),
        (SHELL_RUNS, moves.stopped(events.CallOutcome.CANCELLED), "tool ended cancelled"),
        (SHELL_RUNS, moves.stopped(events.CallOutcome.FAILED), "tool ended failed"),
    ],
)
def test_a_late_outcome_is_noted_and_the_task_leaves(
    before: list[scenes.Move], late: scenes.Move, ended: str
) -> None:
    scene = scenes.Scene().given([*before, moves.cancel()])
    assert len(scene.world.tasks) == 1
    assert scene.when(late).events == [ended]
    assert scene.world.tasks == {}
    assert scene.when(late).events == []


def test_a_cancel_lets_the_next_task_run() -> None:
    scene = scenes.Scene().given([*SHELL_RUNS, moves.submit(chat=0)])
    cancelled = scene.when(moves.cancel(0))
    assert cancelled.events == [NOW, "now running"]
    assert cancelled.actions == ["cancel call", "timer task_budget", "gather context"]
