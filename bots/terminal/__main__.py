"""`ducklm`: arguments in, exit codes out.

Answers for: the command line, and that every failure ends in one sentence and a documented exit
code (see `faults.Exit`). It must never do a command's work.
"""

import io
import os
import sys
import traceback
import typing
from collections.abc import Sequence

import typer

from bots import config, render, texts
from bots.terminal import (
    ask,
    chat,
    commands,
    exchanges,
    faults,
    files,
    people,
    permissions,
    presets,
    running,
    scheduling,
    tokens,
    world,
)

_Limit = typing.Annotated[int, typer.Option("--limit", min=1, help=texts.HELP_LIMIT)]
_Conversation = typing.Annotated[
    str, typer.Option("--conversation", metavar="ID", help=texts.HELP_CONVERSATION)
]
_Task = typing.Annotated[str, typer.Argument(metavar="TASK")]
_ConversationId = typing.Annotated[str, typer.Argument(metavar="CONVERSATION")]
_ApprovalId = typing.Annotated[str, typer.Argument(metavar="ID")]


def _settings(
    context: typer.Context,
    state: typing.Annotated[
        str | None, typer.Option("--state", metavar="DIR", help=texts.HELP_STATE)
    ] = None,
    address: typing.Annotated[
        str | None, typer.Option("--address", metavar="ADDRESS", help=texts.HELP_ADDRESS)
    ] = None,
) -> None:
    the_world = context.find_object(world.World)
    if the_world is None:
        raise AssertionError("run() hands it in")
    try:
        settings = config.read(the_world.environ, the_world.home, state, address)
    except config.ConfigError as error:
        the_world.console.say(str(error))
        raise typer.Exit(int(faults.Exit.USAGE)) from None
    context.obj = running.Start(the_world, settings)


def _ask(
    context: typer.Context,
    text: typing.Annotated[str, typer.Argument(metavar="TEXT", help=texts.HELP_ASK_TEXT)],
    conversation: _Conversation = "",
    no_wait: typing.Annotated[bool, typer.Option("--no-wait", help=texts.HELP_NO_WAIT)] = False,
    follow: typing.Annotated[bool, typer.Option("--follow", help=texts.HELP_FOLLOW_ASK)] = False,
    as_json: running.Json = False,
) -> None:
    request = ask.Request(text, conversation, not no_wait, follow, as_json)
    running.with_session(context, lambda session: ask.run(session, request))


def _chat(
    context: typer.Context, conversation: _Conversation = "", as_json: running.Json = False
) -> None:
    running.with_session(context, lambda session: chat.run(session, conversation, as_json))


def _tasks(
    context: typer.Context,
    conversation: _Conversation = "",
    limit: _Limit = 50,
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: commands.tasks(session, limit, conversation, as_json)
    )


def _events(
    context: typer.Context,
    follow: typing.Annotated[
        bool, typer.Option("--follow", "-f", help=texts.HELP_FOLLOW_EVENTS)
    ] = False,
    task: typing.Annotated[
        str, typer.Option("--task", metavar="TASK", help=texts.HELP_TASK_FILTER)
    ] = "",
    after: typing.Annotated[
        int | None, typer.Option("--after", min=0, metavar="SEQ", help=texts.HELP_AFTER)
    ] = None,
    limit: _Limit = 100,
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context,
        lambda session: commands.events(session, limit, task, after, follow, as_json),
    )


def _approvals(context: typer.Context, limit: _Limit = 50, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: commands.approvals(session, limit, as_json))


def _approve(
    context: typer.Context,
    approval_id: _ApprovalId,
    always: typing.Annotated[bool, typer.Option("--always", help=texts.HELP_ALWAYS)] = False,
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: commands.approve(session, approval_id, always, as_json)
    )


def _deny(
    context: typer.Context,
    approval_id: _ApprovalId,
    reason: typing.Annotated[str, typer.Option("--reason", help=texts.HELP_REASON)] = "",
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: commands.deny(session, approval_id, reason, as_json)
    )


def _cancel(context: typer.Context, task: _Task, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: commands.cancel(session, task, as_json))


def _decide(
    context: typer.Context,
    task: _Task,
    decision: typing.Annotated[str, typer.Argument(metavar="DECISION", help=texts.HELP_DECISION)],
    call: typing.Annotated[str, typer.Option("--call", metavar="CALL", help=texts.HELP_CALL)] = "",
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: commands.decide(session, task, decision, call, as_json)
    )


def _status(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: commands.status(session, as_json))


