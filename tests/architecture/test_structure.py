"""The structure holds: generated code, import contracts and the style rules."""

import subprocess
import sys
from pathlib import Path

from scripts import gen_protos

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_generated_code_is_what_protoc_makes_now() -> None:
    assert gen_protos.differences() == []


def test_the_import_contracts_hold() -> None:
    done = run(str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_style_rules_hold() -> None:
    done = run(sys.executable, "scripts/tidy.py")
    assert done.returncode == 0, done.stdout + done.stderr
