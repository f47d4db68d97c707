"""What later models are told of a conversation: its summary, its exchanges, and what was said."""

from dataclasses import dataclass, field

from daemon.domain import decisions, events, fold, ids, messages, state, taints, views, world
from tests.conftest import Rounds
from tests.contract.storage import histories
from tests.contract.storage.conftest import Store
from tests.contract.storage.test_commit import keep

WEB = (taints.Source(kind=taints.Kind.WEB, source_id="https://example.org"),)


@dataclass
class Reference:
    """The histories of all conversations, told once more, from the log and the folded tasks."""

    exchanges: dict[ids.TaskId, views.Exchange] = field(default_factory=dict)
    chats: dict[ids.TaskId, ids.ConversationId] = field(default_factory=dict)
    summaries: list[events.ConversationCompacted] = field(default_factory=list)
    deleted: set[ids.ConversationId] = field(default_factory=set)

    def read(self, chat: ids.ConversationId, before_seq: int, limit: int) -> views.History:
        if chat in self.deleted:
            return views.History()
        told = [s for s in self.summaries if s.conversation_id == chat and s.up_to_seq < before_seq]
        after_seq = told[-1].up_to_seq if told else 0
        shown = [
            exchange
            for task_id, exchange in self.exchanges.items()
            if self.chats[task_id] == chat and after_seq < exchange.submitted_seq < before_seq
        ]
        shown.sort(key=lambda exchange: exchange.submitted_seq)
        summary = told[-1].summary if told else None
        last = shown[max(0, len(shown) - limit) :]
        return views.History(summary=summary, exchanges=tuple(last))


def reference(recorded: list[events.Recorded]) -> Reference:
    found, folded = Reference(), world.World()
    undone: set[ids.TaskId] = set()
    for one in recorded:
        fold.apply(folded, one)
        match one.event:
            case events.ConversationCompacted():
                found.summaries.append(one.event)
            case events.ConversationDeleted(conversation_id=chat):
                found.deleted.add(chat)
            case events.ExchangeUndone(task_id=task_id):
                undone.add(task_id)
            case _:
                pass
        task = None if one.task_id is None else folded.tasks.get(one.task_id)
        if task is not None and task.answer and task.kind is events.TaskKind.ANSWER:
            found.chats[task.task_id] = task.conversation_id
            found.exchanges[task.task_id] = views.Exchange(
                text=task.text,
                answer=task.answer,
                taint=task.taint,
                submitted_seq=task.submitted_seq,
                said=task.said,
            )
    for task_id in undone:
        found.exchanges.pop(task_id, None)
    return found