def _conversations(
    context: typer.Context, limit: _Limit = 50, as_json: running.Json = False
) -> None:
    if context.invoked_subcommand is None:
        _conversations_list(context, limit, as_json)


def _conversations_list(
    context: typer.Context, limit: _Limit = 50, as_json: running.Json = False
) -> None:
    running.with_session(context, lambda session: commands.conversations(session, limit, as_json))


def _conversations_show(
    context: typer.Context, conversation: _ConversationId, as_json: running.Json = False
) -> None:
    running.with_session(context, lambda session: exchanges.show(session, conversation, as_json))


def _conversations_delete(
    context: typer.Context,
    conversation: _ConversationId,
    sure: typing.Annotated[bool, typer.Option("--yes", help=texts.HELP_YES)] = False,
) -> None:
    running.with_session(context, lambda session: exchanges.delete(session, conversation, sure))


def _conversations_export(
    context: typer.Context,
    conversation: _ConversationId,
    kind: typing.Annotated[
        str, typer.Option("--format", metavar="FORMAT", help=texts.HELP_FORMAT)
    ] = "",
    path: typing.Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help=texts.HELP_OUTPUT)
    ] = "",
    last: typing.Annotated[int, typer.Option("--last", min=0, help=texts.HELP_LAST)] = 0,
    reasoning: typing.Annotated[
        bool, typer.Option("--reasoning", help=texts.HELP_REASONING)
    ] = False,
    tools: typing.Annotated[bool, typer.Option(help=texts.HELP_TOOLS)] = True,
    results: typing.Annotated[bool, typer.Option(help=texts.HELP_RESULTS)] = True,
) -> None:
    def run(session: world.Session) -> faults.Exit:
        request = exchanges.export_request(conversation, kind, path)
        request.reasoning, request.tools, request.results = reasoning, tools, results
        request.last_turns = last
        return exchanges.export(session, request, path)

    running.with_session(context, run)


def _undo(
    context: typer.Context, conversation: _ConversationId, as_json: running.Json = False
) -> None:
    def run(session: world.Session) -> faults.Exit:
        with session.world.interrupts.watching():
            return exchanges.undo(session, conversation, as_json)

    running.with_session(context, run)


def _feedback(
    context: typer.Context,
    task: _Task,
    worth: typing.Annotated[str, typer.Argument(metavar="WORTH", help=texts.HELP_WORTH)],
    text: typing.Annotated[str, typer.Argument(metavar="[TEXT]", help=texts.HELP_WHY)] = "",
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: exchanges.feedback(session, task, worth, text, as_json)
    )


def _diff(context: typer.Context, task: _Task) -> None:
    running.with_session(context, lambda session: exchanges.diff(session, task))


def _grants_list(context: typer.Context, as_json: running.Json = False) -> None:
    running.with_session(context, lambda session: permissions.grants(session, as_json))


def _grants_revoke(
    context: typer.Context,
    grant_id: typing.Annotated[str, typer.Argument(metavar="ID")],
    as_json: running.Json = False,
) -> None:
    running.with_session(context, lambda session: permissions.revoke(session, grant_id, as_json))


def _secret(
    context: typer.Context,
    task: _Task,
    from_stdin: typing.Annotated[
        bool, typer.Option("--stdin", help=texts.HELP_SECRET_STDIN)
    ] = False,
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: permissions.secret(session, task, from_stdin, as_json)
    )


def _mode(
    context: typer.Context,
    conversation: _ConversationId,
    name: typing.Annotated[str, typer.Argument(metavar="MODE", help=texts.HELP_MODE_NAME)] = "",
    as_json: running.Json = False,
) -> None:
    running.with_session(
        context, lambda session: permissions.mode(session, conversation, name, as_json)
    )


def _token_create(
    context: typer.Context,
    name: typing.Annotated[str, typer.Argument(metavar="NAME", help=texts.HELP_TOKEN_NAME)],
    scope: typing.Annotated[
        list[str] | None, typer.Option("--scope", metavar="SCOPE", help=texts.HELP_TOKEN_SCOPE)
    ] = None,
    platform: typing.Annotated[
        str, typer.Option("--platform", metavar="NAME", help=texts.HELP_TOKEN_PLATFORM)
    ] = "",
    account: typing.Annotated[
        str, typer.Option("--account", metavar="NAME", help=texts.HELP_TOKEN_ACCOUNT)
    ] = "",
    as_json: running.Json = False,
) -> None:
    wanted = tokens.Wanted(name, scope or (), platform, account)
    running.with_session(context, lambda session: tokens.create(session, wanted, as_json))


