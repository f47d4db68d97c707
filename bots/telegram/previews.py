"""How a task goes on, as one message: what it does now, its plan, its tools and its words so far.

A fold over the presenter's views; `text` says how it looks after so much time. It never grows
beyond one message: of what is long the newest part is shown.
"""

import typing

from bots import render, views
from bots.telegram import buttons, outgoing, rendering, texts
from proto.ducklm.v1 import common_pb2, events_pb2

SPEECH_UNITS: typing.Final = 2800
OUTPUT_UNITS: typing.Final = 600
THOUGHT_UNITS: typing.Final = 600
TOOLS_SHOWN: typing.Final = 8


class Preview:
    """What is shown of one task. `thoughts` whether thinking is shown."""

    def __init__(self, thoughts: bool = False) -> None:
        self._shows_thoughts = thoughts
        self._speech = ""
        self._thoughts = ""
        self._plan: tuple[views.PlanStep, ...] = ()
        self._tools: dict[str, str] = {}
        self._output: dict[str, str] = {}
        self._whole = ""
        self._stage: views.Progress | None = None
        self._notice = ""
        self._state = common_pb2.QUEUED

    def feed(self, view: views.View) -> None:
        """Take up what happened."""
        match view:
            case views.TextPiece():
                self._speech += view.text
                self._stage, self._state = None, common_pb2.RUNNING
            case views.ThoughtPiece():
                self._thoughts += view.text
            case views.TextDropped():
                self._speech = ""
            case views.AnswerText():
                self._speech = view.text
            case views.ToolStarted() | views.ToolOutput() | views.ToolEnded():
                self._tool(view)
            case views.PlanShown():
                self._plan = view.steps
            case views.Progress():
                self._stage, self._state = view, common_pb2.RUNNING
            case views.Notice():
                self._notice = view.text
            case views.Waiting():
                self._state, self._stage = view.state, None
                self._notice = view.reason
            case (
                views.TaskBegan()
                | views.TextEnded()
                | views.FilesChanged()
                | views.ApprovalCard()
                | views.ApprovalClosed()
                | views.Ended()
            ):
                pass
            case _:
                typing.assert_never(view)

    def _tool(self, view: views.ToolStarted | views.ToolOutput | views.ToolEnded) -> None:
        self._state, self._stage = common_pb2.RUNNING, None
        match view:
            case views.ToolStarted():
                self._speech = ""
                command = render.one_line(view.command or view.tool)
                self._tools[view.call_id] = texts.TOOL_RUNNING.format(command=command)
                self._output[view.call_id] = ""
            case views.ToolOutput():
                kept = self._output.get(view.call_id, "") + view.text
                self._output[view.call_id] = kept[-4 * OUTPUT_UNITS :]
            case views.ToolEnded():
                self._tools[view.call_id] = tool_line(view)
                self._output.pop(view.call_id, None)
                self._whole = view.artifact_id

    def done(self) -> tuple[str, ...]:
        """The lines of the tools that were run, in order."""
        return tuple(self._tools.values())

    def text(self, elapsed_ms: int) -> outgoing.Text:
        """The message now."""
        parts = [self._doing(elapsed_ms)]
        parts += [rendering.plain("\n".join(map(_step, self._plan)))] if self._plan else []
        lines = list(self._tools.values())
        if len(lines) > TOOLS_SHOWN:
            more = texts.TOOLS_MORE.format(count=len(lines) - TOOLS_SHOWN)
            lines = [more, *lines[-TOOLS_SHOWN:]]
        parts.append(rendering.plain("\n".join(lines)))
        for output in self._output.values():
            ending = render.tail(output) if output.strip() else ""
            parts.append(rendering.tail(rendering.marked(ending, "pre"), OUTPUT_UNITS))
        if self._shows_thoughts and self._thoughts.strip():
            thought = rendering.tail(rendering.plain(self._thoughts.strip()), THOUGHT_UNITS)
            parts.append(rendering.quoted(thought))
        if self._speech.strip():
            parts.append(rendering.tail(rendering.markdown(_closed(self._speech)), SPEECH_UNITS))
        elif self._notice:
            parts.append(rendering.plain(render.one_line(self._notice)))
        whole = rendering.joined(parts)
        rows: tuple[tuple[outgoing.Button, ...], ...] = ()
        if self._whole:
            press = buttons.data(buttons.Whole(self._whole))
            rows = ((outgoing.Button(texts.WHOLE_OUTPUT, press),),)
        last = rendering.tail(whole, outgoing.TEXT_UNITS)
        return outgoing.Text(last.text, last.entities, rows)

    def _doing(self, elapsed_ms: int) -> outgoing.Text:
        if self._stage is not None:
            return rendering.marked(render.progress(self._stage), "italic")
        if self._speech and not self._output:
            return outgoing.Text("")
        if self._state == common_pb2.QUEUED:
            return rendering.marked(texts.QUEUED, "italic")
        if self._state != common_pb2.RUNNING:
            return rendering.marked(render.state_name(self._state), "italic")
        what = texts.WORKING
        if elapsed_ms >= 1000:
            what = texts.ELAPSED.format(what=what, seconds=elapsed_ms // 1000)
        return rendering.marked(what, "italic")


def tool_line(view: views.ToolEnded) -> str:
    """A call that has ended, on one line."""
    command = render.one_line(view.command or view.tool)
    if view.outcome == events_pb2.ToolCallEnded.FINISHED and not view.exit_code:
        return texts.TOOL_DONE.format(command=command)
    return texts.TOOL_FAILED.format(command=command, outcome=render.outcome(view))


def _step(step: views.PlanStep) -> str:
    return render.step_line(step)


def _closed(markdown: str) -> str:
    """Unfinished Markdown with its code block closed."""
    fences = sum(line.lstrip().startswith("```") for line in markdown.split("\n"))
    return f"{markdown}\n```" if fences % 2 else markdown
