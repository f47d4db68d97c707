"""What the log projects to, in every store the same."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from daemon.domain import events, ids, state, views
from daemon.storage import in_memory, sqlite_store
from tests.conftest import Rounds
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep

Row = TypeVar("Row")


async def paged(read: Callable[[int | None], Awaitable[views.Page[Row]]]) -> list[Row]:
    """All rows of a list, read to its end."""
    rows: list[Row] = []
    before: int | None = None
    while True:
        page = await read(before)
        rows.extend(page.rows)
        if page.next_before is None:
            return rows
        before = page.next_before


async def all_approvals(
    store: Store, outcome: events.ApprovalOutcome | None
) -> list[views.ApprovalView]:
    return await paged(lambda before: store.approvals(2, outcome, before))


async def everything(store: Store, history: histories.History) -> list[object]:
    """All that a store says of a history."""
    chats = await paged(lambda before: store.conversations(3, before))
    tasks = await paged(lambda before: store.tasks(3, before))
    said: list[object] = [chats, tasks]
    for outcome in (None, *events.ApprovalOutcome):
        approvals = await all_approvals(store, outcome)
        said.append(approvals)
        said.append([await store.approval(each.approval_id) for each in approvals])
    for chat in chats:
        said.append(await store.conversation(chat.conversation_id))
        said.append(await store.tasks(5, None, chat.conversation_id))
        middle = history.folded.head_seq // 2
        said.append(await store.history(chat.conversation_id, middle, 3))
        said.append(await store.history(chat.conversation_id, 2 * middle, 99))
    runs = await paged(lambda before: store.runs(3, before))
    said += [runs, await paged(lambda before: store.deliveries(3, before))]
    said.extend([await store.run(one.run_id) for one in runs])
    said.extend([await store.task(task.task_id) for task in tasks])
    said.extend([await store.tasks(4, None, None, frozenset({each})) for each in state.TaskState])
    said.append(await paged(lambda before: store.tasks(4, before, None, state.FINAL)))
    return said


async def test_every_store_projects_a_history_alike(
    tmp_path: Path, seed: int, rounds: Rounds
) -> None:
    for number in range(rounds(100)):
        history = histories.random_history(seed + number, 250)
        plain = in_memory.InMemoryStore()
        await keep(plain, history, seed)
        async with sqlite_store.open_store(tmp_path / str(number)) as opened:
            await keep(opened, history, seed + 1)
            assert await everything(opened, history) == await everything(plain, history)


async def test_projections_agree_with_the_folded_state(store: Store, seed: int) -> None:
    history = histories.random_history(seed, 400)
    await keep(store, history, seed)
    live = {
        task.task_id: task
        for task in history.folded.tasks.values()
        if task.conversation_id not in history.deleted()
    }
    for task in live.values():
        view = await store.task(task.task_id)
        assert view is not None
        assert (view.kind, view.undone) == (task.kind, False)
        assert (view.state, view.reason, view.answer) == (task.state, task.reason, task.answer)
        unknown = [call.call_id for call in task.unknown_calls()]
        assert [call.call_id for call in view.unknown_calls] == unknown
        waiting = {a.approval_id for a in history.folded.approvals.values() if a.outcome is None}
        mine = {c.approval_id for c in task.calls if c.approval_id in waiting}
        assert set(view.pending_approvals) == mine
    listed = await paged(lambda before: store.tasks(9, before))
    ended = [view for view in listed if view.task_id not in live]
    assert all(view.state in state.FINAL for view in ended)
    assert {view.task_id for view in listed} >= set(live)


async def test_lists_come_newest_first_and_end(store: Store) -> None:
    play = histories.Play(1)
    chat = play.begin_conversation()
    task_ids = [play.submit(chat) for _ in range(5)]
    await keep(store, play.history)
    first = await store.tasks(2)
    assert [view.task_id for view in first.rows] == [task_ids[4], task_ids[3]]
    second = await store.tasks(3, first.next_before)
    assert [view.task_id for view in second.rows] == task_ids[2::-1]
    assert second.next_before is None
    queued = frozenset({state.TaskState.QUEUED})
    assert len((await store.tasks(9, None, chat, queued)).rows) == 5
    running = frozenset({state.TaskState.RUNNING})
    assert (await store.tasks(9, None, chat, running)).rows == ()


async def test_what_is_not_there_is_none(store: Store) -> None:
    assert await store.task(ids.TaskId("x")) is None
    assert await store.approval(ids.ApprovalId("x")) is None
    assert await store.conversation(ids.ConversationId("x")) is None
    assert (await store.tasks(5)).rows == ()
    assert (await store.conversations(5)).next_before is None
