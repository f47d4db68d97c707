"""`ducklm people`: who may talk through bots, and an owner's word about it.

Answers for: these commands. A person is named by principal, or by the code of their request.
"""

import typing

import typer

from bots import render, texts
from bots.terminal import faults, listing, running, world
from proto.ducklm.v1 import channels_pb2

_Who = typing.Annotated[str, typer.Argument(metavar="PRINCIPAL|CODE", help=texts.HELP_PEOPLE_WHO)]


def show(session: world.Session, as_json: bool) -> faults.Exit:
    """List all that asked, were let in or are named."""
    rows = session.client.people()
    for line in listing.lines(rows, as_json, _line):
        session.console.out(line)
    if not rows and not as_json:
        session.console.say(texts.PEOPLE_NONE)
    return faults.Exit.OK


def _line(row: channels_pb2.Person) -> str:
    state = render.enum_name(channels_pb2.Person.State.DESCRIPTOR, row.state).lower()
    parts = [render.one_line(row.principal), state, row.code or "-", render.one_line(row.name)]
    return "  ".join(parts)


def decide(session: world.Session, who: str, allow: bool, as_json: bool) -> faults.Exit:
    """Let somebody in, or not, or not any longer."""
    row = session.client.decide_pairing(who, allow, session.world.new_key())
    for line in listing.lines([row], as_json, _line):
        session.console.out(line)
    return faults.Exit.OK


def _list(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: show(session, as_json))


def _allow(context: typer.Context, who: _Who, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: decide(session, who, True, as_json))


def _refuse(context: typer.Context, who: _Who, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: decide(session, who, False, as_json))


def commands() -> typer.Typer:
    """The group of these commands."""
    group = typer.Typer(help=texts.HELP_PEOPLE, no_args_is_help=True)
    group.command("list", help=texts.HELP_PEOPLE_LIST)(_list)
    group.command("allow", help=texts.HELP_PEOPLE_ALLOW)(_allow)
    group.command("refuse", help=texts.HELP_PEOPLE_REFUSE)(_refuse)
    return group
