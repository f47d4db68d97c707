"""The end of a task: the whole answer as messages, or why there is none."""

import dataclasses
import typing
from collections.abc import Sequence

from bots import render
from bots.telegram import buttons, outgoing, rendering, schedule_views, texts
from proto.ducklm.v1 import common_pb2, schedules_pb2, tasks_pb2

MOST_PARTS: typing.Final = 4  # of an answer in messages; a longer one is a file


@dataclasses.dataclass(frozen=True)
class Final:
    """What is shown of a task that has ended."""

    parts: tuple[outgoing.Text, ...]
    document: outgoing.Document | None = None


def final(
    task: tasks_pb2.Task, done: Sequence[str] = (), run: schedules_pb2.Run | None = None
) -> Final:
    """The end of a task; `done` are the lines of what was run for it, `run` is of a schedule's."""
    rows: tuple[tuple[outgoing.Button, ...], ...] = ()
    if task.state == common_pb2.COMPLETED:
        whole, rows = rendering.joined([_done(done), _answer(task)], "\n"), _feedback(task)
    elif run is not None and task.state != common_pb2.CANCELLED:
        whole = rendering.joined([_done(done), _failed(task, run)], "\n")
    else:
        whole = _why_none(task)
    if run is not None:
        whole = rendering.joined([_title(run), whole], "\n")
    parts = rendering.split(dataclasses.replace(whole, rows=rows))
    if len(parts) <= MOST_PARTS:
        return Final(parts)
    room = outgoing.TEXT_UNITS - outgoing.units(texts.WHOLE_IN_FILE) - 2
    first = rendering.split(whole, room)[0]
    told = rendering.joined([first, rendering.marked(texts.WHOLE_IN_FILE, "italic")])
    document = outgoing.Document(texts.ANSWER_FILE, task.answer.encode())
    return Final((dataclasses.replace(told, rows=rows),), document)


def _answer(task: tasks_pb2.Task) -> outgoing.Text:
    if not task.answer:
        return rendering.plain(texts.FORGOTTEN)
    if not rendering.shows(task.answer):
        return rendering.plain(texts.EMPTY_ANSWER)
    return rendering.markdown(task.answer)


def _done(lines: Sequence[str]) -> outgoing.Text:
    """What was run, in a quote that opens with a touch."""
    if not lines:
        return outgoing.Text("")
    count = texts.DONE_WHAT.format(count=len(lines)) if len(lines) > 1 else texts.DONE_ONE
    shown = list(lines)[-20:]
    text = rendering.plain("\n".join([count, *shown]))
    return rendering.quoted(rendering.split(text, outgoing.CAPTION_UNITS)[0])


def _feedback(task: tasks_pb2.Task) -> tuple[tuple[outgoing.Button, ...], ...]:
    if task.kind != "answer":
        return ()
    good = buttons.data(buttons.Feedback(task.task_id, good=True))
    bad = buttons.data(buttons.Feedback(task.task_id, good=False))
    return ((outgoing.Button(texts.GOOD, good), outgoing.Button(texts.BAD, bad)),)


def _why_none(task: tasks_pb2.Task) -> outgoing.Text:
    """Why there is no answer, and what of one there is."""
    if task.state == common_pb2.CANCELLED:
        return rendering.plain(texts.STOPPED)
    why = texts.NO_ANSWER.format(state=render.state_line(task.state, task.reason))
    parts = [rendering.plain(why)]
    if rendering.shows(task.answer):
        parts.append(rendering.markdown(task.answer))
    return rendering.joined(parts)


def _title(run: schedules_pb2.Run) -> outgoing.Text:
    """Which schedule it is of, whether it failed, and how late it began."""
    name = render.one_line(run.name, schedule_views.NAME_CHARACTERS)
    pattern = texts.RUN_FAILED if run.state == schedules_pb2.Run.FAILED else texts.RUN_TITLE
    title = pattern.format(name=name)
    late = schedule_views.late(run)
    if late:
        title = texts.RUN_TITLE_LATE.format(title=title, late=late)
    return rendering.inert(rendering.marked(title, "bold"))


def _failed(task: tasks_pb2.Task, run: schedules_pb2.Run) -> outgoing.Text:
    """Why a run has no answer, and what of one there is."""
    reason = task.reason or run.reason
    parts = [rendering.plain(render.state_line(task.state, reason))]
    if rendering.shows(task.answer):
        parts.append(rendering.markdown(task.answer))
    return rendering.joined(parts)
