"""Who may call what: every method with every credential, and no method without a scope."""

from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from daemon.rpc import interceptors
from proto.ducklm.v1 import admin_pb2, channels_pb2, common_pb2
from tests import running_daemon
from tests.conftest import Figures
from tests.integration.rpc import methods, work

EVERY = methods.every()
SERVED = (grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND)
"""What an empty request may come to once its token was taken."""
WRONG = {
    "none": (),
    "wrong": methods.bearer("0" * 43),
    "empty": methods.bearer(""),
    "another scheme": (("authorization", "Basic b3duZXI6"),),
    "no scheme": (("authorization", "0" * 43),),
}


NEEDS = {
    "Tasks/Submit": "RUN",
    "Tasks/Ask": "RUN",
    "Tasks/Chat": "RUN",
    "Tasks/Get": "READ",
    "Tasks/List": "READ",
    "Tasks/Cancel": "RUN",
    "Tasks/Decide": "APPROVE",
    "Tasks/Feedback": "RUN",
    "Events/Subscribe": "READ",
    "Events/List": "READ",
    "Approvals/List": "READ",
    "Approvals/Get": "READ",
    "Approvals/Resolve": "APPROVE",
    "Approvals/ListGrants": "READ",
    "Approvals/RevokeGrant": "APPROVE",
    "Approvals/ProvideSecret": "APPROVE",
    "Conversations/Create": "RUN",
    "Conversations/Get": "READ",
    "Conversations/List": "READ",
    "Conversations/Update": "RUN",
    "Conversations/Delete": "RUN",
    "Conversations/Compact": "RUN",
    "Conversations/Export": "READ",
    "Conversations/Undo": "RUN",
    "Projects/Create": "APPROVE",
    "Projects/Register": "APPROVE",
    "Projects/List": "READ",
    "Projects/Trust": "APPROVE",
    "Projects/Log": "READ",
    "Projects/Diff": "READ",
    "Projects/Revert": "APPROVE",
    "Projects/PutFile": "RUN",
    "Projects/ListFiles": "READ",
    "Projects/GetFile": "READ",
    "Profiles/List": "READ",
    "Profiles/Get": "READ",
    "Profiles/Set": "ADMIN",
    "Profiles/Test": "READ",
    "Skills/List": "READ",
    "Skills/Get": "READ",
    "Skills/Set": "ADMIN",
    "Skills/Test": "READ",
    "Artifacts/Get": "READ",
    "Artifacts/Put": "RUN",
    "Channels/Look": "CHANNEL",
    "Channels/Deliveries": "CHANNEL",
    "Channels/ListDeliveries": "READ",
    "Channels/Report": "CHANNEL",
    "Channels/Post": "CHANNEL",
    "Channels/MoveChat": "CHANNEL",
    "Channels/SetCursor": "CHANNEL",
    "Channels/GetCursor": "CHANNEL",
    "Channels/Pair": "CHANNEL",
    "Channels/DecidePairing": "APPROVE",
    "Channels/ListPeople": "READ",
    "Schedules/Preview": "READ",
    "Schedules/Create": "RUN",
    "Schedules/Get": "READ",
    "Schedules/List": "READ",
    "Schedules/Update": "RUN",
    "Schedules/Delete": "RUN",
    "Schedules/Pause": "RUN",
    "Schedules/Resume": "RUN",
    "Schedules/PauseAll": "RUN",
    "Schedules/ResumeAll": "RUN",
    "Schedules/RunNow": "RUN",
    "Schedules/Rehearse": "RUN",
    "Schedules/Stop": "RUN",
    "Schedules/ListRuns": "READ",
    "Admin/Status": "READ",
    "Admin/CreateToken": "ADMIN",
    "Admin/ListTokens": "ADMIN",
    "Admin/RevokeToken": "ADMIN",
}
"""What each method needs, written down a second time."""
OWNERS_ALONE = frozenset({"Projects/Create", "Projects/Register", "Projects/Revert"})
"""Methods that nobody may but an owner, whatever the scope."""


@pytest.fixture(scope="module", params=["unix", "tcp"])
def channel(
    request: pytest.FixtureRequest, daemon: running_daemon.RunningDaemon
) -> Iterator[grpc.Channel]:
    address = daemon.tcp if request.param == "tcp" else f"unix:{daemon.socket}"
    with daemon.channel(address) as opened:
        yield opened


def outcome(
    channel: grpc.Channel, method: methods.Method, metadata: running_daemon.Metadata
) -> tuple[grpc.StatusCode, str]:
    try:
        method.call(channel, [method.request()], metadata)
    except grpc.RpcError as error:
        return methods.fault(error)
    return grpc.StatusCode.OK, ""


def something_to_show(api: running_daemon.Api) -> None:
    """Have a text that a bot of these tests is to show, so that its stream has a first one."""
    origin = common_pb2.Origin(principal="telegram:alone:5", chat="5")
    api.channels.Post(channels_pb2.PostRequest(origin=origin, text="t", client_key="to show"))


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("credential", WRONG)
def test_no_method_is_open_without_a_valid_token(channel: grpc.Channel, credential: str) -> None:
    for method in EVERY:
        code, sentence = outcome(channel, method, WRONG[credential])
        assert code is grpc.StatusCode.UNAUTHENTICATED, method.name
        assert "authorization: Bearer TOKEN" in sentence
        assert "correlation id" in sentence


