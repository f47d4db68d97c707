"""What the README shows of the policy is what the policy says."""

import json
import re
from pathlib import Path

from daemon.config import permissions
from daemon.permission import command

README = (Path(__file__).resolve().parents[3] / "README.md").read_text("utf-8")
SHOWN = 10


def block(kind: str, holding: str) -> str:
    """The code block of a kind that holds a text."""
    blocks = re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (found,) = [one for one in blocks if holding in one]
    return str(found)


def test_the_verdicts_are_those_of_the_packaged_rules() -> None:
    known = permissions.load([]).rules
    shown = [json.loads(line) for line in block("json", '"verdict"').splitlines()]
    assert len(shown) == SHOWN
    for line in shown:
        judged = command.judge(known, line["id"], command.EXAMPLE_PLACE)
        assert (line["verdict"], line["reasons"]) == (judged.verdict.value, list(judged.reasons))


def test_the_example_of_own_rules_loads_and_does_what_is_said(tmp_path: Path) -> None:
    (tmp_path / permissions.FILE).write_text(block("toml", "[[rules]]"))
    known = permissions.load([tmp_path]).rules
    said = {
        text: command.judge(known, text, command.EXAMPLE_PLACE).verdict.value
        for text in ("git push", "tokei -f src", "tokei --output x", "sudo rm -rf /")
    }
    assert list(said.values()) == ["hard-stop", "allow-readonly", "ask", "hard-stop"]
