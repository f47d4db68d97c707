"""Turns as Markdown and as JSON, where a foreign text stays a text.

In Markdown each stands in a fence that is longer than any row of backticks in it, so that no text
can end its fence, look like a part of the export, or load anything. JSON is one object.
"""

import datetime
import json
import re
from typing import Protocol, assert_never

from daemon.domain import state, views
from daemon.rpc import export_turns

Json = dict[str, object]

_LEAST_FENCE = 3
_FORGOTTEN = "*(forgotten)*"


class Format(Protocol):
    """How an export is written: a beginning, the turns with something between, and an end."""

    between: str
    end: str

    def begin(self, view: views.ConversationView, title: export_turns.Text) -> str: ...

    def turn(self, number: int, turn: export_turns.Turn) -> str: ...


def _moment(at_ms: int) -> str:
    """A time as text, in UTC to the second."""
    at = datetime.datetime.fromtimestamp(at_ms // 1000, datetime.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _longest_row(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def fenced(text: export_turns.Text, kind: str) -> str:
    """A text as a block that nothing in it can end."""
    if text is None:
        return _FORGOTTEN + "\n"
    fence = "`" * max(_LEAST_FENCE, _longest_row(text) + 1)
    end = "" if text.endswith("\n") else "\n"
    return f"{fence}{kind}\n{text}{end}{fence}\n"


def span(text: export_turns.Text) -> str:
    """A text as code within a line."""
    if text is None:
        return _FORGOTTEN
    flat = " ".join(text.split())
    if not flat:
        return "(none)"
    row = "`" * (_longest_row(flat) + 1)
    return f"{row} {flat} {row}" if "`" in flat else f"{row}{flat}{row}"


class Markdown:
    """For people."""

    between = "\n"
    end = ""

    def begin(self, view: views.ConversationView, title: export_turns.Text) -> str:
        lines = ["# Conversation", "", f"- id: {span(view.conversation_id)}"]
        if view.title is not None:
            lines.append(f"- title: {span(title)}")
        lines += [f"- of: {span(view.principal)}", f"- begun: {_moment(view.created_ms)}"]
        lines.append(f"- mode: {view.mode.value}")
        if view.folder:
            lines.append(f"- project: {span(view.folder)}")
        return "\n".join(lines) + "\n\n"

    def turn(self, number: int, turn: export_turns.Turn) -> str:
        parts = [f"## {number}\n"]
        parts += [self._entry(entry) for entry in turn.entries]
        for mark in _marks(turn.view):
            parts.append(f"*{mark}*\n")
        return "\n".join(parts)

    def _entry(self, entry: export_turns.Entry) -> str:
        match entry:
            case export_turns.Message():
                what = "a further word of " if entry.further else ""
                head = f"### {what}{span(entry.principal)}, {_moment(entry.at_ms)}\n\n"
                return head + fenced(entry.text, "text")
            case export_turns.Thought():
                return "### thought\n\n" + fenced(entry.text, "text")
            case export_turns.Plan():
                return "### plan\n\n" + "".join(map(_planned, entry.steps))
            case export_turns.StepEnd():
                head = f"### step {span(entry.step_id)}: {entry.outcome}\n"
                return head + ("\n" + fenced(entry.result, "text") if entry.has_result else "")
            case export_turns.Call():
                return self._call(entry)
            case export_turns.Answer():
                return "### answer\n\n" + fenced(entry.text, "markdown")
            case _:
                assert_never(entry)

    def _call(self, call: export_turns.Call) -> str:
        ended = f": {call.outcome}" if call.outcome else ""
        if call.exit_code is not None:
            ended += f", exit {call.exit_code}"
        parts = [f"### call of {span(call.tool)}{ended}\n", fenced(call.arguments, "json")]
        if call.has_result:
            parts.append(fenced(call.result, "text"))
        if call.artifact_id:
            parts.append(f"whole output: artifact {span(call.artifact_id)}\n")
        if call.files:
            parts.append("changed: " + ", ".join(map(span, call.files)) + "\n")
        if call.has_diff:
            parts.append(fenced(call.diff, "diff"))
        return "\n".join(parts)


def _planned(step: export_turns.Step) -> str:
    after = ", after " + ", ".join(map(span, step.after)) if step.after else ""
    return f"- {span(step.step_id)} ({step.kind}{after}): {span(step.goal)}\n"


def _marks(view: views.TaskView) -> list[str]:
    """What is to be known of a task besides what was said."""
    marks = []
    if view.state is not state.TaskState.COMPLETED:
        marks.append(f"state: {view.state.value}")
    if view.undone:
        marks.append("undone")
    if view.good is not None:
        marks.append("feedback: good" if view.good else "feedback: bad")
    return marks


class JsonText:
    """For programs. A forgotten text is null."""

    between = ",\n"
    end = "\n]}\n"

    def begin(self, view: views.ConversationView, title: export_turns.Text) -> str:
        told: Json = {
            "conversation_id": view.conversation_id,
            "title": title if view.title is not None else "",
            "principal": view.principal,
            "created_at": _moment(view.created_ms),
            "mode": view.mode.value,
            "folder": view.folder,
            "profile": view.profile,
        }
        return f'{{"conversation": {_json(told)},\n"turns": [\n'

    def turn(self, number: int, turn: export_turns.Turn) -> str:
        told: Json = {
            "number": number,
            "task_id": turn.view.task_id,
            "state": turn.view.state.value,
            "undone": turn.view.undone,
            "good": turn.view.good,
            "entries": [_entry(entry) for entry in turn.entries],
        }
        return _json(told)


def _json(told: Json) -> str:
    return json.dumps(told, ensure_ascii=False)


def _entry(entry: export_turns.Entry) -> Json:
    match entry:
        case export_turns.Message():
            told: Json = {"kind": "message", "principal": entry.principal, "text": entry.text}
            return told | {"at": _moment(entry.at_ms), "further": entry.further}
        case export_turns.Thought():
            return {"kind": "thought", "text": entry.text}
        case export_turns.Plan():
            return {"kind": "plan", "steps": [_step(step) for step in entry.steps]}
        case export_turns.StepEnd():
            told = {"kind": "step", "step_id": entry.step_id, "outcome": entry.outcome}
            return told | ({"result": entry.result} if entry.has_result else {})
        case export_turns.Call():
            return _call(entry)
        case export_turns.Answer():
            return {"kind": "answer", "text": entry.text}
        case _:
            assert_never(entry)


def _step(step: export_turns.Step) -> Json:
    told: Json = {"step_id": step.step_id, "kind": step.kind, "goal": step.goal}
    return told | {"after": list(step.after)}


def _call(call: export_turns.Call) -> Json:
    told: Json = {"kind": "call", "tool": call.tool, "arguments_json": call.arguments}
    told |= {"outcome": call.outcome, "exit_code": call.exit_code}
    if call.has_result:
        told["result"] = call.result
    if call.artifact_id:
        told["artifact_id"] = call.artifact_id
    if call.files:
        told["files"] = list(call.files)
    if call.has_diff:
        told["diff"] = call.diff
    return told
