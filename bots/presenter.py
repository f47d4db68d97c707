"""Turns the daemon's updates into views: what a person should see, free of any platform.

Answers for: which updates are shown, in what form, and that none is shown twice, also after a
reconnect (numbered events by their sequence number, live text by what was shown of its call).
It must never do input or output, read a clock, or format for a platform. What it does not know,
from a newer daemon, it passes over.
"""

import dataclasses
import datetime
import json
import typing
from collections.abc import Sequence

from bots import notices, plans, speech, texts, views
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2

FINAL_STATES: typing.Final = frozenset(
    {
        common_pb2.COMPLETED,
        common_pb2.FAILED,
        common_pb2.CANCELLED,
        common_pb2.MODEL_PROTOCOL_ERROR,
        common_pb2.BUDGET_EXHAUSTED,
    }
)
WAITING_STATES: typing.Final = frozenset(
    {
        common_pb2.AWAITING_APPROVAL,
        common_pb2.AWAITING_SECRET,
        common_pb2.AWAITING_DECISION,
        common_pb2.MODEL_UNAVAILABLE,
        common_pb2.PARKED,
    }
)
# Ends of a call that the task goes on after.
ANSWERING_OUTCOMES: typing.Final = frozenset(
    {
        events_pb2.ToolCallEnded.FINISHED,
        events_pb2.ToolCallEnded.FAILED,
        events_pb2.ToolCallEnded.DENIED,
        events_pb2.ToolCallEnded.REFUSED,
    }
)


@dataclasses.dataclass
class _ToolCall:
    tool: str
    command: str
    output: str = ""  # live text so far


class _Task:
    """What the fold remembers of a task until it ends."""

    def __init__(self, task_id: str) -> None:
        self.speech = speech.Speech(task_id)
        self.plan = plans.Plan(task_id)
        self.used_a_model = False
        self._tool_calls: dict[str, _ToolCall] = {}

    def propose(self, call_id: str, tool: str, command: str) -> None:
        self._tool_calls[call_id] = _ToolCall(tool, command)

    def tool_call(self, call_id: str) -> _ToolCall:
        return self._tool_calls.setdefault(call_id, _ToolCall("", ""))


