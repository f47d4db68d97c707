"""What the log projects to: rows of tasks, approvals and conversations. Pure.

The one implementation of every store: `project` takes the rows before and the next events and gives
the rows that changed, each in its final state. How rows are kept is no matter of this module.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, assert_never

from daemon.domain import events, ids, state, taints, views

_Row = TypeVar("_Row")

VERSION = 2
"""Grows when rows change their shape or meaning; rows of another version are rebuilt."""


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task's view, and its calls that have no result yet.

    A view tells of a call once it is known that nobody saw its end.
    """

    view: views.TaskView
    open_calls: tuple[views.UnknownCall, ...] = ()


@dataclass
class Rows:
    """Rows by id."""

    tasks: dict[ids.TaskId, TaskRow] = field(default_factory=dict)
    approvals: dict[ids.ApprovalId, views.ApprovalView] = field(default_factory=dict)
    conversations: dict[ids.ConversationId, views.ConversationView] = field(default_factory=dict)

    def adopt(self, changed: "Rows") -> None:
        """Take over rows that changed."""
        self.tasks.update(changed.tasks)
        self.approvals.update(changed.approvals)
        self.conversations.update(changed.conversations)


@dataclass
class Named:
    """Ids of rows."""

    tasks: set[ids.TaskId] = field(default_factory=set)
    approvals: set[ids.ApprovalId] = field(default_factory=set)
    conversations: set[ids.ConversationId] = field(default_factory=set)


def named(recorded: Sequence[events.Recorded]) -> Named:
    """The rows that these events build on; those that they begin are not among them."""
    found, begun = Named(), Named()
    for one in recorded:
        found.conversations.add(one.conversation_id)
        if one.task_id is not None:
            found.tasks.add(one.task_id)
        match one.event:
            case events.ConversationCreated(conversation_id=conversation_id):
                begun.conversations.add(conversation_id)
            case events.TaskSubmitted(task_id=task_id):
                begun.tasks.add(task_id)
            case events.ApprovalRequested(approval_id=approval_id):
                begun.approvals.add(approval_id)
            case events.ApprovalResolved(approval_id=approval_id):
                found.approvals.add(approval_id)
            case _:
                pass
    found.tasks -= begun.tasks
    found.approvals -= begun.approvals
    found.conversations -= begun.conversations
    return found


def project(before: Rows, recorded: Sequence[events.Recorded]) -> "Draft":
    """What events make of rows. The rows before stay as they are.

    Raises:
        ValueError: an event builds on a row that is not there, or begins one that is.
    """
    draft = Draft(before)
    for one in recorded:
        _apply(draft, one)
    return draft


class Draft:
    """Rows before, and over them those that changed, as they are after the last event."""

    def __init__(self, before: Rows) -> None:
        self._before = before
        self.changed = Rows()

    def task(self, task_id: ids.TaskId) -> TaskRow:
        row = self.changed.tasks.get(task_id) or self._before.tasks.get(task_id)
        return _there(row, task_id)

    def approval(self, approval_id: ids.ApprovalId) -> views.ApprovalView:
        row = self.changed.approvals.get(approval_id) or self._before.approvals.get(approval_id)
        return _there(row, approval_id)

    def conversation(self, conversation_id: ids.ConversationId) -> views.ConversationView:
        row = self.changed.conversations.get(conversation_id)
        row = row or self._before.conversations.get(conversation_id)
        return _there(row, conversation_id)

    def begin_task(self, view: views.TaskView) -> None:
        _refuse_known(view.task_id, self.changed.tasks, self._before.tasks)
        self.changed.tasks[view.task_id] = TaskRow(view)

    def begin_approval(self, view: views.ApprovalView) -> None:
        _refuse_known(view.approval_id, self.changed.approvals, self._before.approvals)
        self.changed.approvals[view.approval_id] = view

    def begin_conversation(self, view: views.ConversationView) -> None:
        _refuse_known(view.conversation_id, self.changed.conversations, self._before.conversations)
        self.changed.conversations[view.conversation_id] = view

    def change_task(self, task_id: ids.TaskId, update: dict[str, object]) -> None:
        row = self.task(task_id)
        view = row.view.but(update)
        self.changed.tasks[task_id] = TaskRow(view=view, open_calls=row.open_calls)

    def change_conversation(
        self, conversation_id: ids.ConversationId, update: dict[str, object]
    ) -> None:
        row = self.conversation(conversation_id)
        self.changed.conversations[conversation_id] = row.but(update)


def _refuse_known(row_id: str, *known: Collection[str]) -> None:
    if any(row_id in rows for rows in known):
        raise ValueError(f"an event begins {row_id}, which the log began before")


def _there(row: _Row | None, row_id: str) -> _Row:
    if row is None:
        raise ValueError(f"an event names {row_id}, which the log never began")
    return row


