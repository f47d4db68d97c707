"""`ducklm token`: the secret alone on stdout, lists, and ending one by its name."""

import json

import grpc
import pytest
from google.protobuf import timestamp_pb2

from proto.ducklm.v1 import admin_pb2
from tests.unit.bots import stage

pytestmark = [pytest.mark.timeout(30), pytest.mark.spec("O-01")]
RUN, READ = admin_pb2.Token.RUN, admin_pb2.Token.READ
AT = timestamp_pb2.Timestamp(seconds=1_900_000_000)
SECRET = "the-secret-of-it"
TOKEN = admin_pb2.Token(
    token_id="token-1", name="ci", principal="token:ci", scopes=[RUN, READ], created_at=AT
)


@pytest.mark.parametrize(
    "scopes", [["--scope", "run", "--scope", "read"], ["--scope", "run, READ"]]
)
def test_the_secret_stands_alone_on_stdout(scopes: list[str]) -> None:
    def script(daemon: stage.Daemon) -> None:
        made = admin_pb2.CreateTokenResponse(token=TOKEN, secret=SECRET)
        request = daemon.answer("Admin.CreateToken", made)
        expected = admin_pb2.CreateTokenRequest(name="ci", scopes=[RUN, READ], client_key="key-1")
        assert request == expected

    played = stage.play(["token", "create", "ci", *scopes], script)
    assert (played.code, played.stdout) == (0, f"{SECRET}\n")
    assert SECRET not in played.stderr
    assert "ci, which may: run, read." in played.stderr


def test_a_bots_token_names_its_platform_and_account() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Admin.CreateToken", admin_pb2.CreateTokenResponse(secret=SECRET))
        assert list(request.scopes) == [RUN, admin_pb2.Token.CHANNEL]
        assert (request.platform, request.account) == ("telegram", "home")

    bot = ["--scope", "run,channel", "--platform", "telegram", "--account", "home"]
    played = stage.play(["token", "create", "bot", *bot, "--json"], script)
    assert json.loads(played.stdout) == {"secret": SECRET}
    assert played.stderr == ""


@pytest.mark.parametrize("scopes", [[], ["--scope", "root"], ["--scope", ""], ["--scope", "run,"]])
def test_a_scope_that_is_none_is_told_before_any_call(scopes: list[str]) -> None:
    played = stage.play(["token", "create", "ci", *scopes], stage.nothing)
    assert (played.code, played.stdout) == (2, "")
    assert played.lines == [
        "Name with --scope what the token may do: run, read, approve, channel, admin."
    ]


def test_tokens_are_listed_over_pages() -> None:
    ended = admin_pb2.Token(name="old\x1b[2J", token_id="token-0", revoked_at=AT, created_at=AT)

    def script(daemon: stage.Daemon) -> None:
        first = admin_pb2.ListTokensResponse(tokens=[TOKEN] * 100, next_page_token="p2")
        request = daemon.answer("Admin.ListTokens", first)
        assert (request.revoked, request.page.size, request.page.token) == (True, 100, "")
        request = daemon.answer("Admin.ListTokens", admin_pb2.ListTokensResponse(tokens=[ended]))
        assert (request.page.size, request.page.token) == (20, "p2")

    played = stage.play(["token", "list", "--limit", "120", "--revoked"], script)
    lines = played.stdout.splitlines()
    assert (played.code, len(lines)) == (0, 101)
    assert lines[0].endswith("  token-1  ci  token:ci  run, read")
    assert "old\\x1b[2J" in lines[100]
    assert "  revoked " in lines[100]


def test_no_token_is_said_so() -> None:
    def script(daemon: stage.Daemon) -> None:
        request = daemon.answer("Admin.ListTokens", admin_pb2.ListTokensResponse())
        assert not request.revoked

    played = stage.play(["token", "list"], script)
    assert (played.code, played.stdout, played.lines) == (0, "", ["No token but the owner's."])


@pytest.mark.parametrize(
    ("named", "token_id"), [("ci", "token-1"), ("token-9", "token-9"), ("gone", "gone")]
)
def test_a_token_is_revoked_by_its_name_or_its_id(named: str, token_id: str) -> None:
    def script(daemon: stage.Daemon) -> None:
        daemon.answer("Admin.ListTokens", admin_pb2.ListTokensResponse(tokens=[TOKEN]))
        ended = admin_pb2.Token(token_id=token_id, name=named, created_at=AT, revoked_at=AT)
        request = daemon.answer("Admin.RevokeToken", ended)
        assert (request.token_id, request.client_key) == (token_id, "key-1")

    played = stage.play(["token", "revoke", named], script)
    assert (played.code, played.stdout.count("revoked ")) == (0, 1)


def test_a_token_without_the_scope_is_told_so() -> None:
    def script(daemon: stage.Daemon) -> None:
        says = "This token may not do that: it lacks the scope admin."
        daemon.refuse("Admin.ListTokens", grpc.StatusCode.PERMISSION_DENIED, says)

    played = stage.play(["token", "list"], script)
    assert played.code == 2
    assert "lacks the scope admin" in played.stderr
