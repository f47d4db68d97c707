"""`ducklm conversations`: list, show, export, delete."""

import json
import pathlib

import grpc
import pytest

from bots import texts
from proto.ducklm.v1 import common_pb2, conversations_pb2
from tests.unit.bots import stage

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("K-01"), pytest.mark.spec("D-21")]
ROW = conversations_pb2.Conversation(
    conversation_id="c-1",
    title="ducks\x1b[2J",
    principal="local:owner",
    mode=common_pb2.PLAN,
    folder="/p",
    steering=common_pb2.STEER,
)
Export = conversations_pb2.ExportConversationRequest


@pytest.mark.parametrize("arguments", [[], ["list"], ["--limit", "7"], ["list", "--limit", "7"]])
def test_list(arguments: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        response = conversations_pb2.ListConversationsResponse(conversations=[ROW])
        request = daemon.answer("Conversations.List", response)
        assert request.page.size == (7 if "7" in arguments else 50)

    played = stage.play(["conversations", *arguments], script)
    assert played.code == 0
    assert played.stdout.endswith("  c-1  ducks\\x1b[2J  /p  [plan]\n")


def test_show() -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Conversations.Get", ROW)

    lines = stage.play(["conversations", "show", "c-1"], script).stdout.splitlines()
    assert [line[:14].strip() for line in lines] == [
        *("conversation", "title", "of", "begun", "last used", "mode", "project", "meanwhile"),
    ]
    assert lines[1] == "title         ducks\\x1b[2J"
    assert lines[-1] == "meanwhile     steer"
    shown = stage.play(["conversations", "show", "c-1", "--json"], script)
    assert json.loads(shown.stdout)["steering"] == "STEER"


@pytest.mark.parametrize(
    ("arguments", "typed", "deleted", "code"),
    [
        ([], ["y"], True, 0),
        ([], ["YES"], True, 0),
        ([], ["n"], False, 1),
        ([], [""], False, 1),
        ([], [], False, 1),
        (["--yes"], [], True, 0),
    ],
)
def test_delete_asks_first(
    arguments: list[str], typed: list[str], deleted: bool, code: int
) -> None:
    def script(daemon: stage.Daemon) -> None:
        if deleted:
            response = conversations_pb2.DeleteConversationResponse(conversation_id="c-1")
            request = daemon.answer("Conversations.Delete", response)
            assert (request.conversation_id, bool(request.client_key)) == ("c-1", True)

    played = stage.play(["conversations", "delete", "c-1", *arguments], script, typed)
    assert played.code == code
    assert played.lines[-1] == ("c-1 is deleted." if deleted else texts.DELETE_NOT)
    assert played.person.discarded == (0 if arguments else 1)


def test_delete_without_a_terminal_needs_to_be_sure() -> None:
    played = stage.play(["conversations", "delete", "c-1"], stage.nothing, setting=stage.PIPES)
    assert (played.code, played.lines) == (2, [texts.DELETE_NOT_SURE])


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], Export(format=Export.MARKDOWN, reasoning=False, tools=True, results=True)),
        (
            ["--format", "json", "--reasoning", "--no-tools", "--no-results", "--last", "3"],
            Export(format=Export.JSON, reasoning=True, tools=False, results=False, last_turns=3),
        ),
    ],
)
def test_export_to_stdout(arguments: list[str], wanted: Export) -> None:
    def script(daemon: stage.Daemon) -> None:
        wanted.conversation_id = "c-1"
        assert daemon.export("a\x1b\n", "b\n") == wanted

    command = ["conversations", "export", "c-1", *arguments]
    assert stage.play(command, script, setting=stage.PIPES).stdout == "a\x1b\nb\n"
    assert stage.play(command, script).stdout == "a\\x1b\nb\n"


def test_export_says_what_is_wrong_and_makes_no_file(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.md"

    def script(daemon: stage.Daemon) -> None:
        daemon.refuse_stream("Conversations.Export", grpc.StatusCode.NOT_FOUND, "none")

    played = stage.play(["conversations", "export", "c-1", "-o", str(path)], script)
    assert (played.code, played.lines) == (2, ["Not found: none"])
    assert not path.exists()
    played = stage.play(["conversations", "export", "c-1", "--format", "html"], stage.nothing)
    assert (played.code, played.lines) == (2, ["The format must be one of: markdown, json."])
