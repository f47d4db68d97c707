"""How conversations are set up, deleted and forgotten, and what their tasks changed."""

import pytest

from daemon.domain import decisions, events, ids, state, verdicts, views
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep, whole_log
from tools import contract

C = events.CallOutcome


async def test_a_conversation_keeps_its_settings(store: Store) -> None:
    play = histories.Play(1)
    chat = ids.ConversationId("conversation-1")
    play.add(
        events.ConversationCreated(
            conversation_id=chat,
            principal=histories.OWNER,
            mode=verdicts.Mode.PLAN,
            folder="/project",
            profile="careful",
            steers=True,
        ),
        chat,
    )
    await keep(store, play.history)
    view = await store.conversation(chat)
    assert view is not None
    assert (view.mode, view.folder, view.profile, view.steers) == (
        verdicts.Mode.PLAN,
        "/project",
        "careful",
        True,
    )
    play.add(
        events.ConversationUpdated(conversation_id=chat, folder="", profile="", steers=False), chat
    )
    await store.commit(play.history.recorded[1:], [])
    view = await store.conversation(chat)
    assert view is not None
    assert (view.mode, view.folder, view.profile, view.steers) == (
        verdicts.Mode.PLAN,
        "",
        "",
        False,
    )


async def test_a_task_keeps_the_folder_that_it_began_in(store: Store) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation("/project")
    before = play.submit(chat)
    play.add(events.ConversationUpdated(conversation_id=chat, folder="/other"), chat)
    after = play.submit(chat)
    await keep(store, play.history)
    found = [await store.task(before), await store.task(after)]
    assert [view and view.folder for view in found] == ["/project", "/other"]


@pytest.mark.parametrize(
    ("effect", "outcomes", "commit", "left"),
    [
        (contract.Effect.UNSAFE, (C.FINISHED,), "", True),
        (contract.Effect.KEYED, (C.FAILED,), "", True),
        (contract.Effect.RECONCILABLE, (C.OUTCOME_UNKNOWN,), "", True),
        (contract.Effect.UNSAFE, (C.OUTCOME_UNKNOWN, C.MARKED_DONE), "", True),
        (contract.Effect.UNSAFE, (C.OUTCOME_UNKNOWN, C.MARKED_DONE), "c1", False),
        (contract.Effect.UNSAFE, (C.FINISHED,), "c1", False),
        (contract.Effect.UNSAFE, (C.CANCELLED,), "", True),
        (None, (C.CANCELLED,), "", False),
        (contract.Effect.PURE, (C.FINISHED,), "", False),
        (contract.Effect.PURE, (C.OUTCOME_UNKNOWN, C.MARKED_DONE), "", False),
        (None, (C.REFUSED,), "", False),
        (None, (C.DENIED,), "", False),
    ],
)
async def test_what_no_commit_holds_is_left(
    store: Store,
    effect: contract.Effect | None,
    outcomes: tuple[events.CallOutcome, ...],
    commit: str,
    left: bool,
) -> None:
    play = histories.Play(1)
    task_id = play.submit(play.begin_conversation())
    task = play.history.folded.tasks[task_id]
    play.move(task, state.TaskState.RUNNING)
    play.propose(task)
    (call,) = play.history.folded.tasks[task_id].calls
    if effect is not None:
        started = events.ToolCallStarted(
            task_id=task_id, call_id=call.call_id, digest="d", effect=effect, attempt=1
        )
        play.tell(task, started)
    for number, outcome in enumerate(outcomes, 1):
        ended = events.ToolCallEnded(
            task_id=task_id,
            call_id=call.call_id,
            outcome=outcome,
            commit=commit if number == len(outcomes) else "",
        )
        play.tell(task, ended)
    for one in play.history.recorded:  # each from what the store kept of those before
        await store.commit([one], [])
    view = await store.task(task_id)
    assert view is not None
    assert view.left == ((call.call_id,) if left else ())
    assert view.commits == ((commit,) if commit else ())


