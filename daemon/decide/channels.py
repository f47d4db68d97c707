"""What bots report and ask of their chats: what was shown, what is to be, and where a chat went."""

from daemon.decide import turn
from daemon.domain import (
    decisions,
    deliveries,
    errors,
    events,
    ids,
    inputs,
    principals,
    state,
    world,
)

_KIND = errors.RefusalKind
NOTICE_BYTES = 64 * 1024
CURSOR_BYTES = 4096
NO_CONVERSATION = ids.ConversationId("")
DAEMON = principals.Principal("local:daemon")
"""Who acts where the daemon does by itself."""


def _reject(kind: errors.RefusalKind, message: str) -> decisions.Rejected:
    return decisions.Rejected(refusal=kind, message=message)


def report(
    current: turn.Turn, given: inputs.ReportDelivery
) -> decisions.Reply | decisions.Rejected:
    """Note what became of a delivery; the same report again changes nothing more."""
    shown = current.known.delivery
    if shown is None or given.account not in ("", shown.account):
        return _reject(_KIND.NOT_FOUND, f"There is no delivery {given.delivery_id} of this bot's.")
    if not 0 < given.revision <= shown.revision:
        message = (
            f"{given.delivery_id} has the revisions 1 to {shown.revision}; report one of them."
        )
        return _reject(_KIND.INVALID, message)
    if given.state is deliveries.State.PENDING:
        return _reject(_KIND.INVALID, "state is one of SENT, SHOWN, FAILED, GONE.")
    reported = events.DeliveryReported(
        delivery_id=given.delivery_id,
        revision=given.revision,
        state=given.state,
        platform_ids=given.platform_ids,
        fault=given.fault,
        account=shown.account,
        chat=shown.chat,
    )
    current.record(reported, shown.conversation_id, given.correlation_id)
    return decisions.DeliveryKept(delivery_id=given.delivery_id)


def post(current: turn.Turn, given: inputs.PostNotice) -> decisions.Reply | decisions.Rejected:
    """Keep a text that is to be shown in a chat."""
    if not given.text.strip() and not given.artifacts:
        return _reject(_KIND.INVALID, "There is nothing to show: give a text or an artifact.")
    size = len(given.text.encode())
    if size > NOTICE_BYTES:
        message = f"The text has {size} bytes; at most {NOTICE_BYTES} are shown. Send a document."
        return _reject(_KIND.EXHAUSTED, message)
    if current.known.missing_artifact is not None:
        missing = current.known.missing_artifact
        return _reject(_KIND.NOT_FOUND, f"There is no artifact {missing}.")
    target = given.target
    conversation_id = current.world.places.get(target.place, NO_CONVERSATION)
    posted = events.NoticePosted(
        delivery_id=current.ids.delivery(),
        target=target,
        text=current.keep(conversation_id, given.text) if given.text else None,
        rows=given.rows,
        artifacts=given.artifacts,
        approval_id=given.approval_id,
    )
    current.record(posted, conversation_id, given.correlation_id)
    return decisions.DeliveryKept(delivery_id=posted.delivery_id)


def tell(
    current: turn.Turn, target: deliveries.Target, owner: ids.ConversationId, text: str
) -> None:
    """Have something of the daemon's own shown in a chat."""
    delivery_id, content = current.ids.delivery(), current.keep(owner, text)
    told = events.NoticePosted(delivery_id=delivery_id, target=target, text=content)
    current.record(told, owner, "")


def move(current: turn.Turn, given: inputs.MoveChat) -> decisions.Reply | decisions.Rejected:
    """Let all of a chat go on under its new id."""
    if not given.to or given.to == given.chat or not given.chat:
        return _reject(_KIND.INVALID, "chat and to are two ids of a chat: the old and the new one.")
    tasks = tuple(
        task.task_id
        for task in current.world.tasks.values()
        if _is_shown_in(task, given.account, given.chat) and task.state not in state.FINAL
    )
    before = f"{given.account}/{given.chat}/"
    approvals = tuple(
        approval
        for approval in current.world.approvals.values()
        if approval.outcome is None and any(one.startswith(before) for one in approval.places)
    )
    cards = (
        deliveries.of_approval(approval.approval_id, place)
        for approval in approvals
        for place, name in enumerate(approval.places)
        if name.startswith(before)
    )
    shown = (*map(deliveries.of_task, tasks), *cards, *current.known.open_deliveries)
    moved = events.ChatMoved(
        account=given.account,
        chat=given.chat,
        to=given.to,
        tasks=tasks,
        approvals=tuple(approval.approval_id for approval in approvals),
        deliveries=tuple(dict.fromkeys(shown)),
    )
    current.record(moved, NO_CONVERSATION, given.correlation_id)
    return decisions.ChatKept(chat=given.to)


def _is_shown_in(task: world.Task, account: str, chat: str) -> bool:
    target = events.shown_at(task.origin, task.run)
    return target is not None and (target.account, target.chat) == (account, chat)


def set_cursor(current: turn.Turn, given: inputs.SetCursor) -> decisions.Reply | decisions.Rejected:
    """Keep a word of a bot's own."""
    if not given.name:
        return _reject(_KIND.INVALID, "Give the cursor a name.")
    if len(given.value.encode()) > CURSOR_BYTES:
        return _reject(_KIND.INVALID, f"A cursor has at most {CURSOR_BYTES} bytes.")
    kept = decisions.CursorRecord(credential=given.credential, name=given.name, value=given.value)
    current.keep_record(kept)
    return decisions.CursorKept(name=given.name)
