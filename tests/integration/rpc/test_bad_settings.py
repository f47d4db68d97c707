"""Starts that must fail: the exit code says of what kind, and stderr names every fault.

And a model file that is none, which is no reason not to start.
"""

import contextlib
import dataclasses
import json
import pathlib
import socket
import subprocess
from collections.abc import Callable, Iterator

import pytest

from daemon import exits
from daemon.domain import errors
from daemon.rpc import credentials
from proto.ducklm.v1 import common_pb2, events_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import work

START_S = 60.0
Prepare = Callable[[running_daemon.RunningDaemon], None]


@pytest.fixture
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    """A daemon that is not started yet."""
    with running_daemon.folder() as root:
        made = running_daemon.RunningDaemon(root)
        made.script(work.SCRIPT)
        try:
            yield made
        finally:
            made.kill()


@dataclasses.dataclass(frozen=True)
class Refused:
    """How a start has failed."""

    code: int
    said: str


def refused(daemon: running_daemon.RunningDaemon, *options: str) -> Refused:
    """Start a daemon that ends by itself."""
    done = subprocess.run(
        daemon.command(*options),
        cwd=running_daemon.ROOT,
        env=daemon.environment(),
        capture_output=True,
        text=True,
        timeout=START_S,
        check=False,
    )
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return Refused(done.returncode, done.stderr)


def lines(said: str) -> list[str]:
    """What the daemon says, without the timestamps and notes of libraries."""
    return [line for line in said.splitlines() if line.startswith("ducklmd: ")]


@pytest.mark.spec("O-06")
def test_every_fault_of_every_file_is_told_at_once(daemon: running_daemon.RunningDaemon) -> None:
    daemon.settings(
        '[limits]\nrunning_tasks = "many"\ntask_rounds = 0\n[log]\nlevel = "loud"\n[x]\n'
    )
    daemon.models.write_text(
        'version = 1\n[slots.mine]\nkind = "gguf"\npath = "m.gguf"\nplaces = 0\n'
        '[roles]\nthinker = ["other"]\n',
        "utf-8",
    )
    end = refused(daemon)
    assert end.code == exits.Exit.SETTINGS
    toml = daemon.config / "daemon.toml"
    told = lines(end.said)
    for key in ("limits.running_tasks", "limits.task_rounds", "log.level", "x"):
        assert [line for line in told if line.startswith(f"ducklmd: {toml}: {key}: ")], key
    assert [line for line in told if f"{daemon.models}: slots.mine" in line]
    assert not (daemon.state / "ducklm.db").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version = 1\n[roles\n", "it is not valid TOML: "),
        ('version = 1\n[roles]\nthinker = ["mine"]\n', "roles.thinker: there is no slot mine"),
        ("\udcff\udcfe", "it cannot be read: "),
    ],
)
def test_a_broken_models_file(daemon: running_daemon.RunningDaemon, text: str, says: str) -> None:
    daemon.models.write_bytes(text.encode("utf-8", "surrogateescape"))
    end = refused(daemon)
    assert end.code == exits.Exit.SETTINGS
    assert [line for line in lines(end.said) if str(daemon.models) in line and says in line], end


def test_a_models_file_that_is_not_there(daemon: running_daemon.RunningDaemon) -> None:
    missing = daemon.root / "none.toml"
    end = refused(daemon, "--models", str(missing), "--listen", "unix")
    assert end.code == exits.Exit.SETTINGS
    assert lines(end.said) == [f"ducklmd: {missing}: there is no such file"]


def test_a_script_with_faults_is_told_line_by_line(daemon: running_daemon.RunningDaemon) -> None:
    script = daemon.config / "replies.jsonl"
    script.write_text(
        '{"role": "*", "reply": "fine"}\n'
        '{"role": "singer", "reply": 1}\n'
        "no JSON\n"
        '{"role": "*", "reply": "x", "match": "(", "more": 1}\n',
        "utf-8",
    )
    end = refused(daemon)
    assert end.code == exits.Exit.SETTINGS
    told = lines(end.said)
    assert f"ducklmd: {script}:2: reply must be a text" in told
    assert [line for line in told if line.startswith(f"ducklmd: {script}:2: role must be one of")]
    assert [line for line in told if line.startswith(f"ducklmd: {script}:3: not JSON")]
    assert f"ducklmd: {script}:4: unknown key 'more'" in told
    assert len(told) == 5


def test_a_script_that_is_not_there(daemon: running_daemon.RunningDaemon) -> None:
    (daemon.config / "replies.jsonl").unlink()
    end = refused(daemon)
    assert end.code == exits.Exit.SETTINGS
    assert "replies.jsonl: cannot be read" in end.said


ADDRESSES = {
    "0.0.0.0:0": "0.0.0.0:0 is not a loopback address",
    "[::]:0": "[::]:0 is not a loopback address",
    "192.0.2.1:7411": "192.0.2.1:7411 is not a loopback address",
    "example.org:7411": "example.org:7411 is not a loopback address",
    ":7411": ":7411 is not a loopback address",
    "127.0.0.1": "127.0.0.1 is no address",
    "127.0.0.1:x": "127.0.0.1:x is no address",
    "127.0.0.1:70000": "127.0.0.1:70000 is no address",
    "unix:/tmp/" + "d" * 103: "has more than 107 bytes",
    "unix:": "unix: is no address",
    "unix:relative.sock": "unix:relative.sock is no address",
}


@pytest.mark.spec("O-01")
def test_addresses_that_are_none_of_ours(daemon: running_daemon.RunningDaemon) -> None:
    end = refused(daemon, *(part for one in ADDRESSES for part in ("--listen", one)))
    assert end.code == exits.Exit.SETTINGS
    for told, says in zip(lines(end.said), ADDRESSES.values(), strict=True):
        assert says in told
    assert not (daemon.state / "listening").exists()


