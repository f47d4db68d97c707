"""The command line of `ducklm schedule`, which is that of `/schedule` in the chat too.

Answers for: arguments and options. It must never do a command's work.
"""

import contextlib
import shlex
import typing

import typer

from bots import texts
from bots.terminal import faults, running, schedule_policy, schedules, world

_NUMBER_LIMIT: typing.Final = 1_000_000  # what is in range below it the daemon says

_Id = typing.Annotated[str, typer.Argument(metavar="ID", help=texts.HELP_SCHEDULE_ID)]
_MaybeId = typing.Annotated[str, typer.Argument(metavar="[ID]", help=texts.HELP_SCHEDULE_ID)]
_When = typing.Annotated[str, typer.Argument(metavar="WHEN", help=texts.HELP_SCHEDULE_WHEN)]
_Text = typing.Annotated[str, typer.Argument(metavar="TEXT", help=texts.HELP_SCHEDULE_TEXT)]
_Sure = typing.Annotated[bool, typer.Option("--yes", help=texts.HELP_YES)]
_Limit = typing.Annotated[int, typer.Option("--limit", min=1, help=texts.HELP_LIMIT)]
_Follow = typing.Annotated[bool, typer.Option("--follow", help=texts.HELP_SCHEDULE_FOLLOW)]

_NewWhen = typing.Annotated[
    str | None, typer.Option("--when", metavar="WHEN", help=texts.HELP_SCHEDULE_WHEN)
]
_NewText = typing.Annotated[
    str | None, typer.Option("--text", metavar="TEXT", help=texts.HELP_SCHEDULE_TEXT)
]
_Command = typing.Annotated[
    bool | None, typer.Option("--command/--agent", help=texts.HELP_SCHEDULE_COMMAND)
]
_Zone = typing.Annotated[
    str | None, typer.Option("--zone", metavar="ZONE", help=texts.HELP_SCHEDULE_ZONE)
]
_Name = typing.Annotated[
    str | None, typer.Option("--name", metavar="NAME", help=texts.HELP_SCHEDULE_NAME)
]
_Project = typing.Annotated[
    str | None, typer.Option("--project", metavar="NAME", help=texts.HELP_SCHEDULE_PROJECT)
]
_Profile = typing.Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help=texts.HELP_SCHEDULE_PROFILE)
]
_Mode = typing.Annotated[
    str | None, typer.Option("--mode", metavar="MODE", help=texts.HELP_MODE_NAME)
]
_Missed = typing.Annotated[
    str | None, typer.Option("--missed", metavar="skip|once|all:N", help=texts.HELP_MISSED)
]
_Overlap = typing.Annotated[
    str | None, typer.Option("--overlap", metavar="skip|wait", help=texts.HELP_OVERLAP)
]
_Tell = typing.Annotated[
    str | None,
    typer.Option("--tell", metavar="always|failure|change|never", help=texts.HELP_TELL),
]
_To = typing.Annotated[
    str | None, typer.Option("--to", metavar="ACCOUNT/CHAT[/TOPIC]", help=texts.HELP_TO)
]


def _number(name: str, metavar: str, help_text: str) -> typing.Any:  # typer has no name for it
    return typer.Option(name, metavar=metavar, min=0, max=_NUMBER_LIMIT, help=help_text)


_Grace = typing.Annotated[int | None, _number("--grace", "S", texts.HELP_GRACE)]
_Retries = typing.Annotated[int | None, _number("--retries", "N", texts.HELP_RETRIES)]
_Backoff = typing.Annotated[int | None, _number("--backoff", "S", texts.HELP_BACKOFF)]
_PauseAfter = typing.Annotated[int | None, _number("--pause-after", "N", texts.HELP_PAUSE_AFTER)]
_Most = typing.Annotated[int | None, _number("--most", "N", texts.HELP_MOST)]
_Deadline = typing.Annotated[int | None, _number("--deadline", "S", texts.HELP_DEADLINE)]
_Approval = typing.Annotated[int | None, _number("--approval", "S", texts.HELP_APPROVAL)]


def _list(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.show_all(session, as_json))


def _add(
    context: typer.Context,
    when: _When,
    text: _Text,
    command: _Command = None,
    zone: _Zone = None,
    name: _Name = None,
    project: _Project = None,
    profile: _Profile = None,
    mode: _Mode = None,
    missed: _Missed = None,
    grace: _Grace = None,
    overlap: _Overlap = None,
    tell: _Tell = None,
    to: _To = None,
    retries: _Retries = None,
    backoff: _Backoff = None,
    pause_after: _PauseAfter = None,
    most: _Most = None,
    deadline: _Deadline = None,
    approval: _Approval = None,
    sure: _Sure = False,
    as_json: running.Json = False,
) -> None:
    policy = schedule_policy.Given(
        missed, grace, overlap, tell, to, retries, backoff, pause_after, most, deadline, approval
    )
    given = schedules.Given(when, text, command, zone, name, project, mode, profile, policy)
    running.with_session(context, lambda session: schedules.add(session, given, sure, as_json))


