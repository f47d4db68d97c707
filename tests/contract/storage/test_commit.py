"""What a commit keeps, and that it keeps all of it or nothing."""

import random

import pytest

from daemon.domain import decisions, errors, events, fold, ids, world
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store


async def keep(store: Store, history: histories.History, seed: int = 0) -> None:
    """Commit a whole history in batches of random sizes."""
    for batch in history.batches(random.Random(seed)):
        await store.commit(batch.recorded, batch.contents)


async def whole_log(store: Store) -> list[events.Recorded]:
    """The log, read in pages as a subscriber does."""
    found: list[events.Recorded] = []
    while page := await store.log(len(found), 37):
        found.extend(page)
    return found


def content(number: int) -> decisions.ContentRecord:
    content_id = ids.ContentId(f"content-{number}")
    owner = ids.ConversationId("conversation-1")
    return decisions.ContentRecord(content_id=content_id, owner=owner, text=f"text {number}")


async def test_an_empty_store_says_so(store: Store) -> None:
    assert await store.head_seq() == 0
    assert await store.log(0, 10) == ()
    assert await store.latest_checkpoint() is None
    assert await store.texts([]) == {}
    assert not await store.drained()


async def test_the_log_comes_back_as_it_was_kept(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 300)
    await keep(store, history, seed)
    assert await store.head_seq() == history.folded.head_seq
    found = await whole_log(store)
    assert found == history.recorded
    again = world.World()
    for recorded in found:
        fold.apply(again, recorded)
    assert world.snapshot(again) == world.snapshot(history.folded)


async def test_texts_come_back_as_they_were_kept(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 200)
    await keep(store, history, seed)
    contents = [kept for kept in history.contents if kept.owner not in history.deleted()]
    wanted = [kept.content_id for kept in contents]
    nobody = ids.ContentId("content-of-nobody")
    expected: dict[ids.ContentId, str | None] = {c.content_id: c.text for c in contents}
    assert await store.texts([*wanted, nobody]) == expected | {nobody: None}


async def test_a_page_can_be_of_one_task_or_one_conversation(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 300)
    await keep(store, history, seed)
    task_ids = {one.task_id for one in history.recorded if one.task_id is not None}
    for task_id in sorted(task_ids)[:20]:
        expected = [one for one in history.recorded if one.task_id == task_id]
        assert list(await store.log(0, 1000, task_id=task_id)) == expected
        assert list(await store.log(expected[0].seq, 2, task_id=task_id)) == expected[1:3]
    for chat in {one.conversation_id for one in history.recorded}:
        expected = [one for one in history.recorded if one.conversation_id == chat]
        assert list(await store.log(0, 1000, conversation_id=chat)) == expected
    assert await store.log(0, 10, task_id=ids.TaskId("task-of-nobody")) == ()
    assert await store.log(0, 10, conversation_id=ids.ConversationId("nowhere")) == ()


@pytest.mark.parametrize("dropped", [0, 5])
async def test_a_gap_is_refused(store: Store, dropped: int) -> None:
    history = histories.random_history(1, 20)
    await store.commit(history.recorded[:10], [])
    gapped = history.recorded[10:]
    del gapped[dropped]
    with pytest.raises(ValueError, match="does not follow"):
        await store.commit(gapped, history.contents)
    assert await store.head_seq() == 10
    assert await store.texts([history.contents[0].content_id]) == {
        history.contents[0].content_id: None
    }
    await store.commit(history.recorded[10:], history.contents)
    assert await whole_log(store) == history.recorded


async def test_a_repetition_is_refused(store: Store) -> None:
    history = histories.random_history(1, 20)
    await store.commit(history.recorded[:10], [])
    with pytest.raises(ValueError, match="does not follow"):
        await store.commit(history.recorded[9:], [])
    assert await store.head_seq() == 10


async def test_an_event_of_an_unknown_task_is_refused(store: Store) -> None:
    history = histories.random_history(1, 40)
    orphan = next(one for one in history.recorded if one.event.type == "task_state_changed")
    with pytest.raises(ValueError, match="never began"):
        await store.commit([orphan._replace(seq=1)], [])
    assert await store.head_seq() == 0


async def test_what_the_log_began_cannot_begin_again(store: Store) -> None:
    play = histories.Play(1)
    play.submit(play.begin_conversation())
    await keep(store, play.history)
    for first in play.history.recorded:
        with pytest.raises((ValueError, errors.StorageFault)):
            await store.commit([first._replace(seq=3)], [])
    assert await store.head_seq() == 2


async def test_a_commit_that_fails_keeps_nothing_and_can_be_repeated(store: Store) -> None:
    history = histories.random_history(3, 60)
    await store.commit(history.recorded[:30], [content(1)])
    before = await store.conversations(100)
    with pytest.raises(errors.StorageFault):
        await store.commit(history.recorded[30:], [content(2), content(1)])
    assert await store.head_seq() == 30
    assert await store.conversations(100) == before
    assert await store.texts([content(2).content_id]) == {content(2).content_id: None}
    await store.commit(history.recorded[30:], [content(2)])
    assert await whole_log(store) == history.recorded
    assert await store.texts([content(2).content_id]) == {content(2).content_id: "text 2"}


async def test_what_is_forgotten_is_gone_and_the_log_stays(store: Store) -> None:
    history = histories.random_history(4, 80)
    await keep(store, history)
    forgotten, kept = history.contents[0], history.contents[1]
    await store.forget([forgotten.content_id])
    assert await store.texts([forgotten.content_id, kept.content_id]) == {
        forgotten.content_id: None,
        kept.content_id: kept.text,
    }
    assert await whole_log(store) == history.recorded


async def test_whether_the_last_run_drained_is_kept(store: Store) -> None:
    await store.set_drained(True)
    assert await store.drained()
    await store.set_drained(False)
    assert not await store.drained()


async def test_the_newest_readable_checkpoint_comes_back(store: Store) -> None:
    history = histories.random_history(5, 120)
    folded, kept = world.World(), []
    for start in range(0, 120, 40):
        part = history.recorded[start : start + 40]
        for recorded in part:
            fold.apply(folded, recorded)
        kept.append(world.snapshot(folded))
        await store.commit(part, [], kept[-1])
        assert await store.latest_checkpoint() == kept[-1]
    unreadable = kept[-1].model_copy(update={"version": 99, "head_seq": 121})
    await store.commit([], [], unreadable)
    assert await store.latest_checkpoint() == kept[-1]


async def test_the_same_checkpoint_may_be_kept_again(store: Store) -> None:
    empty = world.snapshot(world.World())
    await store.commit([], [], empty)
    await store.commit([], [], empty)
    assert await store.latest_checkpoint() == empty
