"""`ducklm files`, `put` and `get`: what a project holds, a file into it, and one out of it.

Answers for: these commands; every name on their lines is inert. No file of the person's is ever
overwritten, and one that did not come whole is not left.
"""

import contextlib
import os
import pathlib
import typing
from collections.abc import Iterator

import typer

from bots import render, texts
from bots.terminal import faults, listing, running, screen, world
from proto.ducklm.v1 import projects_pb2

_PART_BYTES: typing.Final = 256 * 1024
_OWN_FILE: typing.Final = 0o600

_Project = typing.Annotated[str, typer.Option("--project", metavar="NAME", help=texts.HELP_PROJECT)]
_Folder = typing.Annotated[str, typer.Argument(metavar="[PATH]", help=texts.HELP_FILES_PATH)]
_Path = typing.Annotated[str, typer.Argument(metavar="PATH", help=texts.HELP_GET_PATH)]
_File = typing.Annotated[str, typer.Argument(metavar="FILE", help=texts.HELP_PUT_FILE)]
_Output = typing.Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help=texts.HELP_OUTPUT)
]


def show(session: world.Session, project: str, path: str, as_json: bool) -> faults.Exit:
    """List a folder of a project."""
    listed = session.client.files(project, path)
    for line in listing.lines(listed.files, as_json, _line):
        session.console.out(line)
    if not as_json and (listed.more or not listed.files):
        session.console.say(texts.FILES_MORE if listed.more else texts.FILES_NONE)
    return faults.Exit.OK


def _line(row: projects_pb2.ProjectFile) -> str:
    name = render.one_line(row.path)
    return f"{'':>12}  {name}/" if row.folder else f"{row.size:>12}  {name}"


def put(session: world.Session, project: str, path: str, as_json: bool) -> faults.Exit:
    """Put a file of the person's into a project; its path there goes to stdout."""
    source = pathlib.Path(path).expanduser()
    with _told(source, texts.FILE_UNREADABLE), source.open("rb") as file:
        artifact_id = session.client.put_artifact(_parts(file))
    key = session.world.new_key()
    row = session.client.put_file(project, artifact_id, source.name, key)
    session.console.out(screen.json_line(row) if as_json else render.one_line(row.path) + "\n")
    return faults.Exit.OK


def get(session: world.Session, project: str, path: str, output: str) -> faults.Exit:
    """Write a file of a project to a new one that is the person's alone."""
    target = pathlib.Path(output or path.rstrip("/").rpartition("/")[2]).expanduser()
    pieces = session.client.file(project, path)
    first = next(pieces, b"")  # a fault of the call makes no file
    with _told(target, texts.EXPORT_FAILED):
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWN_FILE)
        with contextlib.ExitStack() as undo:
            undo.callback(target.unlink, missing_ok=True)
            with os.fdopen(opened, "wb") as file:
                file.write(first)
                for piece in pieces:
                    file.write(piece)
            undo.pop_all()
    session.console.say(texts.EXPORTED.format(path=render.one_line(str(target))))
    return faults.Exit.OK


def _parts(file: typing.BinaryIO) -> Iterator[bytes]:
    while part := file.read(_PART_BYTES):
        yield part


@contextlib.contextmanager
def _told(path: pathlib.Path, sentence: str) -> Iterator[None]:
    """Say what the system does not let be done with a file of the person's."""
    try:
        yield
    except OSError as error:
        why = error.strerror or texts.REASON_UNKNOWN
        shown = render.one_line(str(path))
        raise faults.UsageFault(sentence.format(path=shown, why=why)) from None


def _files(
    context: typer.Context,
    path: _Folder = "",
    project: _Project = "",
    as_json: running.Json = False,
) -> None:
    running.with_session(context, lambda session: show(session, project, path, as_json))


def _put(
    context: typer.Context, path: _File, project: _Project = "", as_json: running.Json = False
) -> None:
    running.with_session(context, lambda session: put(session, project, path, as_json))


def _get(context: typer.Context, path: _Path, project: _Project = "", output: _Output = "") -> None:
    running.with_session(context, lambda session: get(session, project, path, output))


def add_commands(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("files", help=texts.HELP_FILES)(_files)
    app.command("put", help=texts.HELP_PUT)(_put)
    app.command("get", help=texts.HELP_GET)(_get)
