"""What the log projects to: rows of tasks, approvals and conversations. Pure.

The one implementation of every store: `project` takes the rows before and the next events and gives
the rows that changed, each in its final state. How rows are kept is no matter of this module.
"""

import dataclasses
from collections.abc import Collection, Sequence
from typing import TypeVar, assert_never

from daemon.domain import events, fold_channels, fold_said, ids, state, taints, views, world
from daemon.storage import added_rows, delivery_rows, run_rows, task_row
from daemon.storage.rows import Named as Named, Rows as Rows, named as named

_Row = TypeVar("_Row")

VERSION = 5
"""Grows when rows change their shape or meaning; rows of another version are rebuilt."""


def project(before: Rows, recorded: Sequence[events.Recorded]) -> "Draft":
    """What events make of rows. The rows before stay as they are.

    Raises:
        ValueError: an event builds on a row that is not there, or begins one that is.
    """
    draft = Draft(before)
    for one in recorded:
        _apply(draft, one)
        if type(one.event) in delivery_rows.CHANGERS:
            delivery_rows.apply(draft, one)
        if type(one.event) in run_rows.CHANGERS:
            run_rows.apply(draft, one)
    return draft


class Draft:
    """Rows before, and over them those that changed, as they are after the last event.

    `added` is what these events put beside the rows.
    """

    def __init__(self, before: Rows) -> None:
        self._before = before
        self.changed = Rows()
        self.added = added_rows.Added()

    def task(self, task_id: ids.TaskId) -> task_row.TaskRow:
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
        self.changed.tasks[view.task_id] = task_row.TaskRow(view)

    def begin_approval(self, view: views.ApprovalView) -> None:
        _refuse_known(view.approval_id, self.changed.approvals, self._before.approvals)
        self.changed.approvals[view.approval_id] = view

    def begin_conversation(self, view: views.ConversationView) -> None:
        _refuse_known(view.conversation_id, self.changed.conversations, self._before.conversations)
        self.changed.conversations[view.conversation_id] = view

    def delivery(self, delivery_id: ids.DeliveryId) -> views.DeliveryView:
        row = self.changed.deliveries.get(delivery_id) or self._before.deliveries.get(delivery_id)
        return _there(row, delivery_id)

    def begin_delivery(self, view: views.DeliveryView) -> None:
        _refuse_known(view.delivery_id, self.changed.deliveries, self._before.deliveries)
        self.changed.deliveries[view.delivery_id] = view

    def set_delivery(self, view: views.DeliveryView) -> None:
        self.changed.deliveries[view.delivery_id] = view

    def change_task(self, task_id: ids.TaskId, update: dict[str, object]) -> None:
        row = self.task(task_id)
        view = row.view.but(update)
        self.changed.tasks[task_id] = task_row.TaskRow(view, row.open_calls, row.plan)

    @property
    def before_runs(self) -> Collection[ids.RunId]:
        """The runs that were known before these events."""
        return self._before.runs.keys()

    def run(self, run_id: ids.RunId) -> run_rows.RunRow | None:
        return self.changed.runs.get(run_id) or self._before.runs.get(run_id)

    def set_run(self, row: run_rows.RunRow) -> None:
        self.changed.runs[row.run_id] = row

    def say(self, seq: int, task_id: ids.TaskId, *said: world.Said | None) -> None:
        """Add to what a task's models are told."""
        there = tuple(each for each in said if each is not None)
        if there:
            self.added.said[seq] = added_rows.SaidRow(task_id, there)

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
        case events.ModelCallStarted():
            draft.task(event.task_id)
            if event.heard:
                draft.say(one.seq, event.task_id, *fold_said.of_hearing(event))
        case events.ModelCallFinished() | events.ToolCallInspected():
            draft.task(event.task_id)
        case events.ToolCallProposed() | events.ToolCallStarted() | events.ToolCallEnded():
            _call(draft, event, one)
        case events.DirectiveTaken():
            _think(draft, event, one)
        case (
            events.ModelCallFailed()
            | events.TaskRecovered()
            | events.TaskDecided()
            | events.StepStarted()
            | events.ProjectReverted()
        ):
            draft.task(event.task_id)
        case (
            events.ConversationCreated()
            | events.ConversationUpdated()
            | events.ConversationDeleted()
            | events.ConversationCompacted()
        ):
            _conversation(draft, event, one)
        case events.TaskSubmitted():
            _submit(draft, event, one)
        case events.ApprovalRequested() | events.ApprovalResolved():
            _approval(draft, event, one)
        case events.TaskStateChanged():
            _change_state(draft, event, one.at_ms)
        case events.AnswerGiven():
            draft.change_task(event.task_id, {"answer": event.text, "updated_ms": one.at_ms})
            draft.change_conversation(one.conversation_id, {"updated_ms": one.at_ms})
        case (
            events.TaskTainted()
            | events.SecretRequested()
            | events.SecretProvided()
            | events.ExchangeUndone()
            | events.FeedbackGiven()
        ):
            _note(draft, event, one.at_ms)
        case (
            events.GrantCreated()
            | events.GrantRevoked()
            | events.ProjectTainted()
            | events.ProjectTrusted()
            | events.DeliveryReported()
            | events.NoticePosted()
            | events.PairingRequested()
            | events.PairingDecided()
            | events.ScheduleSet()
            | events.ScheduleRemoved()
            | events.ScheduleRunQueued()
            | events.ScheduleRunStarted()
            | events.ScheduleRunsLeftOut()
            | events.ScheduleRunEnded()
        ):
            pass
        case events.ChatMoved():
            _move(draft, event)
        case _:
            _think(draft, event, one)
    if one.conversation_id:
        draft.conversation(one.conversation_id)


