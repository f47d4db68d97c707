"""How a task goes on, as one message: what it does now, its plan, its tools and its words so far.

A fold over the presenter's views; `text` says how it looks after so much time. It never grows
beyond one message: of what is long the newest part is shown.
"""

import re
import typing

from bots import render, views
from bots.telegram import buttons, outgoing, rendering, texts
from proto.ducklm.v1 import common_pb2, events_pb2

SPEECH_UNITS: typing.Final = 2800
SPEECH_CHARACTERS: typing.Final = 8000  # of it that are kept: it is rendered again and again
OUTPUT_UNITS: typing.Final = 600
THOUGHT_UNITS: typing.Final = 600
TOOLS_SHOWN: typing.Final = 8

_FENCE: typing.Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Preview:
    """What is shown of one task. `thoughts` whether thinking is shown."""

    def __init__(self, thoughts: bool = False) -> None:
        self._shows_thoughts = thoughts
        self._speech = ""
        self._thoughts = ""
        self._call_id = ""  # of the model's call that speaks or thinks
        self._plan: tuple[views.PlanStep, ...] = ()
        self._tools: dict[str, str] = {}
        self._output: dict[str, str] = {}
        self._ended = ""  # the last tool's output, until there is something newer
        self._whole = ""
        self._stage: views.Progress | None = None
        self._notice = ""
        self._why = ""  # it waits
        self._state = common_pb2.QUEUED

    def feed(self, view: views.View) -> None:
        """Take up what happened."""
        match view:
            case views.TextPiece():
                self._speaks(view.call_id)
                self._speech = _newest(self._speech + view.text)
                self._goes_on()
            case views.ThoughtPiece():
                self._speaks(view.call_id)
                self._thoughts = (self._thoughts + view.text)[-4 * THOUGHT_UNITS :]
            case views.TextDropped():
                self._speech = ""
            case views.AnswerText():
                self._speech = _newest(view.text)
            case views.ToolStarted() | views.ToolOutput() | views.ToolEnded():
                self._tool(view)
            case views.PlanShown():
                self._plan = view.steps
            case views.Progress():
                self._goes_on(view)
            case views.Notice():
                self._notice = view.text
            case views.Waiting():
                self._state, self._stage = view.state, None
                self._why = view.reason
            case views.ApprovalClosed():
                self._goes_on()
            case (
                views.TaskBegan()
                | views.TextEnded()
                | views.FilesChanged()
                | views.ApprovalCard()
                | views.Ended()
            ):
                pass
            case _:
                typing.assert_never(view)

    def _goes_on(self, stage: views.Progress | None = None) -> None:
        self._state, self._stage, self._why = common_pb2.RUNNING, stage, ""

    def _speaks(self, call_id: str) -> None:
        """What another call says is a paragraph of its own; what it thinks is thought anew."""
        if call_id == self._call_id:
            return
        self._call_id, self._thoughts = call_id, ""
        if self._speech:
            self._speech += "\n\n"

    def _tool(self, view: views.ToolStarted | views.ToolOutput | views.ToolEnded) -> None:
        self._goes_on()
        match view:
            case views.ToolStarted():
                self._speech = self._ended = self._whole = ""
                command = render.one_line(view.command or view.tool)
                self._tools[view.call_id] = texts.TOOL_RUNNING.format(command=command)
                self._output[view.call_id] = ""
            case views.ToolOutput():
                kept = self._output.get(view.call_id, "") + view.text
                self._output[view.call_id] = kept[-4 * OUTPUT_UNITS :]
            case views.ToolEnded():
                self._tools[view.call_id] = tool_line(view)
                self._output.pop(view.call_id, None)
                self._ended, self._whole = view.text, view.artifact_id

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
        speaks = rendering.shows(self._speech)
        outputs = [*self._output.values(), "" if speaks else self._ended]
        for output in outputs:
            ending = render.tail(output) if output.strip() else ""
            parts.append(rendering.tail(rendering.marked(ending, "pre"), OUTPUT_UNITS))
        if self._shows_thoughts and self._thoughts.strip():
            thought = rendering.tail(rendering.plain(self._thoughts.strip()), THOUGHT_UNITS)
            title = rendering.marked(texts.THOUGHTS, "italic")
            parts.append(rendering.quoted(rendering.joined([title, thought], "\n")))
        if speaks:
            parts.append(rendering.tail(rendering.markdown(_closed(self._speech)), SPEECH_UNITS))
        for line in ("" if speaks else self._notice, self._why):
            parts.append(rendering.plain(render.one_line(line)))
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
        if self._state not in (common_pb2.QUEUED, common_pb2.RUNNING):
            return rendering.marked(render.state_name(self._state), "italic")
        if rendering.shows(self._speech) and not self._output:
            return outgoing.Text("")
        what = texts.QUEUED if self._state == common_pb2.QUEUED else texts.WORKING
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


def _newest(markdown: str) -> str:
    """The last part of a long text, from the beginning of a line on, with its code block open."""
    if len(markdown) <= SPEECH_CHARACTERS + SPEECH_UNITS:
        return markdown
    at = markdown.find("\n", len(markdown) - SPEECH_CHARACTERS) + 1
    at = at or len(markdown) - SPEECH_CHARACTERS
    fence = _open_fence(markdown[:at])
    return f"{fence}\n{markdown[at:]}" if fence else markdown[at:]


def _open_fence(markdown: str) -> str:
    """The line that opens the code block in which a text ends; empty where it ends in none."""
    opened, mark = "", ""
    for line in markdown.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        if not opened:
            if found[1][0] == "~" or "`" not in found[2]:
                opened, mark = line.strip(), found[1]
        elif found[1].startswith(mark) and not found[2].strip():
            opened = mark = ""
    return opened


def _closed(markdown: str) -> str:
    """Unfinished Markdown with its code block closed."""
    opened = _FENCE.match(_open_fence(markdown))
    return f"{markdown}\n{opened[1]}" if opened else markdown
