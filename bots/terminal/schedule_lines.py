"""Schedules and their runs as lines for people, at most 80 columns where their texts are short.

Answers for: the wording of these lists; every foreign text on them is inert. It must never make a
call.
"""

import typing
from collections.abc import Iterable, Sequence

from google.protobuf import timestamp_pb2

from bots import render, texts
from bots.terminal import schedule_policy
from proto.ducklm.v1 import common_pb2, schedules_pb2

COLUMNS: typing.Final = 80
SHORT_ID: typing.Final = 6  # characters, where that many tell them apart
_MOMENT: typing.Final = 25
_MOMENT_OF_RUN: typing.Final = 28  # one by hand has seconds
_STATE: typing.Final = 9
_SPAN: typing.Final = 11
_NAME_AT_LEAST: typing.Final = 12


def short_ids(rows: Sequence[schedules_pb2.Schedule]) -> dict[str, str]:
    """By how much of its end each id is told from the others."""
    every = {row.schedule_id for row in rows}
    size = SHORT_ID
    while len({one[-size:] for one in every}) < len(every):
        size += 1
    return {one: one[-size:] for one in every}


def schedule(row: schedules_pb2.Schedule, short: str) -> str:
    """A schedule on two lines: its id, next time, state and name; its rule and what is special."""
    head = f"{short}  {_next(row):<{_MOMENT}}  {_state(row):<{_STATE}}  "
    name = render.one_line(row.name, max(_NAME_AT_LEAST, COLUMNS - len(head)))
    marks = [texts.SCHEDULE_RULE.format(when=row.times.when, zone=row.times.zone)]
    if row.kind == schedules_pb2.Schedule.COMMAND:
        allowed = row.allowed
        marks.append(texts.SCHEDULE_COMMAND_ALLOWED if allowed else texts.SCHEDULE_COMMAND)
    if row.failures:
        marks.append(texts.SCHEDULE_FAILED.format(count=row.failures))
    indent = " " * (len(short) + 2)
    return f"{head}{name}\n{indent}{render.one_line(' · '.join(marks), COLUMNS - len(indent))}"


def _next(row: schedules_pb2.Schedule) -> str:
    if row.state == schedules_pb2.Schedule.PAUSED or not row.times.told:
        return texts.SCHEDULE_NO_NEXT
    return render.one_line(row.times.told[0])


def _state(row: schedules_pb2.Schedule) -> str:
    is_active = row.state == schedules_pb2.Schedule.ACTIVE
    return _run_state(row.live) if is_active and row.HasField("live") else _own_state(row)


def _own_state(row: schedules_pb2.Schedule) -> str:
    name = render.enum_name(schedules_pb2.Schedule.State.DESCRIPTOR, row.state)
    return texts.SCHEDULE_STATES.get(name, name.lower())


def _run_state(row: schedules_pb2.Run) -> str:
    name = render.enum_name(schedules_pb2.Run.State.DESCRIPTOR, row.state)
    return texts.RUN_STATES.get(name, name.lower())


def understood(times: schedules_pb2.Times) -> str:
    """A rule as it was understood, with its next times and what it could have meant otherwise."""
    names = texts.SCHEDULE
    rule = texts.SCHEDULE_RULE.format(when=times.when, zone=times.zone)
    return _lines(
        [
            (names["when"], [rule]),
            (names["next"], times.told),
            (names["note"], times.notes),
        ]
    )


def whole(row: schedules_pb2.Schedule) -> str:
    """A schedule with all that is set, a line a matter."""
    names, times = texts.SCHEDULE, row.times
    kind = render.enum_name(schedules_pb2.Schedule.Kind.DESCRIPTOR, row.kind)
    pairs: list[tuple[str, Iterable[str]]] = [
        (names["id"], [row.schedule_id]),
        (names["name"], [row.name]),
        (
            texts.SCHEDULE_KINDS.get(kind, kind.lower()),
            [line or " " for line in row.text.split("\n")],
        ),
        (names["when"], [texts.SCHEDULE_RULE.format(when=times.when, zone=times.zone)]),
        (names["next"], times.told or [texts.SCHEDULE_NO_NEXT]),
        (names["note"], times.notes),
        (names["state"], [_state_whole(row)]),
    ]
    if row.kind == schedules_pb2.Schedule.COMMAND:
        allowed = texts.SCHEDULE_ALLOWED if row.allowed else texts.SCHEDULE_NOT_ALLOWED
        pairs.append((names["allowed"], [allowed]))
    pairs += [(name, [value]) for name, value in schedule_policy.told(row)]
    pairs += [
        (names["mode"], [render.enum_name(common_pb2.Mode.DESCRIPTOR, row.mode).lower()]),
        (names["folder"], [row.folder or texts.CONVERSATION_NO_PROJECT]),
        (names["profile"], [row.profile]),
        (names["principal"], [row.principal]),
        (names["conversation"], [row.conversation_id]),
    ]
    return _lines(pairs)


def _lines(pairs: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Names with their values, one below the other."""
    lines = []
    for name, values in pairs:
        for value in filter(None, values):
            shown = render.inert(value).replace("\n", "\\n")
            lines.append(f"{name:<13} {shown}")
            name = ""
    return "\n".join(lines)


def _state_whole(row: schedules_pb2.Schedule) -> str:
    parts = [_own_state(row)]
    if row.HasField("live"):
        live, task_id = _run_state(row.live), row.live.task_id
        parts.append(texts.SCHEDULE_LIVE.format(state=live, task=task_id) if task_id else live)
    if row.waiting_runs:
        parts.append(texts.SCHEDULE_WAITING.format(count=row.waiting_runs))
    if row.failures:
        parts.append(texts.SCHEDULE_FAILED.format(count=row.failures))
    return " · ".join(parts)


def run(row: schedules_pb2.Run) -> str:
    """A run: when it was due, what became of it, how late, how long it took, and why."""
    late = ""
    if row.late_ms >= 1000:
        late = texts.RUN_LATE.format(span=schedule_policy.seconds_told(row.late_ms // 1000))
    took = schedule_policy.seconds_told(row.duration_ms / 1000) if row.duration_ms else ""
    due = render.one_line(row.due_told) or _moment(row.due_at)
    head = f"{due:<{_MOMENT_OF_RUN}}  {_run_state(row):<{_STATE}}  {took:<{_SPAN}}  "
    name = render.one_line(row.name, max(_NAME_AT_LEAST, COLUMNS - len(head)))
    lines = [(head + name).rstrip()]
    marks = [
        texts.RUN_BY_HAND if row.by_hand else "",
        late,
        texts.RUN_ATTEMPTS.format(count=row.attempts) if row.attempts > 1 else "",
        render.one_line(row.task_id),
    ]
    said = " · ".join(filter(None, marks))
    lines += [f"  {line}" for line in (said, render.one_line(row.reason)) if line]
    return "\n".join(lines)


def _moment(at: timestamp_pb2.Timestamp) -> str:
    return render.moment(at.ToDatetime(tzinfo=None).astimezone())
