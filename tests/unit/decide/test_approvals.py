"""From the question to the answer: a call that asks runs only by a yes to exactly itself."""

import pytest

from daemon.domain import decisions, events, ids, inputs, state
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case

S = state.TaskState
pytestmark = pytest.mark.spec("D-01")

ASKED = [moves.submit("run `ls`"), moves.inspected()]
MODEL_ASKED = [moves.submit("hi"), moves.gathered(), moves.wants("erase"), moves.inspected()]
DAY_SECONDS = 24 * 3600
RUNS = ["now running"]
ENDED_BY_NO = ["tool ended denied", "now failed"]
THINKS = ["timer task_budget", "gather context"]

CASES = {
    "an inspected command asks": Case(
        given=[moves.submit("run `ls`")],
        when=moves.inspected(),
        events=["inspected ask", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "one that can do harm asks too": Case(
        given=[moves.submit("hi"), moves.gathered(), moves.wants("erase")],
        when=moves.inspected(),
        events=["inspected ask-never-always", "approval requested", "now awaiting_approval"],
        actions=["release call", "timer approval_expiry"],
    ),
    "a hard stop is refused without asking": Case(
        given=[moves.submit("hi"), moves.gathered(), moves.wants("explode")],
        when=moves.inspected(),
        events=["inspected hard-stop", "tool ended refused"],
        actions=["release call", "gather context"],
    ),
    "allowed": Case(
        given=ASKED,
        when=moves.allow(),
        events=["approval allowed", *RUNS],
        actions=["timer task_budget", "inspect call"],
        reply="approval",
    ),
    "allowed and found the same": Case(
        given=[*ASKED, moves.allow()],
        when=moves.inspected(),
        events=["tool started 1"],
        actions=["call tool"],
    ),
    "allowed and found changed": Case(
        given=[*ASKED, moves.allow()],
        when=moves.inspected(bound="other"),
        events=["approval withdrawn", "tool ended refused", "answered", "now failed"],
        actions=["release call"],
    ),
    "allowed and no more there": Case(
        given=[*ASKED, moves.allow()],
        when=moves.not_inspected(),
        events=["tool ended refused", "answered", "now failed"],
        actions=["release call"],
    ),
    "allowed for always, which was not offered": Case(
        given=MODEL_ASKED, when=moves.resolve(inputs.Answer.ALLOW_ALWAYS), reply="refused state"
    ),
    "allowed for always": Case(
        given=ASKED,
        when=moves.resolve(inputs.Answer.ALLOW_ALWAYS),
        events=["granted", "approval allowed", *RUNS],
        actions=["timer task_budget", "inspect call"],
        reply="approval",
    ),
    "allowed for always again": Case(
        given=[*ASKED, moves.resolve(inputs.Answer.ALLOW_ALWAYS)],
        when=moves.resolve(inputs.Answer.ALLOW_ALWAYS),
        reply="approval",
    ),
    "allowed for always after it was allowed once": Case(
        given=[*ASKED, moves.allow()],
        when=moves.resolve(inputs.Answer.ALLOW_ALWAYS),
        reply="refused state",
    ),
    "denied without a reason": Case(
        given=ASKED,
        when=moves.deny(),
        events=["approval denied", *ENDED_BY_NO],
        reply="approval",
    ),
    "denied with a blank reason": Case(
        given=ASKED,
        when=moves.deny("  "),
        events=["approval denied", *ENDED_BY_NO],
        reply="approval",
    ),
    "denied with a reason, typed by the person": Case(
        given=ASKED,
        when=moves.deny("not there"),
        events=["approval denied", "tool ended denied", *RUNS, "answered", "now failed"],
        actions=["timer task_budget"],
        reply="approval",
    ),
    "denied with a reason, wanted by the model": Case(
        given=MODEL_ASKED,
        when=moves.deny("not there"),
        events=["approval denied", "tool ended denied", *RUNS],
        actions=THINKS,
        reply="approval",
    ),
    "the same answer again while it waits to run": Case(
        given=[*ASKED, moves.allow()], when=moves.allow(), reply="approval"
    ),
    "the same answer again after it ran": Case(
        given=[*ASKED, moves.allow(), moves.inspected(), moves.ran()],
        when=moves.allow(),
        reply="approval",
    ),
    "another answer afterwards": Case(
        given=[*ASKED, moves.allow()], when=moves.deny(), reply="refused state"
    ),
    "the same no again": Case(given=[*ASKED, moves.deny()], when=moves.deny(), reply="approval"),
    "a yes after a no": Case(
        given=[*ASKED, moves.deny()], when=moves.allow(), reply="refused state"
    ),
    "the timer at its time": Case(
        given=[*ASKED, moves.later(DAY_SECONDS)],
        when=moves.approval_timer(),
        events=["approval expired", "tool ended expired", "now failed"],
    ),
    "the timer too early is set again": Case(
        given=[*ASKED, moves.later(DAY_SECONDS - 1)],
        when=moves.approval_timer(),
        actions=["timer approval_expiry"],
    ),
    "the timer after the answer": Case(
        given=[*ASKED, moves.allow(), moves.later(DAY_SECONDS)], when=moves.approval_timer()
    ),
    "a yes too late, before the timer": Case(
        given=[*ASKED, moves.later(DAY_SECONDS)],
        when=moves.allow(),
        events=["approval expired", "tool ended expired", "now failed"],
        reply="refused state",
    ),
    "a yes after it expired": Case(
        given=[*ASKED, moves.later(DAY_SECONDS), moves.approval_timer()],
        when=moves.allow(),
        reply="refused state",
    ),
    "a yes after the task was cancelled": Case(
        given=[*ASKED, moves.cancel()], when=moves.allow(), reply="refused state"
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_approval_goes_its_way(case: Case) -> None:
    case.check()


def test_an_unknown_approval_is_not_found() -> None:
    scene = scenes.Scene().given(ASKED)
    scene.seen[0].approvals.append(ids.ApprovalId("approval-x"))
    assert scene.when(moves.allow()).reply == "refused not_found"


def test_a_yes_starts_the_call_by_a_permit_for_what_was_shown() -> None:
    scene = scenes.Scene().given(ASKED)
    requested = scene.recorded[-2].event
    assert isinstance(requested, events.ApprovalRequested)
    assert scene.texts[requested.card] == "shell_exec\nwhat: same"
    (step,) = scene.given([moves.allow()]).when(moves.inspected()).steps
    (action,) = step.actions
    assert isinstance(action, decisions.CallTool)
    assert action.permit.digest == requested.digest
    assert action.permit.approval_id == requested.approval_id
    assert scene.world.approvals == {}


def test_the_reason_of_a_no_reaches_the_model() -> None:
    scene = scenes.Scene().given(MODEL_ASKED)
    (step,) = scene.when(moves.deny("use the other folder")).steps
    gather = step.actions[-1]
    assert isinstance(gather, decisions.GatherContext)
    told = scene.text(gather.turn[-1].content)
    assert told == "The user did not allow this call. Their reason: use the other folder"


def test_a_denied_turn_says_why_it_ended() -> None:
    scene = scenes.Scene().given([*ASKED, moves.deny()])
    change = scene.recorded[-1].event
    assert isinstance(change, events.TaskStateChanged)
    assert (change.state, change.reason) == (S.FAILED, "a command was not allowed")