async def test_a_task_says_what_was_thought_of_its_answer(store: Store) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation()
    task_id = play.submit(chat)
    play.answer(task_id)
    for good in (True, False):
        said = events.FeedbackGiven(task_id=task_id, principal=histories.OWNER, good=good)
        play.add(said, chat, task_id)
    await store.commit(play.history.recorded[:-2], [])
    for one, good in zip(play.history.recorded[-2:], (True, False), strict=True):
        await store.commit([one], [])
        view = await store.task(task_id)
        assert view is not None
        assert view.good is good


def talk(play: histories.Play) -> ids.ConversationId:
    """A conversation with an answered task, and one that waits for an approval."""
    chat = play.begin_conversation()
    play.answer(play.submit(chat))
    task = play.history.folded.tasks[play.submit(chat)]
    play.move(task, state.TaskState.RUNNING)
    play.propose(task)
    (call,) = play.history.folded.tasks[task.task_id].calls
    asked = events.ApprovalRequested(
        task_id=task.task_id,
        approval_id=ids.ApprovalId(play.new_id("approval")),
        call_id=call.call_id,
        tool=call.tool,
        digest="d",
        card=play.content(chat),
        reasons=(),
        always_allowed=False,
        expires_ms=histories.START_MS,
    )
    play.tell(task, asked)
    play.compact(chat, 3)
    return chat


async def test_a_deleted_conversation_is_gone_and_the_log_stays(store: Store) -> None:
    play = histories.Play(1)
    chat, other = talk(play), talk(play)
    play.delete(chat)
    await keep(store, play.history, 3)
    tasks = {one.task_id: one for one in play.history.recorded if one.task_id is not None}
    happened = [one.event for one in play.history.recorded]
    asked = [each for each in happened if isinstance(each, events.ApprovalRequested)]
    assert await store.conversation(chat) is None
    assert [row.conversation_id for row in (await store.conversations(9)).rows] == [other]
    for task_id, one in tasks.items():
        shown = await store.task(task_id)
        assert (shown is None) is (one.conversation_id == chat)
    assert {row.conversation_id for row in (await store.tasks(9)).rows} == {other}
    assert (await store.tasks(9, None, chat)).rows == ()
    assert [row.conversation_id for row in (await store.approvals(9, None)).rows] == [other]
    found = [await store.approval(each.approval_id) for each in asked]
    assert [view and view.conversation_id for view in found] == [None, other]
    assert await store.history(chat, 999, 9) == views.History()
    assert (await store.history(other, 999, 9)).summary is not None
    assert await whole_log(store) == play.history.recorded
    assert len(await store.log(0, 999, conversation_id=chat)) > 5


async def test_what_ends_late_in_a_deleted_conversation_shows_nowhere(store: Store) -> None:
    play = histories.Play(1)
    chat = talk(play)
    play.delete(chat)
    await keep(store, play.history)
    before = len(play.history.recorded)
    for task in list(play.history.folded.tasks.values()):
        play.move(task, state.TaskState.CANCELLED, "its conversation was deleted")
    for one in play.history.recorded[before:]:
        await store.commit([one], [])
    assert (await store.tasks(9)).rows == ()
    assert (await store.conversations(9)).rows == ()


async def test_every_text_of_a_conversation_is_forgotten(store: Store) -> None:
    play = histories.Play(1)
    chat, other = talk(play), talk(play)
    await keep(store, play.history)
    before = len(play.history.recorded)
    play.delete(chat)
    told = decisions.ContentRecord(
        content_id=ids.ContentId("last"), owner=chat, text="kept by the same commit"
    )
    forgotten = decisions.ForgottenRecord(owner=chat)
    await store.commit(play.history.recorded[before:], [forgotten, told])
    late = decisions.ContentRecord(
        content_id=ids.ContentId("late"), owner=chat, text="what a tool had to say"
    )
    await store.commit([], [late])
    contents = play.history.contents
    found = await store.texts([each.content_id for each in (*contents, told, late)])
    assert found == {
        **{each.content_id: each.text for each in contents if each.owner == other},
        **{each.content_id: None for each in contents if each.owner == chat},
        told.content_id: None,
        late.content_id: None,
    }
