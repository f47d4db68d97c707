"""Which method a message calls for, by its words: at most one, and none when unsure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from daemon.decide import turn
from daemon.domain import decisions, errors, inputs, presets

_WORD = re.compile(r"\w+")
_LOOKED_AT_CHARS = 4000
_KIND = errors.RefusalKind


@dataclass(frozen=True)
class Hit:
    """A skill whose keywords a message has, and how much they count."""

    name: str
    score: int
    keywords: tuple[str, ...]


def hits(text: str, skills: Mapping[str, presets.Skill]) -> tuple[Hit, ...]:
    """The skills that have a keyword in a message, the best first, and by name.

    A keyword of several words counts as often as it has words.
    """
    said = _words(text[:_LOOKED_AT_CHARS])
    found: list[Hit] = []
    for name, skill in skills.items():
        keywords = tuple(one for one in skill.keywords if _words(one) in said)
        if keywords:
            score = sum(len(keyword.split()) for keyword in keywords)
            found.append(Hit(name, score, keywords))
    return tuple(sorted(found, key=lambda hit: (-hit.score, hit.name)))


def chosen(text: str, skills: Mapping[str, presets.Skill]) -> str:
    """The name of the skill with the most keywords in a message; empty for none, or for a tie."""
    found = hits(text, skills)
    if not found or (len(found) > 1 and found[0].score == found[1].score):
        return ""
    return found[0].name


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def set_one(current: turn.Turn, given: inputs.SetSkill) -> decisions.Reply | decisions.Rejected:
    """Keep a skill in the place of what files say, or take it back; for the next message."""
    rules = current.rules
    if given.skill is None:
        if given.name not in rules.kept.skills:
            message = f"No skill {given.name} was set: there is nothing to take back."
            return decisions.Rejected(refusal=_KIND.NOT_FOUND, message=message)
    elif given.name not in rules.skills and len(rules.skills) >= rules.limits.skills:
        message = f"There are {len(rules.skills)} skills. Take back one that nobody uses."
        return decisions.Rejected(refusal=_KIND.EXHAUSTED, message=message)
    current.keep_record(decisions.SkillRecord(name=given.name, skill=given.skill))
    return decisions.SkillKept(name=given.name)
