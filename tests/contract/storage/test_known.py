"""What a store knows of the ids in a write by an RPC."""

from collections.abc import AsyncIterator

import pytest

from daemon.domain import decisions, errors, events, ids, inputs, state, taints, views
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep
from tools import contract

DAY_MS = 24 * 3600 * 1000
ABSENT = ids.ArtifactId("0" * 64)


def submit(
    client_key: str = "",
    credential: str = "local",
    conversation_id: ids.ConversationId | None = None,
    attachments: tuple[ids.ArtifactId, ...] = (),
) -> inputs.SubmitTask:
    return inputs.SubmitTask(
        credential=credential,
        principal=histories.OWNER,
        correlation_id="c",
        client_key=client_key,
        body_hash="hash",
        origin=histories.Play(0).origin("chat"),
        text="hello",
        conversation_id=conversation_id,
        attachments=attachments,
    )


def cancel(task_id: str) -> inputs.CancelTask:
    return inputs.CancelTask(
        credential="local",
        principal=histories.OWNER,
        correlation_id="c",
        task_id=ids.TaskId(task_id),
    )


def resolve(approval_id: ids.ApprovalId) -> inputs.ResolveApproval:
    return inputs.ResolveApproval(
        credential="local",
        principal=histories.OWNER,
        correlation_id="c",
        approval_id=approval_id,
        answer=inputs.Answer.DENY,
    )


def key_record(client_key: str, at_ms: int = histories.START_MS) -> decisions.ClientKeyRecord:
    return decisions.ClientKeyRecord(
        credential="local",
        client_key=client_key,
        body_hash=f"hash of {client_key}",
        reply=decisions.Submitted(
            task_id=ids.TaskId("task-1"),
            conversation_id=ids.ConversationId("conversation-1"),
            seq=2,
        ),
        at_ms=at_ms,
    )


async def test_nothing_is_known_of_an_input_without_ids(store: Store) -> None:
    assert await store.known(submit()) == inputs.Known()


async def test_a_client_key_brings_its_answer_back(store: Store) -> None:
    record = key_record("k1")
    await store.commit([], [record])
    found = await store.known(submit("k1"))
    assert found == inputs.Known(key_body_hash=record.body_hash, key_reply=record.reply)
    assert await store.known(submit("k2")) == inputs.Known()
    assert await store.known(submit("k1", credential="another")) == inputs.Known()


async def test_a_client_key_is_kept_once(store: Store) -> None:
    await store.commit([], [key_record("k1")])
    with pytest.raises(errors.StorageFault):
        await store.commit([], [key_record("k1")])


async def test_client_keys_last_thirty_days(store: Store) -> None:
    play = histories.Play(1)
    task_id = play.submit(play.begin_conversation())
    await store.commit(play.history.recorded, [])
    await store.commit([], [key_record("old"), key_record("new", histories.START_MS + DAY_MS)])
    play.move(play.history.folded.tasks[task_id], state.TaskState.RUNNING)
    later_ms = histories.START_MS + 30 * DAY_MS + 1
    later = play.history.recorded[-1]._replace(at_ms=later_ms)
    await store.commit([later], [])
    assert (await store.known(submit("old"))).key_reply is None
    assert (await store.known(submit("new"))).key_reply is not None


async def test_conversations_are_known(store: Store) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation()
    await keep(store, play.history)
    assert (await store.known(submit(conversation_id=chat))).conversation_exists
    nowhere = ids.ConversationId("nowhere")
    assert not (await store.known(submit(conversation_id=nowhere))).conversation_exists


async def test_tasks_are_known_also_when_they_ended(store: Store) -> None:
    play = histories.Play(1)
    task_id = play.submit(play.begin_conversation())
    play.move(play.history.folded.tasks[task_id], state.TaskState.CANCELLED)
    await keep(store, play.history)
    assert (await store.known(cancel(task_id))).task_exists
    assert not (await store.known(cancel("task-of-nobody"))).task_exists


