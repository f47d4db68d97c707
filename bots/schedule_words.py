"""What people type behind /schedule, on any platform: what it asks for, or what to write instead.

Pure. Words for times are not read here: the daemon does that, and says what it understood.
"""

import dataclasses
import re
import typing
from collections.abc import Callable, Sequence

from proto.ducklm.v1 import common_pb2, schedules_pb2

Policy = schedules_pb2.SchedulePolicy
Update = schedules_pb2.UpdateScheduleRequest
NONE: typing.Final = "-"  # no project of its own, the default profile
HANDLE: typing.Final = 4  # characters of an id that name a schedule, if no other ends with them

ONE: typing.Final = ("show", "pause", "resume", "run", "stop", "delete", "allow")
_ADD: typing.Final = "add"
_ALL: typing.Final = {"pauseall": True, "resumeall": False}
_SPACE: typing.Final = re.compile(r"\s+")
_BORDER: typing.Final = re.compile(r": |:?\n")
_COMMAND: typing.Final = re.compile(r"`([^`\n]+)`|```(?:sh|bash|shell)?\n?([^`]+)```")
_NUMBER: typing.Final = re.compile(r"[0-9]{1,9}")

UNKNOWN = "/schedule knows no “{word}”. It knows:\n{usage}"
USAGE = """\
/schedule – the list
/schedule add every weekday at 8: what to do
/schedule show ID
/schedule pause|resume|run|stop|delete|allow ID
/schedule runs [ID]
/schedule set ID {fields}
/schedule pauseall|resumeall"""
ADD_USAGE = (
    "Write when, a colon and a space, and what to do; a command stands in backticks:\n"
    "/schedule add every weekday at 8: tell me what is new in the project\n"
    "/schedule add every 2h: `df -h /`"
)
ONE_USAGE = "Name one by its sign, as the list shows it: /schedule {verb} 7f3a"
SET_USAGE = "Write it like this: /schedule set 7f3a {example}"
SET_UNKNOWN = "“{field}” cannot be set. What can, with an example each:\n{examples}"
NOT_FOUND = "There is no schedule {named}. There are:\n{listed}"
NONE_FOUND = "There is no schedule {named}: there is none at all. /schedule add makes one."
SEVERAL = "Several schedules end with {named}:\n{listed}"
NAMED_LINE = "{handle} – {name}"
EXAMPLES = {
    "when": "when every weekday at 8",
    "zone": "zone Europe/Berlin",
    "text": "text tell me what is new",
    "name": "name News",
    "missed": "missed skip (or: once, all 3)",
    "overlap": "overlap wait (or: skip)",
    "tell": "tell failure (or: always, change, never)",
    "retries": "retries 2",
    "pause-after": "pause-after 3 (0: never)",
    "mode": "mode plan (or: build)",
    "project": "project ducks (-: none of its own)",
    "profile": "profile terse (-: the default)",
    "here": "here (results come to this chat)",
}


@dataclasses.dataclass(frozen=True)
class Listing:
    """All that there are."""


@dataclasses.dataclass(frozen=True)
class Adding:
    """A new one; nobody has read yet when it is due."""

    when: str
    text: str
    is_command: bool


@dataclasses.dataclass(frozen=True)
class Doing:
    """Something with one of them; `named` is what was typed."""

    verb: str  # of ONE
    named: str


@dataclasses.dataclass(frozen=True)
class History:
    """What became of the times of one, or of all."""

    named: str = ""


@dataclasses.dataclass(frozen=True)
class Timing:
    """Another time, or another zone, for one; nobody has read it yet."""

    named: str
    when: str = ""
    zone: str = ""


@dataclasses.dataclass(frozen=True)
class Setting:
    """Something else of one; `change` has nothing set but that, `here` is this chat's."""

    named: str
    change: Update
    here: bool = False


@dataclasses.dataclass(frozen=True)
class All:
    """Pause every one, or let every one go on."""

    paused: bool


@dataclasses.dataclass(frozen=True)
class Teaching:
    """What to write instead."""

    text: str


Asked = Listing | Adding | Doing | History | Timing | Setting | All | Teaching


def parse(argument: str) -> Asked:
    """What the rest of a line behind /schedule asks for."""
    verb, rest = _first(argument)
    verb = verb.lower()
    match verb:
        case "" | "list":
            return Listing()
        case _ if verb == _ADD:
            return _adding(rest)
        case _ if verb in ONE:
            return Doing(verb, rest) if rest else Teaching(ONE_USAGE.format(verb=verb))
        case "runs":
            return History(rest)
        case "set":
            return _setting(rest)
        case _ if verb in _ALL:
            return All(_ALL[verb])
        case _:
            return Teaching(UNKNOWN.format(word=verb[:40], usage=usage()))


def usage() -> str:
    """Every form, a line each."""
    return USAGE.format(fields="|".join(EXAMPLES))