def _token_list(
    context: typer.Context,
    revoked: typing.Annotated[
        bool, typer.Option("--revoked", help=texts.HELP_TOKEN_REVOKED)
    ] = False,
    limit: _Limit = 50,
    as_json: running.Json = False,
) -> None:
    running.with_session(context, lambda session: tokens.show(session, limit, revoked, as_json))


def _token_revoke(
    context: typer.Context,
    named: typing.Annotated[str, typer.Argument(metavar="TOKEN", help=texts.HELP_TOKEN_NAMED)],
    as_json: running.Json = False,
) -> None:
    running.with_session(context, lambda session: tokens.revoke(session, named, as_json))


def _conversation_commands() -> typer.Typer:
    app = typer.Typer(
        help=texts.HELP_CONVERSATIONS, invoke_without_command=True, add_completion=False
    )
    app.callback()(_conversations)
    app.command("list", help=texts.HELP_CONVERSATIONS_LIST)(_conversations_list)
    app.command("show", help=texts.HELP_CONVERSATIONS_SHOW)(_conversations_show)
    app.command("delete", help=texts.HELP_CONVERSATIONS_DELETE)(_conversations_delete)
    app.command("export", help=texts.HELP_CONVERSATIONS_EXPORT)(_conversations_export)
    return app


def _grant_commands() -> typer.Typer:
    app = typer.Typer(help=texts.HELP_GRANTS, no_args_is_help=True, add_completion=False)
    app.command("list", help=texts.HELP_GRANTS_LIST)(_grants_list)
    app.command("revoke", help=texts.HELP_GRANTS_REVOKE)(_grants_revoke)
    return app


def _token_commands() -> typer.Typer:
    app = typer.Typer(help=texts.HELP_TOKEN, no_args_is_help=True, add_completion=False)
    app.command("create", help=texts.HELP_TOKEN_CREATE)(_token_create)
    app.command("list", help=texts.HELP_TOKEN_LIST)(_token_list)
    app.command("revoke", help=texts.HELP_TOKEN_REVOKE)(_token_revoke)
    return app


def build() -> typer.Typer:
    """The command line."""
    app = typer.Typer(
        name="ducklm",
        help=texts.HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_settings)
    app.command("ask", help=texts.HELP_ASK)(_ask)
    app.command("chat", help=texts.HELP_CHAT)(_chat)
    app.command("tasks", help=texts.HELP_TASKS)(_tasks)
    app.command("events", help=texts.HELP_EVENTS)(_events)
    app.command("approvals", help=texts.HELP_APPROVALS)(_approvals)
    app.command("approve", help=texts.HELP_APPROVE)(_approve)
    app.command("deny", help=texts.HELP_DENY)(_deny)
    app.command("cancel", help=texts.HELP_CANCEL)(_cancel)
    app.command("decide", help=texts.HELP_DECIDE)(_decide)
    app.command("status", help=texts.HELP_STATUS)(_status)
    app.command("undo", help=texts.HELP_UNDO)(_undo)
    app.command("feedback", help=texts.HELP_FEEDBACK)(_feedback)
    app.command("diff", help=texts.HELP_DIFF)(_diff)
    files.add_commands(app)
    app.command("mode", help=texts.HELP_MODE)(_mode)
    app.command("secret", help=texts.HELP_SECRET)(_secret)
    app.add_typer(_conversation_commands(), name="conversations")
    app.add_typer(presets.profile_commands(), name="profiles")
    app.add_typer(presets.skill_commands(), name="skills")
    app.add_typer(_grant_commands(), name="grants")
    app.add_typer(_token_commands(), name="token")
    app.add_typer(people.commands(), name="people")
    app.add_typer(scheduling.commands(), name="schedule")
    return app


def run(arguments: Sequence[str], the_world: world.World) -> int:
    """Run one command line in a world; its exit code."""
    try:
        build()(args=list(arguments), prog_name="ducklm", obj=the_world)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(faults.Exit.FAILED)
    return int(faults.Exit.OK)


def main() -> None:
    """The console script."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # faults are told in our own words
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            errors = "surrogateescape" if stream is sys.stdin else "backslashreplace"
            stream.reconfigure(errors=errors)
    try:
        code = run(sys.argv[1:], world.process_world())
    except Exception as error:  # noqa: BLE001 (a main: nothing above tells the person)
        sys.stderr.write(render.inert(traceback.format_exc()))
        sys.stderr.write(texts.CRASHED.format(kind=type(error).__name__) + "\n")
        code = int(faults.Exit.FAILED)
    sys.exit(code)


if __name__ == "__main__":
    main()
