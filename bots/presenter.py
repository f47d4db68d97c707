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

from bots import notices, texts, views
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2

# Roles whose text is meant for the daemon, not for a person.
MACHINE_ROLES: typing.Final = frozenset({"json_compiler", "critic", "recall", "sys_util"})
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
_DIRECTIVE_FENCE: typing.Final = "```json"


@dataclasses.dataclass
class _ModelCall:
    """The text of one model call: all that is known of it and how much of that was shown."""

    call_id: str
    visible: bool = True
    text: str = ""
    shown: int = 0  # characters of text that were shown or passed over

    def take(self, offset: int, piece: str) -> None:
        """Add a piece; what is known already and what leaves a gap is passed over."""
        known = len(self.text)
        if offset <= known < offset + len(piece):
            self.text += piece[known - offset :]

    def release(self) -> str:
        """The text that may be shown now and was not yet."""
        if not self.visible or (not self.shown and _may_be_directive(self.text)):
            return ""
        rest = self.text[self.shown :]
        if not self.was_shown:
            rest = rest.lstrip()
            if not rest:
                return ""
        self.shown = len(self.text)
        return rest

    @property
    def was_shown(self) -> bool:
        return self.shown > 0

    @property
    def shown_text(self) -> str:
        return self.text[: self.shown].lstrip()


@dataclasses.dataclass
class _ToolCall:
    tool: str
    command: str
    output: str = ""  # live text so far


@dataclasses.dataclass
class _Task:
    """What the fold remembers of a task until it ends."""

    model_calls: dict[str, _ModelCall] = dataclasses.field(default_factory=dict)
    tool_calls: dict[str, _ToolCall] = dataclasses.field(default_factory=dict)
    last_shown_call_id: str = ""
    used_a_model: bool = False

    def model_call(self, call_id: str) -> _ModelCall:
        return self.model_calls.setdefault(call_id, _ModelCall(call_id))

    def tool_call(self, call_id: str) -> _ToolCall:
        return self.tool_calls.setdefault(call_id, _ToolCall("", ""))


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
        return self._tasks.setdefault(task_id, _Task())

    def _live(self, live: events_pb2.LiveText) -> Sequence[views.View]:
        task = self._task(live.task_id)
        if live.tool:
            return _tool_output(task.tool_call(live.call_id), live)
        call = task.model_call(live.call_id)
        call.take(live.offset, live.text)
        return _pieces(task, live.task_id, call)

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
            progress.task_id, stage, progress.done, progress.total, progress.elapsed_ms
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
                return self._answer(event.task_id, event.answer_given.text)
            case "model_call_started" | "model_call_finished" | "model_call_failed":
                return self._model_event(event)
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
            ):
                return notices.of(event)
            case "conversation_created" | "conversation_updated" | None:
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

    def _answer(self, task_id: str, answer: str) -> Sequence[views.View]:
        task = self._task(task_id)
        call = task.model_calls.get(task.last_shown_call_id)
        shown = call.shown_text if call else ""
        if shown and answer.strip() == shown.strip():
            return (views.AnswerText(task_id, answer, rest="", continues=True),)
        if shown and answer.startswith(shown):
            rest = answer[len(shown) :]
            return (views.AnswerText(task_id, answer, rest, continues=True),)
        return (views.AnswerText(task_id, answer, rest=answer, continues=False),)

    def _model_event(self, event: events_pb2.Event) -> Sequence[views.View]:
        task, task_id = self._task(event.task_id), event.task_id
        task.used_a_model = True
        if event.HasField("model_call_started"):
            started = event.model_call_started
            task.model_call(started.call_id).visible = started.role not in MACHINE_ROLES
            return _dropped(task, task_id, started.replaces_call_id)
        if event.HasField("model_call_finished"):
            finished = event.model_call_finished
            cut = finished.finish_reason == "length"
            return _call_ended(task, task_id, finished.call_id, finished.text, cut)
        failed = event.model_call_failed
        known = task.model_call(failed.call_id).text
        text = failed.text if failed.text.startswith(known) else known
        shown = _call_ended(task, task_id, failed.call_id, text, cut=False)
        if failed.fault == "cancelled":
            return shown
        text = texts.MODEL_CALL_FAILED.format(reason=failed.message or failed.fault)
        return (*shown, views.Notice(task_id, text))

    def _tool_event(self, event: events_pb2.Event) -> Sequence[views.View]:
        task, task_id = self._task(event.task_id), event.task_id
        if event.HasField("tool_call_proposed"):
            proposed = event.tool_call_proposed
            command = summary(proposed.tool, proposed.arguments_json)
            task.tool_calls[proposed.call_id] = _ToolCall(proposed.tool, command)
        elif event.HasField("tool_call_started"):
            started = event.tool_call_started
            call = task.tool_call(started.call_id)
            task.last_shown_call_id = ""  # what is said after a tool ran begins anew
            view = views.ToolStarted(
                task_id, started.call_id, call.tool, call.command, started.attempt, started.basis
            )
            return (view,)
        elif event.HasField("tool_call_ended"):
            return (_tool_ended(task, task_id, event.tool_call_ended),)
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


def _may_be_directive(text: str) -> bool:
    """Whether a text may turn out to be a directive in JSON, which nobody wants to read."""
    start = text.lstrip()[: len(_DIRECTIVE_FENCE)]
    return start.startswith("{") or (bool(start) and _DIRECTIVE_FENCE.startswith(start))


def _pieces(task: _Task, task_id: str, call: _ModelCall) -> Sequence[views.View]:
    piece = call.release()
    if not piece:
        return ()
    task.last_shown_call_id = call.call_id
    return (views.TextPiece(task_id, call.call_id, piece),)


def _dropped(task: _Task, task_id: str, replaced_call_id: str) -> Sequence[views.View]:
    old = task.model_calls.pop(replaced_call_id, None) if replaced_call_id else None
    if old is None or not old.was_shown:
        return ()
    task.last_shown_call_id = ""
    return (views.TextDropped(task_id, replaced_call_id),)


def _call_ended(
    task: _Task, task_id: str, call_id: str, text: str, cut: bool
) -> Sequence[views.View]:
    call = task.model_call(call_id)
    dropped: Sequence[views.View] = ()
    if not text.startswith(call.text.rstrip()):  # what came live is not the outcome: show it anew
        dropped = _dropped(task, task_id, call_id)
        call = _ModelCall(call_id, call.visible)
        task.model_calls[call_id] = call
    call.take(len(call.text), text[len(call.text) :])
    pieces = _pieces(task, task_id, call)
    ended = (views.TextEnded(task_id, call_id, cut),) if call.was_shown else ()
    return (*dropped, *pieces, *ended)


def _tool_output(call: _ToolCall, live: events_pb2.LiveText) -> Sequence[views.View]:
    known = len(call.output)
    if not live.offset <= known < live.offset + len(live.text):
        return ()
    piece = live.text[known - live.offset :]
    call.output += piece
    return (views.ToolOutput(live.task_id, live.call_id, piece),)


def _tool_ended(task: _Task, task_id: str, ended: events_pb2.ToolCallEnded) -> views.View:
    call = task.tool_call(ended.call_id)
    # A command that the person gave is answered with its result: once is enough.
    is_the_answer = ended.outcome in ANSWERING_OUTCOMES and not task.used_a_model
    text = "" if is_the_answer else ended.text
    return views.ToolEnded(
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