async def test_the_outcome_of_an_approval_is_known(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 500)
    await keep(store, history, seed)
    outcomes: dict[ids.ApprovalId, events.ApprovalOutcome | None] = {}
    for one in history.recorded:
        if one.conversation_id in history.deleted():
            continue
        if isinstance(one.event, events.ApprovalRequested):
            outcomes[one.event.approval_id] = None
        elif isinstance(one.event, events.ApprovalResolved):
            outcomes[one.event.approval_id] = one.event.outcome
    for approval_id, outcome in outcomes.items():
        assert (await store.known(resolve(approval_id))).approval_outcome is outcome


async def test_the_first_attachment_that_is_missing_is_named(store: Store) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"here"

    there, _ = await store.artifacts.put(chunks(), 100)
    assert (await store.known(submit(attachments=(there,)))).missing_artifact is None
    found = await store.known(submit(attachments=(there, ABSENT)))
    assert found.missing_artifact == ABSENT
    odd = ids.ArtifactId("../ducklm.db")
    assert (await store.known(submit(attachments=(odd,)))).missing_artifact == odd


def of(
    chat: ids.ConversationId, kind: type[inputs.DeleteConversation] | type[inputs.UndoExchange]
) -> inputs.DeleteConversation | inputs.UndoExchange:
    return kind(
        credential="local", principal=histories.OWNER, correlation_id="c", conversation_id=chat
    )


def compact(chat: ids.ConversationId) -> inputs.CompactConversation:
    return inputs.CompactConversation(
        credential="local",
        principal=histories.OWNER,
        correlation_id="c",
        conversation_id=chat,
        origin=histories.Play(0).origin("chat"),
    )


def feedback(task_id: str) -> inputs.GiveFeedback:
    return inputs.GiveFeedback(
        credential="local",
        principal=histories.OWNER,
        correlation_id="c",
        task_id=ids.TaskId(task_id),
        good=True,
    )


def put_file(artifact_id: ids.ArtifactId) -> inputs.TaintProject:
    return inputs.TaintProject(
        credential="local",
        principal=histories.OWNER,
        correlation_id="c",
        origin=histories.Play(0).origin("chat"),
        folder="/project",
        artifact_id=artifact_id,
    )


def register(name: str, folder: str) -> inputs.RegisterProject:
    return inputs.RegisterProject(
        credential="local", principal=histories.OWNER, correlation_id="c", name=name, folder=folder
    )


async def test_what_is_done_to_a_conversation_knows_whether_it_is_there(store: Store) -> None:
    play = histories.Play(1)
    chat, gone = play.begin_conversation(), play.begin_conversation()
    play.answer(play.submit(gone))
    task_id = play.submit(gone)
    play.delete(gone)
    await keep(store, play.history)
    for given, there in ((chat, True), (gone, False), (ids.ConversationId("nowhere"), False)):
        for write in (of(given, inputs.DeleteConversation), of(given, inputs.UndoExchange)):
            found = await store.known(write)
            assert (found.conversation_exists, found.last_task) == (there, None)
        assert (await store.known(compact(given))).conversation_exists is there
        assert (await store.known(submit(conversation_id=given))).conversation_exists is there
    assert not (await store.known(cancel(task_id))).task_exists


