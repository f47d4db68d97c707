"""Plugins of really installed packages: those that fit are bound, those that do not are named."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.tools import plugged
from tools import contract, plugins

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(120)]

ROOT = Path(__file__).resolve().parents[3]
E, C = contract.Effect, contract.Category


def load(*sites: Path) -> dict[str, Any]:
    """What a new process finds there."""
    command = (sys.executable, "-m", "tests.integration.tools.plugged", *map(str, sites))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_one_that_fits_is_offered_and_asks(tmp_path: Path) -> None:
    plugged.install(tmp_path, "nice-weather", plugged.GOOD, weather="MODULE:Weather")
    answer = load(tmp_path)
    assert answer["faults"] == []
    spec = answer["specs"]["weather"]
    assert (spec["category"], spec["effect"]) == ("normal", "pure")


BAD = {
    "import": ("raise RuntimeError('a\\nb')", "MODULE:x", "raised RuntimeError: a b"),
    "missing": ("import nothing_of_that_name", "MODULE:x", "raised ModuleNotFoundError"),
    "syntax": ("a = (", "MODULE:x", "raised SyntaxError"),
    "leaves": ("import sys; sys.exit(3)", "MODULE:x", "raised SystemExit: 3"),
    "hangs": ("import threading; threading.Event().wait()", "MODULE:x", "not loaded after 2 sec"),
    "nowhere": (plugged.GOOD, "MODULE:Wetter", "raised AttributeError"),
    "target": (plugged.GOOD, "MODULE", "not written as module:name"),
    "called": (plugged.GOOD, "MODULE:PARAMETERS", "nothing that can be called"),
    "makes": ("def make(): raise ValueError('no')", "MODULE:make", "raised ValueError: no"),
    "nothing": ("def make(): return None", "MODULE:make", "raised AttributeError"),
    "takes": (
        plugged.variant(('"weather"', '"shell_exec"')),
        "MODULE:Weather",
        "the name shell_exec is taken",
    ),
    "named": (plugged.variant(('"weather"', '"Weather!"')), "MODULE:Weather", "its name is not"),
    "spec": (plugged.variant(("contract.ToolSpec(", "dict(")), "MODULE:Weather", "no ToolSpec"),
    "open": (
        plugged.variant(('"additionalProperties":false', '"additionalProperties":true')),
        "MODULE:Weather",
        "its parameters are not",
    ),
    "no-schema": (
        plugged.variant(("parameters=PARAMETERS", 'parameters="{"')),
        "MODULE:Weather",
        "its parameters are not",
    ),
    "wordy": (
        plugged.variant(('"Say what the weather is."', '"Say." * 60')),
        "MODULE:Weather",
        "its description is not one line",
    ),
    "hidden": (
        plugged.variant(('"Say what the weather is."', '"Say.\\u202e"')),
        "MODULE:Weather",
        "its description is not one line",
    ),
    "version": (plugged.variant(("version=1", "version=0")), "MODULE:Weather", "its version"),
    "wrong-spec": (plugged.variant(("version=1", "version='1'")), "MODULE:Weather", "Validation"),
    "no-run": (plugged.variant(("async def run", "async def go")), "MODULE:Weather", "its run is"),
    "not-awaited": (plugged.variant(("async def run", "def run")), "MODULE:Weather", "its run is"),
}


@pytest.mark.acceptance(22)
def test_broken_ones_are_named_and_left_out(tmp_path: Path) -> None:
    """All at once, with a good one among them, which is offered all the same."""
    for name, (source, target, _) in BAD.items():
        plugged.install(tmp_path, f"bad-{name}", source, **{name: target})
    plugged.install(tmp_path, "nice-weather", plugged.GOOD, weather="MODULE:Weather")
    answer = load(tmp_path)
    assert list(answer["specs"]) == ["weather"]
    said = dict(fault.split(" is left out: ") for fault in answer["faults"])
    for name, (_, _, why) in BAD.items():
        assert why in said.pop(f"plugin {name} of bad_{name.replace('-', '_')}"), name
    assert said == {}


def test_of_two_with_one_name_the_first_is_offered(tmp_path: Path) -> None:
    plugged.install(tmp_path, "b", plugged.GOOD, weather="MODULE:Weather")
    source = plugged.variant(("version=1", "version=7"))
    plugged.install(tmp_path, "a", source, weather="MODULE:Weather")
    answer = load(tmp_path)
    assert answer["specs"]["weather"]["version"] == 7
    assert answer["faults"] == ["plugin weather of b is left out: the name weather is taken"]


def test_a_package_in_two_folders_counts_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        plugged.install(tmp_path / name, "a", plugged.GOOD, weather="MODULE:Weather")
    answer = load(tmp_path / "one", tmp_path / "two", tmp_path / "none")
    assert (list(answer["specs"]), answer["faults"]) == (["weather"], [])


def test_there_may_not_be_too_many(tmp_path: Path) -> None:
    names = {f"w{n:02}": "MODULE:Weather" for n in range(plugins.MOST_PLUGINS + 1)}
    plugged.install(tmp_path, "a", plugged.GOOD, **names)
    assert load(tmp_path)["faults"][-1].startswith("there are more than 32 plugins")


def test_files_that_say_nothing_readable(tmp_path: Path) -> None:
    for number, text in enumerate((b"[ducklm.tools", b"\xff[ducklm.tools]", b"a=b [ducklm.tools]")):
        (tmp_path / f"p{number}-1.dist-info").mkdir()
        (tmp_path / f"p{number}-1.dist-info" / "entry_points.txt").write_bytes(text)
    os.mkdir(tmp_path / "empty-1.dist-info")
    assert plugins.entries([str(tmp_path), str(tmp_path / "none")]) == []


CLAIMS = (
    ((E.PURE, C.READ_ONLY), (E.PURE, C.NORMAL)),
    ((E.PURE, C.NORMAL), (E.UNSAFE, C.NORMAL)),
    ((E.PURE, C.HARD_STOP), (E.UNSAFE, C.HARD_STOP)),
    ((E.KEYED, C.READ_ONLY), (E.KEYED, C.NORMAL)),
    ((E.RECONCILABLE, C.NO_ALWAYS), (E.RECONCILABLE, C.NO_ALWAYS)),
    ((E.UNSAFE, C.READ_ONLY), (E.UNSAFE, C.NORMAL)),
)


@pytest.mark.acceptance(22)
def test_no_plugin_is_milder_than_it_may_be(tmp_path: Path) -> None:
    for number, ((effect, category), _) in enumerate(CLAIMS):
        source = plugged.variant(
            ('"weather"', f'"w{number}"'),
            ("Effect.PURE", f"Effect.{effect.name}"),
            ("Category.READ_ONLY", f"Category.{category.name}"),
        )
        plugged.install(tmp_path, f"p{number}", source, one="MODULE:Weather")
    specs = load(tmp_path)["specs"]
    found = [(specs[name]["effect"], specs[name]["category"]) for name in sorted(specs)]
    assert found == [bound for _, bound in CLAIMS]
