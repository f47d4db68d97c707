"""What people ask of a conversation as a whole, and what it leads to."""

from collections.abc import Sequence

import pytest

from daemon.domain import decisions, ids, inputs, limits, principals
from tests.unit.decide import lines, moves, scenes, simulated
from tools import contract

pytestmark = [pytest.mark.spec("K-01"), pytest.mark.spec("K-02"), pytest.mark.spec("K-08")]

OWNER = principals.LOCAL_OWNER
ANSWERED = [moves.submit(), moves.gathered(), moves.says("words")]
WRITTEN = [
    moves.submit(),
    moves.gathered(),
    moves.wants("write"),
    moves.inspected(),
    lambda scene: [
        inputs.ToolFinished(
            task_id=scene.seen[-1].task_id,
            call_id=scene.seen[-1].tool_call,
            result=contract.Result(text="out"),
            duration_ms=1,
            change=inputs.Change(commit="c1", files=("x",), diff="+x"),
        )
    ],
    moves.gathered(),
    moves.says("words"),
]


def undo(chat: ids.ConversationId) -> inputs.Input:
    return inputs.UndoExchange(
        credential="owner", principal=OWNER, correlation_id="other", conversation_id=chat
    )


def compact(chat: ids.ConversationId) -> inputs.Input:
    return inputs.CompactConversation(
        credential="owner",
        principal=OWNER,
        correlation_id="other",
        conversation_id=chat,
        origin=principals.Origin(principal=OWNER),
    )


def delete(chat: ids.ConversationId) -> inputs.Input:
    return inputs.DeleteConversation(
        credential="owner", principal=OWNER, correlation_id="other", conversation_id=chat
    )


def feedback(task_id: ids.TaskId) -> inputs.Input:
    return inputs.GiveFeedback(
        credential="owner", principal=OWNER, correlation_id="other", task_id=task_id, good=False
    )


def given(happened: Sequence[scenes.Move]) -> simulated.Daemon:
    daemon = simulated.Daemon(limits.Limits())
    for move in happened:
        for one in move(daemon):
            daemon.flying.clear()
            daemon.feed(one)
    return daemon


def told(step: decisions.Step) -> tuple[list[str], str]:
    return [lines.event(one.event) for one in step.events], lines.reply(step.reply)


def test_an_undo_takes_back_the_commits_of_the_last_task_once() -> None:
    daemon = given(WRITTEN)
    chat = daemon.seen[0].conversation_id
    step = daemon.feed(undo(chat))
    assert told(step) == (["exchange undone"], "undone")
    (revert,) = step.actions
    assert isinstance(revert, decisions.RevertCommits)
    assert revert.commits == ("c1",)
    assert told(daemon.feed(undo(chat))) == ([], "refused state")
    done = inputs.CommitsReverted(task_id=daemon.seen[0].task_id, commit="c2")
    assert told(daemon.feed(done)) == (["project reverted"], "")
    assert told(daemon.feed(done)) == ([], "")


def test_an_undo_that_a_stop_cut_off_goes_on() -> None:
    daemon = given(WRITTEN)
    daemon.feed(undo(daemon.seen[0].conversation_id))
    daemon.restart(clean=False)
    assert [one.commits for one in daemon.reverting] == [("c1",)]


@pytest.mark.parametrize(
    ("happened", "reply"), [([moves.submit()], "refused state"), (ANSWERED, "undone")]
)
def test_nothing_is_undone_while_a_task_has_not_ended(
    happened: Sequence[scenes.Move], reply: str
) -> None:
    daemon = given(happened)
    assert told(daemon.feed(undo(daemon.seen[0].conversation_id)))[1] == reply


def test_a_deleted_conversation_ends_its_tasks_and_is_forgotten() -> None:
    daemon = given([moves.submit()])
    chat = daemon.seen[0].conversation_id
    step = daemon.feed(delete(chat))
    assert told(step) == (["now cancelled", "conversation deleted"], "conversation")
    forgotten = [one for one in step.records if isinstance(one, decisions.ForgottenRecord)]
    assert [one.owner for one in forgotten] == [chat]
    for later in (delete(chat), undo(chat), compact(chat)):
        assert told(daemon.feed(later)) == ([], "refused not_found")


def test_a_summary_takes_its_turn_like_any_task() -> None:
    daemon = given(ANSWERED)
    step = daemon.feed(compact(daemon.seen[0].conversation_id))
    assert told(step) == (["submitted", "now running"], "submitted")


@pytest.mark.parametrize(
    ("happened", "events", "reply"),
    [(ANSWERED, ["feedback bad"], "task"), ([moves.submit()], [], "refused state")],
)
def test_feedback_is_for_an_answer(
    happened: Sequence[scenes.Move], events: list[str], reply: str
) -> None:
    daemon = given(happened)
    assert told(daemon.feed(feedback(daemon.seen[0].task_id))) == (events, reply)