def _apply(draft: Draft, one: events.Recorded) -> None:
    event = one.event
    match event:  # the frequent ones first: each name is a look
        case (
            events.ModelCallStarted()
            | events.ModelCallFinished()
            | events.ToolCallInspected()
            | events.ToolCallStarted()
            | events.ModelCallFailed()
            | events.TaskRecovered()
            | events.TaskDecided()
        ):
            draft.task(event.task_id)
        case events.ToolCallProposed() | events.ToolCallEnded():
            _call(draft, event, one.at_ms)
        case events.ConversationCreated() | events.ConversationUpdated():
            _conversation(draft, event, one)
        case events.TaskSubmitted():
            _submit(draft, event, one)
        case events.ApprovalRequested() | events.ApprovalResolved():
            _approval(draft, event, one)
        case events.TaskStateChanged():
            update = {"state": event.state, "reason": event.reason, "updated_ms": one.at_ms}
            if event.previous is state.TaskState.AWAITING_SECRET:
                update["secret"] = ""
            draft.change_task(event.task_id, update)
        case events.AnswerGiven():
            draft.change_task(event.task_id, {"answer": event.text, "updated_ms": one.at_ms})
            draft.change_conversation(one.conversation_id, {"updated_ms": one.at_ms})
        case events.TaskTainted():
            known = draft.task(event.task_id).view.taint
            update = {"taint": taints.join(known, event.sources), "updated_ms": one.at_ms}
            draft.change_task(event.task_id, update)
        case events.SecretRequested():
            draft.change_task(event.task_id, {"secret": event.what, "updated_ms": one.at_ms})
        case events.SecretProvided():
            draft.change_task(event.task_id, {"secret": "", "updated_ms": one.at_ms})
        case (
            events.GrantCreated()
            | events.GrantRevoked()
            | events.ProjectTainted()
            | events.ProjectTrusted()
        ):
            pass
        case _:
            assert_never(event)
    draft.conversation(one.conversation_id)


def _conversation(
    draft: Draft,
    event: events.ConversationCreated | events.ConversationUpdated,
    one: events.Recorded,
) -> None:
    match event:
        case events.ConversationCreated():
            view = views.ConversationView(
                conversation_id=event.conversation_id,
                principal=event.principal,
                title=event.title,
                created_ms=one.at_ms,
                updated_ms=one.at_ms,
                created_seq=one.seq,
                mode=event.mode,
            )
            draft.begin_conversation(view)
        case events.ConversationUpdated():
            changes = {"title": event.title, "mode": event.mode}
            update: dict[str, object] = {"updated_ms": one.at_ms}
            update |= {name: to for name, to in changes.items() if to is not None}
            draft.change_conversation(event.conversation_id, update)
        case _:
            assert_never(event)


def _submit(draft: Draft, event: events.TaskSubmitted, one: events.Recorded) -> None:
    view = views.TaskView(
        task_id=event.task_id,
        conversation_id=event.conversation_id,
        principal=event.origin.principal,
        state=state.TaskState.QUEUED,
        reason="",
        text=event.text,
        answer=None,
        created_ms=one.at_ms,
        updated_ms=one.at_ms,
        submitted_seq=one.seq,
    )
    draft.begin_task(view)
    draft.change_conversation(event.conversation_id, {"updated_ms": one.at_ms})


def _approval(
    draft: Draft,
    event: events.ApprovalRequested | events.ApprovalResolved,
    one: events.Recorded,
) -> None:
    pending = draft.task(event.task_id).view.pending_approvals
    match event:
        case events.ApprovalRequested():
            view = views.ApprovalView(
                approval_id=event.approval_id,
                task_id=event.task_id,
                call_id=event.call_id,
                conversation_id=one.conversation_id,
                tool=event.tool,
                digest=event.digest,
                card=event.card,
                reasons=event.reasons,
                always_allowed=event.always_allowed,
                created_ms=one.at_ms,
                expires_ms=event.expires_ms,
                requested_seq=one.seq,
                folder=event.folder,
                places=event.places,
            )
            draft.begin_approval(view)
            pending = (*pending, event.approval_id)
        case events.ApprovalResolved():
            update = {
                "outcome": event.outcome,
                "decided_by": event.decided_by,
                "reason": event.reason,
                "grant_id": event.grant_id,
            }
            approval = draft.approval(event.approval_id)
            draft.changed.approvals[event.approval_id] = approval.but(update)
            pending = tuple(other for other in pending if other != event.approval_id)
        case _:
            assert_never(event)
    draft.change_task(event.task_id, {"pending_approvals": pending, "updated_ms": one.at_ms})


def _call(draft: Draft, event: events.ToolCallProposed | events.ToolCallEnded, at_ms: int) -> None:
    row = draft.task(event.task_id)
    match event:
        case events.ToolCallProposed():
            call = views.UnknownCall(
                call_id=event.call_id, tool=event.tool, arguments=event.arguments
            )
            view = _without_unknown(row.view, event.repeats, at_ms)
            draft.changed.tasks[event.task_id] = TaskRow(
                view=view, open_calls=(*row.open_calls, call)
            )
        case events.ToolCallEnded():
            _end_call(draft, row, event, at_ms)
        case _:
            assert_never(event)


def _end_call(draft: Draft, row: TaskRow, event: events.ToolCallEnded, at_ms: int) -> None:
    view = _without_unknown(row.view, event.call_id, at_ms)
    if event.outcome is events.CallOutcome.OUTCOME_UNKNOWN:
        ended = tuple(c for c in row.open_calls if c.call_id == event.call_id)
        unknown = (*view.unknown_calls, *ended)
        view = view.but({"unknown_calls": unknown, "updated_ms": at_ms})
    still_open = tuple(c for c in row.open_calls if c.call_id != event.call_id)
    draft.changed.tasks[event.task_id] = TaskRow(view=view, open_calls=still_open)


def _without_unknown(
    view: views.TaskView, settled: ids.CallId | None, at_ms: int
) -> views.TaskView:
    """The view after a person settled what became of a call: marked as done, or run again."""
    if all(call.call_id != settled for call in view.unknown_calls):
        return view
    unknown = tuple(call for call in view.unknown_calls if call.call_id != settled)
    return view.but({"unknown_calls": unknown, "updated_ms": at_ms})
