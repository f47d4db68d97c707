"""A password given by the API: whatever becomes of its run, no trace of it is left anywhere."""

import contextlib
import random
import string
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import grpc
import pytest
from google.protobuf import json_format, message

from daemon.runtime import failpoints
from proto.ducklm.v1 import approvals_pb2, common_pb2, events_pb2, tasks_pb2
from tests import running_daemon, spelled
from tests.conftest import Figures, Rounds
from tests.simulation import (
    client,
    crashing_daemon,
    daemon_process,
    elevating_daemon,
    script,
    stand_in,
)

_LETTERS = string.ascii_letters + string.digits + string.punctuation + " äöüßéλ中🦆"
_COMMAND = "`sudo id -u`"
_AROUND = (failpoints.before, failpoints.after)
_STATES = (common_pb2.COMPLETED, common_pb2.FAILED, common_pb2.AWAITING_DECISION)


@dataclass
class Office:
    """A daemon with a stand-in for sudo, its owner's calls, and what has been heard of it."""

    place: daemon_process.Place
    daemons: daemon_process.Daemons
    sudo: stand_in.Sudo
    chance: random.Random
    secrets: list[bytes] = field(default_factory=list)
    heard: list[message.Message] = field(default_factory=list)
    processes: set[int] = field(default_factory=set)
    hits: list[str] = field(default_factory=list)
    started: list[daemon_process.Daemon] = field(default_factory=list)

    def start(self, *options: str) -> daemon_process.Daemon:
        sudo = ("--sudo", str(self.sudo.program))
        daemon = self.daemons.start(*sudo, *options, module=elevating_daemon.MODULE)
        self.started.append(daemon)
        return daemon

    def password(self) -> bytes:
        """A new one, of 8 to 40 characters, that may hold anything."""
        count = self.chance.randint(8, 40)
        secret = "".join(self.chance.choice(_LETTERS) for _ in range(count)).encode()
        self.secrets.append(secret)
        return secret

    @contextlib.contextmanager
    def api(self) -> Iterator[running_daemon.Api]:
        """Every service of the daemon that runs."""
        socket = self.place.state / daemon_process.SOCKET_NAME
        token = (self.place.state / "token").read_text().strip()
        with grpc.insecure_channel(f"unix:{socket}") as channel:
            yield running_daemon.Api(channel, token, client.CALL_SECONDS)

    def ask_for_it(self, api: running_daemon.Api) -> str:
        """A task that waits for a password by now."""
        with self.following(api, api.tasks.Submit(tasks_pb2.SubmitRequest(text=_COMMAND))) as news:
            for update in news:
                if update.event.HasField("approval_requested"):
                    approval_id = update.event.approval_requested.approval_id
                    allowed = approvals_pb2.ResolveRequest(
                        approval_id=approval_id, answer=approvals_pb2.ALLOW_ONCE
                    )
                    self.heard.append(api.approvals.Resolve(allowed))
                if update.event.task_state_changed.to == common_pb2.AWAITING_SECRET:
                    return update.event.task_id
        raise AssertionError("it was not asked for a password")

    @contextlib.contextmanager
    def following(
        self, api: running_daemon.Api, submitted: tasks_pb2.SubmitResponse
    ) -> Generator[Iterator[events_pb2.Update]]:
        request = events_pb2.SubscribeRequest(
            after_seq=submitted.seq - 1, task_id=submitted.task_id
        )
        call = api.events.Subscribe(request)
        try:
            yield self._noting(call)
        finally:
            call.cancel()

    def _noting(self, updates: Iterator[events_pb2.Update]) -> Iterator[events_pb2.Update]:
        for update in updates:
            self.heard.append(update)
            yield update

    def provide(self, api: running_daemon.Api, task_id: str, secret: bytes) -> None:
        """Give it, and once more, as a client does that has heard no answer."""
        request = approvals_pb2.ProvideSecretRequest(
            task_id=task_id, secret=secret, client_key=f"password for {task_id}"
        )
        for _ in range(2):
            self.heard.append(api.approvals.ProvideSecret(request))

    def outcome(self, api: running_daemon.Api, task_id: str) -> common_pb2.TaskState.ValueType:
        """Where the task has come to rest."""
        submitted = tasks_pb2.SubmitResponse(task_id=task_id, seq=1)
        with self.following(api, submitted) as news:
            for update in news:
                if update.event.task_state_changed.to in _STATES:
                    return update.event.task_state_changed.to
        raise AssertionError("the task came to no end")

    def watching(self, daemon: daemon_process.Daemon) -> stand_in.Watch:
        return stand_in.Watch(daemon.process.pid, tuple(self.secrets))

    def note(self, watch: stand_in.Watch) -> None:
        self.processes |= watch.seen
        self.hits += watch.hits

    def ask_all(self, api: running_daemon.Api) -> None:
        """Everything that the daemon tells of its tasks."""
        self.heard.append(api.events.List(events_pb2.ListEventsRequest(limit=500)))
        tasks = api.tasks.List(tasks_pb2.ListTasksRequest(page=common_pb2.Page(size=500)))
        self.heard.append(tasks)
        for status in approvals_pb2.ApprovalStatus.values():
            listing = approvals_pb2.ListApprovalsRequest(status=status)
            self.heard.append(api.approvals.List(listing))

    def traces(self) -> list[str]:
        """Where any form of any password is, of all that can be seen afterwards."""
        logs = ["".join(daemon.log) for daemon in self.started]
        texts = {f"log {number}": log.encode() for number, log in enumerate(logs)}
        for number, one in enumerate(self.heard):
            texts[f"message {number}"] = one.SerializeToString()
            texts[f"message {number} as JSON"] = json_format.MessageToJson(one).encode()
        for path in self.place.root.rglob("*"):
            if path.is_file():
                texts[str(path)] = path.read_bytes()
        found = [
            f"{where}: {form[:4]!r}…"
            for secret in self.secrets
            for where, text in texts.items()
            for form in spelled.found(secret, text)
        ]
        return self.hits + found


