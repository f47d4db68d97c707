"""After a restart every live task goes on from its log; what cannot be known is asked."""

import pytest

from daemon.domain import events, limits, messages, state
from tests.unit.decide import moves, scenes
from tests.unit.decide.scenes import Case
from tools import contract

S = state.TaskState
Found = contract.Reconciled
Kind = messages.ModelFaultKind
pytestmark = [pytest.mark.spec("D-04"), pytest.mark.spec("D-01")]

THINKING = [moves.submit("hi"), moves.gathered()]
ASKED = [moves.submit("run `ls`"), moves.inspected()]
SHELL_RUNS = [*ASKED, moves.allow(), moves.inspected()]
TIMER = "timer task_budget"
CRASH, DRAIN = moves.restart(), moves.restart(clean=True)


def using(tool: str) -> list[scenes.Move]:
    """A turn whose tool has started."""
    return [*THINKING, moves.wants(tool), moves.inspected()]


CASES = {
    "nothing was live": Case(given=[*THINKING, moves.says("x"), moves.later(1)], when=CRASH),
    "a task that had not begun its call": Case(
        given=[moves.submit("hi")],
        when=CRASH,
        events=["recovered 1"],
        actions=[TIMER, "gather context"],
    ),
    "a model call that ran": Case(
        given=THINKING,
        when=CRASH,
        events=["model failed interrupted", "recovered 1"],
        actions=[TIMER, "gather context"],
    ),
    "a drained daemon is no recovery": Case(
        given=THINKING,
        when=DRAIN,
        events=["model failed interrupted", "recovered 0"],
        actions=[TIMER, "gather context"],
    ),
    "a proposed call": Case(
        given=[*THINKING, moves.wants("look")],
        when=CRASH,
        events=["recovered 1"],
        actions=[TIMER, "inspect call"],
    ),
    "an approval that waits": Case(given=ASKED, when=CRASH, actions=["timer approval_expiry"]),
    "an approved call is inspected again": Case(
        given=[*ASKED, moves.allow()],
        when=CRASH,
        events=["recovered 1"],
        actions=[TIMER, "inspect call"],
    ),
    "and runs when it is the same": Case(
        given=[*ASKED, moves.allow(), CRASH],
        when=moves.inspected(),
        events=["tool started 1"],
        actions=["call tool"],
    ),
    "and is refused when it is another": Case(
        given=[*ASKED, moves.allow(), CRASH],
        when=moves.inspected(bound="other"),
        events=["approval withdrawn", "tool ended refused", "answered", "now failed"],
        actions=["release call"],
    ),
    "a pure call is inspected": Case(
        given=using("look"),
        when=CRASH,
        events=["recovered 1"],
        actions=[TIMER, "inspect call"],
    ),
    "and runs again": Case(
        given=[*using("look"), CRASH],
        when=moves.inspected(),
        events=["tool started 2"],
        actions=["call tool"],
    ),
    "a keyed call runs again": Case(
        given=[*using("keep"), CRASH],
        when=moves.inspected(),
        events=["tool started 2"],
        actions=["call tool"],
    ),
    "but not when it has changed": Case(
        given=[*using("keep"), CRASH],
        when=moves.inspected(bound="other"),
        events=["tool ended failed"],
        actions=["release call", "gather context"],
    ),
    "nor when it cannot be inspected": Case(
        given=[*using("look"), CRASH],
        when=moves.not_inspected(),
        events=["tool ended failed"],
        actions=["gather context"],
    ),
    "a reconcilable call is looked for": Case(
        given=using("write"),
        when=CRASH,
        events=["recovered 1"],
        actions=[TIMER, "reconcile call"],
    ),
    "and found done": Case(
        given=[*using("write"), CRASH],
        when=moves.reconciled(Found.DONE),
        events=["tool ended finished"],
        actions=["gather context"],
    ),
    "and not done": Case(
        given=[*using("write"), CRASH],
        when=moves.reconciled(Found.NOT_DONE),
        actions=["inspect call"],
    ),
    "so it runs again": Case(
        given=[*using("write"), CRASH, moves.reconciled(Found.NOT_DONE)],
        when=moves.inspected(),
        events=["tool started 2"],
        actions=["call tool"],
    ),
    "and in neither state": Case(
        given=[*using("write"), CRASH],
        when=moves.reconciled(Found.UNKNOWN),
        events=["tool ended outcome_unknown", "now awaiting_decision"],
    ),
    "an unsafe call is asked about": Case(
        given=SHELL_RUNS,
        when=CRASH,
        events=["recovered 1", "tool ended outcome_unknown", "now awaiting_decision"],
        actions=[TIMER],
    ),
    "also when a drain ended it": Case(
        given=SHELL_RUNS,
        when=DRAIN,
        events=["recovered 0", "tool ended outcome_unknown", "now awaiting_decision"],
        actions=[TIMER],
    ),
    "also when it asked nobody": Case(
        given=using("fire"),
        when=CRASH,
        events=["recovered 1", "tool ended outcome_unknown", "now awaiting_decision"],
        actions=[TIMER],
    ),
    "a queued task waits on": Case(
        given=[*ASKED, moves.submit(chat=0), moves.submit(chat=0)],
        when=CRASH,
        events=["recovered 1"],
        actions=["timer approval_expiry", TIMER, "gather context"],
    ),
    "a model that was away stays so": Case(
        given=[*THINKING, moves.faults(Kind.UNAVAILABLE)], when=CRASH
    ),
    "a cancelled task whose model call ran": Case(
        given=[*THINKING, moves.cancel()], when=CRASH, events=["model failed cancelled"]
    ),
    "a cancelled task whose unsafe call ran": Case(
        given=[*SHELL_RUNS, moves.cancel()], when=CRASH, events=["tool ended outcome_unknown"]
    ),
    "a cancelled task whose pure call ran": Case(
        given=[*using("look"), moves.cancel()], when=CRASH, events=["tool ended cancelled"]
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_task_goes_on_after_a_restart(case: Case) -> None:
    case.check()


def test_a_lane_that_a_lost_call_frees_goes_on_once() -> None:
    scene = scenes.Scene().given([*SHELL_RUNS, moves.submit(chat=0)])
    restarted = scene.when(CRASH)
    assert restarted.events[-1] == "now running"
    assert restarted.actions == [TIMER, TIMER, "gather context"]
    assert scene.task().recoveries == 0


def test_an_approved_command_behind_a_lost_one_starts_once() -> None:
    """Both are approved and the second waits for the lane: a crash frees it."""
    second = [moves.submit("run `b`", chat=0), moves.inspected()]
    scene = scenes.Scene().given([*ASKED, *second, moves.allow(0), moves.allow(1)])
    scene.given([moves.inspected(0)])
    restarted = scene.when(CRASH)
    assert scene.state(0) is S.AWAITING_DECISION
    assert restarted.actions.count("inspect call") == 1


def test_an_unsafe_call_never_starts_twice() -> None:
    scene = scenes.Scene().given(SHELL_RUNS)
    with pytest.raises(ValueError, match="is unsafe and was started already"):
        scene.when(moves.inspected())


@pytest.mark.spec("L-02")
class TestParked:
    """A task that ran at each of too many crashes may be their cause."""

    def crashed(self, times: int, moves_before: list[scenes.Move]) -> scenes.Scene:
        return scenes.Scene(limits.Limits(task_recoveries=2)).given(
            [*moves_before, *[CRASH] * times]
        )

    def test_after_the_last_recovery_that_it_may_have(self) -> None:
        scene = self.crashed(2, THINKING)
        assert scene.state() is S.RUNNING
        assert scene.when(CRASH).events == ["recovered 3", "now parked"]

    def test_drains_do_not_count(self) -> None:
        scene = self.crashed(2, THINKING).given([DRAIN] * 5)
        assert scene.state() is S.RUNNING

    def test_waiting_does_not_count(self) -> None:
        assert self.crashed(5, ASKED).task().recoveries == 0

    def test_a_lost_unsafe_call_is_asked_about_first(self) -> None:
        scene = self.crashed(2, [*THINKING, moves.wants("fire")]).given([moves.inspected()])
        assert scene.when(CRASH).events[-1] == "now awaiting_decision"

    def test_retry_lets_it_go_on(self) -> None:
        scene = self.crashed(3, THINKING)
        decided = scene.when(moves.decide(events.Decision.RETRY))
        assert decided.events == ["decided retry", "now running"]
        assert decided.actions == [TIMER, "gather context"]

    @pytest.mark.parametrize("end", [moves.cancel(), moves.decide(events.Decision.ABANDON)])
    def test_a_call_that_was_cut_off_ends_with_its_parked_task(self, end: scenes.Move) -> None:
        scene = self.crashed(3, using("look"))
        assert scene.state() is S.PARKED
        assert "tool ended cancelled" in scene.when(end).events
        assert scene.world.tasks == {}


@pytest.mark.parametrize(
    "answer", [moves.inspected(), moves.not_inspected(), moves.reconciled(Found.DONE)]
)
def test_cancelled_while_the_call_that_was_cut_off_is_looked_at(answer: scenes.Move) -> None:
    scene = scenes.Scene().given([*using("look"), CRASH, moves.cancel()])
    ended = scene.when(answer)
    assert (ended.events, ended.actions) == (["tool ended cancelled"], ["release call"])
    assert scene.world.tasks == {}


@pytest.mark.spec("L-03")
def test_the_time_of_a_stopped_daemon_is_no_time_of_running() -> None:
    scene = scenes.Scene(limits.Limits(task_seconds=60))
    scene.given([moves.submit("run `ls`"), moves.later(3600), CRASH, moves.later(10)])
    scene.given([moves.inspected(), moves.allow()])
    assert scene.task().active_ms == 10_000
