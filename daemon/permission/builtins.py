"""What the shell's own commands change for the commands behind them: folder, variables, aliases.

Answers for effects on the scope alone; whether a builtin may run at all is a matter of its rules.
"""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from daemon.permission import paths, scope


class Follower(Protocol):
    """The walk, as far as a builtin changes it."""

    aliases: dict[str, str]

    def nested(self, text: str, where: scope.Scope, *, only_stops: bool = False) -> None:
        """Judge a text that would run."""


Effect = Callable[[Follower, Sequence[scope.Value], scope.Scope], None]
READERS = frozenset(("read", "mapfile", "readarray"))
_PAIR = re.compile(r"([A-Za-z_][A-Za-z0-9_.:+-]*)=(.*)", re.DOTALL)


def _change_folder(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    del follower
    targets = [word for word in words if word.text == "-" or not word.text.startswith("-")]
    if not targets:
        where.move(where.place.home)
    elif targets[0].text == "-":
        where.move(where.variables["OLDPWD"])
    else:
        where.move(targets[0].text)


def _set_pairs(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    del follower
    for word in words:
        if match := _PAIR.fullmatch(word.text):
            where.assign(match[1], match[2])


def _define_aliases(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    for word in words:
        if match := _PAIR.fullmatch(word.text):
            follower.aliases[match[1]] = match[2]
            follower.nested(match[2], where.copy())


def _evaluate(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    text = " ".join(word.text for word in words)
    if text.strip(paths.UNKNOWN + " \t\n"):
        follower.nested(text, where)


def _trap(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    for word in words[:1]:
        if word.text not in ("-", "", "-l", "-p"):
            follower.nested(word.text, where.copy())


def _set_positional(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    del follower
    texts = [word.text for word in words]
    if "--" in texts:
        where.positional = tuple(texts[texts.index("--") + 1 :])
    elif texts and not texts[0].startswith(("-", "+")):
        where.positional = tuple(texts)


def _forget_variables(follower: Follower, words: Sequence[scope.Value], where: scope.Scope) -> None:
    del follower
    for word in words:
        where.variables.pop(word.text, None)


def read(words: Sequence[scope.Value], text: str | None, where: scope.Scope) -> None:
    """`read` and its kin: what stands on the input goes into the variables named."""
    names = [word.text for word in words if not word.text.startswith("-")]
    for name in names:
        where.assign(name, paths.UNKNOWN if text is None else text.rstrip("\n"))


EFFECTS: dict[str, Effect] = {
    "cd": _change_folder,
    "pushd": _change_folder,
    "export": _set_pairs,
    "declare": _set_pairs,
    "typeset": _set_pairs,
    "local": _set_pairs,
    "readonly": _set_pairs,
    "alias": _define_aliases,
    "eval": _evaluate,
    "trap": _trap,
    "set": _set_positional,
    "unset": _forget_variables,
}
