"""The commands that people type in a chat, on any platform: their names, forms and help. Pure.

Answers for: what a typed line means, and an answer that teaches where it means nothing. A command
of a part that is not there yet is not listed.
"""

import dataclasses
import typing
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Form:
    """A command as it is listed; `takes` says of its argument whether it can be right."""

    name: str
    usage: str
    takes: Callable[[str], bool]


@dataclasses.dataclass(frozen=True)
class Command:
    """What was typed: a known name, and the rest of the line."""

    name: str
    argument: str = ""


@dataclasses.dataclass(frozen=True)
class Teaching:
    """What to write instead."""

    text: str


def _nothing(argument: str) -> bool:
    return not argument


def _anything(argument: str) -> bool:
    return True


def _one_of(*words: str) -> Callable[[str], bool]:
    return lambda argument: not argument or argument in words


def _feedback(argument: str) -> bool:
    return argument.partition(" ")[0] in ("good", "bad")


FORMS: typing.Final = (
    Form("help", "/help", _nothing),
    Form("new", "/new", _nothing),
    Form("stop", "/stop", _nothing),
    Form("status", "/status", _nothing),
    Form("tasks", "/tasks", _nothing),
    Form("approvals", "/approvals", _nothing),
    Form("schedule", "/schedule [add WHEN: WHAT]", _anything),
    Form("mode", "/mode [plan|build|yolo]", _one_of("plan", "build", "yolo")),
    Form("project", "/project [name]", _anything),
    Form("files", "/files [path]", _anything),
    Form("diff", "/diff", _nothing),
    Form("compact", "/compact", _nothing),
    Form("feedback", "/feedback good|bad [why]", _feedback),
    Form("export", "/export [md|json]", _one_of("md", "json")),
    Form("undo", "/undo", _nothing),
    Form("settings", "/settings", _nothing),
)
HELPS = {
    "help": "What I can do",
    "new": "Begin a new conversation here",
    "stop": "Stop what runs or waits here",
    "status": "How the daemon is",
    "tasks": "The last tasks of this conversation",
    "approvals": "What waits for a yes or a no",
    "schedule": "What is done by itself, and when",
    "mode": "How much I may do unasked",
    "project": "The folder that this conversation works in",
    "files": "The project's files; a file's path sends it",
    "diff": "What the last task changed",
    "compact": "Have what was said summarized",
    "feedback": "What the last answer was worth",
    "export": "This conversation as a file",
    "undo": "Take back the last message and its changes",
    "settings": "How this conversation works",
}
_BY_NAME: typing.Final = {form.name: form for form in FORMS}
_START: typing.Final = "start"  # what Telegram sends when somebody opens the chat
HELP = "Write what you want done. Or:\n\n{lines}"
LINE = "{usage} – {help}"
UNKNOWN = "I know no /{name}. /help lists what I know."
USAGE = "Write it like this: {usage}"


def parse(text: str, bot: str = "") -> Command | Teaching | None:
    """What a line means; None for one that is no command, or another bot's."""
    word, _, rest = text.strip().partition(" ")
    first, _, more = word.partition("\n")
    if not first.startswith("/") or len(first) < 2:
        return None
    name, at, whose = first[1:].partition("@")
    if at and bot and whose.lower() != bot.lower():
        return None
    if not name.replace("_", "").isalnum() or not name.isascii():
        return None
    argument = " ".join(part for part in (more.strip(), rest.strip()) if part)
    name = name.lower()
    if name == _START:
        return Command("help")
    form = _BY_NAME.get(name)
    if form is None:
        return Teaching(UNKNOWN.format(name=name))
    if not form.takes(argument):
        return Teaching(USAGE.format(usage=form.usage))
    return Command(name, argument)


def help_text() -> str:
    """Every command with what it does."""
    lines = "\n".join(LINE.format(usage=form.usage, help=HELPS[form.name]) for form in FORMS)
    return HELP.format(lines=lines)


def menu() -> list[tuple[str, str]]:
    """The commands as platforms list them."""
    return [(form.name, HELPS[form.name]) for form in FORMS]
