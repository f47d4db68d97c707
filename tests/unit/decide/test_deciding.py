"""What a person can say to a task that cannot go on by itself."""

import pytest

from daemon.domain import decisions, events, messages, state
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case

S = state.TaskState
Say = events.Decision
pytestmark = [pytest.mark.spec("D-01"), pytest.mark.spec("L-02")]

THINKING = [moves.submit("hi"), moves.gathered()]
ASKED = [moves.submit("run `ls`"), moves.inspected()]
SHELL_LOST = [*ASKED, moves.allow(), moves.inspected(), moves.restart()]
MODEL_LOST = [*THINKING, moves.wants("fire"), moves.inspected(), moves.restart()]
AWAY = [*THINKING, moves.faults(messages.ModelFaultKind.UNAVAILABLE)]
RUNS = "now running"
TIMER = "timer task_budget"

CASES = {
    "mark done a command that a person typed": Case(
        given=SHELL_LOST,
        when=moves.decide(Say.MARK_DONE),
        events=[
            "decided mark_done",
            "tool ended marked_done",
            RUNS,
            "answered",
            "now completed",
        ],
        actions=[TIMER],
        reply="task",
    ),
    "mark done a call of the model": Case(
        given=MODEL_LOST,
        when=moves.decide(Say.MARK_DONE),
        events=["decided mark_done", "tool ended marked_done", RUNS],
        actions=[TIMER, "gather context"],
        reply="task",
    ),
    "run again": Case(
        given=SHELL_LOST,
        when=moves.decide(Say.RUN_AGAIN),
        events=["decided run_again", "proposed shell_exec", RUNS],
        actions=[TIMER, "inspect call"],
        reply="task",
    ),
    "what runs again asks again": Case(
        given=[*SHELL_LOST, moves.decide(Say.RUN_AGAIN)],
        when=moves.inspected(),
        events=["inspected ask", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "abandon": Case(
        given=SHELL_LOST,
        when=moves.decide(Say.ABANDON),
        events=["decided abandon", "now failed"],
        reply="task",
    ),
    "retry what needs a word about its call": Case(
        given=SHELL_LOST, when=moves.decide(Say.RETRY), reply="refused state"
    ),
    "retry without a model": Case(
        given=AWAY,
        when=moves.decide(Say.RETRY),
        events=["decided retry", RUNS],
        actions=[TIMER, "gather context"],
        reply="task",
    ),
    "abandon without a model": Case(
        given=AWAY,
        when=moves.decide(Say.ABANDON),
        events=["decided abandon", "now failed"],
        reply="task",
    ),
    "mark done without a call": Case(
        given=AWAY, when=moves.decide(Say.MARK_DONE), reply="refused state"
    ),
    "the call by its id": Case(
        given=MODEL_LOST,
        when=lambda scene: moves.decide(Say.MARK_DONE, call_id=scene.seen[0].tool_calls[0])(scene),
        events=["decided mark_done", "tool ended marked_done", RUNS],
        actions=[TIMER, "gather context"],
        reply="task",
    ),
    "another call": Case(
        given=SHELL_LOST,
        when=moves.decide(Say.MARK_DONE, call_id="call-x"),
        reply="refused invalid",
    ),
    "a task that runs": Case(given=THINKING, when=moves.decide(Say.ABANDON), reply="refused state"),
    "retry what waits for an approval": Case(
        given=ASKED, when=moves.decide(Say.RETRY), reply="refused state"
    ),
    "abandon what waits for an approval": Case(
        given=ASKED,
        when=moves.decide(Say.ABANDON),
        events=["decided abandon", "approval withdrawn", "tool ended cancelled", "now failed"],
        actions=["release call"],
        reply="task",
    ),
    "a task that has ended": Case(
        given=[*THINKING, moves.says("x")],
        when=moves.decide(Say.ABANDON),
        reply="refused state",
    ),
    "a task that never was": Case(
        given=[], when=moves.decide(Say.ABANDON, task_id="task-x"), reply="refused not_found"
    ),
    "decided twice": Case(
        given=[*SHELL_LOST, moves.submit(chat=0), moves.decide(Say.MARK_DONE, of=0)],
        when=moves.decide(Say.RUN_AGAIN, of=0),
        reply="refused state",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_person_decides(case: Case) -> None:
    case.check()


def test_a_call_that_runs_again_is_another_one() -> None:
    scene = scenes.Scene().given([*SHELL_LOST, moves.decide(Say.RUN_AGAIN), moves.inspected()])
    first, second = scene.seen[0].tool_calls
    proposed = [
        one.event for one in scene.recorded if isinstance(one.event, events.ToolCallProposed)
    ]
    assert proposed[1].repeats == first
    assert proposed[1].arguments == proposed[0].arguments
    assert len(set(scene.seen[0].approvals)) == 2
    scene.given([moves.allow(), moves.inspected(), moves.ran("out")])
    assert scene.answer() == "out"
    assert scene.world.tasks == {}
    assert first != second


def test_one_that_is_lost_again_is_the_only_one_asked_about() -> None:
    scene = scenes.Scene().given([*SHELL_LOST, moves.decide(Say.RUN_AGAIN), moves.inspected()])
    scene.given([moves.allow(), moves.inspected(), moves.restart()])
    assert scene.state() is S.AWAITING_DECISION
    unknown = scene.task().unknown_calls()
    assert [call.call_id for call in unknown] == scene.seen[0].tool_calls[1:]
    assert scene.when(moves.decide(Say.MARK_DONE)).reply == "task"


def test_the_model_is_told_what_the_person_said() -> None:
    scene = scenes.Scene().given(MODEL_LOST)
    (step,) = scene.when(moves.decide(Say.MARK_DONE)).steps
    gather = step.actions[-1]
    assert isinstance(gather, decisions.GatherContext)
    assert scene.text(gather.turn[-1].content) == "The user confirms that this call happened."


def test_waiting_states_say_what_can_be_decided() -> None:
    reply = scenes.Scene().given(SHELL_LOST).when(moves.decide(Say.RETRY)).steps[0].reply
    assert isinstance(reply, decisions.Rejected)
    assert "MARK_DONE, RUN_AGAIN or ABANDON" in reply.message
    reply = scenes.Scene().given(AWAY).when(moves.decide(Say.MARK_DONE)).steps[0].reply
    assert isinstance(reply, decisions.Rejected)
    assert "RETRY or ABANDON" in reply.message
