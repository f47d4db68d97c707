"""`ducklm schedule`: what is to be done when it comes due, and what became of it.

Answers for: one command each, from plain arguments to output and exit code, for `ducklm` and for
the chat. Nothing is kept that was not shown as it was understood. It must never read a rule itself.
"""

import dataclasses
import typing
from collections.abc import Iterable, Sequence

from bots import render, texts
from bots.terminal import (
    ask,
    faults,
    permissions,
    prompts,
    schedule_lines,
    schedule_policy,
    screen,
    settings,
    turn,
    world,
)
from proto.ducklm.v1 import common_pb2, schedules_pb2

ID_BEGIN: typing.Final = "schedule-"
SUFFIX_AT_LEAST: typing.Final = 4  # characters


@dataclasses.dataclass(frozen=True)
class Given:
    """What the options said; None where they did not."""

    when: str | None = None
    text: str | None = None  # - stands for stdin
    command: bool | None = None
    zone: str | None = None
    name: str | None = None
    project: str | None = None
    mode: str | None = None
    profile: str | None = None
    policy: schedule_policy.Given = dataclasses.field(default_factory=schedule_policy.Given)

    def says_anything(self) -> bool:
        return self != Given()


def show_all(session: world.Session, as_json: bool) -> faults.Exit:
    """List all, the next one first."""
    return _list(session, session.client.schedules.every(), as_json)


def _list(
    session: world.Session, rows: Sequence[schedules_pb2.Schedule], as_json: bool
) -> faults.Exit:
    short = schedule_lines.short_ids(rows)
    for row in rows:
        line = schedule_lines.schedule(row, short[row.schedule_id]) + "\n"
        session.console.out(screen.json_line(row) if as_json else line)
    if not rows and not as_json:
        session.console.say(texts.SCHEDULES_NONE)
    return faults.Exit.OK


def find(session: world.Session, given: str) -> str:
    """The id of the schedule with this name, or whose id is this or ends so; raises UsageFault."""
    if given.startswith(ID_BEGIN):
        return ask.check_utf8(given)
    found = [row for row in session.client.schedules.every() if _is_called(row, given)]
    if len(found) == 1:
        return found[0].schedule_id
    shown = render.one_line(given)
    if not found:
        raise faults.UsageFault(texts.SCHEDULE_UNKNOWN.format(given=shown))
    choices = ", ".join(render.one_line(row.schedule_id) for row in found)
    raise faults.UsageFault(texts.SCHEDULE_AMBIGUOUS.format(given=shown, choices=choices))


def _is_called(row: schedules_pb2.Schedule, given: str) -> bool:
    by_end = len(given) >= SUFFIX_AT_LEAST and row.schedule_id.endswith(given.lower())
    return by_end or row.name == given


def show(session: world.Session, given: str, as_json: bool) -> faults.Exit:
    """One with all that is set."""
    row = session.client.schedules.get(find(session, given))
    line = schedule_lines.whole(row) + "\n"
    session.console.out(screen.json_line(row) if as_json else line)
    return faults.Exit.OK


def add(session: world.Session, given: Given, sure: bool, as_json: bool) -> faults.Exit:
    """Show how the words were understood, and keep a schedule once somebody says yes."""
    given = _checked(session, given)
    request = schedules_pb2.CreateScheduleRequest(
        name=given.name or "",
        text=ask.check_text(given.text or ""),
        kind=_kind(given),
        mode=_mode(given),
        folder=settings.project_named(given.project or "", session.world.home),
        profile=given.profile or "",
        policy=schedule_policy.read(given.policy),
    )
    times = session.client.schedules.preview(given.when or "", given.zone or "")
    if not _agreed(session, times, sure, as_json):
        return faults.Exit.FAILED
    request.when, request.zone = times.when, times.zone
    made = session.client.schedules.create(request, session.world.new_key())
    _list(session, [made], as_json)
    if not as_json:
        for hint in _hints(made):
            session.console.say(hint)
    return faults.Exit.OK


def _checked(session: world.Session, given: Given) -> Given:
    """The same with a text from stdin where - says so; raises UsageFault for what is no text."""
    if given.text == "-":
        given = dataclasses.replace(given, text=session.world.stdin.read().removesuffix("\n"))
    for said in (given, given.policy):
        for field in dataclasses.fields(said):
            value = getattr(said, field.name)
            if isinstance(value, str):
                ask.check_utf8(value)
    return given


def _kind(given: Given) -> schedules_pb2.Schedule.Kind.ValueType:
    if given.command is None:
        return schedules_pb2.Schedule.KIND_UNSPECIFIED
    return schedules_pb2.Schedule.COMMAND if given.command else schedules_pb2.Schedule.AGENT


def _mode(given: Given) -> common_pb2.Mode.ValueType:
    if given.mode is None:
        return common_pb2.MODE_UNSPECIFIED
    return permissions.mode_named(given.mode)


def _agreed(session: world.Session, times: schedules_pb2.Times, sure: bool, as_json: bool) -> bool:
    """Show what was understood and ask; raises UsageFault where nobody can answer."""
    terminal = session.console
    if not (sure and as_json):
        terminal.say(schedule_lines.understood(times))
    if sure:
        return True
    if not terminal.interactive:
        raise faults.UsageFault(texts.SCHEDULE_NOT_SURE)
    if prompts.confirmed(terminal, texts.SCHEDULE_PROMPT):
        return True
    terminal.say(texts.SCHEDULE_NOT_KEPT)
    return False


