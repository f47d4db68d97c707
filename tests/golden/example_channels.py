"""The part of the example in the chats of a bot: what was shown there, and who may talk."""

from daemon.domain import deliveries, events, ids, principals
from tests.golden.example_tasks import PENDING, T, moved, text

PERSON = principals.Principal("telegram:77:5")
STRANGER = principals.Principal("telegram:77:6")
SHOWN, KEPT_WAITING = ids.TaskId("task-shown"), ids.TaskId("task-kept-waiting")
POSTED = ids.DeliveryId("delivery-1")


GROUP = ids.ConversationId("conversation-group")


def _submitted(task: ids.TaskId, message_id: str, name: str) -> events.Event:
    origin = principals.Origin(
        principal=PERSON, chat="-100", topic="4", message_id=message_id, speaker="Ä"
    )
    return events.TaskSubmitted(task_id=task, conversation_id=GROUP, origin=origin, text=text(name))


def channels() -> list[events.Event]:
    """Somebody is let in, one task is answered and shown, one waits, and their group moves."""
    target = deliveries.Target(account="telegram:77", chat="-100", topic="4", reply_to="9")
    return [
        events.PairingRequested(principal=PERSON, name="Ä", code="012345", chats=("42",)),
        events.PairingDecided(
            principal=PERSON,
            allowed=True,
            decided_by=principals.LOCAL_OWNER,
            code="012345",
            chats=("42",),
        ),
        events.PairingRequested(principal=STRANGER, name="B", code="543210", chats=("42",)),
        events.ConversationCreated(
            conversation_id=GROUP, principal=PERSON, place="telegram:77/-100/4"
        ),
        _submitted(SHOWN, "11", "eighth"),
        moved(SHOWN, T.QUEUED, T.RUNNING),
        report(deliveries.of_task(SHOWN), 1, deliveries.State.SENT, "20"),
        events.AnswerGiven(task_id=SHOWN, text=text("answer-8")),
        moved(SHOWN, T.RUNNING, T.COMPLETED),
        report(deliveries.of_task(SHOWN), 2, deliveries.State.SHOWN, "20", "21"),
        _submitted(KEPT_WAITING, "12", "ninth"),
        moved(KEPT_WAITING, T.QUEUED, T.RUNNING),
        moved(KEPT_WAITING, T.RUNNING, T.MODEL_UNAVAILABLE, "no model"),
        events.NoticePosted(
            delivery_id=POSTED,
            target=target,
            text=text("notice"),
            rows=((deliveries.Button(text="Go", data="g:1"),),),
            artifacts=(ids.ArtifactId("ef" * 32),),
            approval_id=PENDING,
        ),
        events.DeliveryReported(
            delivery_id=POSTED,
            revision=1,
            state=deliveries.State.GONE,
            fault="the bot was blocked",
            account="telegram:77",
            chat="-100",
        ),
        events.ChatMoved(
            account="telegram:77",
            chat="-100",
            to="-1009",
            tasks=(KEPT_WAITING,),
            deliveries=(deliveries.of_task(KEPT_WAITING),),
        ),
    ]


def report(
    delivery_id: ids.DeliveryId, revision: int, state: deliveries.State, *messages: str
) -> events.Event:
    return events.DeliveryReported(
        delivery_id=delivery_id,
        revision=revision,
        state=state,
        platform_ids=messages,
        account="telegram:77",
        chat="-100",
    )