async def test_a_history_says_what_the_folded_tasks_said(
    store: Store, seed: int, rounds: Rounds
) -> None:
    """With summaries, undone exchanges, plans and refusals in it, at whatever place one looks."""
    history = histories.random_history(seed, rounds(20_000))
    await keep(store, history, seed)
    expected = reference(history.recorded)
    head = history.folded.head_seq + 1
    for chat in {one.conversation_id for one in history.recorded}:
        for before, limit in ((head, 1000), (head, 3), (head // 2, 1000), (head // 3, 2), (1, 9)):
            assert await store.history(chat, before, limit) == expected.read(chat, before, limit)


async def test_every_kind_of_saying_comes_back_in_its_order(store: Store) -> None:
    play = histories.Play(2)
    chat = play.begin_conversation()
    task_id = play.submit(chat)
    task = play.history.folded.tasks[task_id]
    play.move(task, state.TaskState.RUNNING)
    for cut in (False, True):
        refused = events.ReplyRefused(
            task_id=task_id,
            call_id=ids.CallId("call"),
            text=play.content(chat),
            reason="no",
            cut=cut,
        )
        play.tell(task, refused)
    play.plan(task, 1)
    started = events.StepStarted(task_id=task_id, step_id="s0", attempt=1)
    play.tell(task, started)
    play.propose(task)
    steered = events.TaskSteered(task_id=task_id, origin=task.origin, text=play.content(chat))
    play.tell(task, steered)
    heard = events.ModelCallStarted(
        task_id=task_id,
        call_id=ids.CallId("model"),
        role=messages.Role.THINKER,
        attempt=1,
        heard=(steered.text,),
    )
    play.tell(task, heard)
    (call,) = play.history.folded.tasks[task_id].calls
    result = play.content(chat)
    ended = events.ToolCallEnded(
        task_id=task_id, call_id=call.call_id, outcome=events.CallOutcome.REFUSED, result=result
    )
    play.tell(task, ended)
    failed = events.StepEnded(task_id=task_id, step_id="s0", outcome=events.StepOutcome.FAILED)
    play.tell(task, failed)
    said = play.history.folded.tasks[task_id].said
    play.answer(task_id)
    await keep(store, play.history, 7)
    (exchange,) = (await store.history(chat, 999, 9)).exchanges
    assert exchange.said == said
    kinds = [each.kind for each in said if each.kind not in ("note", "skill")]
    assert kinds == ["refused", "plan", "steered", "call", "step"]


async def test_exchanges_are_the_last_answered_messages_oldest_first(store: Store) -> None:
    play = histories.Play(2)
    chat, other = play.begin_conversation(), play.begin_conversation()
    answered = []
    for number in range(6):
        task_id = play.submit(other if number == 2 else chat)
        task = play.history.folded.tasks[task_id]
        if number == 4:
            play.move(task, state.TaskState.CANCELLED)
        else:
            answered.append((task.submitted_seq, task.text, play.answer(task_id)))
    await keep(store, play.history)
    found = (await store.history(chat, answered[4][0], 2)).exchanges
    assert [(each.text, each.answer) for each in found] == [answered[1][1:], answered[3][1:]]
    last = play.history.folded.head_seq + 1
    assert len((await store.history(chat, last, 99)).exchanges) == 4
    assert (await store.history(chat, last, 0)).exchanges == ()
    assert await store.history(ids.ConversationId("nowhere"), 99, 9) == views.History()


async def test_a_task_that_made_a_summary_is_no_exchange(store: Store) -> None:
    play = histories.Play(3)
    chat = play.begin_conversation()
    message = play.submit(chat)
    play.answer(message)
    play.answer(play.submit(chat, events.TaskKind.COMPACT))
    await keep(store, play.history)
    (exchange,) = (await store.history(chat, 999, 9)).exchanges
    view = await store.task(message)
    assert view is not None
    assert exchange.text == view.text


async def test_what_was_undone_is_told_no_more(store: Store) -> None:
    play = histories.Play(4)
    chat = play.begin_conversation()
    first, second = play.submit(chat), play.submit(chat)
    for task_id in (first, second):
        play.answer(task_id)
    play.undo(chat, second)
    await keep(store, play.history)
    (exchange,) = (await store.history(chat, 999, 9)).exchanges
    shown = [await store.task(first), await store.task(second)]
    assert [view and view.undone for view in shown] == [False, True]
    assert shown[0] is not None
    assert exchange.text == shown[0].text


async def test_the_newest_summary_before_the_message_counts(store: Store) -> None:
    play = histories.Play(5)
    chat = play.begin_conversation()
    seqs = []
    for _ in range(4):
        task_id = play.submit(chat)
        seqs.append(play.history.folded.tasks[task_id].submitted_seq)
        play.answer(task_id)
    first, second = play.compact(chat, seqs[0]), play.compact(chat, seqs[2])
    await keep(store, play.history)
    for before_seq, summary, told in (
        (999, second, seqs[3:]),
        (seqs[3], second, []),
        (seqs[2], first, seqs[1:2]),
        (seqs[1], first, []),
        (seqs[0], None, []),
    ):
        found = await store.history(chat, before_seq, 9)
        assert found.summary == summary
        assert [each.submitted_seq for each in found.exchanges] == told
    view = await store.conversation(chat)
    assert view is not None
    assert (view.summary, view.summarized_seq) == (second, seqs[2])


async def test_a_summary_of_untrusted_text_says_so(store: Store) -> None:
    play = histories.Play(6)
    chat = play.begin_conversation()
    summary = play.compact(chat, 1)
    kept = decisions.ContentRecord(content_id=summary, owner=chat, text="so it was", taint=WEB)
    await store.commit(play.history.recorded, [kept])
    found = await store.history(chat, 99, 9)
    assert found == views.History(summary=summary, summary_taint=WEB)
