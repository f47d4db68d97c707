"""How a command runs: with a channel, and every fault turned into a sentence and an exit code.

Answers for: what the options before a command gave, and the end of every command. It must never
know what a command does.
"""

import contextlib
import dataclasses
import typing
from collections.abc import Callable

import typer

from bots import config, texts
from bots.terminal import client, faults, world

Json = typing.Annotated[bool, typer.Option("--json", help=texts.HELP_JSON)]


@dataclasses.dataclass(frozen=True)
class Start:
    """What the options before the command gave."""

    world: world.World
    settings: config.Settings


def with_session(
    context: typer.Context, command: Callable[[world.Session], faults.Exit]
) -> typing.NoReturn:
    """Run a command with a channel; every fault becomes a sentence and an exit code.

    One that is typed in the chat has the chat's channel, and the chat tells its faults.
    """
    of_chat = context.find_object(world.Session)
    if of_chat is not None:
        raise typer.Exit(int(command(of_chat)))
    start = context.find_object(Start)
    if start is None:
        raise AssertionError("the callback puts it there")
    the_world, settings = start.world, start.settings
    channel = the_world.connect(settings.address)
    with contextlib.closing(channel):
        calls = client.Client(channel, settings.token)
        session = world.Session(the_world, settings, calls)
        try:
            code = command(session)
        except faults.CallFault as fault:
            the_world.console.say(session.sentence(fault))
            code = faults.exit_code(fault)
        except faults.UsageFault as fault:
            the_world.console.say(str(fault))
            code = faults.Exit.USAGE
    raise typer.Exit(int(code))
