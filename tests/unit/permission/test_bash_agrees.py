"""What is taken for plain words is what bash itself makes of them."""

import random
import subprocess
from pathlib import Path

from daemon.permission import command, findings, rules, shell_syntax
from tests.conftest import Figures, Rounds

TEXTS = 20_000
_PIECES = (
    *("a", "b", "-x", "--", "=", "#", "~", ":", "%", "^", "!", "@", "+", ",", ".", "/", "é", "]"),
    *("'", '"', "\\", "$", "`", "{", "}", "[", "*", "?", "\\\n", "$'", "\\n", "\\x41", '$"'),
    *(" ", " ", " ", "\t", "''", "'a b'", '"c d"', "\\'", "'\\'", '"\'"', "'\"'", "1", "2", "$x"),
)


def written(folder: Path, script: str) -> str:
    """What a script of bash writes."""
    file = folder / "script"
    file.write_text(script)
    done = subprocess.run(
        ["/bin/bash", "--noprofile", "--norc", str(file)],
        capture_output=True,
        check=False,
        timeout=60,
    )
    return done.stdout.decode()


def test_plain_words_are_what_bash_sees(
    known: rules.Rules, tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    chance = random.Random(seed)
    texts: dict[str, tuple[str, ...]] = {}
    for _ in range(rounds(TEXTS)):
        text = "echo " + "".join(chance.choices(_PIECES, k=chance.randint(1, 8)))
        judged = command.judge(known, text, command.EXAMPLE_PLACE)
        if judged.verdict is findings.READONLY and judged.argv is not None:
            texts[text] = judged.argv[1:]
    script = "".join(f"show {text.removeprefix('echo ')}\n" for text in texts)
    parts = written(tmp_path, f"{_SHOW}\n{script}").split("\1\n")[:-1]
    seen = [tuple(part.split("\0")[:-1]) for part in parts]
    figures("plain texts", len(texts))
    assert len(texts) > rounds(TEXTS) // 20
    assert dict(zip(texts, seen, strict=True)) == texts


_SHOW = "show() { (($#)) && printf '%s\\0' \"$@\"; printf '\\1\\n'; }"


_JOINTS = (
    "; ",
    " && ",
    " || ",
    " | ",
    "\n",
    ";",
    "&&",
    "|",
    " \\\n",
    "\\\n",
    "\n\n",
    " ;\t",
    "|\n",
)
_REDIRECTS = (" 2>/dev/null", " >/dev/null", " 2>&1", "</dev/null ", ">&2", " 2>&1 >/dev/null", "")
_ARGUMENTS = (
    "a",
    "'b c'",
    "-n",
    "#",
    "a#b",
    '"x"',
    "\\;",
    "'|'",
    "{",
    "}",
    "!",
    "=",
    "a=b",
    "2",
    "if",
)


def test_commands_are_where_bash_sees_them(
    known: rules.Rules, tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    chance = random.Random(seed)
    texts: list[str] = []
    for _ in range(rounds(TEXTS)):
        text = ""
        for _ in range(chance.randint(1, 3)):
            words = chance.choices(_ARGUMENTS, k=chance.randint(0, 3))
            text += " ".join([chance.choice(("echo", "true", "printf x")), *words])
            text += chance.choice(_REDIRECTS) + chance.choice(_JOINTS)
        judged = command.judge(known, text.rstrip("\n"), command.EXAMPLE_PLACE)
        if judged.verdict is findings.READONLY:
            texts.append(text.rstrip("\n"))
    script = "".join(f"{text}\nprintf -- '\\1\\n' >&9\n" for text in texts)
    figures("plain lists", len(texts))
    assert len(texts) > rounds(TEXTS) // 40
    seen = written(tmp_path, f"{_TRACE}\n{script}").split("\1\n")[:-1]
    for text, calls in zip(texts, seen, strict=True):
        expected = {
            "\3".join(word.plain or "" for word in one.words)
            for one in shell_syntax.flat(text) or []
        }
        assert {call for call in calls.split("\2\n") if call} <= expected, text


_TRACE = """exec 9>&1
say() {
    local said=$1 word
    for word in "${@:2}"; do said+=$'\\3'$word; done
    builtin printf '%s\\2\\n' "$said" >&9
}
echo() { say echo "$@"; }
true() { say true "$@"; }
printf() { if [[ $1 == -- ]]; then builtin printf "${@:2}"; else say printf "$@"; fi; }
"""
