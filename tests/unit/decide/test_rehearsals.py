"""What of permission is a schedule's own: a rehearsal, its grant, whom its runs ask, how long."""

import pytest

from daemon.domain import events, inputs, schedules, state, verdicts
from daemon.permission import card, policy
from tests.unit.decide import moves, planned, scenes
from tools import contract

pytestmark = pytest.mark.spec("C-04")
READS = policy.of_category(contract.Category.READ_ONLY)
NEVER = policy.of_category(contract.Category.NO_ALWAYS)
STOPS = policy.of_category(contract.Category.HARD_STOP)
REHEARSE = planned.run_now(rehearses=True)


def scene() -> scenes.Scene:
    return planned.scene(schedules.Policy(delivery=planned.TOLD), work=planned.COMMAND)


@pytest.mark.parametrize(
    ("judged", "told"),
    [
        (READS, "This command needs no approval"),
        (NEVER, "This command can never be allowed for good"),
        (STOPS, "This command is refused, and each run of the schedule will fail"),
    ],
)
def test_what_has_nothing_to_ask_says_so(judged: verdicts.Judgement, told: str) -> None:
    made = scene().given([REHEARSE, moves.inspected(judged=judged)])
    answer = made.answer()
    assert answer is not None
    assert answer.startswith(told)
    assert made.state() is state.TaskState.COMPLETED


def test_nothing_runs_and_what_is_allowed_counts_for_the_schedules_runs_alone() -> None:
    made = scene().given([REHEARSE, moves.inspected(), moves.always()])
    then = made.when(moves.inspected())
    assert not [line for line in then.events if line.startswith("tool started")]
    assert made.answer() == "From now on each run of the schedule may run this command unasked."
    made.given([planned.due("16:00")])
    assert "tool started 1" in made.when(moves.inspected()).events
    command = moves.submit("run `look at the weather`")
    asked = made.given([command]).when(moves.inspected()).events
    assert "approval requested" in asked


def test_a_command_too_long_for_always_is_not_asked_about() -> None:
    """Its card cannot be read whole in a chat, and so has no button for always."""
    shown = (("command", "look " * card.LONG_CHARS),)
    long = contract.Facts(effect=contract.Effect.UNSAFE, bound=(), shown=shown)
    made = scene().given([REHEARSE])
    (inspected,) = moves.inspected()(made)
    assert isinstance(inspected, inputs.CallInspected)
    made.given([lambda scene: [inspected.model_copy(update={"facts": long})]])
    answer = made.answer()
    assert answer is not None
    assert answer.startswith("This command can never be allowed for good")


def test_a_yes_for_once_allows_no_run() -> None:
    made = scene().given([REHEARSE, moves.inspected(), moves.allow(), moves.inspected()])
    assert made.answer() == "It was allowed once only: each run of the schedule will ask."
    assert not made.world.grants
    made.given([planned.due("16:00")])
    assert "approval requested" in made.when(moves.inspected()).events


def test_a_no_ends_it() -> None:
    made = scene().given([REHEARSE, moves.inspected(), moves.deny()])
    assert made.state() is state.TaskState.FAILED


def test_only_a_command_is_rehearsed() -> None:
    assert planned.scene().when(REHEARSE).reply == "refused state"


def test_a_rehearsal_stands_beside_the_runs() -> None:
    """It neither counts nor blocks: while it waits, what is due begins."""
    made = scene().given([REHEARSE, moves.inspected()])
    assert planned.when(made, planned.due("16:00")) == ["run of 16:00 started 1"]
    assert planned.planned(made).runs == 1


class TestWhomRunsAsk:
    def card(self, made: scenes.Scene) -> events.ApprovalRequested:
        asked = (one.event for one in made.recorded)
        return [one for one in asked if isinstance(one, events.ApprovalRequested)][-1]

    def test_the_chat_that_results_go_to(self) -> None:
        policy = schedules.Policy(delivery=planned.TOLD)
        made = planned.empty().given([planned.create(policy, by=planned.PERSON)])
        made.given([planned.due("16:00"), *planned.asks()])
        card = self.card(made)
        assert (card.approvers, card.places) == ((planned.PERSON,), ("telegram:77/5/",))
        assert card.reasons[0] == "a scheduled task asks"

    def test_in_a_group_only_owners_decide(self) -> None:
        group = planned.TARGET.but({"chat": "-9", "topic": "3"})
        policy = schedules.Policy(delivery=schedules.Delivery(to=group))
        made = planned.empty().given([planned.create(policy, by=planned.PERSON)])
        made.given([planned.due("16:00"), *planned.asks()])
        assert (self.card(made).approvers, self.card(made).places) == ((), ("telegram:77/-9/3",))

    def test_nobody_in_particular_where_there_is_no_chat(self) -> None:
        made = planned.scene().given([planned.due("16:00"), *planned.asks()])
        assert (self.card(made).approvers, self.card(made).places) == ((scenes.OWNER,), ())

    @pytest.mark.parametrize(("own", "expires"), [(None, "+1 16:00"), (600, "16:10")])
    def test_for_its_own_time(self, own: int | None, expires: str) -> None:
        made = planned.scene(schedules.Policy(approval_seconds=own))
        made.given([planned.due("16:00"), *planned.asks()])
        assert planned.shown(self.card(made).expires_ms) == expires

    def test_when_nobody_answers_the_run_has_failed_and_the_next_begins(self) -> None:
        policy = schedules.Policy(approval_seconds=600)
        made = planned.scene(policy).given([planned.due("16:00"), *planned.asks()])
        made.given([planned.clock("16:10")])
        assert planned.when(made, moves.approval_timer()) == ["run failed"]
        assert planned.when(made, planned.due("17:00")) == ["run of 17:00 started 1"]

    def test_a_question_over_a_restart(self) -> None:
        policy = schedules.Policy(approval_seconds=600)
        made = planned.scene(policy).given([planned.due("16:00"), *planned.asks()])
        assert planned.when(made, moves.restart()) == []
        made.given([moves.allow(), moves.inspected(), moves.ran()])
        assert planned.when(made, *planned.answers()) == ["run done"]