class Presenter:
    """A fold over updates. `last_seq` is where to resume from."""

    def __init__(self, last_seq: int = 0) -> None:
        self.last_seq = last_seq
        self._tasks: dict[str, _Task] = {}

    def feed(self, update: events_pb2.Update) -> Sequence[views.View]:
        """The views that this update gives; none for one that was seen before."""
        kind = update.WhichOneof("kind")
        match kind:
            case "event":
                return self._event(update.event)
            case "live":
                return self._live(update.live)
            case "progress":
                return self._progress(update.progress)
            case None:
                return ()
            case _:
                typing.assert_never(kind)

    def _task(self, task_id: str) -> _Task:
        return self._tasks.setdefault(task_id, _Task(task_id))

    def _live(self, live: events_pb2.LiveText) -> Sequence[views.View]:
        task = self._task(live.task_id)
        if live.tool:
            return _tool_output(task.tool_call(live.call_id), live)
        return task.speech.live(live)

    def _progress(self, progress: events_pb2.Progress) -> Sequence[views.View]:
        stages = {
            events_pb2.Progress.LOADING: views.Stage.LOADING,
            events_pb2.Progress.QUEUED: views.Stage.QUEUED,
            events_pb2.Progress.PREFILL: views.Stage.READING,
            events_pb2.Progress.DECODE: views.Stage.WRITING,
        }
        stage = stages.get(progress.stage)
        if stage is None:
            return ()
        view = views.Progress(
            task_id=progress.task_id,
            stage=stage,
            done=progress.done,
            total=progress.total,
            elapsed_ms=progress.elapsed_ms,
            purpose=self._task(progress.task_id).speech.purpose(progress.call_id),
        )
        return (view,)

    def _event(self, event: events_pb2.Event) -> Sequence[views.View]:
        if event.seq <= self.last_seq:
            return ()
        self.last_seq = event.seq
        kind = event.WhichOneof("kind")
        match kind:
            case "task_submitted":
                text = event.task_submitted.text
                return (views.TaskBegan(event.task_id, event.conversation_id, text),)
            case "task_state_changed":
                return self._state_changed(event.task_id, event.task_state_changed)
            case "task_recovered":
                return (views.Notice(event.task_id, texts.TASK_RECOVERED),)
            case "task_decided":
                return (_decided(event.task_id, event.task_decided),)
            case "answer_given":
                return (self._task(event.task_id).speech.answered(event.answer_given.text),)
            case "model_call_started" | "model_call_finished" | "model_call_failed":
                return self._model_event(event)
            case "directive_taken":
                return self._task(event.task_id).speech.directed(event.directive_taken)
            case "reply_refused":
                return self._task(event.task_id).speech.refused(event.reply_refused)
            case "plan_made" | "step_started" | "step_judged" | "step_ended":
                return self._plan_event(event)
            case (
                "tool_call_proposed"
                | "tool_call_inspected"
                | "tool_call_started"
                | "tool_call_ended"
                | "approval_requested"
                | "approval_resolved"
            ):
                return self._tool_event(event)
            case (
                "task_tainted"
                | "project_tainted"
                | "project_trusted"
                | "grant_created"
                | "grant_revoked"
                | "secret_requested"
                | "secret_provided"
                | "task_steered"
                | "conversation_deleted"
                | "conversation_compacted"
                | "exchange_undone"
                | "project_reverted"
                | "feedback_given"
                | "pairing_requested"
                | "pairing_decided"
            ):
                return notices.of(event)
            case (
                "conversation_created"
                | "conversation_updated"
                | "delivery_reported"
                | "notice_posted"
                | "chat_moved"
                | "schedule_set"
                | "schedule_removed"
                | "schedule_run_queued"
                | "schedule_run_started"
                | "schedule_runs_left_out"
                | "schedule_run_ended"
                | None
            ):
                return ()
            case _:
                typing.assert_never(kind)

    def _state_changed(
        self, task_id: str, change: events_pb2.TaskStateChanged
    ) -> Sequence[views.View]:
        if change.to in FINAL_STATES:
            self._tasks.pop(task_id, None)
            return (views.Ended(task_id, change.to, change.reason),)
        if change.to in WAITING_STATES:
            return (views.Waiting(task_id, change.to, change.reason),)
        return ()

    def _model_event(self, event: events_pb2.Event) -> Sequence[views.View]:
        task, task_id = self._task(event.task_id), event.task_id
        task.used_a_model = True
        if event.HasField("model_call_started"):
            return task.speech.started(event.model_call_started)
        if event.HasField("model_call_finished"):
            return task.speech.finished(event.model_call_finished)
        failed = event.model_call_failed
        shown = task.speech.failed(failed)
        if failed.fault == "cancelled":
            return shown
        text = texts.MODEL_CALL_FAILED.format(reason=failed.message or failed.fault)
        return (*shown, views.Notice(task_id, text))

    def _plan_event(self, event: events_pb2.Event) -> Sequence[views.View]:
        task = self._task(event.task_id)
        if event.HasField("plan_made"):
            return task.plan.made(event.plan_made)
        if event.HasField("step_started"):
            withdrawn = task.speech.step_begins(event.step_started)
            return (*withdrawn, *task.plan.started(event.step_started))
        if event.HasField("step_ended"):
            return task.plan.ended(event.step_ended)
        judged = event.step_judged
        return notices.judgement(event.task_id, judged, task.plan.goal(judged.step_id))

    def _tool_event(self, event: events_pb2.Event) -> Sequence[views.View]:
        task, task_id = self._task(event.task_id), event.task_id
        if event.HasField("tool_call_proposed"):
            proposed = event.tool_call_proposed
            command = summary(proposed.tool, proposed.arguments_json)
            task.propose(proposed.call_id, proposed.tool, command)
        elif event.HasField("tool_call_started"):
            started = event.tool_call_started
            call = task.tool_call(started.call_id)
            task.speech.tool_begins()
            view = views.ToolStarted(
                task_id, started.call_id, call.tool, call.command, started.attempt, started.basis
            )
            return (view,)
        elif event.HasField("tool_call_ended"):
            return _tool_ended(task, task_id, event.tool_call_ended)
        elif event.HasField("approval_requested"):
            return (_card(task_id, event.approval_requested),)
        elif event.HasField("approval_resolved"):
            resolved = event.approval_resolved
            closed = views.ApprovalClosed(
                task_id,
                resolved.approval_id,
                resolved.outcome,
                resolved.decided_by,
                resolved.reason,
            )
            return (closed,)
        return ()


