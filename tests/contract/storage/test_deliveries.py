"""What was shown in chats: a message is known by it, and what still counts moves with its chat."""

from daemon.domain import deliveries, events, ids, inputs, principals, state
from tests.contract.storage import conftest

MANY = 1200
ACCOUNT = "telegram:77"
START_MS = 1_750_000_000_000
TASK, CHAT = ids.TaskId("task-1"), ids.ConversationId("conversation-1")
PERSON = principals.Principal("telegram:77:5")
S = state.TaskState


def posted(number: int, chat: str = "5") -> events.Event:
    target = deliveries.Target(account=ACCOUNT, chat=chat)
    return events.NoticePosted(delivery_id=_id(number), target=target, text=None)


def shown(number: int, *messages: str) -> events.Event:
    return reported(_id(number), 1, *messages)


def reported(delivery_id: ids.DeliveryId, revision: int, *messages: str) -> events.Event:
    return events.DeliveryReported(
        delivery_id=delivery_id,
        revision=revision,
        state=deliveries.State.SHOWN,
        platform_ids=messages,
        account=ACCOUNT,
        chat="5",
    )


def _id(number: int) -> ids.DeliveryId:
    return ids.DeliveryId(f"delivery-{number:05d}")


async def keep(store: conftest.Store, *happened: events.Event) -> None:
    head = await store.head_seq()
    if not head:
        begun = events.ConversationCreated(conversation_id=CHAT, principal=PERSON, place="p")
        happened = (begun, *happened)
    first = head + 1
    recorded = [
        events.Recorded(
            seq=first + at,
            at_ms=START_MS,
            task_id=None,
            conversation_id=CHAT,
            correlation_id="c",
            event=event,
        )
        for at, event in enumerate(happened)
    ]
    await store.commit(recorded, [])


async def of(store: conftest.Store, message: str, chat: str = "5") -> str:
    found = await store.delivery_of(ACCOUNT, chat, message)
    return "" if found is None else found.delivery_id


async def test_the_oldest_message_of_many_is_known(store: conftest.Store) -> None:
    happened = [made for n in range(MANY) for made in (posted(n), shown(n, str(n + 1)))]
    await keep(store, *happened)
    assert await of(store, "1") == _id(0)
    assert await of(store, str(MANY)) == _id(MANY - 1)
    assert [await of(store, one) for one in ("", "1 2", "0", str(MANY + 1), "%")] == [""] * 5


async def test_a_message_shows_what_it_was_reported_for_last(store: conftest.Store) -> None:
    await keep(store, posted(1), shown(1, "10", "11"), posted(2), shown(2, "12"))
    await keep(store, shown(1, "13"), posted(3), shown(3, "12"))
    found = [await of(store, one) for one in ("10", "11", "12", "13")]
    assert found == ["", "", _id(3), _id(1)]


async def test_messages_stay_behind_when_a_chat_moves(store: conftest.Store) -> None:
    await keep(store, posted(1), shown(1, "10"), posted(2), shown(2, "11"))
    await keep(
        store, events.ChatMoved(account=ACCOUNT, chat="5", to="-6", tasks=(), deliveries=(_id(1),))
    )
    assert [await of(store, one) for one in ("10", "11")] == ["", _id(2)]
    assert [await of(store, one, "-6") for one in ("10", "11")] == ["", ""]


def became(previous: state.TaskState, now: state.TaskState) -> events.Event:
    return events.TaskStateChanged(task_id=TASK, previous=previous, state=now)


async def moving(store: conftest.Store) -> list[str]:
    """What moves with the chat beside its cards and the answers of its tasks."""
    move = inputs.MoveChat(
        credential="bot",
        principal=PERSON,
        correlation_id="c",
        account=ACCOUNT,
        chat="-5",
        to="-6",
    )
    return list((await store.known(move)).open_deliveries)


async def test_what_a_task_waits_for_moves_with_its_chat_though_it_was_shown(
    store: conftest.Store,
) -> None:
    origin = principals.Origin(principal=PERSON, chat="-5", message_id="1")
    await keep(
        store,
        events.TaskSubmitted(
            task_id=TASK, conversation_id=CHAT, origin=origin, text=ids.ContentId("text")
        ),
        became(S.QUEUED, S.RUNNING),
        became(S.RUNNING, S.AWAITING_SECRET),
        posted(1, "-5"),
    )
    answer, asks = deliveries.of_task(TASK), deliveries.of_waiting(TASK, 4)
    assert await moving(store) == [answer, asks, _id(1)]
    await keep(store, *(reported(one, 1, "9") for one in (answer, asks, _id(1))))
    assert await moving(store) == [asks]
    await keep(store, became(S.AWAITING_SECRET, S.RUNNING), reported(asks, 2, "9"))
    assert await moving(store) == []