def _edit(
    context: typer.Context,
    schedule: _Id,
    when: _NewWhen = None,
    text: _NewText = None,
    command: _Command = None,
    zone: _Zone = None,
    name: _Name = None,
    project: _Project = None,
    profile: _Profile = None,
    mode: _Mode = None,
    missed: _Missed = None,
    grace: _Grace = None,
    overlap: _Overlap = None,
    tell: _Tell = None,
    to: _To = None,
    retries: _Retries = None,
    backoff: _Backoff = None,
    pause_after: _PauseAfter = None,
    most: _Most = None,
    deadline: _Deadline = None,
    approval: _Approval = None,
    sure: _Sure = False,
    as_json: running.Json = False,
) -> None:
    policy = schedule_policy.Given(
        missed, grace, overlap, tell, to, retries, backoff, pause_after, most, deadline, approval
    )
    given = schedules.Given(when, text, command, zone, name, project, mode, profile, policy)
    running.with_session(
        context, lambda session: schedules.edit(session, schedule, given, sure, as_json)
    )


def _show(context: typer.Context, schedule: _Id, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.show(session, schedule, as_json))


def _pause(context: typer.Context, schedule: _Id, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.pause(session, schedule, True, as_json))


def _resume(context: typer.Context, schedule: _Id, as_json: running.Json = False) -> None:
    running.with_session(
        context, lambda session: schedules.pause(session, schedule, False, as_json)
    )


def _pause_all(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.pause_all(session, True, as_json))


def _resume_all(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.pause_all(session, False, as_json))


def _run(
    context: typer.Context, schedule: _Id, follow: _Follow = False, as_json: running.Json = False
) -> None:
    running.with_session(
        context, lambda session: schedules.run_now(session, schedule, follow, as_json)
    )


def _stop(context: typer.Context, schedule: _Id, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.stop(session, schedule, as_json))


def _delete(
    context: typer.Context, schedule: _Id, sure: _Sure = False, as_json: running.Json = False
) -> None:
    running.with_session(
        context, lambda session: schedules.delete(session, schedule, sure, as_json)
    )


def _runs(
    context: typer.Context,
    schedule: _MaybeId = "",
    limit: _Limit = 20,
    as_json: running.Json = False,
) -> None:
    running.with_session(context, lambda session: schedules.runs(session, schedule, limit, as_json))


def _allow(context: typer.Context, schedule: _Id, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: schedules.allow(session, schedule, as_json))


def commands() -> typer.Typer:
    """The group of these commands."""
    group = typer.Typer(
        help=texts.HELP_SCHEDULE,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    group.command("list", help=texts.HELP_SCHEDULE_LIST)(_list)
    group.command("add", help=texts.HELP_SCHEDULE_ADD)(_add)
    group.command("show", help=texts.HELP_SCHEDULE_SHOW)(_show)
    group.command("edit", help=texts.HELP_SCHEDULE_EDIT)(_edit)
    group.command("pause", help=texts.HELP_SCHEDULE_PAUSE)(_pause)
    group.command("resume", help=texts.HELP_SCHEDULE_RESUME)(_resume)
    group.command("pause-all", help=texts.HELP_SCHEDULE_PAUSE_ALL)(_pause_all)
    group.command("resume-all", help=texts.HELP_SCHEDULE_RESUME_ALL)(_resume_all)
    group.command("run", help=texts.HELP_SCHEDULE_RUN)(_run)
    group.command("stop", help=texts.HELP_SCHEDULE_STOP)(_stop)
    group.command("delete", help=texts.HELP_SCHEDULE_DELETE)(_delete)
    group.command("runs", help=texts.HELP_SCHEDULE_RUNS)(_runs)
    group.command("allow", help=texts.HELP_SCHEDULE_ALLOW)(_allow)
    return group


def typed(session: world.Session, rest: str) -> None:
    """What follows /schedule in the chat; alone it lists. Raises CallFault and UsageFault."""
    try:
        arguments = shlex.split(rest) or ["list"]
    except ValueError:
        raise faults.UsageFault(texts.SCHEDULE_QUOTES) from None
    with contextlib.suppress(SystemExit):  # the chat goes on; what was wrong was said
        commands()(args=arguments, prog_name="/schedule", obj=session)
