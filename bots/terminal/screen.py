"""Shows views on the console, or updates as JSON.

Answers for: what goes to stdout (answers) and to stderr (all else), and that text which was
streamed is not printed again. It must never ask a question.
"""

import dataclasses
import typing

from google.protobuf import json_format, message

from bots import render, texts, views
from bots.terminal import console
from proto.ducklm.v1 import common_pb2, events_pb2


class Screen(typing.Protocol):
    """Where a turn shows what happens."""

    def update(self, update: events_pb2.Update) -> None:
        """An update that was not seen before."""

    def show(self, view: views.View) -> None:
        """What it means."""


class TextScreen:
    """For people. `stream` writes text as it comes; else only the answer is written.

    What models think is shown, by lines, only while `shows_thoughts`.
    """

    shows_thoughts = False

    def __init__(self, terminal: console.Console, stream: bool) -> None:
        self._console = terminal
        self._stream = stream
        self._inert = render.inert if terminal.stdout_is_terminal else render.uncontrolled
        self._call_id = ""
        self._thought = ""  # the begun line of one

    def update(self, update: events_pb2.Update) -> None:
        """Views say it all."""

    def show(self, view: views.View) -> None:
        if isinstance(view, views.ThoughtPiece):
            self._think(view)
            return
        if not isinstance(view, views.Progress):
            self._end_thought()
        self._show(view)

    def _think(self, view: views.ThoughtPiece) -> None:
        if not self.shows_thoughts:
            self._console.status(texts.THINKING)
            return
        *lines, self._thought = (self._thought + view.text).split("\n")
        for line in lines:
            self._tell(dataclasses.replace(view, text=line))

    def _end_thought(self) -> None:
        thought, self._thought = self._thought, ""
        if thought.strip():
            self._tell(views.ThoughtPiece("", "", thought))

    def _tell(self, view: views.View) -> None:
        self._console.say(render.view_text(view, self._console.palette))

    def _show(self, view: views.View) -> None:
        match view:
            case views.TextPiece():
                self._piece(view)
            case views.TextDropped() if not self._stream:
                pass  # nothing of it was written
            case views.AnswerText():
                self._answer(view)
            case views.Progress():
                self._console.status(render.progress(view))
            case views.ToolOutput(text=text):
                self._console.status(render.last_line(text))
            case views.ApprovalCard() | views.TaskBegan():
                pass  # the turn shows the card with its question; the person typed the task
            case views.Ended(state=common_pb2.COMPLETED):
                self._console.clear_status()
                self._console.end_line()
            case views.Waiting(state=common_pb2.AWAITING_APPROVAL | common_pb2.AWAITING_SECRET) if (
                self._console.interactive
            ):
                pass  # the question says it
            case (
                views.TextDropped()
                | views.TextEnded()
                | views.ToolStarted()
                | views.ToolEnded()
                | views.FilesChanged()
                | views.PlanShown()
                | views.ThoughtPiece()
                | views.ApprovalClosed()
                | views.Notice()
                | views.Waiting()
                | views.Ended()
            ):
                self._tell(view)
            case _:
                typing.assert_never(view)

    def _piece(self, view: views.TextPiece) -> None:
        if not self._stream:
            return
        if view.call_id != self._call_id:
            self._console.end_line()
            self._call_id = view.call_id
        self._console.out(self._inert(view.text))

    def _answer(self, view: views.AnswerText) -> None:
        if self._stream and view.continues:
            if view.rest.strip():
                self._console.out(self._inert(view.rest))
        else:
            self._console.end_line()
            self._console.out(self._inert(view.text))
        self._console.end_line()


class JsonScreen:
    """For programs: each update as it came, one JSON object a line."""

    def __init__(self, terminal: console.Console) -> None:
        self._console = terminal

    def update(self, update: events_pb2.Update) -> None:
        self._console.out(json_line(update))

    def show(self, view: views.View) -> None:
        """The updates say it all."""


class SilentScreen:
    """Shows nothing: the caller prints one result at the end."""

    def update(self, update: events_pb2.Update) -> None:
        """Nothing."""

    def show(self, view: views.View) -> None:
        """Nothing."""


def json_line(content: message.Message) -> str:
    """A message as one line of JSON, ASCII only and thereby inert."""
    return json_format.MessageToJson(content, indent=None) + "\n"
