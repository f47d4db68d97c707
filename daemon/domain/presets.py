"""Profiles and skills: what an owner sets once, under a name, for many conversations.

Values only. What a profile leaves out is left to what lies beneath it: the role's settings, then
the slot's.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

import pydantic

from daemon.domain import base, messages

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,40}")
NAME_TOLD = "1 to 41 small letters, digits, - and _, and begins with a letter or digit"
MOST_INSTRUCTIONS_CHARS = 4000
MOST_SKILL_CHARS = 4000
MOST_NAMED = 64
"""Tools that a profile lists, and keywords of a skill."""
DEFAULT_THINKING_TOKENS = 1024


class Generation(base.Value):
    """How tokens are chosen and how many; None leaves it to what lies beneath.

    Temperature 0 decodes greedily, and what else says how to choose is then unused.
    `thinking_tokens` bound what a reasoning model thinks beside its answer while `thinking` is on.
    """

    temperature: float | None = pydantic.Field(default=None, ge=0.0, le=5.0, strict=False)
    top_p: float | None = pydantic.Field(default=None, gt=0.0, le=1.0, strict=False)
    top_k: int | None = pydantic.Field(default=None, ge=0, lt=2**31)
    min_p: float | None = pydantic.Field(default=None, ge=0.0, le=1.0, strict=False)
    repeat_penalty: float | None = pydantic.Field(default=None, ge=0.0, le=4.0, strict=False)
    seed: int | None = pydantic.Field(default=None, ge=0, lt=2**32)
    answer_tokens: int | None = pydantic.Field(default=None, ge=1, lt=2**31)
    thinking: bool | None = None
    thinking_tokens: int | None = pydantic.Field(default=None, ge=1, lt=2**31)


Generations = Mapping[messages.Role, Generation]


def merged(layers: Iterable[Generation]) -> Generation:
    """All layers as one, key by key; a later one goes before an earlier one."""
    found: dict[str, object] = {}
    for layer in layers:
        found.update(layer.model_dump(exclude_none=True))
    return Generation().but(found)


def check_roles(generation: Generations) -> Generations:
    """The same; raises ValueError where a role generates nothing."""
    if messages.Role.EMBEDDINGS in generation:
        raise ValueError("generation.embeddings: this role generates no text")
    return generation


class Profile(base.Value):
    """A preset. `instructions` follow the system text, `tools` are all that may be used (None is
    every tool), `critic` says whether steps of plans are judged (None is the daemon's setting)."""

    description: str = pydantic.Field(default="", max_length=200)
    instructions: str = pydantic.Field(default="", max_length=MOST_INSTRUCTIONS_CHARS)
    tools: tuple[str, ...] | None = pydantic.Field(default=None, max_length=MOST_NAMED)
    generation: Generations = {}
    skills: bool = True
    critic: bool | None = None
    memory: Literal["off"] = "off"
    """There is none yet; another mode is refused and not promised."""

    @pydantic.field_validator("memory", mode="before")
    @classmethod
    def _no_memory_yet(cls, memory: object) -> object:
        if memory != "off":
            raise ValueError('there is no memory yet: write "off", or leave it out')
        return memory

    @pydantic.field_validator("generation")
    @classmethod
    def _roles_generate(cls, generation: Generations) -> Generations:
        return check_roles(generation)


class Skill(base.Value):
    """A method in words, and the keywords of a message that call for it."""

    text: str = pydantic.Field(min_length=1, max_length=MOST_SKILL_CHARS)
    keywords: tuple[str, ...] = pydantic.Field(min_length=1, max_length=MOST_NAMED)

    @pydantic.field_validator("keywords")
    @classmethod
    def _say_words(cls, keywords: tuple[str, ...]) -> tuple[str, ...]:
        for keyword in keywords:
            if not any(character.isalnum() for character in keyword):
                raise ValueError(f'"{keyword}" is no word that a message could have')
        return tuple(" ".join(keyword.casefold().split()) for keyword in keywords)


class Kept(base.Value):
    """What was set while a daemon ran; it goes before what files say."""

    profiles: Mapping[str, Profile] = {}
    skills: Mapping[str, Skill] = {}

    def with_profile(self, name: str, profile: Profile | None) -> "Kept":
        """The same with a profile in the place of one of its name, or without it."""
        others = {one: kept for one, kept in self.profiles.items() if one != name}
        return self.but({"profiles": others if profile is None else others | {name: profile}})

    def with_skill(self, name: str, skill: Skill | None) -> "Kept":
        """The same with a skill in the place of one of its name, or without it."""
        others = {one: kept for one, kept in self.skills.items() if one != name}
        return self.but({"skills": others if skill is None else others | {name: skill}})
