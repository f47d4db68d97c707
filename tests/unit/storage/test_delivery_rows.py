"""What is to be shown in chats, as it follows from the log: tables of events."""

import pytest

from daemon.domain import deliveries, events, ids, principals, state, views
from daemon.storage import projections

T, C = ids.TaskId("task-1"), ids.ConversationId("conversation-1")
A, CALL = ids.ApprovalId("approval-1"), ids.CallId("call-1")
PERSON = principals.Principal("telegram:77:5")
S, D = state.TaskState, deliveries.State


def origin(principal: str = PERSON, chat: str = "-100") -> principals.Origin:
    return principals.Origin(
        principal=principals.Principal(principal), chat=chat, topic="4", message_id="11"
    )


def submitted(where: principals.Origin) -> events.Event:
    return events.TaskSubmitted(
        task_id=T, conversation_id=C, origin=where, text=ids.ContentId("text")
    )


def moved(previous: state.TaskState, to: state.TaskState) -> events.Event:
    return events.TaskStateChanged(task_id=T, previous=previous, state=to)


def reported(
    delivery_id: str, revision: int, became: deliveries.State, *messages: str
) -> events.Event:
    return events.DeliveryReported(
        delivery_id=ids.DeliveryId(delivery_id),
        revision=revision,
        state=became,
        platform_ids=messages,
    )


def asked(*places: str) -> list[events.Event]:
    return [
        events.ToolCallProposed(
            task_id=T, call_id=CALL, tool="shell_exec", arguments=ids.ContentId("arguments")
        ),
        events.ApprovalRequested(
            task_id=T,
            approval_id=A,
            call_id=CALL,
            tool="shell_exec",
            digest="d",
            card=ids.ContentId("card"),
            reasons=(),
            always_allowed=True,
            expires_ms=1,
            places=places,
        ),
    ]


def resolved() -> events.Event:
    return events.ApprovalResolved(
        task_id=T, approval_id=A, call_id=CALL, outcome=events.ApprovalOutcome.DENIED
    )


OWN = f"answer.{T}"
CARD = f"card.{A}"
RUN = [submitted(origin()), moved(S.QUEUED, S.RUNNING)]
MODEL_GONE = moved(S.RUNNING, S.MODEL_UNAVAILABLE)
ENDS = moved(S.RUNNING, S.COMPLETED)
WAITING = f"waiting.{T}.4"
MOVED = events.ChatMoved(
    account="telegram:77",
    chat="-100",
    to="-1009",
    tasks=(T,),
    approvals=(A,),
    deliveries=(ids.DeliveryId(OWN), ids.DeliveryId(f"{CARD}.0")),
)
POSTED = events.NoticePosted(
    delivery_id=ids.DeliveryId("delivery-1"),
    target=deliveries.Target(account="telegram:77", chat="-100"),
    text=ids.ContentId("text"),
)
PAIRING = f"pairing.{PERSON}.123456"


def pairing(decided: bool) -> list[events.Event]:
    found: list[events.Event] = [
        events.PairingRequested(principal=PERSON, name="A", code="123456", chats=("1", "2"))
    ]
    if decided:
        word = events.PairingDecided(
            principal=PERSON,
            allowed=True,
            decided_by=principals.LOCAL_OWNER,
            code="123456",
            chats=("1", "2"),
        )
        found.append(word)
    return found


RETRIES = [moved(S.MODEL_UNAVAILABLE, S.RUNNING), MODEL_GONE]
TARGET = deliveries.Target(account="telegram:77", chat="5")
SCHEDULED = events.TaskSubmitted(
    task_id=T,
    conversation_id=C,
    origin=principals.Origin(principal=PERSON),
    text=ids.ContentId("text"),
    run=events.RunOf(
        schedule_id=ids.ScheduleId("schedule-1"), run_id=ids.RunId("run-1"), target=TARGET
    ),
)
ITS_RUN = [SCHEDULED, moved(S.QUEUED, S.RUNNING)]
HELD = f"{OWN} schedule 1 held"


