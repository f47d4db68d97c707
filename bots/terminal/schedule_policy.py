"""What becomes of a schedule's runs: how that is typed in options, and how it is told.

Answers for: every field of a policy, and a sentence that teaches where one is not understood. What
is in range the daemon says. It must never make a call.
"""

import dataclasses
import re
import typing

from bots import render, texts
from bots.terminal import faults
from proto.ducklm.v1 import schedules_pb2

_POLICY = schedules_pb2.SchedulePolicy
OVERLAPS: typing.Final = {"skip": _POLICY.LEAVE_OUT, "wait": _POLICY.WAIT}
TELLS: typing.Final = {
    "always": _POLICY.ALWAYS,
    "failure": _POLICY.ON_FAILURE,
    "change": _POLICY.ON_CHANGE,
    "never": _POLICY.NEVER,
}
NOWHERE: typing.Final = "none"
_ALL: typing.Final = re.compile(r"all(?::(?P<most>[0-9]{1,6}))?")
_TARGET_PARTS: typing.Final = (2, 3)

_Number = typing.TypeVar("_Number", bound=int)


@dataclasses.dataclass(frozen=True)
class Given:
    """What the options said; None where they did not."""

    missed: str | None = None
    grace: int | None = None
    overlap: str | None = None
    tell: str | None = None
    to: str | None = None
    retries: int | None = None
    backoff: int | None = None
    pause_after: int | None = None
    most: int | None = None
    deadline: int | None = None
    approval: int | None = None


def read(given: Given) -> schedules_pb2.SchedulePolicy:
    """The policy with those fields set that were given; raises UsageFault."""
    policy = schedules_pb2.SchedulePolicy(
        grace_seconds=given.grace,
        retries=given.retries,
        backoff_seconds=given.backoff,
        pause_after_failures=given.pause_after,
        most_runs=given.most,
        deadline_seconds=given.deadline,
        approval_seconds=given.approval,
    )
    if given.missed is not None:
        _missed(policy, given.missed)
    if given.overlap is not None:
        policy.overlap = _chosen(OVERLAPS, given.overlap, texts.SCHEDULE_OVERLAP_UNKNOWN)
    if given.tell is not None:
        policy.tell = _chosen(TELLS, given.tell, texts.SCHEDULE_TELL_UNKNOWN)
    if given.to is not None:
        _to(policy, given.to)
    return policy


def _chosen(choices: dict[str, _Number], name: str, sentence: str) -> _Number:
    if name not in choices:
        raise faults.UsageFault(sentence.format(choices=", ".join(choices)))
    return choices[name]


def _missed(policy: schedules_pb2.SchedulePolicy, text: str) -> None:
    found = _ALL.fullmatch(text)
    if found is not None:
        policy.missed = _POLICY.RUN_ALL
        if found["most"]:
            policy.catch_up = int(found["most"])
    elif text == "skip":
        policy.missed = _POLICY.SKIP
    elif text == "once":
        policy.missed = _POLICY.RUN_ONCE
    else:
        raise faults.UsageFault(texts.SCHEDULE_MISSED_UNKNOWN)


def _to(policy: schedules_pb2.SchedulePolicy, text: str) -> None:
    if text == NOWHERE:
        policy.no_chat = True
        return
    parts = text.split("/")
    if len(parts) not in _TARGET_PARTS or not all(parts) or ":" not in parts[0]:
        raise faults.UsageFault(texts.SCHEDULE_TO_MALFORMED)
    policy.to.account, policy.to.chat = parts[:2]
    policy.to.topic = "".join(parts[2:])


def told(schedule: schedules_pb2.Schedule) -> list[tuple[str, str]]:
    """What becomes of a schedule's runs, a name and a value each."""
    names, policy = texts.SCHEDULE, schedule.policy
    pairs = [
        (names["missed"], _missed_told(policy)),
        (names["overlap"], texts.SCHEDULE_OVERLAPS.get(_name("Overlap", policy.overlap), "")),
        (names["tell"], _tells(policy)),
    ]
    if policy.retries:
        retried = texts.SCHEDULE_RETRIES.format(
            count=policy.retries, backoff=seconds_told(policy.backoff_seconds)
        )
        pairs.append((names["retries"], retried))
    paused = texts.SCHEDULE_PAUSES.format(count=policy.pause_after_failures)
    pairs.append((names["pauses"], paused if policy.pause_after_failures else texts.NEVER))
    runs = str(schedule.runs)
    if policy.most_runs:
        runs = texts.SCHEDULE_RUNS_OF.format(runs=runs, most=policy.most_runs)
    pairs.append((names["runs"], runs))
    if policy.deadline_seconds:
        pairs.append((names["deadline"], seconds_told(policy.deadline_seconds)))
    if policy.approval_seconds:
        pairs.append((names["approval"], seconds_told(policy.approval_seconds)))
    return pairs


def _name(kind: str, number: int) -> str:
    return render.enum_name(_POLICY.DESCRIPTOR.enum_types_by_name[kind], number)


def _missed_told(policy: schedules_pb2.SchedulePolicy) -> str:
    pattern = texts.SCHEDULE_MISSED.get(_name("Missed", policy.missed), "")
    return pattern.format(most=policy.catch_up, grace=seconds_told(policy.grace_seconds))


def _tells(policy: schedules_pb2.SchedulePolicy) -> str:
    if policy.no_chat or not policy.HasField("to"):
        return texts.SCHEDULE_NO_CHAT
    to = policy.to
    where = "/".join(render.one_line(part) for part in (to.account, to.chat, to.topic) if part)
    pattern = texts.SCHEDULE_TELLS.get(_name("Tell", policy.tell), "{where}")
    return pattern.format(where=where)


def seconds_told(seconds: float) -> str:
    """A span of time in its two largest units."""
    if seconds < 10:
        return texts.SPAN_SECONDS.format(seconds=f"{seconds:.1f}".removesuffix(".0"))
    whole = round(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if days:
        parts = ((days, texts.SPAN_DAYS), (hours % 24, texts.SPAN_HOURS))
    elif hours:
        parts = ((hours, texts.SPAN_HOURS), (minutes % 60, texts.SPAN_MINUTES))
    else:
        parts = ((minutes, texts.SPAN_MINUTES), (whole % 60, texts.SPAN_WHOLE_SECONDS))
    return " ".join(pattern.format(count=count) for count, pattern in parts if count)
