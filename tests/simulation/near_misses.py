"""Commands that are nearly one that may run unasked, and are another: by a blank, a quote, an
option, an order, a path's spelling, a letter's look, a word before or behind.
"""

import itertools
import random
from collections.abc import Iterator

GRANTED = "cp -p -v 'a b.txt' link out"
_WORDS = ("cp", "-p", "-v", "'a b.txt'", "link", "out")
_LOOK_ALIKES = str.maketrans(
    {"c": "\u0441", "p": "\u0440", "a": "\u0430", "o": "\u043e", "i": "\u0456", "x": "\u0445"}
)
_UNSEEN = ("\u200b", "\u200d", "\u2060", "\u202e", "\u00ad", "\ufe0f", "\u0301", "\x7f", "\r")
_BLANKS = ("  ", "\t", " \\\n", "\u00a0", "\u2003", "\u3000", "\n")
_SPELLINGS: dict[str, tuple[str, ...]] = {
    "cp": ("'cp'", '"cp"', "c'p'", "\\cp", "/bin/cp", "/usr/bin/cp", "./cp", "CP", "cpio", "c$@p"),
    "-p": ("-P", "--preserve", "-a", "-pv", "--preserve=all", "-p -f", "-p -r", "-p --", "-p -n"),
    "-v": ("--verbose", "-V", "-u", "-l", "-s", "-v -L", "-v -t .", "-v -T", "-v --backup"),
    "'a b.txt'": (
        *(
            '"a b.txt"',
            "a\\ b.txt",
            "$'a b.txt'",
            "'a  b.txt'",
            "a b.txt",
            "'A b.txt'",
            "'a b.txt '",
        ),
        *("./'a b.txt'", "'./a b.txt'", "a*", "a?b.txt", "sub/../'a b.txt'", "$PWD/'a b.txt'"),
    ),
    "link": (
        "./link",
        "sub/../link",
        "lin[k]",
        "{link,}",
        "link/",
        "LINK",
        "a",
        "link a",
        "~/link",
    ),
    "out": (
        "./out",
        "out/",
        "out/.",
        "sub/../out",
        "$PWD/out",
        "out//",
        "sub",
        "..",
        "~/out",
        "Out",
    ),
}
_BEFORE = (
    *(
        "A=1 ",
        "LC_ALL=C ",
        "PATH=. ",
        "env ",
        "env A=1 ",
        "command ",
        "builtin ",
        "exec ",
        "nohup ",
    ),
    *("nice ", "timeout 5 ", "sudo ", "true; ", "cd . && ", "cd sub; ", "! ", "time ", "( ", " "),
    *(": && ", "x=y; ", "set -e; ", "umask 0; ", "if true; then ", "{ ", "eval ", "xargs "),
)
_BEHIND = (
    *(
        "; ",
        ";",
        " &",
        " # yes",
        " && true",
        " || true",
        " | cat",
        " > log",
        " 2>&1",
        " </dev/null",
    ),
    *(" \n", " ", "\n", " >> log", " ; cp a out", " 'a b.txt'", " ''", " --", " -f", "\ntrue"),
)


def _spelled() -> Iterator[str]:
    for place, word in enumerate(_WORDS):
        for other in _SPELLINGS[word]:
            yield " ".join((*_WORDS[:place], other, *_WORDS[place + 1 :]))


def _looking_alike() -> Iterator[str]:
    for place, letter in enumerate(GRANTED):
        other = letter.translate(_LOOK_ALIKES)
        if other != letter:
            yield GRANTED[:place] + other + GRANTED[place + 1 :]
        for unseen in _UNSEEN[place % 3 :: 3]:
            yield GRANTED[:place] + unseen + GRANTED[place:]


def _blanks() -> Iterator[str]:
    for place, letter in enumerate(GRANTED):
        if letter == " ":
            yield from (GRANTED[:place] + blank + GRANTED[place + 1 :] for blank in _BLANKS)


def _orders() -> Iterator[str]:
    for order in itertools.permutations(_WORDS[1:]):
        yield " ".join((_WORDS[0], *order))


def _around() -> Iterator[str]:
    yield from (before + GRANTED for before in _BEFORE)
    yield from (GRANTED + behind for behind in _BEHIND)
    yield from (f"({GRANTED})", f"{{ {GRANTED}; }}", f"bash -c '{GRANTED}'", f"$({GRANTED})")


def _slips() -> Iterator[str]:
    for place in range(len(GRANTED)):
        yield GRANTED[:place] + GRANTED[place + 1 :]
        yield GRANTED[:place] + "X" + GRANTED[place + 1 :]


def sample(count: int, chance: random.Random) -> list[str]:
    """So many different ones, the families in turn."""
    families = [_spelled(), _looking_alike(), _blanks(), _orders(), _around(), _slips()]
    mixed = [list(dict.fromkeys(family)) for family in families]
    for family in mixed:
        chance.shuffle(family)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*mixed))
    found = dict.fromkeys(one for one in turns if one is not None and one != GRANTED)
    return list(found)[:count]