async def test_an_undo_knows_the_last_task_that_ended_and_is_not_undone(store: Store) -> None:
    play = histories.Play(1)
    chat, other = play.begin_conversation("/project"), play.begin_conversation()
    first, second, third = (play.submit(chat) for _ in range(3))
    play.answer(first)
    play.move(play.history.folded.tasks[second], state.TaskState.CANCELLED)
    play.answer(play.submit(other))
    play.answer(play.submit(chat, events.TaskKind.COMPACT))
    kept = 0

    async def last() -> inputs.LastTask | None:
        nonlocal kept
        await store.commit(play.history.recorded[kept:], [])
        kept = len(play.history.recorded)
        return (await store.known(of(chat, inputs.UndoExchange))).last_task

    expected = inputs.LastTask(task_id=second, folder="/project", commits=(), left=())
    assert await last() == expected
    play.undo(chat, second)
    assert await last() == expected.but({"task_id": first})
    change(play, third)
    play.answer(third)
    (view,) = (await store.tasks(1, None, chat, frozenset({state.TaskState.QUEUED}))).rows
    assert (view.task_id, view.left) == (third, ())
    found = await last()
    assert found is not None
    assert (found.task_id, found.commits) == (third, ("c1",))
    assert len(found.left) == 1
    for task_id in (third, first):
        play.undo(chat, task_id)
    assert await last() is None


async def test_a_file_brings_the_taint_of_what_it_was_made_of(store: Store) -> None:
    taint = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org"),)
    tainted, clean = ids.ArtifactId("ab" * 32), ids.ArtifactId("cd" * 32)
    await store.commit([], [decisions.ArtifactTaint(artifact_id=tainted, taint=taint)])
    assert (await store.known(put_file(tainted))).taint == taint
    assert await store.known(put_file(clean)) == inputs.Known()


def change(play: histories.Play, task_id: ids.TaskId) -> None:
    """Have a task do two things, of which a commit holds one."""
    play.move(play.history.folded.tasks[task_id], state.TaskState.RUNNING)
    for commit in ("c1", ""):
        play.propose(play.history.folded.tasks[task_id])
        call = play.history.folded.tasks[task_id].calls[-1]
        started = events.ToolCallStarted(
            task_id=task_id,
            call_id=call.call_id,
            digest="d",
            effect=contract.Effect.UNSAFE,
            attempt=1,
        )
        ended = events.ToolCallEnded(
            task_id=task_id,
            call_id=call.call_id,
            outcome=events.CallOutcome.FINISHED,
            commit=commit,
        )
        for event in (started, ended):
            play.tell(play.history.folded.tasks[task_id], event)


async def test_feedback_knows_whether_its_task_answered(store: Store) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation()
    answered, waiting = play.submit(chat), play.submit(chat)
    play.answer(answered)
    await keep(store, play.history)
    for task_id, expected in (
        (answered, inputs.Known(task_exists=True, task_answered=True, task_conversation=chat)),
        (waiting, inputs.Known(task_exists=True, task_conversation=chat)),
        ("task-of-nobody", inputs.Known()),
    ):
        assert await store.known(feedback(task_id)) == expected


async def test_a_project_is_known_by_its_name_and_its_folder(store: Store) -> None:
    assert await store.projects() == ()
    projects = [
        decisions.ProjectRecord(name=name, folder=folder, created_ms=7)
        for name, folder in (("pond", "/a"), ("duck", "/b"))
    ]
    await store.commit([], projects)
    assert await store.projects() == (
        views.ProjectView(name="duck", folder="/b", created_ms=7),
        views.ProjectView(name="pond", folder="/a", created_ms=7),
    )
    for name, folder, known_folder, known_name in (
        ("pond", "/b", "/a", "duck"),
        ("pond", "/c", "/a", None),
        ("egg", "/a", None, "pond"),
        ("egg", "/c", None, None),
    ):
        found = await store.known(register(name, folder))
        assert (found.project_folder, found.project_name) == (known_folder, known_name)


@pytest.mark.parametrize(("name", "folder"), [("pond", "/b"), ("egg", "/a")])
async def test_a_project_has_its_name_and_folder_for_itself(
    store: Store, name: str, folder: str
) -> None:
    first = decisions.ProjectRecord(name="pond", folder="/a", created_ms=7)
    await store.commit([], [first])
    with pytest.raises(errors.StorageFault):
        await store.commit([], [first.but({"name": name, "folder": folder})])
    assert len(await store.projects()) == 1
