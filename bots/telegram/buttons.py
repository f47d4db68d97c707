"""What comes back with a press: made for a button, and read from what Telegram says was pressed.

Anybody can send any data, so it only names things; what it may do the daemon judges. What a press
is about beyond that follows from the message that it was made on.
"""

import base64
import binascii
import dataclasses
import re
import typing

from proto.ducklm.v1 import approvals_pb2, tasks_pb2

_ID: typing.Final = re.compile(r"[a-z]{1,16}-[0-9a-f]{32}")
_NAME: typing.Final = re.compile(r"[a-z_]{1,16}")
_VALUE: typing.Final = re.compile(r"[A-Za-z0-9_-]{1,41}")
_PAGE: typing.Final = re.compile(r"[0-9]{1,3}")
ACTIONS: typing.Final = {
    "show": "v",
    "run": "r",
    "stop": "s",
    "pause": "p",
    "resume": "c",
    "runs": "h",
    "allow": "a",
    "delete": "d",  # asks once more
    "erase": "x",
}

_ANSWERS: typing.Final = {
    "o": approvals_pb2.ALLOW_ONCE,
    "a": approvals_pb2.ALLOW_ALWAYS,
    "d": approvals_pb2.DENY,
}
_DECISIONS: typing.Final = {
    "m": tasks_pb2.MARK_DONE,
    "g": tasks_pb2.RUN_AGAIN,
    "x": tasks_pb2.ABANDON,
    "r": tasks_pb2.RETRY,
}
_ACTIONS_BACK: typing.Final = {letter: action for action, letter in ACTIONS.items()}


@dataclasses.dataclass(frozen=True)
class Answer:
    """An approval's. With `asks`, the reason for a no is to come next."""

    approval_id: str
    answer: approvals_pb2.Answer.ValueType
    asks: bool = False


@dataclasses.dataclass(frozen=True)
class Decide:
    """What is to become of the task that the message is about; `call_id` where it is of a call."""

    decision: tasks_pb2.TaskDecision.ValueType
    call_id: str = ""


@dataclasses.dataclass(frozen=True)
class Pair:
    """Whether the person whom the message is about may talk."""

    allow: bool


@dataclasses.dataclass(frozen=True)
class Feedback:
    task_id: str
    good: bool


@dataclasses.dataclass(frozen=True)
class Whole:
    """The whole of a tool's output."""

    artifact_id: str


@dataclasses.dataclass(frozen=True)
class Menu:
    """Another view of the settings."""

    name: str


@dataclasses.dataclass(frozen=True)
class Setting:
    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Draft:
    """Whether a schedule is kept as it was read; the draft is an artifact."""

    keeps: bool
    artifact_id: str


@dataclasses.dataclass(frozen=True)
class Schedules:
    """A page of the list of schedules."""

    page: int = 0


@dataclasses.dataclass(frozen=True)
class Schedule:
    """Something with a schedule."""

    action: str  # of ACTIONS
    schedule_id: str


Press = Answer | Decide | Pair | Feedback | Whole | Menu | Setting | Draft | Schedules | Schedule


def data(press: Press) -> str:
    """What a button carries."""
    match press:
        case Answer(asks=True):
            return f"a:r:{press.approval_id}"
        case Answer():
            return f"a:{_letter(_ANSWERS, press.answer)}:{press.approval_id}"
        case Decide():
            return f"d:{_letter(_DECISIONS, press.decision)}:{press.call_id}"
        case Pair():
            return "p:y:" if press.allow else "p:n:"
        case Feedback():
            return f"f:{'y' if press.good else 'n'}:{press.task_id}"
        case Whole():
            return f"w:o:{_short(press.artifact_id)}"
        case Menu():
            return f"m:{press.name}:"
        case Setting():
            return f"s:{press.name}:{press.value}"
        case Draft():
            return f"k:{'y' if press.keeps else 'n'}:{_short(press.artifact_id)}"
        case Schedules():
            return f"l:p:{press.page}"
        case Schedule():
            return f"t:{ACTIONS[press.action]}:{press.schedule_id}"
        case _:
            typing.assert_never(press)


def _short(artifact_id: str) -> str:
    return base64.urlsafe_b64encode(bytes.fromhex(artifact_id)).decode().rstrip("=")


def _letter(known: typing.Mapping[str, int], number: int) -> str:
    return next(letter for letter, each in known.items() if each == number)


def read(given: str) -> Press | None:
    """What was pressed; None for what no button of ours carries."""
    kind, _, rest = given.partition(":")
    name, _, value = rest.partition(":")
    match kind:
        case "a" if _ID.fullmatch(value) and name in (*_ANSWERS, "r"):
            return Answer(value, _ANSWERS.get(name, approvals_pb2.DENY), name == "r")
        case "d" if name in _DECISIONS and (not value or _ID.fullmatch(value)):
            return Decide(_DECISIONS[name], value)
        case "p" if name in ("y", "n") and not value:
            return Pair(name == "y")
        case "f" if name in ("y", "n") and _ID.fullmatch(value):
            return Feedback(value, name == "y")
        case "w" if name == "o":
            digest = _digest(value)
            return Whole(digest) if digest else None
        case "k" if name in ("y", "n"):
            digest = _digest(value)
            return Draft(name == "y", digest) if digest else None
        case "l" if name == "p" and _PAGE.fullmatch(value):
            return Schedules(int(value))
        case "t" if name in _ACTIONS_BACK and _ID.fullmatch(value):
            return Schedule(_ACTIONS_BACK[name], value)
        case "m" if _NAME.fullmatch(name) and not value:
            return Menu(name)
        case "s" if _NAME.fullmatch(name) and _VALUE.fullmatch(value):
            return Setting(name, value)
        case _:
            return None


def _digest(value: str) -> str:
    try:
        found = base64.b64decode(f"{value}=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return ""
    return found.hex() if len(found) == 32 else ""
