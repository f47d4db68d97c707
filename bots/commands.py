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
    help: str
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
    Form("help", "/help", "What I can do", _nothing),
    Form("new", "/new", "Begin a new conversation here", _nothing),
    Form("stop", "/stop", "Stop what runs or waits here", _nothing),
    Form("status", "/status", "How the daemon is", _nothing),
    Form("tasks", "/tasks", "The last tasks of this conversation", _nothing),
    Form("approvals", "/approvals", "What waits for a yes or a no", _nothing),
    Form(
        "mode",
        "/mode [plan|build|yolo]",
        "How much I may do unasked",
        _one_of("plan", "build", "yolo"),
    ),
    Form("project", "/project [name]", "The folder that this conversation works in", _anything),
    Form("files", "/files [path]", "The project's files; a file's path sends it", _anything),
    Form("diff", "/diff", "What the last task changed", _nothing),
    Form("compact", "/compact", "Have what was said summarized", _nothing),
    Form("feedback", "/feedback good|bad [why]", "What the last answer was worth", _feedback),
    Form("export", "/export [md|json]", "This conversation as a file", _one_of("md", "json")),
    Form("undo", "/undo", "Take back the last message and its changes", _nothing),
    Form("settings", "/settings", "How this conversation works", _nothing),
)
_BY_NAME: typing.Final = {form.name: form for form in FORMS}
_START: typing.Final = "start"  # what Telegram sends when somebody opens the chat
HELP: typing.Final = "Write what you want done. Or:\n\n{lines}"
_LINE: typing.Final = "{usage} – {help}"
_UNKNOWN: typing.Final = "I know no /{name}. /help lists what I know."
_USAGE: typing.Final = "Write it like this: {usage}"


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
        return Teaching(_UNKNOWN.format(name=name))
    if not form.takes(argument):
        return Teaching(_USAGE.format(usage=form.usage))
    return Command(name, argument)


def help_text() -> str:
    """Every command with what it does."""
    lines = "\n".join(_LINE.format(usage=form.usage, help=form.help) for form in FORMS)
    return HELP.format(lines=lines)


def menu() -> list[tuple[str, str]]:
    """The commands as platforms list them."""
    return [(form.name, form.help) for form in FORMS]