def test_a_socket_without_its_folder(daemon: running_daemon.RunningDaemon) -> None:
    end = refused(daemon, "--listen", "unix:/no/such/folder/d.sock")
    assert end.code == exits.Exit.SETTINGS
    assert "unix:/no/such/folder/d.sock cannot be listened on" in end.said


def test_an_address_that_another_holds(daemon: running_daemon.RunningDaemon) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        end = refused(daemon, "--listen", address)
    assert end.code == exits.Exit.SETTINGS
    assert f"ducklmd: {address} cannot be listened on" in end.said
    daemon.start()
    with daemon.api() as api:
        assert work.end(api, work.submit(api, "now it can")).answer == "Paris."


def test_a_socket_that_another_daemon_holds(daemon: running_daemon.RunningDaemon) -> None:
    daemon.start()
    with running_daemon.folder() as root:
        end = refused(running_daemon.RunningDaemon(root), "--listen", f"unix:{daemon.socket}")
    assert end.code == exits.Exit.SETTINGS
    assert f"ducklmd: unix:{daemon.socket} cannot be listened on" in end.said
    with daemon.api() as api:
        assert work.end(api, work.submit(api, "undisturbed")).answer == "Paris."


def test_a_state_folder_that_cannot_be_written(daemon: running_daemon.RunningDaemon) -> None:
    (daemon.root / "a-file").write_text("", "utf-8")
    for place in ("/proc/ducklm", str(daemon.root / "a-file"), str(daemon.root / "a-file/state")):
        end = refused(daemon, "--state", place, "--listen", "unix")
        assert end.code == exits.Exit.STATE
        assert f"ducklmd: The state folder {place} cannot be used" in end.said


def _open_to_others(token: pathlib.Path) -> None:
    token.write_text("t" * 43 + "\n", "utf-8")
    token.chmod(0o644)


def _no_text(token: pathlib.Path) -> None:
    token.write_bytes(b"\xff\xfe\x00")
    token.chmod(0o600)


def _empty(token: pathlib.Path) -> None:
    token.write_text("\n", "utf-8")
    token.chmod(0o600)


def _folder(token: pathlib.Path) -> None:
    token.mkdir(0o700)


@pytest.mark.spec("O-01")
@pytest.mark.parametrize("spoil", [_open_to_others, _no_text, _empty, _folder])
def test_a_token_file_that_cannot_be_trusted(
    daemon: running_daemon.RunningDaemon, spoil: Callable[[pathlib.Path], None]
) -> None:
    token = daemon.root / "token"
    spoil(token)
    with pytest.raises(errors.StorageClosed) as caught:
        credentials.owner_token(daemon.root)
    assert str(token) in str(caught.value)
    assert "t" * 43 not in str(caught.value)


@pytest.mark.spec("O-01")
def test_a_token_that_others_can_read_keeps_the_daemon_down(
    daemon: running_daemon.RunningDaemon,
) -> None:
    daemon.state.mkdir(0o700)
    _open_to_others(daemon.state / "token")
    end = refused(daemon)
    assert end.code == exits.Exit.STATE
    token = daemon.state / "token"
    said = f"ducklmd: {token} can be read by others. Run: chmod 600 {token}"
    assert lines(end.said) == [said]


def test_a_second_daemon_on_the_same_state(daemon: running_daemon.RunningDaemon) -> None:
    daemon.start()
    end = refused(daemon)
    assert end.code == exits.Exit.STATE
    assert f"is in use by another daemon (process {daemon.pid})" in end.said
    with daemon.api() as api:
        assert work.end(api, work.submit(api, "the first goes on")).answer == "Paris."


def _model(daemon: running_daemon.RunningDaemon, path: pathlib.Path) -> None:
    slot = f'[slots.broken]\nkind = "gguf"\npath = {json.dumps(str(path))}\n'
    daemon.models.write_text(f'version = 1\n{slot}[roles]\nthinker = ["broken"]\n', "utf-8")


@pytest.mark.spec("L-02")
@pytest.mark.parametrize("content", [None, b"GGUF\x03\x00\x00\x00junk"])
def test_a_model_file_that_is_none_costs_no_more_than_its_task(
    daemon: running_daemon.RunningDaemon, content: bytes | None
) -> None:
    path = daemon.root / "no-model.gguf"
    if content is not None:
        path.write_bytes(content)
    _model(daemon, path)
    daemon.start()
    with daemon.api() as api:
        ask = tasks_pb2.AskRequest(submit=tasks_pb2.SubmitRequest(text="nobody can answer"))
        answer = api.tasks.Ask(ask)
        assert answer.state == common_pb2.MODEL_UNAVAILABLE
        assert str(path) in answer.reason
        head_seq = api.events.List(events_pb2.ListEventsRequest(limit=1)).head_seq
        retry = tasks_pb2.DecideRequest(task_id=answer.task_id, decision=tasks_pb2.RETRY)
        api.tasks.Decide(retry)
        again = events_pb2.SubscribeRequest(after_seq=head_seq, task_id=answer.task_id)
        states = (work.state_of(update) for update in work.updates(api, again))
        assert common_pb2.MODEL_UNAVAILABLE in states
        abandon = tasks_pb2.DecideRequest(task_id=answer.task_id, decision=tasks_pb2.ABANDON)
        assert api.tasks.Decide(abandon).state == common_pb2.FAILED
        assert api.admin.Status(work.STATUS).tasks_waiting == 0
        approval_id = work.pending(api, work.submit(api, "`env echo tools need no model`"))
        assert approval_id
