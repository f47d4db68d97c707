"""How events of chats change the world: who may talk, where chats are, which cannot be reached."""

from typing import assert_never

from daemon.domain import deliveries, events, fold_schedules, principals, world

Event = (
    events.DeliveryReported
    | events.NoticePosted
    | events.ChatMoved
    | events.PairingRequested
    | events.PairingDecided
)


def apply(target: world.World, event: Event, at_ms: int) -> None:
    match event:
        case events.DeliveryReported():
            _report(target, event)
        case events.NoticePosted():
            pass
        case events.ChatMoved():
            _move(target, event)
        case events.PairingRequested():
            target.people[event.principal] = world.Person(
                principal=event.principal,
                name=event.name,
                state=world.PersonState.ASKED,
                asked_ms=at_ms,
                code=event.code,
                chats=event.chats,
            )
        case events.PairingDecided():
            _decide(target, event, at_ms)
        case _:
            assert_never(event)


def _report(target: world.World, event: events.DeliveryReported) -> None:
    chat = (event.account, event.chat)
    if event.state is deliveries.State.GONE:
        target.unreachable[chat] = world.Unreachable(
            account=event.account, chat=event.chat, reason=event.fault
        )
    elif event.state in (deliveries.State.SENT, deliveries.State.SHOWN):
        target.unreachable.pop(chat, None)


def moved_place(place: str, event: events.ChatMoved) -> str:
    """The place as it is called after a chat has moved."""
    before = f"{event.account}/{event.chat}/"
    if not place.startswith(before):
        return place
    return f"{event.account}/{event.to}/{place.removeprefix(before)}"


def _move(target: world.World, event: events.ChatMoved) -> None:
    target.places = {moved_place(at, event): named for at, named in target.places.items()}
    target.unreachable.pop((event.account, event.chat), None)
    fold_schedules.move_chat(target, event)
    for task_id in event.tasks:
        target.tasks[task_id] = _moved(target.tasks[task_id], event)
    for approval_id in event.approvals:
        approval = target.approvals[approval_id]
        places = tuple(moved_place(place, event) for place in approval.places)
        target.approvals[approval_id] = approval.but({"places": places})


def _moved(task: world.Task, event: events.ChatMoved) -> world.Task:
    there = {"chat": event.to, "reply_to": ""}
    if task.run is not None and task.run.target is not None:
        return task.but({"run": task.run.but({"target": task.run.target.but(there)})})
    return task.but({"origin": task.origin.but({**there, "message_id": ""})})


def _decide(target: world.World, event: events.PairingDecided, at_ms: int) -> None:
    known = target.people.get(event.principal)
    state = world.PersonState.ALLOWED if event.allowed else world.PersonState.REFUSED
    target.people[event.principal] = world.Person(
        principal=event.principal,
        name=known.name if known is not None else principals.user_of(event.principal),
        state=state,
        asked_ms=known.asked_ms if known is not None else at_ms,
        decided_by=event.decided_by,
    )
