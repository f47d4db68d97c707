"""Schedules as texts with buttons: the list, one of them, a draft, what became of its times. Pure.

A view is Markdown, since it may be posted by way of the daemon; names and other words of people
stand in it escaped, and what is to be done as it is, in a block.
"""

import dataclasses
import typing
from collections.abc import Iterable, Sequence

from bots import render, schedule_words
from bots.telegram import buttons, drafts, outgoing, rendering, texts
from proto.ducklm.v1 import common_pb2, schedules_pb2

PAGE: typing.Final = 8  # schedules in a list
RUNS: typing.Final = 10  # of a history below a button
NAME_CHARACTERS: typing.Final = 60
TEXT_CHARACTERS: typing.Final = 1500  # of what is to be done, where a view must fit one message
REASON_CHARACTERS: typing.Final = 120
LATE_MS: typing.Final = 60_000  # from then on it is told

Rows = list[list[outgoing.Button]]
Schedule = schedules_pb2.Schedule
Run = schedules_pb2.Run


@dataclasses.dataclass(frozen=True)
class View:
    """A text in Markdown, and what can be pressed below it."""

    text: str
    rows: Rows = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Place:
    """The chat in which something is shown."""

    account: str
    chat: str
    topic: str = ""

    @property
    def private(self) -> bool:
        return not self.chat.startswith("-")


def place(origin: common_pb2.Origin) -> Place:
    """The chat that something was said or pressed in."""
    return Place(origin.principal.rpartition(":")[0], origin.chat, origin.topic)


def line(text: str, most: int = render.LINE_CHARACTERS) -> str:
    """Foreign words on one line, as Markdown that has no marks of theirs."""
    return rendering.escaped(render.one_line(text, most))


def lines(text: str) -> str:
    """Several lines of plain words, as Markdown that has no marks of theirs."""
    return "\n".join(rendering.escaped(one) for one in render.inert(text).split("\n"))


def _name(name: str) -> str:
    return line(name, NAME_CHARACTERS)


def _button(text: str, action: str, schedule_id: str) -> outgoing.Button:
    return outgoing.Button(text, buttons.data(buttons.Schedule(action, schedule_id)))


