"""`ducklmd policy check`: a verdict a line, without a daemon."""

import io
import json
from pathlib import Path

from daemon import policy_check


def check(lines: list[str], *arguments: str) -> tuple[int, list[dict[str, object]], str]:
    out, err = io.StringIO(), io.StringIO()
    code = policy_check.run(["check", *arguments], lines, out, err)
    return code, [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def test_each_line_gets_its_verdict() -> None:
    commands = {"a": "ls", "b": "touch x", "c": "rm -rf x", "d": "rm -rf /", "e": "ls \0"}
    lines = [json.dumps({"id": id, "command": text}) for id, text in commands.items()]
    code, answers, _ = check(lines)
    assert code == 0
    assert [(answer["id"], answer["verdict"]) for answer in answers] == [
        ("a", "allow-readonly"),
        ("b", "ask"),
        ("c", "ask-never-always"),
        ("d", "hard-stop"),
        ("e", "refused"),
    ]
    assert answers[0]["reasons"] == []
    assert answers[2]["reasons"] == ["removes files recursively", "deletes files"]


def test_the_place_can_be_given(tmp_path: Path) -> None:
    line = json.dumps({"id": 1, "command": "cat /srv/state/token"})
    _, answers, _ = check([line], "--state", "/srv/state", "--config", str(tmp_path))
    assert answers[0]["verdict"] == "hard-stop"


def test_a_line_that_is_no_object_is_said() -> None:
    code, answers, said = check(["ls", '{"id": 1}', '{"id": 2, "command": "ls"}'])
    assert code == 2
    assert [answer["id"] for answer in answers] == [2]
    assert "line 1" in said
    assert "line 2" in said


def test_rules_that_cannot_be_used_stop_it(tmp_path: Path) -> None:
    (tmp_path / "permissions.toml").write_text("version = 9\n")
    code, _, said = check([], "--config", str(tmp_path))
    assert code == 3
    assert "permissions.toml: version" in said
