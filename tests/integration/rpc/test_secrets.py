"""A secret on its way in: in the vault before anyone is told, and nowhere when it was refused."""

import asyncio
import contextlib
import dataclasses
import pathlib
import typing
from collections.abc import AsyncIterator, Callable, Iterator

import grpc
import pytest
import structlog.testing

from daemon.domain import decisions, errors, ids, inputs, principals, redaction, state, views
from daemon.rpc import backend
from daemon.runtime import bus, clock, contents, inbox, vault
from daemon.storage import in_memory
from proto.ducklm.v1 import approvals_pb2
from tests import running_daemon, spelled
from tests.integration.rpc import methods, served

pytestmark = pytest.mark.spec("D-15")
SECRET = b"correct-horse \xff\xfe\xc3\xa4"
TASK = ids.TaskId("task-1")
(PROVIDE,) = [one for one in methods.every() if one.name.endswith("Approvals/ProvideSecret")]
Answer = Callable[[], decisions.Reply]


def _raise(error: BaseException) -> decisions.Reply:
    raise error


KEPT = decisions.TaskKept(task_id=TASK)
FAULTS: dict[str, tuple[Answer, grpc.StatusCode]] = {
    "refused": (
        lambda: _raise(errors.Refusal(errors.RefusalKind.FORBIDDEN, "Not you.")),
        grpc.StatusCode.PERMISSION_DENIED,
    ),
    "not kept": (lambda: _raise(errors.StorageFull("full")), grpc.StatusCode.UNAVAILABLE),
    "a fault": (lambda: _raise(RuntimeError(SECRET)), grpc.StatusCode.INTERNAL),
    "given up": (lambda: _raise(asyncio.CancelledError()), grpc.StatusCode.UNAVAILABLE),
}


class Inbox(inbox.Inbox):
    """Answers as it is told to, and notes what was asked and what the vault held then."""

    def __init__(self, answer: Answer, secrets: vault.Vault) -> None:
        super().__init__(8)
        self._answer = answer
        self._secrets = secrets
        self.asked: list[tuple[inputs.RpcInput, bool]] = []

    async def ask(self, given: inputs.RpcInput) -> decisions.Reply:
        self.asked.append((given, self._secrets.holds(TASK)))
        return self._answer()


class Store(in_memory.InMemoryStore):
    """Knows one task, which waits for a secret or does not."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    async def task(self, task_id: ids.TaskId) -> views.TaskView | None:
        return views.TaskView(
            task_id=TASK,
            conversation_id=ids.ConversationId("conversation-1"),
            principal=principals.LOCAL_OWNER,
            state=state.TaskState.AWAITING_SECRET,
            reason="",
            text=ids.ContentId("content-1"),
            answer=None,
            created_ms=0,
            updated_ms=0,
            submitted_seq=1,
            secret=self._secret,
        )


@dataclasses.dataclass
class Desk:
    """A server whose inbox and store are a test's."""

    channel: grpc.aio.Channel
    box: Inbox
    secrets: vault.Vault
    redactor: redaction.Redactor
    logged: list[typing.MutableMapping[str, typing.Any]]

    async def provide(self, secret: bytes = SECRET, key: str = "") -> None:
        request = approvals_pb2.ProvideSecretRequest(task_id=TASK, secret=secret, client_key=key)
        await served.call(self.channel, PROVIDE, request)

    async def refused(self, secret: bytes = SECRET) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.provide(secret)
        return caught.value.code(), caught.value.details() or ""


@contextlib.asynccontextmanager
async def desk(answer: Answer, waits: str = "the password") -> AsyncIterator[Desk]:
    redactor = redaction.Redactor()
    secrets = vault.Vault(clock.SystemClock(), 60_000, redactor)
    box, store = Inbox(answer, secrets), Store(waits)
    backing = backend.Backend(
        box,
        store,
        store.artifacts,
        contents.Contents(store),
        bus.Bus(store, clock.SystemClock(), 0, 8),
        1024,
        secrets,
        tuple,
        lambda principal: False,
    )
    with structlog.testing.capture_logs() as logged, folder() as made:
        look = served.Look(made)
        async with served.serving(backing, served.two_tokens(), look) as channel:
            yield Desk(channel, box, secrets, redactor, logged)


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


async def test_the_vault_has_it_before_anyone_is_told() -> None:
    async with desk(lambda: KEPT) as at:
        await at.provide()
        assert [held for _, held in at.box.asked] == [True]
        with at.secrets.lent(TASK) as lent:
            assert lent is not None
            assert lent.take() == SECRET


@pytest.mark.parametrize("name", FAULTS)
async def test_what_was_not_taken_is_dropped(name: str) -> None:
    answer, code = FAULTS[name]
    async with desk(answer) as at:
        assert (await at.refused())[0] is code
        assert [held for _, held in at.box.asked] == [True]
        assert not at.secrets.holds(TASK)
        text = SECRET.decode("utf-8", "replace")
        assert at.redactor.redact(text) == text  # nothing remembers it to take it out


@pytest.mark.parametrize("name", FAULTS)
async def test_no_sentence_and_no_input_holds_it(name: str) -> None:
    answer, _ = FAULTS[name]
    async with desk(answer) as at:
        said = str(await at.refused())
        asked = repr(at.box.asked)
    for form in spelled.forms(SECRET):
        assert form not in said.encode()
        assert form not in asked.encode()
    if name != "a fault":  # there the store's own text, made up here, is in the trace
        assert not [form for form in spelled.forms(SECRET) if form in repr(at.logged).encode()]


@pytest.mark.parametrize(
    "secret", [b"", b"x" * 4097, b"horse\n", b"horse\0", b"ho\rrse"], ids=lambda s: repr(s[:9])
)
async def test_what_cannot_be_one_reaches_nobody(secret: bytes) -> None:
    async with desk(lambda: KEPT) as at:
        code, sentence = await at.refused(secret)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "horse" not in sentence
        assert at.box.asked == []
        assert not at.secrets.holds(TASK)


async def test_the_longest_is_taken() -> None:
    async with desk(lambda: KEPT) as at:
        await at.provide(b"\xff" * vault.SECRET_BYTES)
        assert at.secrets.holds(TASK)


async def test_where_nothing_waits_none_is_held() -> None:
    async with desk(lambda: KEPT, waits="") as at:
        await at.provide()
        assert [held for _, held in at.box.asked] == [False]
        assert not at.secrets.holds(TASK)


async def test_a_repetition_is_known_by_all_but_the_secret() -> None:
    async with desk(lambda: KEPT) as at:
        await at.provide(b"first", "key")
        await at.provide(b"second", "key")
        (first, _), (second, _) = at.box.asked
        assert first.client_key == second.client_key == "key"
        assert first.body_hash == second.body_hash != ""