@pytest.mark.spec("O-01")
def test_the_owners_token_opens_every_method(
    channel: grpc.Channel, daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    something_to_show(api)
    work.end(api, work.submit(api, "so that the log holds an event"))
    for method in EVERY:
        code, _ = outcome(channel, method, methods.bearer(daemon.token))
        assert code in SERVED, method.name


def test_a_token_that_is_nearly_right_is_wrong(
    channel: grpc.Channel, daemon: running_daemon.RunningDaemon
) -> None:
    (status,) = [method for method in EVERY if method.name.endswith("Admin/Status")]
    for near in (daemon.token[:-1], daemon.token + "x", daemon.token.swapcase()):
        code, _ = outcome(channel, status, methods.bearer(near))
        assert code is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.spec("O-01")
def test_every_method_has_a_scope_and_every_scope_a_method() -> None:
    ours = {name for name in interceptors.SCOPES if name.startswith("/ducklm.v1.")}
    assert ours == {method.name for method in EVERY}
    assert NEEDS.keys() == {methods.short(method) for method in EVERY}


@pytest.fixture(scope="module")
def secrets(daemon: running_daemon.RunningDaemon) -> Iterator[dict[str, str]]:
    """A token with each scope alone, the owner's with all, and three that are none."""
    made: dict[str, admin_pb2.CreateTokenResponse] = {}
    with daemon.api() as api:
        for scope in admin_pb2.Token.Scope.values()[1:]:
            name = admin_pb2.Token.Scope.Name(scope)
            request = admin_pb2.CreateTokenRequest(name=f"{name.lower()}-alone", scopes=[scope])
            if scope == admin_pb2.Token.CHANNEL:
                request.platform, request.account = "telegram", "alone"
            made[name] = api.admin.CreateToken(request)
        everything = admin_pb2.Token.Scope.values()[1:]
        request = admin_pb2.CreateTokenRequest(
            name="revoked", scopes=everything, platform="telegram", account="alone"
        )
        revoked = api.admin.CreateToken(request)
        api.admin.RevokeToken(admin_pb2.RevokeTokenRequest(token_id=revoked.token.token_id))
        found = {name: each.secret for name, each in made.items()}
        yield found | {"OWNER": daemon.token, "REVOKED": revoked.secret, "WRONG": "0" * 43}
        for each in made.values():
            token_id = each.token.token_id
            api.admin.RevokeToken(admin_pb2.RevokeTokenRequest(token_id=token_id))


def expected(method: methods.Method, credential: str) -> tuple[grpc.StatusCode, ...]:
    if credential in ("NONE", "WRONG", "REVOKED"):
        return (grpc.StatusCode.UNAUTHENTICATED,)
    if credential == "OWNER":
        return SERVED
    if credential == NEEDS[methods.short(method)] and methods.short(method) not in OWNERS_ALONE:
        return SERVED
    return (grpc.StatusCode.PERMISSION_DENIED,)


def denial(method: methods.Method, credential: str) -> str:
    """What is said to who may not."""
    name = methods.short(method)
    if credential == NEEDS[name] and name in OWNERS_ALONE:
        return "Only the owner of this daemon may "
    return f"lacks the scope {NEEDS[name].lower()}."


@pytest.mark.acceptance(35)
@pytest.mark.spec("O-01")
def test_every_method_with_every_credential(
    channel: grpc.Channel, secrets: dict[str, str], api: running_daemon.Api, figures: Figures
) -> None:
    something_to_show(api)
    work.end(api, work.submit(api, "so that the log holds an event"))
    credentials = ["NONE", *secrets]
    wrong = []
    for method in EVERY:
        for credential in credentials:
            metadata = methods.bearer(secrets[credential]) if credential in secrets else ()
            code, sentence = outcome(channel, method, metadata)
            if code not in expected(method, credential):
                wrong.append((methods.short(method), credential, code))
            if code is grpc.StatusCode.PERMISSION_DENIED:
                assert denial(method, credential) in sentence
    assert wrong == []
    figures("methods x credentials", f"{len(EVERY)} x {len(credentials)}")
    figures("mismatches", len(wrong))


@pytest.mark.spec("O-02")
def test_health_is_open(channel: grpc.Channel) -> None:
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ("", "ducklm.v1.Tasks", "ducklm.v1.Admin"):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=methods.CALL_S)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


def test_reflection_needs_a_token(
    channel: grpc.Channel, daemon: running_daemon.RunningDaemon
) -> None:
    def services(metadata: running_daemon.Metadata) -> list[str]:
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(asked, timeout=methods.CALL_S, metadata=metadata)
        return [one.name for answer in call for one in answer.list_services_response.service]

    with pytest.raises(grpc.RpcError) as refused:
        services(())
    assert methods.fault(refused.value)[0] is grpc.StatusCode.UNAUTHENTICATED
    assert "ducklm.v1.Tasks" in services(methods.bearer(daemon.token))


def test_the_socket_and_the_token_are_the_owners_alone(
    daemon: running_daemon.RunningDaemon,
) -> None:
    assert daemon.socket.stat().st_mode & 0o777 == 0o600
    assert (daemon.state / "token").stat().st_mode & 0o777 == 0o600
    assert daemon.state.stat().st_mode & 0o077 == 0
    assert daemon.tcp.startswith("127.0.0.1:")


def test_no_token_stands_in_the_log(daemon: running_daemon.RunningDaemon) -> None:
    assert daemon.token not in daemon.log_text()
