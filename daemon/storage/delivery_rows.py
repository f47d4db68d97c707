"""What events make of the rows of deliveries: what is to be shown in chats, and what was. Pure.

A task that came from a bot's chat has one row, a preview until it ends and its end from then on; a
card has one for each place that shows it; a task that waits for more than a card has one for each
time that it waits.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from daemon.domain import deliveries, delivery_changes, events, ids, principals, state, views
from daemon.storage import rows, task_row

CHANGERS = delivery_changes.CHANGERS | {events.DeliveryReported}
"""The events that change any of these rows."""
_TOLD_WAITING = state.WAITING - {state.TaskState.AWAITING_APPROVAL}


class Draft(Protocol):
    """The rows as they are after the events so far."""

    def task(self, task_id: ids.TaskId) -> task_row.TaskRow: ...

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView: ...

    def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView: ...

    def begin_delivery(self, view: views.DeliveryView) -> None: ...

    def set_delivery(self, view: views.DeliveryView) -> None: ...

    def change_task(self, task_id: ids.TaskId, update: dict[str, object]) -> None: ...


def named(known: rows.Rows, recorded: Sequence[events.Recorded]) -> set[ids.DeliveryId]:
    """The rows that these events build on, as far as the rows known before them tell."""
    found: set[ids.DeliveryId] = set()
    for one in recorded:
        if type(one.event) not in CHANGERS:
            continue
        match one.event:
            case events.TaskStateChanged(task_id=task_id):
                row = known.tasks.get(task_id)
                if row is not None and row.view.account:
                    found.add(deliveries.of_task(task_id))
                    found.update(() if row.view.waiting is None else (row.view.waiting,))
            case events.ApprovalResolved(approval_id=approval_id):
                view = known.approvals.get(approval_id)
                found.update(_cards(view) if view is not None else ())
            case events.DeliveryReported(delivery_id=delivery_id):
                found.add(delivery_id)
            case events.ChatMoved():
                found.update(one.event.deliveries)
            case events.PairingDecided():
                found.update(_pairings(one.event))
            case events.ScheduleRunEnded(told=True):
                found.add(deliveries.of_task(one.event.run_task))
            case _:
                pass
    return found


def _cards(view: views.ApprovalView) -> Iterator[ids.DeliveryId]:
    for place, name in enumerate(view.places):
        if _target(name) is not None:
            yield deliveries.of_approval(view.approval_id, place)


def _pairings(
    event: events.PairingRequested | events.PairingDecided,
) -> Iterator[ids.DeliveryId]:
    for number in range(len(event.chats)):
        yield deliveries.of_pairing(event.principal, event.code, number)


def apply(draft: Draft, one: events.Recorded) -> None:
    """Change what is to be shown by one event."""
    event = one.event
    match event:
        case events.TaskStateChanged():
            if draft.task(event.task_id).view.account:
                _change_state(draft, event, one)
        case events.TaskSubmitted():
            _submit(draft, event, one)
        case events.ApprovalRequested():
            _ask(draft, event, one)
        case events.ApprovalResolved():
            for card in _cards(draft.approval(event.approval_id)):
                _revise(draft, card, one)
        case events.DeliveryReported():
            _report(draft, event)
        case events.NoticePosted():
            _post(draft, event, one)
        case events.ChatMoved():
            for moved in event.deliveries:
                _move(draft, moved, event, one)
        case events.PairingRequested():
            _pair(draft, event, one)
        case events.PairingDecided():
            for asked in _pairings(event):
                _revise(draft, asked, one)
        case events.ScheduleRunEnded(told=True):
            _revise(draft, deliveries.of_task(event.run_task), one)
        case _:
            pass


def _begin(
    draft: Draft,
    delivery_id: ids.DeliveryId,
    kind: deliveries.Kind,
    target: deliveries.Target,
    one: events.Recorded,
    more: dict[str, object],
) -> None:
    view = views.DeliveryView(
        delivery_id=delivery_id,
        kind=kind,
        target=target,
        conversation_id=one.conversation_id,
        created_ms=one.at_ms,
        created_seq=one.seq,
        changed_seq=one.seq,
    )
    draft.begin_delivery(view.but(more))


def _revise(
    draft: Draft,
    delivery_id: ids.DeliveryId,
    one: events.Recorded,
    more: dict[str, object] | None = None,
) -> None:
    """Something else is to be shown now, whatever became of what was before."""
    view = draft.delivery(delivery_id)
    update: dict[str, object] = {
        "revision": view.revision + 1,
        "state": deliveries.State.PENDING,
        "fault": "",
        "changed_seq": one.seq,
    }
    draft.set_delivery(view.but({**update, **(more or {})}))


def _submit(draft: Draft, event: events.TaskSubmitted, one: events.Recorded) -> None:
    target = events.shown_at(event.origin, event.run)
    if target is None:
        return
    delivery_id, kind = deliveries.of_task(event.task_id), deliveries.Kind.PREVIEW
    more: dict[str, object] = {"task_id": event.task_id}
    if event.run is not None:
        kind = deliveries.Kind.SCHEDULE
        more |= {"state": deliveries.State.HELD, "run_id": event.run.run_id}
    _begin(draft, delivery_id, kind, target, one, more)


def _change_state(draft: Draft, event: events.TaskStateChanged, one: events.Recorded) -> None:
    own = draft.delivery(deliveries.of_task(event.task_id))
    told = draft.task(event.task_id).view.waiting
    if told is not None and _tries_again(own, event):
        return
    if told is not None:
        _revise(draft, told, one)
    waiting: ids.DeliveryId | None = None
    if event.state in state.FINAL and own.kind is not deliveries.Kind.SCHEDULE:
        _revise(draft, own.delivery_id, one, {"kind": deliveries.Kind.FINAL})
    elif event.state in _TOLD_WAITING:
        waiting = deliveries.of_waiting(event.task_id, one.seq)
        more: dict[str, object] = {"task_id": event.task_id}
        _begin(draft, waiting, deliveries.Kind.NOTICE, own.target, one, more)
    if waiting != told:
        draft.change_task(event.task_id, {"waiting": waiting})


def _tries_again(own: views.DeliveryView, event: events.TaskStateChanged) -> bool:
    """Whether a schedule's run looks for its model once more: its chat was told of that once."""
    gone = state.TaskState.MODEL_UNAVAILABLE
    looks = (event.previous, event.state) == (gone, state.TaskState.RUNNING)
    return own.kind is deliveries.Kind.SCHEDULE and (looks or event.state is gone)


