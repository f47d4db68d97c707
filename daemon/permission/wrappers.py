"""Programs that run other programs: where the inner command begins, and what a shell is given.

Answers for the few wrappers that can hold a command that only reads. Every other program that runs
its words is judged by its own rules, and its words are searched for hard stops.
"""

import re
from collections.abc import Sequence

from daemon.permission import rules, scope

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TEXT_OPTION = re.compile(r"-[A-Za-z]*c[A-Za-z]*")


def unwrap(
    known: rules.Rules, program: str, words: Sequence[scope.Value]
) -> list[scope.Value] | None:
    """The inner command of a wrapper; None where the program is none or runs nothing."""
    wrapper = known.wrappers.get(program)
    if wrapper is None:
        return None
    index = _behind_options(wrapper, words)
    if wrapper.assigns:
        while index < len(words) and _ASSIGNMENT.match(words[index].text):
            index += 1
    inner = list(words[index + wrapper.skip :])
    if not inner or (program == "command" and words[0].text in ("-v", "-V")):
        return None
    return inner


def _behind_options(wrapper: rules.Wrapper, words: Sequence[scope.Value]) -> int:
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        text = words[index].text
        index += 1
        if text == "--":
            break
        if text in wrapper.values:
            index += 1
    return index


def is_odd(known: rules.Rules, program: str, words: Sequence[scope.Value]) -> bool:
    """Whether the wrapper itself is given more than the plainest options."""
    wrapper = known.wrappers[program]
    before = words[: _behind_options(wrapper, words)]
    has_assignment = wrapper.assigns and any(_ASSIGNMENT.match(w.text) for w in words)
    return has_assignment or any(
        not w.text.startswith(wrapper.values or ("\0",))
        and not re.fullmatch(r"-[0-9.]+|--", w.text)
        for w in before
        if w.text.startswith("-")
    )


def shell_text(words: Sequence[scope.Value]) -> tuple[str | None, Sequence[scope.Value]]:
    """The text behind -c of a shell, with the positional parameters that follow it."""
    for index, word in enumerate(words):
        if _TEXT_OPTION.fullmatch(word.text) or word.text == "--command":
            rest = list(words[index + 1 :])
            while rest and re.match(r"[-+][A-Za-z-]", rest[0].text):
                rest = rest[1:]
            return (rest[0].text, rest[2:]) if rest else (None, ())
        if word.text.startswith("--command="):
            return word.text.partition("=")[2], words[index + 1 :]
    return None, words[1:]