def _hints(made: schedules_pb2.Schedule) -> Iterable[str]:
    """What somebody who made it may not expect."""
    if made.kind == schedules_pb2.Schedule.COMMAND and not made.allowed:
        short = schedule_lines.short_ids([made])[made.schedule_id]
        yield texts.SCHEDULE_HINT_ALLOW.format(id=render.one_line(short))
    if not made.policy.HasField("to"):
        yield texts.SCHEDULE_HINT_TO


def edit(
    session: world.Session, named: str, given: Given, sure: bool, as_json: bool
) -> faults.Exit:
    """Change what was given; another rule or zone is shown and asked about before."""
    if not given.says_anything():
        raise faults.UsageFault(texts.SCHEDULE_NO_CHANGE)
    given = _checked(session, given)
    request = schedules_pb2.UpdateScheduleRequest(
        name=given.name,
        text=ask.check_text(given.text) if given.text is not None else None,
        kind=_kind(given),
        mode=_mode(given),
        profile="" if given.profile == "-" else given.profile,
        policy=schedule_policy.read(given.policy),
    )
    if given.project is not None:
        request.folder = settings.project_named(given.project, session.world.home)
    request.schedule_id = find(session, named)
    if given.when is not None or given.zone is not None:
        before = session.client.schedules.get(request.schedule_id).times
        when = before.when if given.when is None else given.when
        zone = before.zone if given.zone is None else given.zone
        times = session.client.schedules.preview(when, zone)
        if not _agreed(session, times, sure, as_json):
            return faults.Exit.FAILED
        request.when, request.zone = times.when, times.zone
    changed = session.client.schedules.update(request, session.world.new_key())
    return _list(session, [changed], as_json)


def pause(session: world.Session, given: str, paused: bool, as_json: bool) -> faults.Exit:
    """Pause one, or let it go on."""
    schedule_id, key = find(session, given), session.world.new_key()
    calls = session.client.schedules
    row = calls.pause(schedule_id, key) if paused else calls.resume(schedule_id, key)
    return _list(session, [row], as_json)


def pause_all(session: world.Session, paused: bool, as_json: bool) -> faults.Exit:
    """Pause all, or let all go on."""
    calls, key = session.client.schedules, session.world.new_key()
    return _list(session, calls.pause_all(key) if paused else calls.resume_all(key), as_json)


def stop(session: world.Session, given: str, as_json: bool) -> faults.Exit:
    """Cancel the run that goes on, and those behind it."""
    row = session.client.schedules.stop(find(session, given), session.world.new_key())
    return _list(session, [row], as_json)


def delete(session: world.Session, given: str, sure: bool, as_json: bool) -> faults.Exit:
    """Take a schedule away, once somebody is sure."""
    schedule_id = find(session, given)
    shown = render.one_line(schedule_id)
    if not sure:
        if not session.console.interactive:
            raise faults.UsageFault(texts.SCHEDULE_DELETE_NOT_SURE)
        if not prompts.confirmed(session.console, texts.SCHEDULE_DELETE.format(id=shown)):
            session.console.say(texts.DELETE_NOT)
            return faults.Exit.FAILED
    gone = session.client.schedules.delete(schedule_id, session.world.new_key())
    if as_json:
        session.console.out(screen.json_line(gone))
    else:
        session.console.say(texts.SCHEDULE_DELETED.format(id=shown))
    return faults.Exit.OK


def runs(session: world.Session, given: str, limit: int, as_json: bool) -> faults.Exit:
    """List what became of one schedule, or of all, newest first."""
    schedule_id = find(session, given) if given else ""
    count = 0
    for row in session.client.schedules.runs(schedule_id, limit):
        session.console.out(screen.json_line(row) if as_json else schedule_lines.run(row) + "\n")
        count += 1
    if not count and not as_json:
        session.console.say(texts.RUNS_NONE)
    return faults.Exit.OK


def run_now(session: world.Session, given: str, follow: bool, as_json: bool) -> faults.Exit:
    """Begin a run now; with follow, see it to its end."""
    schedule_id = find(session, given)
    head_seq = session.client.events(0, "", limit=1).head_seq
    begun = session.client.schedules.run_now(schedule_id, session.world.new_key())
    if follow:
        return _follow(session, begun.task_id, head_seq, as_json)
    if as_json:
        session.console.out(screen.json_line(begun))
    else:
        session.console.out(texts.RUN_BEGUN.format(task=render.one_line(begun.task_id)) + "\n")
    return faults.Exit.OK


def allow(session: world.Session, given: str, as_json: bool) -> faults.Exit:
    """Have a command allowed for each run: its card is shown and asked about, and nothing runs."""
    schedule_id = find(session, given)
    head_seq = session.client.events(0, "", limit=1).head_seq
    begun = session.client.schedules.rehearse(schedule_id, session.world.new_key())
    if not as_json:
        session.console.say(texts.SCHEDULE_REHEARSES)
    code = _follow(session, begun.task_id, head_seq, as_json)
    if code is faults.Exit.WAITS and not as_json:
        session.console.say(texts.SCHEDULE_REHEARSAL_LEFT)
    return code


def _follow(session: world.Session, task_id: str, head_seq: int, as_json: bool) -> faults.Exit:
    terminal = session.console
    shown_on: screen.Screen = screen.TextScreen(terminal, stream=terminal.stdout_is_terminal)
    if as_json:
        shown_on = screen.SilentScreen()
    seats = session.seats(
        shown_on,
        patience_s=None if terminal.interactive else ask.PATIENCE_S,
        interactive=terminal.interactive,
        wait_for_others=False,
    )
    with session.world.interrupts.watching():
        end = turn.Turn(seats, task_id, head_seq).follow()
    if as_json:
        terminal.out(screen.json_line(ask.response(end, "")))
    return end.exit_code