def _first(text: str) -> tuple[str, str]:
    """The first word, and the rest."""
    parts = _SPACE.split(text.strip(), 1)
    return parts[0], parts[1].strip() if len(parts) > 1 else ""


def _adding(rest: str) -> Asked:
    border = _BORDER.search(rest)
    when = rest[: border.start()].strip() if border else ""
    text = rest[border.end() :].strip() if border else ""
    if not when or not text:
        return Teaching(ADD_USAGE)
    what, is_command = said(text)
    return Adding(when, what, is_command)


def said(text: str) -> tuple[str, bool]:
    """What is to be done, and whether it is a command: one that stands wholly in backticks."""
    found = _COMMAND.fullmatch(text.strip())
    command = (found[1] or found[2]).strip() if found else ""
    return (command, True) if command else (text.strip(), False)


def _setting(rest: str) -> Asked:
    named, rest = _first(rest)
    field, value = _first(rest)
    field = field.lower()
    if not named or not field:
        return Teaching(SET_USAGE.format(example=EXAMPLES["when"]))
    if field not in EXAMPLES:
        examples = "\n".join(f"/schedule set {named[:40]} {one}" for one in EXAMPLES.values())
        return Teaching(SET_UNKNOWN.format(field=field[:40], examples=examples))
    teaching = Teaching(SET_USAGE.format(example=EXAMPLES[field]))
    if field == "here":
        return teaching if value else Setting(named, Update(), here=True)
    if not value:
        return teaching
    if field == "when":
        return Timing(named, when=value)
    if field == "zone":
        return Timing(named, zone=value)
    change = _CHANGES[field](value)
    return teaching if change is None else Setting(named, change)


def _text(value: str) -> Update:
    text, is_command = said(value)
    kinds = schedules_pb2.Schedule
    return Update(text=text, kind=kinds.COMMAND if is_command else kinds.AGENT)


def _missed(value: str) -> Update | None:
    how, rest = _first(value)
    known = {"skip": Policy.SKIP, "once": Policy.RUN_ONCE, "all": Policy.RUN_ALL}
    if how not in known or (rest and (how != "all" or not _NUMBER.fullmatch(rest))):
        return None
    return Update(policy=Policy(missed=known[how], catch_up=int(rest) if rest else None))


def _overlap(value: str) -> Update | None:
    known = {"skip": Policy.LEAVE_OUT, "wait": Policy.WAIT}
    return Update(policy=Policy(overlap=known[value])) if value in known else None


def _tell(value: str) -> Update | None:
    known = {
        "always": Policy.ALWAYS,
        "failure": Policy.ON_FAILURE,
        "change": Policy.ON_CHANGE,
        "never": Policy.NEVER,
    }
    return Update(policy=Policy(tell=known[value])) if value in known else None


def _retries(value: str) -> Update | None:
    return Update(policy=Policy(retries=int(value))) if _NUMBER.fullmatch(value) else None


def _pause_after(value: str) -> Update | None:
    if not _NUMBER.fullmatch(value):
        return None
    return Update(policy=Policy(pause_after_failures=int(value)))


def _mode(value: str) -> Update | None:
    known = {"plan": common_pb2.PLAN, "build": common_pb2.BUILD}
    return Update(mode=known[value]) if value in known else None


_CHANGES: typing.Final[dict[str, Callable[[str], Update | None]]] = {
    "text": _text,
    "name": lambda value: Update(name=value),
    "missed": _missed,
    "overlap": _overlap,
    "tell": _tell,
    "retries": _retries,
    "pause-after": _pause_after,
    "mode": _mode,
    "project": lambda value: Update(folder="" if value == NONE else value),
    "profile": lambda value: Update(profile="" if value == NONE else value),
}


# --- which one is meant


def handle(schedule_id: str, others: Sequence[str] = ()) -> str:
    """What names a schedule: the end of its id, as long as it must be to be no other's."""
    for length in range(HANDLE, len(schedule_id)):
        end = schedule_id[-length:]
        if not any(one.endswith(end) for one in others if one != schedule_id):
            return end
    return schedule_id


def find(named: str, there: Sequence[schedules_pb2.Schedule]) -> str | Teaching:
    """The id of the schedule that is meant: by the end of its id, or by its whole name."""
    wanted = named.strip().lower()
    found = [one for one in there if _ends(one.schedule_id, wanted)]
    found = found or [one for one in there if one.name.strip().lower() == wanted]
    if len(found) == 1:
        return found[0].schedule_id
    if not there:
        return Teaching(NONE_FOUND.format(named=named[:60]))
    ids = [one.schedule_id for one in there]
    listed = "\n".join(
        NAMED_LINE.format(handle=handle(one.schedule_id, ids), name=one.name)
        for one in found or there
    )
    pattern = SEVERAL if found else NOT_FOUND
    return Teaching(pattern.format(named=named[:60], listed=listed))


def _ends(schedule_id: str, wanted: str) -> bool:
    return len(wanted) >= HANDLE and schedule_id.endswith(wanted)
