"""`ducklm profiles` and `ducklm skills`: what presets there are, and what one would do.

Answers for: the commands and the wording of their lines; every text of a preset on them is inert.
It must never set anything.
"""

import typing
from collections.abc import Iterable

import typer
from google.protobuf import message

from bots import render, texts
from bots.terminal import faults, running, screen, world
from proto.ducklm.v1 import profiles_pb2, skills_pb2

_Name = typing.Annotated[str, typer.Argument(metavar="NAME")]
_MaybeName = typing.Annotated[str, typer.Argument(metavar="[NAME]", help=texts.HELP_PROFILE_NONE)]
_Text = typing.Annotated[str, typer.Argument(metavar="TEXT")]
_VALUE_CHARACTERS: typing.Final = 80


def profile_lines(rows: Iterable[profiles_pb2.NamedProfile]) -> list[str]:
    """A line a profile: its name, and what it is for."""
    return [
        f"{render.one_line(row.name):<16} "
        f"{render.one_line(row.profile.description, _VALUE_CHARACTERS)}".rstrip()
        for row in rows
    ]


def _skill_lines(rows: Iterable[skills_pb2.NamedSkill]) -> list[str]:
    return [
        f"{render.one_line(row.name):<16} "
        f"{render.one_line(', '.join(row.skill.keywords), _VALUE_CHARACTERS)}".rstrip()
        for row in rows
    ]


def profile_whole(row: profiles_pb2.NamedProfile) -> list[str]:
    """A profile with all that it says, a line a matter."""
    names, one = texts.PROFILE, row.profile
    tools = texts.PROFILE_ALL_TOOLS
    if one.HasField("tools"):
        tools = ", ".join(one.tools.names) or texts.PROFILE_NO_TOOLS
    pairs = [
        (names["name"], row.name),
        (names["description"], one.description),
        (names["instructions"], one.instructions.strip()),
        (names["tools"], tools),
        *((each.role, _generation(each.generation)) for each in one.generation),
        (names["skills"], texts.YES if one.skills else texts.NO),
        (names["source"], texts.PRESET_SOURCES.get(row.source, row.source)),
    ]
    if one.HasField("critic"):
        pairs.insert(-1, (names["critic"], texts.YES if one.critic else texts.NO))
    return [f"{name:<13} {render.one_line(value)}" for name, value in pairs if value]


def _generation(given: profiles_pb2.Generation) -> str:
    """Settings as they are written in a file."""
    said = [(field.name, value) for field, value in given.ListFields()]
    return ", ".join(
        f"{name} {_yes_or_no(value) if isinstance(value, bool) else f'{value:g}'}"
        for name, value in said
    )


def _yes_or_no(value: bool) -> str:
    return texts.YES if value else texts.NO


def _out(session: world.Session, lines: Iterable[str]) -> faults.Exit:
    for line in lines:
        session.console.out(line + "\n")
    return faults.Exit.OK


def _json(session: world.Session, rows: Iterable[message.Message]) -> faults.Exit:
    for row in rows:
        session.console.out(screen.json_line(row))
    return faults.Exit.OK


def list_profiles(session: world.Session, as_json: bool) -> faults.Exit:
    rows = session.client.profiles()
    if as_json:
        return _json(session, rows)
    if not rows:
        session.console.say(texts.PROFILES_NONE)
    return _out(session, profile_lines(rows))


def show_profile(session: world.Session, name: str, as_json: bool) -> faults.Exit:
    row = session.client.profile(name)
    return _json(session, [row]) if as_json else _out(session, profile_whole(row))


def test_profile(session: world.Session, name: str, as_json: bool) -> faults.Exit:
    """What every prompt begins with goes to stdout, what it costs is said beside it."""
    tested = session.client.test_profile(name)
    if as_json:
        return _json(session, [tested])
    _out(session, render.inert_exact(tested.fixed_part).split("\n"))
    session.console.say(
        texts.PROFILE_COSTS.format(
            tokens=tested.tokens, limit=tested.context_tokens, slot=render.one_line(tested.slot)
        )
    )
    for each in tested.generation:
        session.console.say(f"{render.one_line(each.role):<13} {_generation(each.generation)}")
    return faults.Exit.OK


def list_skills(session: world.Session, as_json: bool) -> faults.Exit:
    rows = session.client.skills()
    if as_json:
        return _json(session, rows)
    if not rows:
        session.console.say(texts.SKILLS_NONE)
    return _out(session, _skill_lines(rows))


def show_skill(session: world.Session, name: str, as_json: bool) -> faults.Exit:
    row = session.client.skill(name)
    if as_json:
        return _json(session, [row])
    session.console.say(render.one_line(", ".join(row.skill.keywords)))
    return _out(session, render.inert_exact(row.skill.text).split("\n"))


def test_skills(session: world.Session, text: str, as_json: bool) -> faults.Exit:
    tested = session.client.test_skills(text)
    if as_json:
        return _json(session, [tested])
    for hit in tested.hits:
        why = render.one_line(", ".join(hit.keywords), _VALUE_CHARACTERS)
        session.console.say(f"{render.one_line(hit.name):<16} {hit.score:>2}  {why}")
    return _out(session, [render.one_line(tested.chosen) or texts.SKILL_NONE])


def _profiles(context: typer.Context, as_json: running.Json = False) -> None:
    if context.invoked_subcommand is None:
        running.with_session(context, lambda session: list_profiles(session, as_json))


def _profiles_show(context: typer.Context, name: _Name, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: show_profile(session, name, as_json))


def _profiles_test(
    context: typer.Context, name: _MaybeName = "", as_json: running.Json = False
) -> None:
    running.with_session(context, lambda session: test_profile(session, name, as_json))


def _skills(context: typer.Context, as_json: running.Json = False) -> None:
    if context.invoked_subcommand is None:
        running.with_session(context, lambda session: list_skills(session, as_json))


def _skills_show(context: typer.Context, name: _Name, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: show_skill(session, name, as_json))


def _skills_test(context: typer.Context, text: _Text, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: test_skills(session, text, as_json))


def profile_commands() -> typer.Typer:
    app = typer.Typer(help=texts.HELP_PROFILES, invoke_without_command=True, add_completion=False)
    app.callback()(_profiles)
    app.command("show", help=texts.HELP_PROFILES_SHOW)(_profiles_show)
    app.command("test", help=texts.HELP_PROFILES_TEST)(_profiles_test)
    return app


def skill_commands() -> typer.Typer:
    app = typer.Typer(help=texts.HELP_SKILLS, invoke_without_command=True, add_completion=False)
    app.callback()(_skills)
    app.command("show", help=texts.HELP_SKILLS_SHOW)(_skills_show)
    app.command("test", help=texts.HELP_SKILLS_TEST)(_skills_test)
    return app
