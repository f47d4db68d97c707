"""Plans, changes of a project, and what can be done about what was said, at a real terminal."""

import json
import pathlib
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import projects_pb2
from tests import running_daemon
from tests.e2e import terminal

PLAN = {
    "kind": "plan",
    "steps": [
        {
            "id": "look",
            "goal": "list the files",
            "kind": "tool",
            "tool": "shell_exec",
            "arguments": {"command": "ls"},
        },
        {"id": "say", "goal": "say how many", "kind": "respond", "after": ["look"]},
    ],
}
FINE = {"correctness": 9, "usefulness": 9, "safety": 9, "follows": "continue", "note": ""}
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "thinker", "match": "^plan", "reply": json.dumps(PLAN), "repeat": True},
    {"role": "critic", "reply": json.dumps(FINE), "repeat": True},
    {"role": "*", "reply": "There is none.", "repeat": True},
]
QUESTION = "or say why not: "


@pytest.fixture(scope="module")
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    with running_daemon.running(SCRIPT) as started:
        yield started


@pytest.fixture
def pond(daemon: running_daemon.RunningDaemon) -> pathlib.Path:
    """The folder of a project named ducks."""
    with daemon.api() as api:
        create = projects_pb2.CreateProjectRequest(name="ducks", client_key="ducks")
        return pathlib.Path(api.projects.Create(create).folder)


@pytest.fixture
def chat(daemon: running_daemon.RunningDaemon) -> Iterator[terminal.Person]:
    with terminal.person(daemon, "chat") as typing:
        typing.sees(terminal.PROMPT)
        yield typing


def says(chat: terminal.Person, line: str) -> str:
    """Type a line; what is shown until the next prompt."""
    chat.type(line + "\n")
    chat.sees(line + "\n")
    return chat.sees(terminal.PROMPT)


@pytest.mark.spec("D-09")
@pytest.mark.spec("K-08")
def test_a_plan_as_it_goes(chat: terminal.Person) -> None:
    shown = says(chat, "plan, please").splitlines()
    marks = [line for line in shown if line.strip()[:1] in ("·", "▸", "✓", "✗")]
    assert marks == [
        "  · list the files",
        "  · say how many (after look)",
        "▸ list the files",
        "✓ list the files",
        "▸ say how many",
        "✓ say how many",
    ]
    assert shown.count("There is none.") == 1
    assert "kind" not in "".join(shown)


@pytest.mark.spec("K-08")
@pytest.mark.spec("K-04")
def test_a_change_of_a_project_and_its_undo(chat: terminal.Person, pond: pathlib.Path) -> None:
    assert "project ducks" in says(chat, "/project ducks")
    chat.type("`echo quack > pond.txt`\n")
    chat.sees(QUESTION)
    chat.type("y\n")
    shown = chat.sees(terminal.PROMPT)
    assert "changed: pond.txt" in shown
    assert "+quack" in shown
    assert (pond / "pond.txt").read_text() == "quack\n"
    assert f"project {pond}" in says(chat, "/project")
    assert "+quack" in says(chat, "/diff")
    undone = says(chat, "/undo")
    assert "its changes of the project were taken back" in undone
    assert not (pond / "pond.txt").exists()
    assert "nothing to undo" in says(chat, "/undo")


@pytest.mark.spec("B-10")
@pytest.mark.spec("K-01")
@pytest.mark.spec("K-02")
def test_feedback_summary_and_export(chat: terminal.Person, tmp_path: pathlib.Path) -> None:
    says(chat, "are there ducks?")
    assert "Noted." in says(chat, "/feedback bad there are")
    assert "a summary stands for what was said so far" in says(chat, "/compact")
    path = tmp_path / "said.json"
    assert f"Written to {path}." in says(chat, f"/export {path}")
    (turn,) = json.loads(path.read_text())["turns"]
    assert [one["text"] for one in turn["entries"]] == ["are there ducks?", "There is none."]
    assert turn["good"] is False


def test_a_conversation_is_listed_shown_and_deleted(
    daemon: running_daemon.RunningDaemon, chat: terminal.Person
) -> None:
    says(chat, "delete me")
    assert chat.leaves() == 0
    listed = terminal.run(daemon, "conversations", "--limit", "1")
    conversation_id = listed.stdout.split("  ")[1]
    shown = terminal.run(daemon, "conversations", "show", conversation_id).stdout
    assert "meanwhile     queue" in shown
    deleted = terminal.run(daemon, "conversations", "delete", conversation_id, "--yes")
    assert (deleted.returncode, deleted.stderr) == (0, f"{conversation_id} is deleted.\n")
    gone = terminal.run(daemon, "conversations", "show", conversation_id)
    assert (gone.returncode, gone.stdout) == (2, "")