def _note(
    draft: Draft,
    event: events.TaskTainted
    | events.SecretRequested
    | events.SecretProvided
    | events.ExchangeUndone
    | events.FeedbackGiven,
    at_ms: int,
) -> None:
    """One word more about a task."""
    update: dict[str, object]
    match event:
        case events.TaskTainted():
            known = draft.task(event.task_id).view.taint
            update = {"taint": taints.join(known, event.sources)}
        case events.SecretRequested():
            update = {"secret": event.what}
        case events.SecretProvided():
            update = {"secret": ""}
        case events.ExchangeUndone():
            update = {"undone": True}
        case events.FeedbackGiven():
            update = {"good": event.good}
        case _:
            assert_never(event)
    draft.change_task(event.task_id, {**update, "updated_ms": at_ms})


def _move(draft: Draft, event: events.ChatMoved) -> None:
    for approval_id in event.approvals:
        approval = draft.approval(approval_id)
        places = tuple(fold_channels.moved_place(each, event) for each in approval.places)
        draft.changed.approvals[approval_id] = approval.but({"places": places})


def _think(
    draft: Draft,
    event: events.TaskSteered
    | events.DirectiveTaken
    | events.StepJudged
    | events.ReplyRefused
    | events.PlanMade
    | events.StepEnded,
    one: events.Recorded,
) -> None:
    """What a task's models are told of its thinking, and later ones after them."""
    row = draft.task(event.task_id)
    match event:
        case events.DirectiveTaken():
            draft.say(one.seq, event.task_id, fold_said.of_directive(event))
        case events.TaskSteered():
            draft.change_task(event.task_id, {"updated_ms": one.at_ms})
            draft.change_conversation(one.conversation_id, {"updated_ms": one.at_ms})
        case events.StepJudged():
            draft.say(one.seq, event.task_id, fold_said.of_judgement(event))
        case events.ReplyRefused():
            draft.say(one.seq, event.task_id, fold_said.of_refusal(event))
        case events.PlanMade():
            draft.say(one.seq, event.task_id, fold_said.of_plan(event))
            draft.changed.tasks[event.task_id] = dataclasses.replace(row, plan=event.steps)
        case events.StepEnded():
            draft.say(one.seq, event.task_id, row.said_of_step(event))
        case _:
            assert_never(event)


def _change_state(draft: Draft, event: events.TaskStateChanged, at_ms: int) -> None:
    update = {"state": event.state, "reason": event.reason, "updated_ms": at_ms}
    if event.previous is state.TaskState.AWAITING_SECRET:
        update["secret"] = ""
    draft.change_task(event.task_id, update)
    row = draft.task(event.task_id)
    if row.plan and event.state in state.FINAL:
        draft.changed.tasks[event.task_id] = dataclasses.replace(row, plan=())


def _conversation(
    draft: Draft,
    event: events.ConversationCreated
    | events.ConversationUpdated
    | events.ConversationDeleted
    | events.ConversationCompacted,
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
                folder=event.folder,
                profile=event.profile,
                steers=event.steers,
            )
            draft.begin_conversation(view)
        case events.ConversationUpdated():
            changes = {
                "title": event.title,
                "mode": event.mode,
                "folder": event.folder,
                "profile": event.profile,
                "steers": event.steers,
            }
            update: dict[str, object] = {"updated_ms": one.at_ms}
            update |= {name: to for name, to in changes.items() if to is not None}
            draft.change_conversation(event.conversation_id, update)
        case events.ConversationDeleted():
            draft.added.deleted.add(event.conversation_id)
        case events.ConversationCompacted():
            told = (event.conversation_id, event.summary, event.up_to_seq)
            draft.added.summaries[one.seq] = added_rows.SummaryRow(*told)
            update = {"summary": event.summary, "summarized_seq": event.up_to_seq}
            draft.change_conversation(event.conversation_id, {**update, "updated_ms": one.at_ms})
        case _:
            assert_never(event)


def _submit(draft: Draft, event: events.TaskSubmitted, one: events.Recorded) -> None:
    shown_at = events.shown_at(event.origin, event.run)
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
        kind=event.kind,
        folder=draft.conversation(event.conversation_id).folder,
        account="" if shown_at is None else shown_at.account,
    )
    draft.begin_task(view)
    draft.say(one.seq, event.task_id, *fold_said.of_submission(event))
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


def _call(
    draft: Draft,
    event: events.ToolCallProposed | events.ToolCallStarted | events.ToolCallEnded,
    one: events.Recorded,
) -> None:
    row = draft.task(event.task_id)
    match event:
        case events.ToolCallProposed():
            changed = task_row.propose(row, event, one.at_ms)
        case events.ToolCallStarted():
            changed = task_row.start(row, event)
        case events.ToolCallEnded():
            draft.say(one.seq, event.task_id, row.said_of_call(event))
            changed = task_row.end(row, event, one.at_ms)
        case _:
            assert_never(event)
    if changed is not row:
        draft.changed.tasks[event.task_id] = changed
