"""A run is printed from its log, whatever state the store is in, and nothing is touched."""

import shutil
from pathlib import Path

import pytest

from daemon.domain import decisions, messages
from daemon.storage import sqlite_store
from scripts import replay
from tests.unit.decide import moves, scenes

pytestmark = [pytest.mark.spec("D-05"), pytest.mark.timeout(60)]

LONG = "word " * 100
RUN = [
    moves.submit("hi"),
    moves.later(1),
    moves.gathered(),
    moves.later(2),
    moves.faults(messages.ModelFaultKind.DIED, text="Par"),
    moves.gathered(),
    moves.wants("erase"),
    moves.inspected(),
    moves.later(60),
    moves.allow(),
    moves.inspected(),
    moves.ran("line 1\nline 2"),
    moves.gathered(),
    moves.says(LONG),
]
EXPECTED = """\
submitted 2025-06-15 15:06:40 UTC by local:owner
    +0.000 s  #2      submitted: 'hi'
    +0.000 s  #3      queued → running
    +1.000 s  #4      model call by thinker started
    +3.000 s  #5      model call failed after 2.000 s (died): the model died; it had said 'Par'
    +3.000 s  #6      model call by thinker started, attempt 2
    +3.000 s  #7      model call finished after 0.000 s (main, 0 + 0 tokens): \
'{"kind": "tool", "tool": "erase", "arguments": {"x": 1}}'
    +3.000 s  #8      directive by the thinker: tool
    +3.000 s  #9      erase proposed: '{"x":1}'
    +3.000 s  #10     tool call inspected: unsafe, ask-never-always
    +3.000 s  #11     approval requested: 'erase\\nwhat: same'
    +3.000 s  #12     running → awaiting_approval
   +63.000 s  #13     approval allowed by local:owner
   +63.000 s  #14     awaiting_approval → running
   +63.000 s  #15     tool call started
   +63.000 s  #16     tool call finished after 0.005 s, exit code 0: 'line 1\\nline 2'
   +63.000 s  #17     model call by thinker started
"""


def scene_of(run: list[scenes.Move]) -> scenes.Scene:
    scene = scenes.Scene()
    scene.given(run)
    return scene


async def keep(folder: Path, scene: scenes.Scene, killed: Path | None = None) -> None:
    """Make a store of what happened; `killed` gets a copy as a crash would leave it."""
    chat = scene.recorded[0].conversation_id
    contents = [
        decisions.ContentRecord(content_id=content_id, owner=chat, text=text)
        for content_id, text in scene.texts.items()
    ]
    async with sqlite_store.open_store(folder) as store:
        await store.commit(scene.recorded, contents)
        if killed is not None:
            shutil.copytree(folder, killed)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def replayed(
    folder: Path, task: str, capsys: pytest.CaptureFixture[str], code: int = 0
) -> list[str]:
    """What is printed, with the folder the same before and after."""
    before = files(folder) if folder.exists() else {}
    assert replay.main([task, "--state", str(folder)]) == code
    assert (files(folder) if folder.exists() else {}) == before
    printed = capsys.readouterr()
    assert bool(printed.err) is (code != 0)
    return (printed.err if code else printed.out).splitlines()


async def test_a_run_step_by_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = scene_of(RUN)
    await keep(tmp_path, scene)
    seen = scene.seen[0]
    head, *steps = replayed(tmp_path, seen.task_id, capsys)
    assert head == f"{seen.task_id} in {seen.conversation_id}"
    assert steps[:-5] == EXPECTED.splitlines()
    shown = f"{LONG[:100]!r} … (500 characters)"
    assert steps[-5].endswith(f"(main, 0 + 0 tokens): {shown}")
    assert steps[-4:] == [
        "   +63.000 s  #19     directive by the thinker: respond",
        f"   +63.000 s  #20     answered: {LONG.strip()[:100]!r} … (499 characters)",
        "   +63.000 s  #21     running → completed",
        "now completed: 3 model calls, 1 tool calls",
    ]


async def test_what_a_crash_left_in_the_write_ahead_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_of([moves.submit("hi"), moves.gathered()])
    killed = tmp_path / "killed"
    await keep(tmp_path / "state", scene, killed)
    assert (killed / "ducklm.db-wal").stat().st_size > 0
    printed = replayed(killed, scene.seen[0].task_id, capsys)
    assert printed[-1] == "now running (live): 1 model calls, 0 tool calls"


async def test_while_a_daemon_has_it_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_of(RUN)
    await keep(tmp_path, scene)
    async with sqlite_store.open_store(tmp_path):
        assert replay.main([scene.seen[0].task_id, "--state", str(tmp_path)]) == 0
    assert "now completed" in capsys.readouterr().out


async def test_a_forgotten_text_reads_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_of([moves.submit("secret"), moves.gathered(), moves.says("yes")])
    await keep(tmp_path, scene)
    forgotten = [each for each, text in scene.texts.items() if text == "secret"]
    async with sqlite_store.open_store(tmp_path) as store:
        await store.forget(forgotten)
    printed = replayed(tmp_path, scene.seen[0].task_id, capsys)
    assert printed[2].endswith("submitted: (forgotten)")


async def test_other_tasks_are_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_of([moves.submit("one"), moves.submit("two", chat=0), moves.cancel(0)])
    await keep(tmp_path, scene)
    printed = "\n".join(replayed(tmp_path, scene.seen[1].task_id, capsys))
    assert "'two'" in printed
    assert "'one'" not in printed


async def test_an_unknown_task_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await keep(tmp_path, scene_of(RUN))
    path = tmp_path / "ducklm.db"
    assert replayed(tmp_path, "task-x", capsys, code=1) == [
        f"replay: There is no task task-x in {path}."
    ]


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_a_folder_without_a_store_is_said(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    folder = tmp_path / name
    assert replayed(folder, "task-x", capsys, code=1) == [
        f"replay: There is no database {folder / 'ducklm.db'}."
    ]


def test_what_is_no_database_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "ducklm.db").write_bytes(b"no database at all" * 100)
    assert replayed(tmp_path, "task-x", capsys, code=1) == [
        "replay: The database is damaged: restore the state folder from a backup."
    ]


def test_the_folder_is_the_one_that_the_daemon_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DUCKLM_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert replay.state_folder(None) == Path("/xdg/ducklm")
    monkeypatch.setenv("DUCKLM_STATE", "/state")
    assert replay.state_folder(None) == Path("/state")
    assert replay.state_folder(Path("/given")) == Path("/given")
