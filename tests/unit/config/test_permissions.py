"""The owner's own rules: added to ours, in the place of one of the same name, and tried at once."""

from pathlib import Path

import pytest

from daemon.config import permissions
from daemon.domain import errors, verdicts
from daemon.permission import command

V = verdicts.Verdict
PUSH = """
version = 1
[[rules]]
id = "no-push"
verdict = "hard-stop"
reason = "publishes what is not reviewed"
programs = ["git"]
first = ["push"]
matches = ["git push", "cd src && git push origin main"]
not_matches = ["git status"]
"""
MILDER = """
version = 1
[[rules]]
id = "kill-all"
verdict = "ask"
reason = "kills every process, on this machine"
programs = ["killall5"]
matches = ["killall5 -9"]
not_matches = ["killall vim"]
"""
TOKEI = """
version = 1
[[programs]]
programs = ["tokei"]
flags = "f"
options = ["--files"]
operands = "path"
"""
CAT_ASKS = """
version = 1
[[programs]]
programs = ["cat"]
verdict = "ask"
reason = "shows a whole file"
operands = "path"
"""
SAID: dict[str, tuple[str, str, verdicts.Verdict]] = {
    "a rule of one's own": (PUSH, "git push origin main", V.HARD_STOP),
    "ours stay beside it": (PUSH, "sudo rm -rf /", V.HARD_STOP),
    "also those of programs": (PUSH, "wc -l a.txt", V.ALLOW_READONLY),
    "one in the place of ours": (MILDER, "killall5 -9", V.ASK),
    "and no other": (MILDER, "pkill -9 -u agent", V.HARD_STOP),
    "a program more": (TOKEI, "tokei -f src", V.ALLOW_READONLY),
    "with what is not said of it": (TOKEI, "tokei --output x", V.ASK),
    "a program in the place of ours": (CAT_ASKS, "cat a.txt", V.ASK),
    "and no other beside it": (CAT_ASKS, "head a.txt", V.ALLOW_READONLY),
}


@pytest.mark.parametrize("case", SAID)
def test_own_rules(case: str, tmp_path: Path) -> None:
    text, asked, verdict = SAID[case]
    (tmp_path / permissions.FILE).write_text(text)
    known = permissions.load([tmp_path]).rules
    assert command.judge(known, asked, command.EXAMPLE_PLACE).verdict is verdict


def test_of_two_folders_the_last_counts(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder, verdict in zip(folders, ("ask", "hard-stop"), strict=True):
        folder.mkdir()
        (folder / permissions.FILE).write_text(MILDER.replace('"ask"', f'"{verdict}"'))
    known = permissions.load(folders).rules
    judged = command.judge(known, "killall5 -9", command.EXAMPLE_PLACE)
    assert judged.verdict is V.HARD_STOP


FAULTS = {
    "an example that the rule does not fit": (
        PUSH.replace('"git push", ', '"git pull", '),
        "rule no-push does not match its example 'git pull'",
    ),
    "a counter-example that it fits": (
        PUSH.replace('"git status"', '"git push -n"'),
        "rule no-push matches its counter-example 'git push -n'",
    ),
    "no examples": (PUSH.replace("not_matches", "# not_matches"), "not_matches: Field required"),
    "twice the same": (PUSH + PUSH.replace("version = 1", ""), "no-push stands twice"),
    "no rules at all": ("version = 1\nrules = 3\n", "rules: Input should be a valid tuple"),
    "no table of a program": ("version = 1\nprograms = [1]\n", "programs.0: "),
    "no names": ("version = 1\n[[programs]]\nprograms = 1\n", "programs: Input should be"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_stops_the_start(case: str, tmp_path: Path) -> None:
    text, fault = FAULTS[case]
    (tmp_path / permissions.FILE).write_text(text)
    with pytest.raises(errors.ConfigFault) as caught:
        permissions.load([tmp_path])
    assert fault in "\n".join(caught.value.faults)
    assert all(str(tmp_path) in line for line in caught.value.faults)


def test_other_rules_are_another_revision(tmp_path: Path) -> None:
    before = permissions.load([tmp_path]).revision
    (tmp_path / permissions.FILE).write_text(PUSH)
    assert permissions.load([tmp_path]).revision != before
