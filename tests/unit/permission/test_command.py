"""The judge over the corpora: every row its verdict, inside wrappings too, and in time."""

import time

import pytest

from daemon.permission import command, findings, rules
from tests import corpus
from tests.conftest import Figures

VERDICTS = corpus.ORDER
ROW_MS = 5.0
HOSTILE_MS = 200.0
_SIZE = 64 * 1024


def verdict(known: rules.Rules, text: str) -> str:
    return command.judge(known, text, command.EXAMPLE_PLACE).verdict.value


@pytest.mark.acceptance(13)
@pytest.mark.parametrize("row", corpus.rows("commands.tsv"), ids=lambda row: row.id)
def test_each_row_gets_its_verdict_or_a_stricter_one(known: rules.Rules, row: corpus.Row) -> None:
    found = verdict(known, row.command)
    assert VERDICTS.index(found) >= VERDICTS.index(row.expected), row.command


@pytest.mark.parametrize("row", corpus.rows("own.tsv"), ids=lambda row: row.id)
def test_each_row_of_our_own_gets_its_verdict(known: rules.Rules, row: corpus.Row) -> None:
    assert verdict(known, row.command) == row.expected, row.command


@pytest.mark.acceptance(13)
def test_reading_does_not_ask(known: rules.Rules, figures: Figures) -> None:
    reading = [row for row in corpus.everything() if row.expected == VERDICTS[0]]
    asked = [row.command for row in reading if verdict(known, row.command) != VERDICTS[0]]
    figures("read-only rows that ask", f"{len(asked)} of {len(reading)}")
    assert len(asked) * 40 <= len(reading) * 2


@pytest.mark.acceptance(13)
@pytest.mark.parametrize("wrapping", corpus.WRAPPINGS, ids=str)
def test_a_hard_stop_stays_one_inside(known: rules.Rules, wrapping: str) -> None:
    stops = [row for row in corpus.rows("commands.tsv") if row.expected == "hard-stop"]
    wrapped = [corpus.WRAPPINGS[wrapping](row.command) for row in stops]
    milder = [text for text in wrapped if verdict(known, text) != "hard-stop"]
    assert milder == []


@pytest.mark.acceptance(13)
def test_a_row_is_judged_in_time(known: rules.Rules, figures: Figures) -> None:
    taken: list[float] = []
    for row in corpus.rows("commands.tsv"):
        rounds = [_milliseconds(known, row.command) for _ in range(3)]
        taken.append(min(rounds))
    taken.sort()
    p99 = taken[int(len(taken) * 0.99)]
    figures("p99 a row (ms)", round(p99, 2))
    assert p99 <= ROW_MS


def _milliseconds(known: rules.Rules, text: str) -> float:
    """Processor time: the machine may be shared."""
    began = time.process_time()
    command.judge(known, text, command.EXAMPLE_PLACE)
    return (time.process_time() - began) * 1000


HOSTILE = {
    "pipes": "a|" * (_SIZE // 2),
    "nul": "\0" * _SIZE,
    "parentheses": "(" * _SIZE,
    "substitutions": "$(" * (_SIZE // 2),
    "quotes": '"$(' * (_SIZE // 3),
    "here-documents": "<<a " * (_SIZE // 4),
    "arrays": "a=(" * (_SIZE // 3),
    "cases": "case a in a) " * (_SIZE // 13),
    "newlines": "\n" * _SIZE,
    "backslashes": "\\" * _SIZE,
    "lists": "a;" * (_SIZE // 2),
    "one word": "a" * _SIZE,
    "many words": "frob " + "a=/etc/*/x? " * 5000,
    "wrappers": "sudo " * 13000,
    "braces": "rm " + "{a,b}" * 100,
    "loops": "for i in a b c d e f g h; do " * 8 + "rm $i;" + " done;" * 8,
    "functions": "a(){ b;b; };b(){ c;c; };c(){ d;d; };d(){ e;e; };e(){ f;f; };f(){ ls;ls; };a",
    "doubling": "x=aaaaaaaaaa;" + "x=$x$x;" * 30 + "frob $x",
    "literals": "python3 -c '" + '"rm -rf x" ' * 5000 + "'",
    "globs": "rm " + "/".join(["*a*b*c*d*"] * 60),
    "invalid": "ls \ud800",
}


@pytest.mark.acceptance(13)
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_ends_in_time(known: rules.Rules, kind: str, figures: Figures) -> None:
    taken = min(_milliseconds(known, HOSTILE[kind]) for _ in range(2))
    figures(f"{kind} (ms)", round(taken, 1))
    assert taken <= HOSTILE_MS
    judged = command.judge(known, HOSTILE[kind], command.EXAMPLE_PLACE)
    assert judged.verdict is not findings.READONLY


def test_only_what_asks_may_be_remembered(known: rules.Rules) -> None:
    for row in corpus.everything():
        judged = command.judge(known, row.command, command.EXAMPLE_PLACE)
        assert judged.always_allowed == (judged.verdict is findings.ASK)
        assert bool(judged.reasons) == (judged.verdict is not findings.READONLY)


@pytest.mark.parametrize("text", ["ls \0", "ls \ud800", "a" * (_SIZE + 1), "é" * (_SIZE // 2 + 1)])
def test_text_that_nobody_can_show_is_refused(known: rules.Rules, text: str) -> None:
    judged = command.judge(known, text, command.EXAMPLE_PLACE)
    assert judged.refused
    assert judged.verdict is findings.HARD_STOP


def test_plain_words_need_no_shell(known: rules.Rules) -> None:
    def argv(text: str) -> tuple[str, ...] | None:
        return command.judge(known, text, command.EXAMPLE_PLACE).argv

    assert argv("ls -la 'a b'") == ("ls", "-la", "a b")
    assert argv("touch a\\ b") == ("touch", "a b")
    for text in (
        "ls *",
        "ls $X",
        "ls > a",
        "ls; ls",
        "ls | wc",
        "A=1 ls",
        "cd x",
        "ls &",
        "f(){ ls; }",
    ):
        assert argv(text) is None, text


def test_what_a_reading_verdict_rests_on_is_named(known: rules.Rules) -> None:
    judged = command.judge(known, "cat src/a.py | wc -l", command.EXAMPLE_PLACE)
    assert judged.programs == ("cat", "wc")
    assert judged.paths == ("/home/agent/workspace/src/a.py",)


def test_the_place_decides_what_is_outside(known: rules.Rules) -> None:
    place = command.Place(cwd="/srv/work", home="/home/x", state="/srv/state", config="/srv/config")
    for text, expected in {
        "cat /srv/work/a": "allow-readonly",
        "cat /home/agent/workspace/a": "ask",
        "cat /srv/state/x": "hard-stop",
        "cat ../config/x": "hard-stop",
        "rm -rf ..": "hard-stop",
        "rm -rf /home/x": "hard-stop",
    }.items():
        assert command.judge(known, text, place).verdict.value == expected, text
