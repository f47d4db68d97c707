"""Which method a message calls for, by its words: at most one, and none when unsure."""

import re
from collections.abc import Mapping

from daemon.decide import turn

_WORD = re.compile(r"\w+")
_LOOKED_AT_CHARS = 4000


def chosen(text: str, skills: Mapping[str, turn.Skill]) -> str:
    """The name of the skill with the most keywords in a message; empty for none, or for a tie.

    A keyword of several words counts as often as it has words.
    """
    words = " ".join(_WORD.findall(text[:_LOOKED_AT_CHARS].casefold()))
    padded = f" {words} "
    scores = {
        name: sum(
            len(keyword.split())
            for keyword in skill.keywords
            if f" {keyword.casefold()} " in padded
        )
        for name, skill in skills.items()
    }
    best = max(scores.values(), default=0)
    named = [name for name, score in scores.items() if score == best and best > 0]
    return named[0] if len(named) == 1 else ""
