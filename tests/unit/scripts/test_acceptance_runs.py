"""The options and fixtures that every test shares, seen from a project that uses them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = """
import socket

import pytest


@pytest.mark.acceptance(13)
def test_counted(rounds, figures):
    figures("rows", rounds(200))
    figures("few", rounds(40))
    figures("fewest", rounds(3))


@pytest.mark.acceptance(14)
@pytest.mark.acceptance(15)
def test_failing(seed):
    assert seed < 0


def test_unnumbered(rounds):
    assert (rounds(200), rounds(40), rounds(3)) == (10, 5, 3)


def test_loopback_is_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


@pytest.mark.parametrize("host", ["192.0.2.1", "example.org"])
def test_the_rest_is_refused(host):
    with pytest.raises(AssertionError, match="stay on loopback"):
        socket.create_connection((host, 80))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "conftest.py")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_sample.py").write_text(SAMPLE)
    return tmp_path


def run(project: Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_default_run_takes_all_tests_at_a_twentieth(project: Path) -> None:
    code, text = run(project, "--deselect", "tests/test_sample.py::test_failing")
    assert code == 0, text
    assert "5 passed" in text
    assert "acceptance ==" not in text


def test_an_acceptance_run_takes_its_items_at_full_counts(project: Path) -> None:
    code, text = run(project, "--acceptance", "13")
    assert code == 0
    assert "1 passed, 5 deselected" in text
    assert "  13  passed (1) · rows: 200 · few: 40 · fewest: 3\n" in text


def test_the_table_shows_failures_and_what_is_missing(project: Path) -> None:
    code, text = run(project, "--acceptance", "all")
    assert code == 1
    assert "  13  passed (1)" in text
    assert "  14  1 of 1 FAILED\n  15  1 of 1 FAILED\n" in text
    code, text = run(project, "--acceptance", "13,99")
    assert code == 1
    assert "  99  no test\n" in text


def test_a_failure_says_how_to_repeat_it(project: Path) -> None:
    code, text = run(project, "--seed", "7", "-k", "failing")
    assert code == 1
    assert "seed: 7" in text
    assert "repeat with --seed 7" in text


def test_numbers_that_are_none_are_refused(project: Path) -> None:
    code, text = run(project, "--acceptance", "many")
    assert code == 4
    assert "--acceptance takes numbers" in text
