"""A run that follows a plan, changes a project and is undone reads as one line an event."""

from pathlib import Path

import pytest

from daemon.domain import decisions, ids
from daemon.storage import sqlite_store
from scripts import replay
from tests.golden import example
from tests.golden.example_tasks import PLANNED, UNDONE, WORKSHOP

pytestmark = [pytest.mark.spec("D-05"), pytest.mark.timeout(60)]

DIFF = "--- a/a/ü.py\n+++ b/a/ü.py\n@@ -1 +1,2 @@\n-1\n+2\n+3\n"
TEXTS = {"diff": DIFF, "goal": "write it", "goal-2": "tell it", "note": "good work"}
PLAN_LINES = """\
submitted with the skill tests: (forgotten)
queued → running
reply cut by the token limit: (forgotten)
reply refused, it is no JSON: (forgotten)
telegram:bot:42 added: (forgotten)
directive by the compiler: plan
plan: write (tool file_write) 'write it'; tell (respond after write) 'tell it'
step write started
file_write proposed: (forgotten)
tool call inspected: unsafe, ask
tool call started
tool call finished after 0.000 s, commit abababababab, 1 files, +2 −1 lines: (forgotten)
shell_exec proposed: (forgotten)
tool call inspected: unsafe, ask
tool call started
tool call finished after 0.000 s: (forgotten)
step write judged continue (correct, useful, safe: 9 9 10): 'good work'
step write done: (forgotten)
step tell started
step tell judged respond (correct, useful, safe: ? ? 10): 'good work'
step tell failed
answered: (forgotten)
running → completed
telegram:bot:42 finds it bad: (forgotten)
"""
UNDO_LINES = """\
submitted: (forgotten)
queued → running
answered: (forgotten)
running → completed
telegram:bot:42 undid it: 1 commits to take back, 1 calls cannot be taken back
commits taken back by 121212121212
telegram:bot:42 undid it: 1 commits to take back
"""


@pytest.mark.parametrize(("task_id", "expected"), [(PLANNED, PLAN_LINES), (UNDONE, UNDO_LINES)])
async def test_a_plan_and_an_undo_step_by_step(
    task_id: ids.TaskId, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = [
        decisions.ContentRecord(content_id=example.text(name), owner=WORKSHOP, text=text)
        for name, text in TEXTS.items()
    ]
    async with sqlite_store.open_store(tmp_path) as store:
        await store.commit(example.log(), contents)
    assert replay.main([task_id, "--state", str(tmp_path)]) == 0
    _, _, *steps, _ = capsys.readouterr().out.splitlines()
    said = [line.split("#", 1)[1].split(maxsplit=1)[1] for line in steps]
    assert said == expected.splitlines()