def _decided(task_id: str, decided: events_pb2.TaskDecided) -> views.View:
    decision = texts.DECISIONS.get(decided.decision, decided.decision)
    text = texts.TASK_DECIDED.format(decision=decision, by=decided.principal)
    return views.Notice(task_id, text)


def summary(tool: str, arguments_json: str) -> str:
    """One line that says what a call does: its command, or its tool and arguments."""
    try:
        arguments = json.loads(arguments_json or "{}")
    except ValueError:
        return f"{tool} {arguments_json}"
    if isinstance(arguments, dict) and isinstance(arguments.get("command"), str):
        return str(arguments["command"])
    if not arguments:
        return tool
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"


def _tool_output(call: _ToolCall, live: events_pb2.LiveText) -> Sequence[views.View]:
    known = len(call.output)
    if not live.offset <= known < live.offset + len(live.text):
        return ()
    piece = live.text[known - live.offset :]
    call.output += piece
    return (views.ToolOutput(live.task_id, live.call_id, piece),)


def _tool_ended(task: _Task, task_id: str, ended: events_pb2.ToolCallEnded) -> Sequence[views.View]:
    call = task.tool_call(ended.call_id)
    # A command that the person gave is answered with its result: once is enough.
    is_the_answer = ended.outcome in ANSWERING_OUTCOMES and not task.used_a_model
    text = "" if is_the_answer else ended.text
    view = views.ToolEnded(
        task_id=task_id,
        call_id=ended.call_id,
        tool=call.tool,
        command=call.command,
        outcome=ended.outcome,
        exit_code=ended.exit_code if ended.HasField("exit_code") else None,
        text=text,
        artifact_id=ended.artifact_id,
        duration_ms=ended.duration_ms,
    )
    if not ended.files and not ended.diff:
        return (view,)
    return (view, views.FilesChanged(task_id, ended.call_id, tuple(ended.files), ended.diff))


def _card(task_id: str, requested: events_pb2.ApprovalRequested) -> views.View:
    return views.ApprovalCard(
        task_id=task_id,
        approval_id=requested.approval_id,
        tool=requested.tool,
        card=requested.card,
        reasons=tuple(requested.reasons),
        always_allowed=requested.always_allowed,
        expires_at=_expiry(requested),
        folder=requested.folder,
    )


def card_of(approval: approvals_pb2.Approval) -> views.ApprovalCard:
    """The card of an approval that was fetched, the same as its event gave."""
    return views.ApprovalCard(
        task_id=approval.task_id,
        approval_id=approval.approval_id,
        tool=approval.tool,
        card=approval.card,
        reasons=tuple(approval.reasons),
        always_allowed=approval.always_allowed,
        expires_at=_expiry(approval),
        folder=approval.folder,
    )


def _expiry(
    asked: events_pb2.ApprovalRequested | approvals_pb2.Approval,
) -> datetime.datetime | None:
    if not asked.HasField("expires_at"):
        return None
    return asked.expires_at.ToDatetime(tzinfo=datetime.UTC)
