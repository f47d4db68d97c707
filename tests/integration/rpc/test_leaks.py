"""A secret in an exception, behind any method: it reaches neither the caller nor the log.

`test_faults` says what a caller is told; here the log is the real one, and its lines are read.
"""

import dataclasses
import io
import json
import pathlib
from collections.abc import Iterator

import grpc
import pytest
import structlog

from daemon import logs
from daemon.domain import decisions, ids, inputs, principals, redaction, state, views
from daemon.rpc import backend
from daemon.runtime import bus, clock, contents, inbox, vault
from daemon.storage import in_memory
from proto.ducklm.v1 import approvals_pb2
from tests import running_daemon, spelled
from tests.conftest import Figures
from tests.integration.rpc import methods, served, test_faults

SECRET = 'c0rrect "horse"\'s bättery 🦆/+?'.encode()
TEXT = SECRET.decode()
PASSWORD = b"staple & h\xc3\xa4mmer"
TASK = ids.TaskId("task-1")


def spelled_out(secret: bytes) -> RuntimeError:
    """An exception that says a secret in every way, and so does its cause."""
    said = [form.decode("utf-8", "replace") for form in spelled.forms(secret)]
    error = RuntimeError(secret, *said)
    error.__cause__ = KeyError(secret.decode())
    error.add_note(f"It was {secret.decode()}.")
    return error


@dataclasses.dataclass
class Log:
    """A real log, at its most talkative."""

    redactor: redaction.Redactor
    stream: io.StringIO

    def text(self) -> str:
        return self.stream.getvalue()

    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.text().splitlines()]


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log(redaction.Redactor((TEXT,)), io.StringIO())
    logs.set_up("debug", made.redactor, made.stream)
    settings = {**structlog.get_config(), "cache_logger_on_first_use": False}
    structlog.configure(**settings)  # the modules' own loggers are not to remember this stream
    yield made
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def folder() -> Iterator[pathlib.Path]:
    with running_daemon.folder() as made:
        yield made


@pytest.mark.acceptance(24)
async def test_behind_every_method(log: Log, folder: pathlib.Path, figures: Figures) -> None:
    seen: set[str] = set()
    async for method, said in test_faults.outcomes(lambda: spelled_out(SECRET), folder):
        assert said.code is grpc.StatusCode.INTERNAL, method.name
        assert spelled.found(SECRET, said.everything().encode()) == [], method.name
        line = log.lines()[-1]
        assert (line["event"], line["method"]) == ("call_broke", method.name)
        assert "RuntimeError" in str(line["exception"])
        assert line["correlation_id"] == said.metadata["x-correlation-id"]
        seen.add(str(line["correlation_id"]))
    assert spelled.found(SECRET, log.text().encode()) == []
    assert len(seen) == len(methods.every())
    figures("methods that raised", len(seen))
    figures("leaks to clients and log", 0)


class _Waiting(in_memory.InMemoryStore):
    """Knows a task that waits for a password."""

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
            secret="the password",
        )


class _Inbox(inbox.Inbox):
    """Raises what it should not know: the secret that is just being given."""

    async def ask(self, given: inputs.RpcInput) -> decisions.Reply:
        raise spelled_out(PASSWORD)


@pytest.mark.acceptance(24)
async def test_behind_the_method_that_takes_a_password(log: Log, folder: pathlib.Path) -> None:
    """It is known to the log for as long as the call lasts, and forgotten with it."""
    store = _Waiting()
    secrets = vault.Vault(clock.SystemClock(), 60_000, log.redactor)
    backing = backend.Backend(
        _Inbox(8),
        store,
        store.artifacts,
        contents.Contents(store),
        bus.Bus(store, clock.SystemClock(), 0, 8),
        1024,
        secrets,
        tuple,
        lambda principal: False,
    )
    (method,) = [one for one in methods.every() if one.name.endswith("/ProvideSecret")]
    request = approvals_pb2.ProvideSecretRequest(task_id=TASK, secret=PASSWORD)
    async with served.serving(backing, served.two_tokens(), served.Look(folder)) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await served.call(channel, method, request)
    said = f"{caught.value.details()} {caught.value.trailing_metadata()}"
    assert spelled.found(PASSWORD, said.encode()) == []
    assert spelled.found(PASSWORD, log.text().encode()) == []
    assert log.lines()[-1]["event"] == "call_broke"
    assert not secrets.holds(TASK)
    assert PASSWORD.decode() in log.redactor.redact(PASSWORD.decode())