@pytest.fixture
def office(
    place: daemon_process.Place, daemons: daemon_process.Daemons, seed: int
) -> Iterator[Office]:
    place.prepare([script.Line("Well.", repeat=True)])
    sudo = stand_in.Sudo(place.root / "bin")
    yield Office(place, daemons, sudo, random.Random(seed))
    sudo.close()


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> daemon_process.Place:
    """A daemon there logs all that it can."""
    return daemon_process.Place(tmp_path_factory.mktemp("d"), {"DUCKLM_LOG__LEVEL": "debug"})


def tell(office: Office, figures: Figures, way: str) -> None:
    """Look everywhere, and say what was found."""
    traces = office.traces()
    figures(f"{way}: passwords, processes seen", f"{len(office.secrets)}, {len(office.processes)}")
    figures(f"{way}: hits", len(traces))
    assert traces == []


@pytest.mark.acceptance(23)
@pytest.mark.timeout(240)
@pytest.mark.parametrize("right", [True, False], ids=["success", "failure"])
def test_a_password_that_sudo_took(
    office: Office, rounds: Rounds, figures: Figures, right: bool
) -> None:
    daemon = office.start()
    with office.api() as api:
        for _ in range(rounds(50)):
            task_id, secret = office.ask_for_it(api), office.password()
            office.sudo.expect(secret if right else b"another")
            with office.watching(daemon) as watch:
                office.provide(api, task_id, secret)
                office.sudo.await_held()
                watch.look()
                office.sudo.let_go()
                office.outcome(api, task_id)
            office.note(watch)
            assert len(watch.seen) > 1
            (ended,) = ended_calls(api, task_id)
            assert (ended.exit_code == 0) is right
        office.ask_all(api)
    assert "Password: [secret]" in str(office.heard)
    assert office.traces() == []  # while it runs
    daemon.kill()
    daemon = office.start()
    daemon.terminate()
    daemon.ended()
    tell(office, figures, "success" if right else "failure")


def ended_calls(api: running_daemon.Api, task_id: str) -> list[events_pb2.ToolCallEnded]:
    log = api.events.List(events_pb2.ListEventsRequest(task_id=task_id, limit=500)).events
    return [one.tool_call_ended for one in log if one.HasField("tool_call_ended")]


@pytest.mark.acceptance(23)
@pytest.mark.timeout(240)
def test_a_password_in_an_exception(office: Office, rounds: Rounds, figures: Figures) -> None:
    daemon = office.start("--breaks")
    with office.api() as api:
        for _ in range(rounds(50)):
            task_id, secret = office.ask_for_it(api), office.password()
            office.provide(api, task_id, secret)
            assert office.outcome(api, task_id) == common_pb2.AWAITING_DECISION
        office.ask_all(api)
    assert office.traces() == []
    daemon.kill()
    assert "tool_broke" in "".join(daemon.log)
    tell(office, figures, "exception")


@pytest.mark.acceptance(23)
@pytest.mark.timeout(240)
def test_a_password_when_the_daemon_is_killed(
    office: Office, rounds: Rounds, figures: Figures
) -> None:
    task_id = ""
    for _ in range(rounds(50)):
        daemon = office.start()
        with office.api() as api:
            task_id, secret = office.ask_for_it(api), office.password()
            office.sudo.expect(secret)
            with office.watching(daemon) as watch:
                office.provide(api, task_id, secret)
                office.sudo.await_held()
                watch.look()
                daemon.kill()
            office.note(watch)
    office.start()
    with office.api() as api:
        assert office.outcome(api, task_id) == common_pb2.AWAITING_DECISION
        office.ask_all(api)
    tell(office, figures, "kill -9")


_POINTS = (
    failpoints.BEFORE_COMMIT,
    failpoints.AFTER_COMMIT,
    *(at(kind) for kind in ("inspect_call", "call_tool") for at in _AROUND),
)


@pytest.mark.acceptance(23)
@pytest.mark.timeout(240)
def test_a_password_when_the_daemon_crashes_on_its_way(
    office: Office, rounds: Rounds, figures: Figures
) -> None:
    armed = office.place.root / "armed"
    for number in range(rounds(50)):
        point = _POINTS[number % len(_POINTS)]
        options = ("--point", point, "--armed", str(armed))
        daemon = office.start(*options)
        with office.api() as api:
            task_id, secret = office.ask_for_it(api), office.password()
            office.sudo.expect(secret)
            office.sudo.let_go()
            armed.touch()
            with office.watching(daemon) as watch:
                with contextlib.suppress(grpc.RpcError):
                    office.provide(api, task_id, secret)
                assert daemon.ended() == crashing_daemon.CRASHED
            office.note(watch)
            armed.unlink()
    office.start()
    with office.api() as api:
        office.ask_all(api)
    tell(office, figures, "crash on the way")
