"""A failing test is mended at a real terminal: by edits that are checked and shown, after a yes.

The model is scripted; the files, the edits, the test that runs and the undo are real.
"""

import json
import pathlib
from collections.abc import Iterator

import pytest

from proto.ducklm.v1 import projects_pb2
from tests import running_daemon
from tests.e2e import terminal

WISH = "fix the failing test in this folder"
WRONG = b"def add(a, b):\r\n    return a - b\r\n"
RIGHT = b"def add(a, b):\r\n    return a + b\r\n"
TEST = b"import adder\n\nassert adder.add(2, 3) == 5\nprint('the test passes')\n"
BLOCK = """adder.py
<<<<<<< SEARCH
    {before}
=======
    {after}
>>>>>>> REPLACE
"""
BROKEN = BLOCK.format(before="return a - b", after="return (a + b")
MENDED = BLOCK.format(before="return (a + b", after="return a + b")
RUN = "python3 -B test_adder.py"
ANSWER = "The test failed because add subtracted; now it passes."
FINE = {"correctness": 9, "usefulness": 9, "safety": 9, "follows": "continue", "note": ""}
AGAIN = {"correctness": 1, "usefulness": 1, "safety": 9, "follows": "retry", "note": "a fault"}
QUESTION = "or say why not: "


def step(name: str, goal: str, after: list[str], **more: object) -> dict[str, object]:
    return {"id": name, "goal": goal, "after": after, **more}


PLAN = {
    "kind": "plan",
    "steps": [
        step("mend", "make add add", [], kind="coder", arguments={"files": ["adder.py"]}),
        step(
            "test",
            "run the test",
            ["mend"],
            kind="tool",
            tool="shell_exec",
            arguments={"command": RUN},
        ),
        step("say", "say what was wrong", ["test"], kind="respond"),
    ],
}
SCRIPT: list[running_daemon.ScriptLine] = [
    {"role": "thinker", "match": "^fix", "reply": json.dumps(PLAN)},
    {"role": "coder", "reply": BROKEN},
    {"role": "coder", "reply": MENDED},
    {"role": "thinker", "match": "say what was wrong$", "reply": ANSWER},
    {"role": "critic", "match": "make add add$", "reply": json.dumps(AGAIN)},
    {"role": "critic", "reply": json.dumps(FINE), "repeat": True},
]


@pytest.fixture(scope="module")
def daemon() -> Iterator[running_daemon.RunningDaemon]:
    with running_daemon.running(SCRIPT) as started:
        yield started


@pytest.fixture
def sums(daemon: running_daemon.RunningDaemon) -> pathlib.Path:
    """A project with a test that fails, and with a repository of its owner's own."""
    with daemon.api() as api:
        create = projects_pb2.CreateProjectRequest(name="sums", client_key="sums")
        folder = pathlib.Path(api.projects.Create(create).folder)
    (folder / "adder.py").write_bytes(WRONG)
    (folder / "test_adder.py").write_bytes(TEST)
    git = folder / ".git"
    for part in ("objects", "refs/heads", "hooks"):
        (git / part).mkdir(parents=True)
    (git / "HEAD").write_bytes(b"ref: refs/heads/main\n")
    (git / "config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n")
    return folder


def files_of(folder: pathlib.Path) -> dict[str, tuple[bytes, int]]:
    """What is in a folder: each file's bytes and the time of its last change."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in found
    }


@pytest.mark.spec("D-11")
@pytest.mark.spec("K-08")
@pytest.mark.spec("K-04")
@pytest.mark.timeout(180)
def test_a_failing_test_is_mended_and_the_mending_undone(
    daemon: running_daemon.RunningDaemon, sums: pathlib.Path
) -> None:
    before = files_of(sums)
    with terminal.person(daemon, "chat") as chat:
        chat.sees(terminal.PROMPT)
        chat.type("/project sums\n")
        chat.sees(terminal.PROMPT)
        chat.type(f"{WISH}\n")
        check_edits(chat, sums)
        asked = chat.sees(QUESTION)
        assert "shell_exec wants to run" in asked
        assert RUN in asked.partition("shell_exec wants to run")[2]
        assert "the test passes" not in asked
        chat.type("y\n")
        shown = chat.sees(terminal.PROMPT)
        assert "the test passes" in shown
        assert ANSWER in shown
        assert (sums / "adder.py").read_bytes() == RIGHT
        chat.type("/undo\n")
        assert "its changes of the project were taken back" in chat.sees(terminal.PROMPT)
        assert chat.leaves() == 0
    after = files_of(sums)
    assert {name: data for name, (data, _) in after.items()} == {
        name: data for name, (data, _) in before.items()
    }
    of_owner = {name: kept for name, kept in before.items() if name.startswith(".git/")}
    assert len(of_owner) == 2
    assert {name: after[name] for name in of_owner} == of_owner


def check_edits(chat: terminal.Person, sums: pathlib.Path) -> None:
    """Each edit is shown and asked for; a wrong one is told by its syntax, and tried again."""
    shown = chat.sees(QUESTION)
    assert "apply_edits wants to run" in shown
    assert "+    return (a + b" in shown
    assert (sums / "adder.py").read_bytes() == WRONG
    chat.type("y\n")
    shown = chat.sees(QUESTION)
    assert "Wrong syntax: adder.py:2:12" in shown
    assert "try again" in shown
    assert "+    return a + b" in shown
    chat.type("y\n")
