"""What was allowed, denied, granted and tainted before a stop is so after it; nothing else runs.

Each stop is a kill -9 or a drain, as chance has it.
"""

import contextlib
import json
import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from daemon.domain import decisions
from daemon.runtime import failpoints
from proto.ducklm.v1 import (
    approvals_pb2,
    common_pb2,
    conversations_pb2,
    events_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests import running_daemon
from tests.conftest import Figures, Rounds
from tests.simulation import client, crashing_daemon, daemon_process, script

_ENDED = (common_pb2.COMPLETED, common_pb2.FAILED)
_RESTING = (*_ENDED, common_pb2.AWAITING_APPROVAL, common_pb2.AWAITING_DECISION)
_RULES = 'version = 1\n[paths]\nnot_secret = ["*.pub", ".env.example", "{}"]\n'


@dataclass
class Owner:
    """Speaks to one daemon after the other on the same state."""

    place: daemon_process.Place
    daemons: daemon_process.Daemons
    chance: random.Random
    stops: list[str] = field(default_factory=list)
    _open: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def start(self, *options: str) -> None:
        module = crashing_daemon.__name__ if options else "daemon"
        self.daemon = self.daemons.start(*options, module=module)
        socket = self.place.state / daemon_process.SOCKET_NAME
        token = (self.place.state / "token").read_text().strip()
        alone = (("grpc.use_local_subchannel_pool", 1),)
        channel = self._open.enter_context(grpc.insecure_channel(f"unix:{socket}", alone))
        self.api = running_daemon.Api(channel, token, client.CALL_SECONDS)

    def hang_up(self) -> None:
        self._open.close()

    def restart(self) -> None:
        """A stop of either kind, and a start."""
        self.stop()
        self.start()

    def stop(self) -> None:
        self.hang_up()
        self.stops.append(self.chance.choice(("kill", "drain")))
        if self.stops[-1] == "kill":
            self.daemon.kill()
        else:
            self.daemon.terminate()
            self.daemon.ended()

    def ask(self, file: Path, conversation_id: str = "", forwarded: str = "") -> str:
        """Ask for a command that makes a file; returns the task once it rests."""
        origin = common_pb2.Origin(forwarded=bool(forwarded), message_id=forwarded)
        request = tasks_pb2.SubmitRequest(
            text=f"`touch {file.name}`", conversation_id=conversation_id, origin=origin
        )
        submitted = self.api.tasks.Submit(request)
        self.rest(submitted.task_id)
        return str(submitted.task_id)

    def rest(self, task_id: str, states: tuple[int, ...] = _RESTING) -> tasks_pb2.Task:
        """The task, once nothing of it goes on."""
        for update in self.news(task_id):
            if update.event.task_state_changed.to in states:
                task: tasks_pb2.Task = self.api.tasks.Get(tasks_pb2.GetTaskRequest(task_id=task_id))
                if task.state in states:
                    return task
        raise AssertionError(f"{task_id} does not come to rest")

    def news(self, task_id: str) -> Generator[events_pb2.Update]:
        """What has become and becomes of a task."""
        call = self.api.events.Subscribe(
            events_pb2.SubscribeRequest(task_id=task_id, events_only=True)
        )
        try:
            yield from call
        finally:
            call.cancel()

    def approval(self, task_id: str) -> approvals_pb2.Approval:
        """The one that a task waits for."""
        (approval_id,) = self.rest(task_id).approval_ids
        request = approvals_pb2.GetApprovalRequest(approval_id=approval_id)
        found: approvals_pb2.Approval = self.api.approvals.Get(request)
        return found

    def press(
        self, approval_id: str, answer: approvals_pb2.Answer.ValueType, reason: str = ""
    ) -> approvals_pb2.Approval:
        pressed: approvals_pb2.Approval = self.api.approvals.Resolve(
            approvals_pb2.ResolveRequest(approval_id=approval_id, answer=answer, reason=reason)
        )
        return pressed

    def answer(
        self, task_id: str, answer: approvals_pb2.Answer.ValueType
    ) -> tuple[approvals_pb2.Approval, tasks_pb2.Task]:
        """Press a button, and wait until the task has ended."""
        pressed = self.press(self.approval(task_id).approval_id, answer)
        return pressed, self.rest(task_id, _ENDED)

    def conversation(self, mode: common_pb2.Mode.ValueType) -> str:
        """A new conversation in a mode that it is given, or changed to."""
        began = self.chance.choice((mode, common_pb2.BUILD))
        made = self.api.conversations.Create(
            conversations_pb2.CreateConversationRequest(mode=began)
        )
        if began != mode:
            self.api.conversations.Update(
                conversations_pb2.UpdateConversationRequest(
                    conversation_id=made.conversation_id, mode=mode
                )
            )
        return str(made.conversation_id)

    def grants(self) -> list[approvals_pb2.Grant]:
        return list(self.api.approvals.ListGrants(approvals_pb2.ListGrantsRequest()).grants)

    def kinds(self, task_id: str) -> list[str]:
        """The kinds of a task's events, in order."""
        request = events_pb2.ListEventsRequest(task_id=task_id, limit=500)
        return [str(one.WhichOneof("kind")) for one in self.api.events.List(request).events]

    def set_rules(self, name: str) -> None:
        """Other rules, which say the same of every command here."""
        path = self.place.root / "config" / "ducklm" / "permissions.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_RULES.format(name))

    def file(self, name: str) -> Path:
        """A file where tools work."""
        return self.place.outside / name


@pytest.fixture
def owner(
    place: daemon_process.Place, daemons: daemon_process.Daemons, seed: int
) -> Iterator[Owner]:
    place.prepare([script.Line("Well.", repeat=True)])
    speaking = Owner(place, daemons, random.Random(seed))
    yield speaking
    speaking.hang_up()


def tell(figures: Figures, owner: Owner, what: str) -> None:
    stops = f"{owner.stops.count('kill')} kills, {owner.stops.count('drain')} drains"
    figures(what, f"0 wrong after {stops}")


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_modes(owner: Owner, rounds: Rounds, figures: Figures) -> None:
    expected = {
        common_pb2.PLAN: common_pb2.FAILED,
        common_pb2.BUILD: common_pb2.AWAITING_APPROVAL,
        common_pb2.YOLO: common_pb2.COMPLETED,
    }
    owner.start()
    for number in range(rounds(20)):
        made = {mode: owner.conversation(mode) for mode in expected}
        owner.restart()
        for mode, conversation_id in made.items():
            request = conversations_pb2.GetConversationRequest(conversation_id=conversation_id)
            assert owner.api.conversations.Get(request).mode == mode
            file = owner.file(f"mode-{mode}-{number}")
            task = owner.rest(owner.ask(file, conversation_id))
            assert task.state == expected[mode]
            assert file.exists() == (task.state == common_pb2.COMPLETED)
    tell(figures, owner, "modes")


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_taint(owner: Owner, rounds: Rounds, figures: Figures) -> None:
    """Of a task that waits, of a project, and that a project is trusted again."""
    owner.start()
    for number in range(rounds(20) // 2):
        yolo = owner.conversation(common_pb2.YOLO)
        source = f"message-{number}"
        waiting = owner.ask(owner.file(f"foreign-{number}"), yolo, forwarded=source)
        shown = owner.approval(waiting)
        assert source in shown.reasons[-1]
        owner.restart()
        assert owner.approval(waiting) == shown
        assert owner.answer(waiting, approvals_pb2.ALLOW_ONCE)[1].state == common_pb2.COMPLETED
        owner.restart()
        asked = owner.ask(owner.file(f"own-{number}"), yolo)
        assert source in owner.approval(asked).reasons[-1]
        assert not owner.file(f"own-{number}").exists()
        owner.answer(asked, approvals_pb2.DENY)
        folder = str(owner.place.outside.resolve())
        owner.api.projects.Trust(projects_pb2.TrustRequest(folder=folder))
        owner.restart()
        unasked = owner.ask(owner.file(f"own-{number}"), yolo)
        assert owner.rest(unasked).state == common_pb2.COMPLETED
    tell(figures, owner, "taint")


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_grants(owner: Owner, rounds: Rounds, figures: Figures) -> None:
    """Live ones with the uses that are left, and revoked ones."""
    owner.start()
    for number in range(rounds(20) // 2):
        granted, other = owner.file(f"granted-{number}"), owner.file(f"other-{number}")
        pressed, _ = owner.answer(owner.ask(granted), approvals_pb2.ALLOW_ALWAYS)
        (before,) = owner.grants()
        for used in range(1, 3):
            owner.restart()
            assert owner.grants() == [before]
            granted.unlink()
            assert owner.rest(owner.ask(granted)).state == common_pb2.COMPLETED
            assert granted.exists()
            (after,) = owner.grants()
            assert (after.grant_id, after.uses_left) == (pressed.grant_id, before.uses_left - 1)
            before = after
            assert owner.rest(owner.ask(other)).state == common_pb2.AWAITING_APPROVAL, used
        owner.api.approvals.RevokeGrant(approvals_pb2.RevokeGrantRequest(grant_id=pressed.grant_id))
        owner.restart()
        assert owner.grants() == []
        granted.unlink()
        assert owner.rest(owner.ask(granted)).state == common_pb2.AWAITING_APPROVAL
        assert not granted.exists()
    tell(figures, owner, "grants")


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_a_grant_ends_with_its_last_use(
    place: daemon_process.Place, daemons: daemon_process.Daemons, seed: int
) -> None:
    uses = 2
    bounded = daemon_process.Place(place.root, {"DUCKLM_LIMITS__GRANT_USES": str(uses)})
    bounded.prepare([script.Line("Well.", repeat=True)])
    owner = Owner(bounded, daemon_process.Daemons(bounded), random.Random(seed))
    with contextlib.closing(owner.daemons), contextlib.ExitStack() as ending:
        ending.callback(owner.hang_up)
        owner.start()
        file = owner.file("granted")
        owner.answer(owner.ask(file), approvals_pb2.ALLOW_ALWAYS)
        for _ in range(uses):
            owner.restart()
            assert owner.rest(owner.ask(file)).state == common_pb2.COMPLETED
        owner.restart()
        assert owner.grants() == []
        assert owner.rest(owner.ask(file)).state == common_pb2.AWAITING_APPROVAL


def denied_lines(file: Path, chunk_ms: int) -> list[script.Line]:
    """A thinker that wants the same command again, whatever it is told."""
    arguments = {"command": f"touch {file.name}"}
    directive = {"kind": "tool", "tool": "shell_exec", "arguments": arguments}
    wants, again = json.dumps(directive), json.dumps(directive, indent=1)
    return [
        script.Line(wants, match="^Do it"),
        script.Line(again, match="did not allow", chunk_ms=chunk_ms),
        script.Line("Then not.", match="Refused"),
    ]


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_a_denied_call_never_runs(owner: Owner, rounds: Rounds, figures: Figures) -> None:
    file = owner.file("denied")
    for number in range(rounds(20)):
        owner.place.rewrite(denied_lines(file, chunk_ms=500))
        owner.start()
        submitted = owner.api.tasks.Submit(tasks_pb2.SubmitRequest(text=f"Do it, {number}."))
        task_id = submitted.task_id
        approval_id = owner.approval(task_id).approval_id
        owner.press(approval_id, approvals_pb2.DENY, reason="Not this one.")
        with contextlib.closing(owner.news(task_id)) as news:
            calls = (one for one in news if one.event.HasField("model_call_started"))
            for _ in range(2):  # the second one is under way
                next(calls)
        owner.place.rewrite(denied_lines(file, chunk_ms=0))
        owner.restart()
        assert owner.rest(task_id, _ENDED).answer == "Then not."
        with pytest.raises(grpc.RpcError) as refused:
            owner.press(approval_id, approvals_pb2.ALLOW_ONCE)
        assert client.code_of(refused.value) is grpc.StatusCode.FAILED_PRECONDITION
        kinds = owner.kinds(task_id)
        assert kinds.count("approval_requested") == 1
        assert kinds.count("tool_call_proposed") == 2
        assert "tool_call_started" not in kinds
        assert not file.exists()
        owner.stop()
    tell(figures, owner, "denied")


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_an_answer_to_one_runs_nothing_of_another(
    owner: Owner, rounds: Rounds, figures: Figures
) -> None:
    owner.start()
    for number in range(rounds(20) // 2):
        files = [owner.file(f"{name}-{number}") for name in "ab"]
        tasks = [owner.ask(file) for file in files]
        shown = [owner.approval(task_id) for task_id in tasks]
        owner.restart()
        assert owner.answer(tasks[1], approvals_pb2.ALLOW_ONCE)[1].state == common_pb2.COMPLETED
        owner.restart()
        assert owner.approval(tasks[0]) == shown[0]
        assert [file.exists() for file in files] == [False, True]
        assert "tool_call_started" not in owner.kinds(tasks[0])
        assert owner.answer(tasks[0], approvals_pb2.DENY)[1].state == common_pb2.FAILED
    tell(figures, owner, "approving B while A waits")


_NO_LONGER = "Refused: what would run has changed since it was allowed."


@pytest.mark.acceptance(11)
@pytest.mark.timeout(240)
def test_other_rules_void_what_was_allowed(owner: Owner, rounds: Rounds, figures: Figures) -> None:
    """Before the answer, between the answer and the run, and for what is allowed always."""
    owner.start()
    for number in range(rounds(20) // 2):
        file, always = owner.file(f"file-{number}"), owner.file(f"always-{number}")
        owner.answer(owner.ask(always), approvals_pb2.ALLOW_ALWAYS)
        always.unlink()
        waiting = owner.ask(file)
        owner.stop()
        owner.set_rules(f"one-{number}")
        owner.start()
        owner.answer(waiting, approvals_pb2.ALLOW_ONCE)
        assert owner.rest(waiting, _ENDED).answer == _NO_LONGER
        allowed = allow_and_crash(owner, file)
        owner.set_rules(f"two-{number}")
        owner.start()
        assert owner.rest(allowed, _ENDED).answer == _NO_LONGER
        assert owner.rest(owner.ask(always)).state == common_pb2.AWAITING_APPROVAL
        for task_id in (waiting, allowed):
            assert "tool_call_started" not in owner.kinds(task_id)
        assert not file.exists()
        assert not always.exists()
    tell(figures, owner, "other rules")


def allow_and_crash(owner: Owner, file: Path) -> str:
    """A task whose command is allowed and has not been looked at again when the daemon dies."""
    owner.stop()
    armed = owner.place.root / "armed"
    point = failpoints.before(decisions.InspectCall.kind)
    owner.start("--point", point, "--armed", str(armed))
    task_id = owner.ask(file)
    armed.touch()
    with contextlib.suppress(grpc.RpcError):  # it dies before or after it has answered
        owner.press(owner.approval(task_id).approval_id, approvals_pb2.ALLOW_ONCE)
    assert owner.daemon.ended() == crashing_daemon.CRASHED
    armed.unlink()
    owner.hang_up()
    return task_id