@pytest.mark.parametrize(
    ("happened", "shown"),
    [
        (ITS_RUN, [HELD]),
        ([*ITS_RUN, ENDS], [HELD]),
        ([*ITS_RUN, MODEL_GONE], [HELD, f"{WAITING} notice 1 pending"]),
        ([*ITS_RUN, MODEL_GONE, *RETRIES, *RETRIES], [HELD, f"{WAITING} notice 1 pending"]),
        (
            [*ITS_RUN, MODEL_GONE, *RETRIES, moved(S.MODEL_UNAVAILABLE, S.RUNNING), ENDS],
            [HELD, f"{WAITING} notice 2 pending"],
        ),
        ([submitted(origin("local:owner"))], []),
        ([submitted(origin("token:ci"))], []),
        ([submitted(origin("telegram:77:bot"))], []),
        ([submitted(origin(chat=""))], []),
        (RUN, [f"{OWN} preview 1 pending"]),
        ([*RUN, reported(OWN, 1, D.SENT, "20")], [f"{OWN} preview 1 sent 20"]),
        ([*RUN, ENDS], [f"{OWN} final 2 pending"]),
        ([*RUN, reported(OWN, 1, D.SENT, "20"), ENDS], [f"{OWN} final 2 pending 20"]),
        (
            [*RUN, ENDS, reported(OWN, 2, D.SHOWN, "20", "21")],
            [f"{OWN} final 2 shown 20 21"],
        ),
        ([*RUN, ENDS, reported(OWN, 1, D.SHOWN, "20")], [f"{OWN} final 2 pending 20"]),
        ([*RUN, ENDS, reported(OWN, 1, D.GONE)], [f"{OWN} final 2 pending"]),
        ([*RUN, MODEL_GONE], [f"{OWN} preview 1 pending", f"{WAITING} notice 1 pending"]),
        (
            [*RUN, MODEL_GONE, moved(S.MODEL_UNAVAILABLE, S.RUNNING), ENDS],
            [f"{OWN} final 2 pending", f"{WAITING} notice 2 pending"],
        ),
        (
            [*RUN, moved(S.RUNNING, S.AWAITING_APPROVAL)],
            [f"{OWN} preview 1 pending"],
        ),
        (
            [*RUN, *asked("telegram:77/-100/4", "terminal/1/")],
            [f"{OWN} preview 1 pending", f"{CARD}.0 approval 1 pending"],
        ),
        (
            [
                *RUN,
                *asked("telegram:77/-100/4"),
                reported(f"{CARD}.0", 1, D.SHOWN, "9"),
                resolved(),
            ],
            [f"{OWN} preview 1 pending", f"{CARD}.0 approval 2 pending 9"],
        ),
        (
            [*RUN, *asked("telegram:77/-100/4"), reported(f"{CARD}.0", 1, D.SHOWN, "9"), MOVED],
            [f"{OWN} preview 2 pending", f"{CARD}.0 approval 2 pending"],
        ),
        (
            [POSTED, reported("delivery-1", 1, D.GONE)],
            ["delivery-1 notice 1 gone"],
        ),
        (pairing(False), [f"{PAIRING}.0 notice 1 pending", f"{PAIRING}.1 notice 1 pending"]),
        (pairing(True), [f"{PAIRING}.0 notice 2 pending", f"{PAIRING}.1 notice 2 pending"]),
    ],
)
@pytest.mark.parametrize("commit", ["each alone", "all at once"])
def test_what_is_shown(happened: list[events.Event], shown: list[str], commit: str) -> None:
    created = events.ConversationCreated(conversation_id=C, principal=PERSON)
    recorded = [
        events.Recorded(seq, seq, getattr(one, "task_id", None), C, "", one)
        for seq, one in enumerate([created, *happened], 1)
    ]
    rows = projections.Rows()
    for part in [recorded] if commit == "all at once" else [[one] for one in recorded]:
        rows.adopt(projections.project(rows, part).changed)
    assert [line(view) for view in rows.deliveries.values()] == shown


def line(view: views.DeliveryView) -> str:
    words = [view.delivery_id, view.kind, str(view.revision), view.state, *view.platform_ids]
    return " ".join(words)


def test_a_moved_chat_is_where_its_cards_may_be_answered() -> None:
    created = events.ConversationCreated(conversation_id=C, principal=PERSON)
    happened = [created, *RUN, *asked("telegram:77/-100/4"), MOVED]
    recorded = [
        events.Recorded(seq, seq, getattr(one, "task_id", None), C, "", one)
        for seq, one in enumerate(happened, 1)
    ]
    rows = projections.project(projections.Rows(), recorded).changed
    assert rows.approvals[A].places == ("telegram:77/-1009/4",)
    assert {one.target.chat for one in rows.deliveries.values()} == {"-1009"}
