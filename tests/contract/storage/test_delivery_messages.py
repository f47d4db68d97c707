"""A message is known by what it showed, however much was shown in its chat since."""

from daemon.domain import deliveries, events, ids
from tests.contract.storage import conftest

MANY = 1200
ACCOUNT = "telegram:77"
START_MS = 1_750_000_000_000


def posted(number: int, chat: str = "5") -> events.Event:
    target = deliveries.Target(account=ACCOUNT, chat=chat)
    return events.NoticePosted(delivery_id=_id(number), target=target, text=None)


def shown(number: int, *messages: str) -> events.Event:
    return events.DeliveryReported(
        delivery_id=_id(number),
        revision=1,
        state=deliveries.State.SHOWN,
        platform_ids=messages,
        account=ACCOUNT,
        chat="5",
    )


def _id(number: int) -> ids.DeliveryId:
    return ids.DeliveryId(f"delivery-{number:05d}")


async def keep(store: conftest.Store, *happened: events.Event) -> None:
    first = await store.head_seq() + 1
    recorded = [
        events.Recorded(
            seq=first + at,
            at_ms=START_MS,
            task_id=None,
            conversation_id=ids.ConversationId(""),
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
