"""The life of a token: made once, shown once, good for its scopes, and gone when it is revoked."""

import contextlib
import hashlib
import queue
import threading
import time
from collections.abc import Callable, Iterator

import grpc
import pytest

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.conftest import Figures
from tests.integration.rpc import methods, work

RUN, READ, APPROVE = admin_pb2.Token.RUN, admin_pb2.Token.READ, admin_pb2.Token.APPROVE
CHANNEL, ADMIN = admin_pb2.Token.CHANNEL, admin_pb2.Token.ADMIN
REVOKED_WITHIN_S = 5.0
Create = admin_pb2.CreateTokenRequest
Scopes = tuple["admin_pb2.Token.Scope.ValueType", ...]


def make(
    api: running_daemon.Api, name: str, *scopes: "admin_pb2.Token.Scope.ValueType"
) -> admin_pb2.CreateTokenResponse:
    request = Create(name=name, scopes=scopes)
    if CHANNEL in scopes:
        request.platform, request.account = "telegram", "home"
    return api.admin.CreateToken(request)


def revoke(api: running_daemon.Api, made: admin_pb2.CreateTokenResponse) -> admin_pb2.Token:
    return api.admin.RevokeToken(admin_pb2.RevokeTokenRequest(token_id=made.token.token_id))


@contextlib.contextmanager
def holding(daemon: running_daemon.RunningDaemon, secret: str) -> Iterator[running_daemon.Api]:
    with daemon.channel() as channel:
        yield running_daemon.Api(channel, secret)


