"""What a store knows of the ids in a write by an RPC."""

from collections.abc import AsyncIterator

import pytest

from daemon.domain import decisions, errors, events, ids, inputs, state
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep

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
