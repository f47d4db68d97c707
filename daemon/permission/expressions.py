"""Programs whose operands are a language of their own: find, test, sed, awk, jq, sleep, date.

Each judge takes the words behind the program's name, every one known, and says how strict to be.
Answers only for forms that it knows completely; anything else is the stricter answer. The programs
that such a language starts are judged elsewhere.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daemon.permission import findings

SLEEP_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """How strict to be and why, and which words are paths that are read."""

    verdict: findings.Verdict
    reason: str = ""
    reads: tuple[int, ...] = ()
    changes: bool = False


Judge = Callable[[Sequence[str]], Answer]

_FIND_OPTIONS = frozenset(("-P", "-O0", "-O1", "-O2", "-O3"))
_FIND_PLAIN = frozenset(
    ("-true", "-false", "-print", "-print0", "-empty", "-readable", "-writable", "-executable")
    + ("-prune", "-quit", "-depth", "-d", "-xdev", "-mount", "-nouser", "-nogroup", "-daystart")
    + (
        "-ls",
        "-noleaf",
        "-a",
        "-and",
        "-o",
        "-or",
        "-not",
        "!",
        "(",
        ")",
        ",",
        "-ignore_readdir_race",
    )
)
_FIND_TEXT = frozenset(
    ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex")
    + ("-regextype", "-lname", "-ilname", "-type", "-xtype", "-perm", "-user", "-group", "-fstype")
    + ("-printf", "-context")
)
_FIND_NUMBER = frozenset(
    ("-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin")
    + ("-links", "-inum", "-uid", "-gid", "-used")
)
_FIND_PATH = frozenset(("-newer", "-anewer", "-cnewer", "-samefile", "-newermm", "-newerma"))
_FIND_FOLLOWS = frozenset(("-L", "-H", "-follow", "-newermt", "-newerat", "-newerct"))
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FIND_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_FIND_VALUE = re.compile(r"[+-]?\d{1,18}[bcwkMG]?")


def find(words: Sequence[str]) -> Answer:
    """find: tests only read; actions run, delete or write; what is unknown asks."""
    if any(word in _FIND_RUNS for word in words):
        return Answer(findings.NEVER_ALWAYS, "runs a program for every file found", changes=True)
    if "-delete" in words:
        return Answer(findings.NEVER_ALWAYS, "deletes every file found", changes=True)
    if any(word in _FIND_WRITES for word in words):
        return Answer(findings.NEVER_ALWAYS, "writes a file through an action", changes=True)
    index, reads = 0, []
    while index < len(words) and words[index] in _FIND_OPTIONS:
        index += 1
    while index < len(words) and not words[index].startswith(("-", "(", "!", ",")):
        reads.append(index)
        index += 1
    while index < len(words):
        word, given = words[index], words[index + 1 : index + 2]
        if word in _FIND_PLAIN:
            index += 1
            continue
        if word in _FIND_PATH and given:
            reads.append(index + 1)
        elif not given or not (
            word in _FIND_TEXT or (word in _FIND_NUMBER and _FIND_VALUE.fullmatch(given[0]))
        ):
            verdict = findings.ASK if word in _FIND_FOLLOWS else findings.NEVER_ALWAYS
            return Answer(verdict, f"uses {word[:40]}, which is not known to only read")
        index += 2
    return Answer(findings.READONLY, reads=tuple(reads))


_TEST_FILE = frozenset(f"-{letter}" for letter in "bcdefghkLprsSuwxOGNn z".replace(" ", ""))
_TEST_TEXT = frozenset(("=", "==", "!="))
_TEST_NUMBER = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_TEST_FILES = frozenset(("-nt", "-ot", "-ef"))


def test(words: Sequence[str]) -> Answer:
    """test and [ in its short forms; -v and -R evaluate subscripts, so they are not known."""
    unknown = Answer(findings.ASK, "is a condition outside the known forms")
    if any(word in ("-v", "-R") or "$(" in word or "`" in word for word in words):
        return Answer(findings.NEVER_ALWAYS, "is a condition that can run code", changes=True)
    words = list(words)
    offset = 0
    while words and words[0] == "!":
        words, offset = words[1:], offset + 1
    if len(words) <= 1:
        return Answer(findings.READONLY)
    if len(words) == 2:
        if words[0] not in _TEST_FILE:
            return unknown
        reads = () if words[0] in ("-n", "-z") else (offset + 1,)
        return Answer(findings.READONLY, reads=reads)
    if len(words) == 3:
        if words[1] in _TEST_TEXT:
            return Answer(findings.READONLY)
        numbers = (words[0].lstrip("-").isdigit(), words[2].lstrip("-").isdigit())
        if words[1] in _TEST_NUMBER and all(numbers):
            return Answer(findings.READONLY)
        if words[1] in _TEST_FILES:
            return Answer(findings.READONLY, reads=(offset, offset + 2))
    return unknown


def bracket(words: Sequence[str]) -> Answer:
    """[: test, and a closing bracket."""
    if not words or words[-1] != "]":
        return Answer(findings.ASK, "is a condition without its closing bracket")
    return test(words[:-1])


_SED_PRINT = re.compile(r"(\d{1,9}|\$)(,(\d{1,9}|\$))?p")
_SED_SAFE = re.compile(
    r"(?:(?:\d{1,9}|\$|/[^/\n;{}\\]*/)(?:,(?:\d{1,9}|\$|/[^/\n;{}\\]*/))?!?)?"
    r"(?:[pdq=]|s([/|,#])[^\n/|,#\\]*\1[^\n/|,#\\]*\1[gp0-9I]*)"
)
_SED_QUIET = frozenset(("-n", "--quiet", "--silent"))


def sed(words: Sequence[str]) -> Answer:
    """sed: a numeric range printed only reads; simple prints, deletes and replacements ask."""
    quiet = bool(words) and words[0] in _SED_QUIET
    rest = list(words[1:] if quiet else words)
    offset = 1 if quiet else 0
    if rest and rest[0] in ("-E", "-r", "-s", "-z", "-u"):
        rest, offset = rest[1:], offset + 1
    if rest and rest[0] == "-e":
        rest, offset = rest[1:], offset + 1
    if not rest or any(word.startswith("-") and word != "-" for word in rest):
        return Answer(findings.NEVER_ALWAYS, "has sed options that can write or run", changes=True)
    reads = tuple(offset + index for index in range(1, len(rest)))
    if quiet and _SED_PRINT.fullmatch(rest[0]):
        return Answer(findings.READONLY, reads=reads)
    if all(_SED_SAFE.fullmatch(part.strip()) for part in rest[0].split(";")):
        return Answer(findings.ASK, "runs a sed script", reads=reads)
    return Answer(
        findings.NEVER_ALWAYS, "runs a sed script that can write or execute", changes=True
    )


_AWK_ACTS = re.compile(r"system|getline|close|fflush|[|@>`]|ENVIRON|ARGV|PROCINFO|SYMTAB|-f|/inet")


def awk(words: Sequence[str]) -> Answer:
    """awk: a program is code; one that starts nothing and writes nothing may be remembered."""
    index, reads = 0, []
    while index < len(words) and words[index].startswith("-"):
        if words[index] == "-F" or words[index] == "-v":
            index += 2
        elif words[index].startswith("-F") and len(words[index]) <= 4:
            index += 1
        else:
            return Answer(findings.NEVER_ALWAYS, "has awk options that can run code", changes=True)
    if index >= len(words) or _AWK_ACTS.search(words[index]):
        return Answer(
            findings.NEVER_ALWAYS, "runs an awk program that can write or execute", changes=True
        )
    reads = list(range(index + 1, len(words)))
    return Answer(findings.ASK, "runs an awk program", reads=tuple(reads))


_JQ_FLAGS = re.compile(
    r"-[rcnsSeMCaj]+|--(raw-output|compact-output|null-input|slurp|sort-keys)|--tab"
)
_JQ_ACTS = re.compile(r"\benv\b|\$ENV|\bimport\b|\binclude\b|\binput_filename\b|\bmodulemeta\b")


def jq(words: Sequence[str]) -> Answer:
    """jq: a filter can read the environment and modules, so it asks at least."""
    index = 0
    while index < len(words) and _JQ_FLAGS.fullmatch(words[index]):
        index += 1
    rest = words[index:]
    if not rest or any(word.startswith("-") for word in rest) or _JQ_ACTS.search(rest[0]):
        return Answer(
            findings.NEVER_ALWAYS, "runs a jq program that reads more than its input", changes=True
        )
    reads = tuple(range(index + 1, len(words)))
    return Answer(findings.ASK, "runs a jq program", reads=reads)


_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,6})?|\.\d{1,6})([smh]?)")


def sleep(words: Sequence[str]) -> Answer:
    """sleep: a bounded wait."""
    total = 0.0
    for word in words:
        match = _SECONDS.fullmatch(word)
        if match is None:
            return Answer(findings.ASK, "waits for an unknown time")
        total += float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
    if not words or total > SLEEP_SECONDS:
        return Answer(findings.ASK, f"waits for more than {SLEEP_SECONDS:g} s")
    return Answer(findings.READONLY)


def echo(words: Sequence[str]) -> Answer:
    """echo: text, whatever it says."""
    del words
    return Answer(findings.READONLY)


def printf(words: Sequence[str]) -> Answer:
    """printf: a format and text; -v assigns, and its subscript is evaluated."""
    if words and words[0] == "--":
        words = words[1:]
    if not words or words[0].startswith("-"):
        return Answer(findings.NEVER_ALWAYS, "assigns a variable by printf", changes=True)
    if "%n" in words[0]:
        return Answer(findings.ASK, "uses a format that assigns")
    return Answer(findings.READONLY)


def kill(words: Sequence[str]) -> Answer:
    """kill: -1 is every process, 0 and 1 nearly so; any other ends one."""
    rest = list(words)
    if rest and rest[0] in ("-l", "-L"):
        return Answer(findings.ASK, "lists signals")
    if rest and rest[0] in ("-s", "-n", "--signal"):
        rest = rest[2:]
    elif rest and rest[0] != "--" and rest[0].startswith("-") and len(rest) > 1:
        rest = rest[1:]
    if any(word.lstrip("+") in ("-1", "1", "-0", "0") for word in rest):
        return Answer(findings.HARD_STOP, "kills every process", changes=True)
    return Answer(findings.NEVER_ALWAYS, "ends or changes other processes", changes=True)


JUDGES: dict[str, Judge] = {
    "find": find,
    "test": test,
    "[": bracket,
    "sed": sed,
    "gsed": sed,
    "awk": awk,
    "gawk": awk,
    "mawk": awk,
    "nawk": awk,
    "jq": jq,
    "sleep": sleep,
    "echo": echo,
    "printf": printf,
    "kill": kill,
}