def _ask(draft: Draft, event: events.ApprovalRequested, one: events.Recorded) -> None:
    for place, name in enumerate(event.places):
        target = _target(name)
        if target is None:
            continue
        more: dict[str, object] = {"approval_id": event.approval_id, "task_id": event.task_id}
        card = deliveries.of_approval(event.approval_id, place)
        _begin(draft, card, deliveries.Kind.APPROVAL, target, one, more)


def _target(place: str) -> deliveries.Target | None:
    """Where a place is, if it is a bot's chat."""
    account, _, rest = place.partition("/")
    chat, _, topic = rest.partition("/")
    name, _, owner = account.partition(":")
    if not owner or name in principals.OWN_PLATFORMS or not chat:
        return None
    return deliveries.Target(account=account, chat=chat, topic=topic)


def _report(draft: Draft, event: events.DeliveryReported) -> None:
    view = draft.delivery(event.delivery_id)
    update: dict[str, object] = {"platform_ids": event.platform_ids or view.platform_ids}
    if event.state is deliveries.State.SHOWN:
        update["shown_revision"] = max(view.shown_revision, event.revision)
    if event.revision == view.revision:
        update |= {"state": event.state, "fault": event.fault}
    draft.set_delivery(view.but(update))


def _post(draft: Draft, event: events.NoticePosted, one: events.Recorded) -> None:
    more: dict[str, object] = {
        "text": event.text,
        "rows": event.rows,
        "artifacts": event.artifacts,
        "approval_id": event.approval_id,
    }
    _begin(draft, event.delivery_id, deliveries.Kind.NOTICE, event.target, one, more)


def _move(
    draft: Draft, delivery_id: ids.DeliveryId, event: events.ChatMoved, one: events.Recorded
) -> None:
    """Messages stay behind when a chat moves, so it is to be shown anew."""
    target = draft.delivery(delivery_id).target
    there = target.but({"chat": event.to, "reply_to": ""})
    _revise(draft, delivery_id, one, {"target": there, "platform_ids": ()})


def _pair(draft: Draft, event: events.PairingRequested, one: events.Recorded) -> None:
    account = principals.account_of(event.principal)
    for asked, chat in zip(_pairings(event), event.chats, strict=True):
        target = deliveries.Target(account=account, chat=chat)
        more: dict[str, object] = {"person": event.principal}
        _begin(draft, asked, deliveries.Kind.NOTICE, target, one, more)
