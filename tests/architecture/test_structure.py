"""The structure holds: generated code, import contracts and the style rules."""

import subprocess
import sys
from pathlib import Path

from scripts import gen_protos

ROOT = Path(__file__).resolve().parents[2]


def complaints(*command: str) -> str:
    """What a gate says when it fails; nothing when it passes."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def test_the_generated_code_is_what_protoc_makes_now() -> None:
    assert gen_protos.differences() == []


def test_the_import_contracts_hold() -> None:
    assert complaints(str(Path(sys.executable).parent / "lint-imports"), "--no-cache") == ""


def test_the_style_rules_hold() -> None:
    assert complaints(sys.executable, "scripts/tidy.py") == ""