def fault(send: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as refused:
        send()
    return methods.fault(refused.value)


def listed(api: running_daemon.Api, revoked: bool = False) -> dict[str, admin_pb2.Token]:
    request = admin_pb2.ListTokensRequest(revoked=revoked, page=common_pb2.Page(size=500))
    return {token.token_id: token for token in api.admin.ListTokens(request).tokens}


@pytest.mark.spec("O-01")
def test_a_token_is_good_for_its_scopes_until_it_is_revoked(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    made = make(api, "life", RUN, READ)
    assert (made.token.name, made.token.principal) == ("life", "token:life")
    assert list(made.token.scopes) == [RUN, READ]
    assert listed(api)[made.token.token_id] == made.token
    with holding(daemon, made.secret) as script:
        task_id = work.submit(script, "hello")
        assert work.end(script, task_id).principal == "token:life"
        code, sentence = fault(lambda: script.admin.ListTokens(admin_pb2.ListTokensRequest()))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "lacks the scope admin." in sentence
        ended = revoke(api, made)
        assert ended.HasField("revoked_at")
        code, _ = fault(lambda: script.admin.Status(work.STATUS))
        assert code is grpc.StatusCode.UNAUTHENTICATED
    assert made.token.token_id not in listed(api)
    assert listed(api, revoked=True)[made.token.token_id] == ended
    assert revoke(api, made) == ended


@pytest.mark.spec("O-01")
def test_a_token_that_may_run_may_not_approve(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    runner, approver = make(api, "runner", RUN, READ), make(api, "approver", APPROVE)
    with holding(daemon, runner.secret) as script, holding(daemon, approver.secret) as person:
        task_id = work.submit(script, "`env echo by a script`")
        approval_id = work.pending(script, task_id)
        code, sentence = fault(lambda: work.resolve(script, approval_id, approvals_pb2.ALLOW_ONCE))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "lacks the scope approve." in sentence
        resolved = work.resolve(person, approval_id, approvals_pb2.ALLOW_ONCE)
        assert (resolved.status, resolved.decided_by) == (approvals_pb2.ALLOWED, "token:approver")
        assert work.end(script, task_id).state == common_pb2.COMPLETED
        assert fault(lambda: work.submit(person, "x"))[0] is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.spec("O-01")
def test_the_secret_is_shown_once_and_kept_nowhere() -> None:
    with running_daemon.running(work.SCRIPT) as own, own.api() as api:
        request = Create(name="once", scopes=[RUN, READ], client_key="once")
        first = api.admin.CreateToken(request)
        again = api.admin.CreateToken(request)
        assert (again.token, again.secret) == (first.token, "")
        assert len(listed(api)) == 1
        with holding(own, first.secret) as script:
            work.end(script, work.submit(script, "hello"))
        assert own.stop() == 0
        kept = b"".join(path.read_bytes() for path in own.root.rglob("*") if path.is_file())
        assert first.secret.encode() not in kept
        assert hashlib.sha256(first.secret.encode()).hexdigest().encode() in kept


@pytest.mark.spec("L-05")
def test_a_key_is_for_one_request(api: running_daemon.Api) -> None:
    request = Create(name="keyed", scopes=[RUN], client_key="keyed")
    made = api.admin.CreateToken(request)
    request.scopes.append(READ)
    code, sentence = fault(lambda: api.admin.CreateToken(request))
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert sentence.startswith("This client_key was used for another request.")
    ending = admin_pb2.RevokeTokenRequest(token_id=made.token.token_id, client_key="end keyed")
    assert api.admin.RevokeToken(ending) == api.admin.RevokeToken(ending)


def test_a_name_is_one_valid_tokens(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    first = make(api, "name", RUN)
    code, sentence = fault(lambda: make(api, "name", RUN))
    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert "There is a token name already." in sentence
    key = tasks_pb2.SubmitRequest(text="one", client_key="k")
    with holding(daemon, first.secret) as script:
        old_task = script.tasks.Submit(key).task_id
    revoke(api, first)
    second = make(api, "name", RUN)
    assert second.token.token_id != first.token.token_id
    with holding(daemon, second.secret) as script:
        assert script.tasks.Submit(key).task_id != old_task  # keys are a token's, not a name's


@pytest.mark.spec("O-01")
def test_nobody_gives_away_what_they_lack(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api
) -> None:
    admin = make(api, "only-admin", ADMIN, RUN)
    with holding(daemon, admin.secret) as script:
        code, sentence = fault(lambda: make(script, "more", RUN, APPROVE))
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "lacks approve," in sentence
        made = make(script, "less", RUN)
        assert revoke(script, made).HasField("revoked_at")
        assert revoke(script, admin).HasField("revoked_at")  # its own; this call is still answered
        assert fault(lambda: make(script, "late", RUN))[0] is grpc.StatusCode.UNAUTHENTICATED


def origins(
    api: running_daemon.Api, approval_id: str, principal: str
) -> dict[str, Callable[[], str]]:
    """Every request that states a principal, and whose that says it was."""
    origin = common_pb2.Origin(principal=principal)

    def submit() -> str:
        request = tasks_pb2.SubmitRequest(text="hello", origin=origin)
        return work.task(api, api.tasks.Submit(request).task_id).principal

    def ask() -> str:
        request = tasks_pb2.SubmitRequest(text="hello", origin=origin)
        answer = api.tasks.Ask(tasks_pb2.AskRequest(submit=request))
        return work.task(api, answer.task_id).principal

    def chat() -> str:
        request = tasks_pb2.SubmitRequest(text="hello", origin=origin)
        updates = list(api.tasks.Chat(tasks_pb2.ChatRequest(submit=request)))
        return updates[0].event.task_submitted.origin.principal

    def create() -> str:
        request = conversations_pb2.CreateConversationRequest(origin=origin)
        return api.conversations.Create(request).principal

    def resolve() -> str:
        request = approvals_pb2.ResolveRequest(
            approval_id=approval_id, answer=approvals_pb2.DENY, origin=origin
        )
        return api.approvals.Resolve(request).decided_by

    return {"submit": submit, "ask": ask, "chat": chat, "create": create, "resolve": resolve}


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("stated", ["submit", "ask", "chat", "create", "resolve"])
def test_a_bot_speaks_for_the_people_of_its_platform_and_account_alone(
    daemon: running_daemon.RunningDaemon, api: running_daemon.Api, stated: str
) -> None:
    bot = make(api, f"bot-{stated}", RUN, READ, APPROVE, CHANNEL)
    plain = make(api, f"plain-{stated}", RUN, READ, APPROVE)
    assert bot.token.principal == "telegram:home:bot"
    person = channels_pb2.DecidePairingRequest(principal="telegram:home:42", allow=True)
    assert api.channels.DecidePairing(person).state == channels_pb2.Person.ALLOWED
    asked = tasks_pb2.SubmitRequest(text="`env echo asks`")
    asked.origin.principal = "telegram:home:42"
    approval_id = work.pending(api, api.tasks.Submit(asked).task_id)
    with holding(daemon, plain.secret) as script:
        code, sentence = fault(origins(script, approval_id, "telegram:home:42")[stated])
        assert code is grpc.StatusCode.PERMISSION_DENIED
        assert "Only a token with scope channel may" in sentence
    with holding(daemon, bot.secret) as script:
        for other in ("matrix:home:@a:b", "telegram:work:42", "token:ci:x", "local:owner:x"):
            code, sentence = fault(origins(script, approval_id, other)[stated])
            assert code is grpc.StatusCode.PERMISSION_DENIED, other
            assert "principals of telegram:home alone" in sentence
        code, _ = fault(origins(script, approval_id, "local:owner")[stated])
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert origins(script, approval_id, "telegram:home:42")[stated]() == "telegram:home:42"
        if stated != "resolve":
            assert origins(script, approval_id, "")[stated]() == "telegram:home:bot"


class Waiting:
    """A call that waits in a thread; how and when it ended."""

    def __init__(self, call: Callable[[Callable[[], None]], object]) -> None:
        self._begun = threading.Event()
        self._ended: queue.Queue[tuple[float, grpc.RpcError | None]] = queue.Queue()
        self._call = call
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._begun.wait(methods.CALL_S)

    def _run(self) -> None:
        try:
            self._call(self._begun.set)
            error = None
        except grpc.RpcError as raised:
            error = raised
        self._ended.put((time.monotonic(), error))

    @property
    def open(self) -> bool:
        return self._ended.empty()

    def end(self) -> tuple[float, grpc.StatusCode, str]:
        at, error = self._ended.get(timeout=methods.CALL_S)
        assert error is not None, "it ended without a fault"
        return (at, *methods.fault(error))


def subscribe(api: running_daemon.Api) -> Callable[[Callable[[], None]], object]:
    def call(begun: Callable[[], None]) -> None:
        stream = api.events.Subscribe(events_pb2.SubscribeRequest(from_now=True))
        stream.initial_metadata()
        begun()
        for _ in stream:
            pass

    return call


def chat(api: running_daemon.Api) -> Callable[[Callable[[], None]], object]:
    def call(begun: Callable[[], None]) -> None:
        submit = tasks_pb2.SubmitRequest(text="endless")
        for _ in api.tasks.Chat(tasks_pb2.ChatRequest(submit=submit)):
            begun()

    return call


def ask(
    api: running_daemon.Api, owner: running_daemon.Api
) -> Callable[[Callable[[], None]], object]:
    def call(begun: Callable[[], None]) -> None:
        submit = tasks_pb2.SubmitRequest(text="endless", client_key="ask")
        asked = tasks_pb2.AskRequest(submit=submit)
        with_key = threading.Thread(target=follow, args=(api, owner, submit, begun))
        with_key.start()
        api.tasks.Ask(asked)

    return call


def follow(
    api: running_daemon.Api,
    owner: running_daemon.Api,
    submit: tasks_pb2.SubmitRequest,
    begun: Callable[[], None],
) -> None:
    """Wait until the task of an Ask runs; the same key finds it."""
    work.reach(owner, api.tasks.Submit(submit).task_id, common_pb2.RUNNING)
    begun()


def put(api: running_daemon.Api) -> Callable[[Callable[[], None]], object]:
    def call(begun: Callable[[], None]) -> None:
        gone = threading.Event()

        def parts() -> Iterator[artifacts_pb2.PutArtifactRequest]:
            yield artifacts_pb2.PutArtifactRequest(data=b"first")
            begun()
            gone.wait(methods.CALL_S)

        try:
            api.artifacts.Put(parts())
        finally:
            gone.set()

    return call


@pytest.mark.acceptance(35)
@pytest.mark.spec("O-01")
def test_a_revoked_tokens_open_calls_end(figures: Figures) -> None:
    with running_daemon.running(work.SCRIPT) as daemon, daemon.api() as api:
        doomed, other = make(api, "doomed", RUN, READ), make(api, "other", READ)
        with holding(daemon, doomed.secret) as script, holding(daemon, other.secret) as bystander:
            calls = {
                "Subscribe": Waiting(subscribe(script)),
                "Chat": Waiting(chat(script)),
                "Ask": Waiting(ask(script, api)),
                "Put": Waiting(put(script)),
            }
            unharmed = Waiting(subscribe(bystander))
            assert all(call.open for call in calls.values())
            begun = time.monotonic()
            revoke(api, doomed)
            code, _ = fault(lambda: script.admin.Status(work.STATUS))
            assert code is grpc.StatusCode.UNAUTHENTICATED
            for name, call in calls.items():
                at, code, sentence = call.end()
                assert code is grpc.StatusCode.UNAUTHENTICATED, name
                assert "This call's token was revoked." in sentence
                assert at - begun < REVOKED_WITHIN_S, name
                figures(f"{name} ended after", f"{at - begun:.3f} s")
            assert unharmed.open
            revoke(api, other)
            assert unharmed.end()[1] is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.acceptance(35)
@pytest.mark.spec("O-01")
def test_what_was_made_and_what_was_revoked_outlive_the_daemon(figures: Figures) -> None:
    with running_daemon.running(work.SCRIPT) as daemon:
        with daemon.api() as api:
            live, gone = make(api, "live", READ), make(api, "gone", READ)
            revoke(api, gone)
        daemon.kill()
        daemon.start()
        with holding(daemon, live.secret) as script, holding(daemon, gone.secret) as dead:
            script.admin.Status(work.STATUS)
            code, _ = fault(lambda: dead.admin.Status(work.STATUS))
            assert code is grpc.StatusCode.UNAUTHENTICATED
    figures("after kill -9", "the live one serves, the revoked one does not")