def span(milliseconds: int) -> str:
    """A span of time in its largest whole unit."""
    seconds = milliseconds // 1000
    for name, size, most in (
        ("seconds", 1, 120),
        ("minutes", 60, 120 * 60),
        ("hours", 3600, 48 * 3600),
        ("days", 86400, 0),
    ):
        if seconds < most or not most:
            unit = "instant" if not seconds else name
            return texts.SPANS[unit].format(count=seconds // size)
    raise AssertionError(seconds)


def late(run: Run) -> str:
    """How late a run began; empty where nobody needs to know."""
    return span(run.late_ms) if run.late_ms >= LATE_MS else ""


# --- the list


def here(found: Sequence[Schedule], there: Place) -> list[Schedule]:
    """What may be listed in a chat: in a group, only what tells its results there."""
    if there.private:
        return list(found)
    return [
        one
        for one in found
        if (one.policy.to.account, one.policy.to.chat) == (there.account, there.chat)
    ]


def listing(found: Sequence[Schedule], there: Place, page: int = 0) -> View:
    """A page of the list, a row for each schedule."""
    shown = here(found, there)
    if not shown:
        return View(f"{lines(texts.SCHEDULES_NONE)}\n{lines(texts.SCHEDULES_HOW)}")
    page = min(page, (len(shown) - 1) // PAGE)
    part = shown[page * PAGE : (page + 1) * PAGE]
    ids = [one.schedule_id for one in found]
    title = texts.SCHEDULES if there.private else texts.SCHEDULES_HERE
    said = [lines(title)]
    rows: Rows = []
    for one in part:
        handle = schedule_words.handle(one.schedule_id, ids)
        said.append(f"\n{_title(one.name, handle)}\n{_rule(one.times)}\n{_next(one)}")
        label = texts.SCHEDULE_BUTTON.format(
            name=render.one_line(one.name, 30), next=_next_short(one)
        )
        rows.append([_button(label, "show", one.schedule_id)])
    turns = []
    if page:
        turns.append(_turn(texts.SCHEDULES_BACK, page - 1))
    if (page + 1) * PAGE < len(shown):
        turns.append(_turn(texts.SCHEDULES_MORE, page + 1))
    return View("\n".join(said), [*rows, *([turns] if turns else [])])


def _turn(text: str, page: int) -> outgoing.Button:
    return outgoing.Button(text, buttons.data(buttons.Schedules(page)))


def _title(name: str, handle: str) -> str:
    return texts.SCHEDULE_TITLE.format(name=_name(name), handle=f"`{handle}`")


def _rule(times: schedules_pb2.Times) -> str:
    return line(texts.SCHEDULE_RULE.format(when=times.when, zone=times.zone))


def _next(one: Schedule) -> str:
    if one.state == Schedule.PAUSED:
        return lines(texts.PAUSED)
    return _next_times(one.times)


def _next_times(times: schedules_pb2.Times) -> str:
    if not times.told:
        return lines(texts.NEXT_NONE)
    return lines(texts.NEXT_TIMES.format(times=" · ".join(times.told)))


def _next_short(one: Schedule) -> str:
    if one.state == Schedule.PAUSED:
        return texts.PAUSED_SHORT
    return one.times.told[0] if one.times.told else texts.OVER_SHORT


# --- a draft


def draft(given: drafts.Draft, times: schedules_pb2.Times, artifact_id: str, name: str) -> View:
    """What was understood, all of it, and whether it is to be kept."""
    title = texts.DRAFT_NEW if not given.schedule_id else texts.DRAFT_TIME.format(name=name)
    said = [f"**{line(title)}**", _rule(times), _next_times(times)]
    said += [lines(texts.SCHEDULE_NOTE.format(note=one.rstrip("."))) for one in times.notes]
    if not given.schedule_id:
        said.append(lines(texts.DRAFT_COMMAND if given.is_command else texts.DRAFT_TASK))
        said.append(_what(given.text, given.is_command))
    row = [
        outgoing.Button(words, buttons.data(buttons.Draft(keeps, artifact_id)))
        for words, keeps in ((texts.KEEP, True), (texts.CANCEL, False))
    ]
    return View("\n".join(said), [row])


def _what(text: str, is_command: bool) -> str:
    shown = render.inert_exact(text) if is_command else render.inert(text)
    return rendering.fenced(shown)


# --- one of them


def schedule(one: Schedule, there: Place, first: str = "") -> View:
    """A schedule with all that can be done with it; `first` stands above it."""
    if one.state == Schedule.OVER:
        name = render.one_line(one.name, NAME_CHARACTERS)
        return View(lines(texts.SCHEDULE_OVER.format(name=name)))
    said = [lines(first)] if first else []
    said += [
        _title(one.name, schedule_words.handle(one.schedule_id)),
        _rule(one.times),
        _next(one),
        *_work(one),
        *map(lines, _counts(one)),
        lines(_settings(one)),
        lines(_results(one, there)),
    ]
    return View("\n".join(said), _rows(one))


def _work(given: Schedule) -> Iterable[str]:
    is_command = given.kind == Schedule.COMMAND
    yield lines(texts.SCHEDULE_COMMAND if is_command else texts.SCHEDULE_TASK)
    yield _what(given.text[:TEXT_CHARACTERS], is_command)
    if len(given.text) > TEXT_CHARACTERS:
        yield lines(texts.SCHEDULE_CUT.format(count=len(given.text) - TEXT_CHARACTERS))
    if is_command:
        yield lines(texts.SCHEDULE_ALLOWED if given.allowed else texts.SCHEDULE_ASKS)
    mode = render.enum_name(common_pb2.Mode.DESCRIPTOR, given.mode).lower()
    values = {
        "mode": "" if given.mode == common_pb2.BUILD else mode,
        "project": given.folder.rpartition("/")[2],
        "profile": given.profile,
    }
    told = [texts.SCHEDULE_WORK[name].format(value=one) for name, one in values.items() if one]
    if told:
        yield line(" · ".join(told))


def _counts(one: Schedule) -> Iterable[str]:
    pattern = texts.SCHEDULE_FAILURES if one.failures else texts.SCHEDULE_COUNTS
    yield pattern.format(runs=one.runs, failures=one.failures)
    if one.HasField("live"):
        yield texts.SCHEDULE_LIVE.format(state=state(one.live))


def _settings(one: Schedule) -> str:
    policy, names = one.policy, schedules_pb2.SchedulePolicy
    missed = texts.SCHEDULE_MISSED.get(render.enum_name(names.Missed.DESCRIPTOR, policy.missed), "")
    overlap = render.enum_name(names.Overlap.DESCRIPTOR, policy.overlap)
    tell = render.enum_name(names.Tell.DESCRIPTOR, policy.tell)
    said = [
        missed.format(count=policy.catch_up),
        texts.SCHEDULE_OVERLAPS.get(overlap, ""),
        texts.SCHEDULE_TELLS.get(tell, ""),
    ]
    if policy.retries:
        said.append(texts.SCHEDULE_RETRIES.format(count=policy.retries))
    if policy.pause_after_failures:
        said.append(texts.SCHEDULE_PAUSE_AFTER.format(count=policy.pause_after_failures))
    return " · ".join(one for one in said if one)


def _results(one: Schedule, there: Place) -> str:
    if not one.policy.HasField("to"):
        return texts.RESULTS_NOWHERE
    to = one.policy.to
    is_here = Place(to.account, to.chat, to.topic) == there
    return texts.RESULTS_HERE if is_here else texts.RESULTS_ELSEWHERE


def _rows(one: Schedule) -> Rows:
    schedule_id = one.schedule_id
    goes_on = one.HasField("live")
    run = (texts.STOP_RUN, "stop") if goes_on else (texts.RUN_NOW, "run")
    paused = one.state == Schedule.PAUSED
    pause = (texts.RESUME, "resume") if paused else (texts.PAUSE, "pause")
    second = [(texts.HISTORY, "runs")]
    if one.kind == Schedule.COMMAND and not one.allowed:
        second.append((texts.ALLOW, "allow"))
    rows = [[_button(*each, schedule_id) for each in row] for row in ((run, pause), second)]
    last = [_button(texts.DELETE, "delete", schedule_id), _turn(texts.SCHEDULES_BACK, 0)]
    return [*rows, last]


def deleting(one: Schedule) -> View:
    """The question whether it is really to go."""
    handle = f"`{schedule_words.handle(one.schedule_id)}`"
    text = texts.DELETE_ASK.format(name=_name(one.name), handle=handle)
    sure = _button(texts.DELETE_SURE, "erase", one.schedule_id)
    return View(text, [[sure, _button(texts.SCHEDULE_BACK, "show", one.schedule_id)]])


# --- what became of it


def state(run: Run) -> str:
    """A run's state in words."""
    name = render.enum_name(Run.State.DESCRIPTOR, run.state)
    return texts.RUN_STATES.get(name, texts.RUN_STATE_OTHER)


def history(runs: Sequence[Run], name: str = "", schedule_id: str = "") -> View:
    """What became of its times, the newest first; without a name, of all schedules'."""
    title = texts.RUNS_OF.format(name=name) if name else texts.RUNS_ALL
    said = [line(title), *(line(_run_line(one, not name), 300) for one in runs)]
    if not runs:
        said.append(lines(texts.RUNS_NONE))
    back = [[_button(texts.SCHEDULE_BACK, "show", schedule_id)]] if schedule_id else []
    return View("\n".join(said), back)


def _run_line(run: Run, named: bool) -> str:
    parts = [state(run)]
    if late(run):
        parts.append(texts.RUN_LATE.format(late=late(run)))
    if run.HasField("ended_at") and run.HasField("started_at"):
        parts.append(texts.RUN_TOOK.format(took=span(run.duration_ms)))
    if run.by_hand:
        parts.append(texts.RUN_BY_HAND)
    if run.attempts > 1:
        parts.append(texts.RUN_ATTEMPTS.format(count=run.attempts))
    due = run.due_told
    if named:
        due = texts.RUN_NAME.format(name=render.one_line(run.name, NAME_CHARACTERS), line=due)
    told = texts.RUN_LINE.format(due=due, state=" · ".join(parts))
    reason = render.one_line(run.reason, REASON_CHARACTERS)
    return texts.RUN_REASON.format(line=told, reason=reason) if reason else told
