"""The texts of prompts and skills: packaged, and the owner's own in their place or beside them.

A prompt is used as it stands: braces in it mean nothing. A skill is a Markdown file whose first
lines, between two lines of `---`, name its keywords.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import pydantic

from daemon.config import layers
from daemon.domain import errors, messages, presets

_SYSTEM = "system.md"
_FENCE = "---"
_KEYWORDS = "keywords:"


@dataclass(frozen=True)
class Prompts:
    """The start of the fixed part, and what each purpose's role is told to do."""

    system: str
    by_purpose: Mapping[messages.Purpose, str]


def prompts(folders: Sequence[Path | None]) -> Prompts:
    """Every prompt, from the last folder that has it, else the packaged one.

    Raises:
        errors.ConfigFault: one cannot be read.
    """
    asking = [one for one in messages.Purpose if one is not messages.Purpose.THINK]
    return Prompts(
        system=_prompt(folders, _SYSTEM),
        by_purpose={one: _prompt(folders, f"{one}.md") for one in asking},
    )


def _prompt(folders: Sequence[Path | None], name: str) -> str:
    for folder in reversed(folders):
        path = folder / "prompts" / name if folder is not None else None
        if path is not None and path.is_file():
            return _read(path)
    packaged = resources.files(layers.PACKAGED) / "prompts" / name
    return packaged.read_text(encoding="utf-8").strip()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.ConfigFault([f"{path}: cannot be read: {error}"]) from error


def skills(folders: Sequence[Path | None]) -> dict[str, presets.Skill]:
    """Every skill by its file's name; an owner's own takes the place of ours of that name.

    Raises:
        errors.ConfigFault: a file has no keywords, or cannot be read.
    """
    packaged = resources.files(layers.PACKAGED) / "skills"
    found = {
        one.name.removesuffix(".md"): skill(one.name, one.read_text(encoding="utf-8"))
        for one in sorted(packaged.iterdir(), key=lambda one: one.name)
        if one.name.endswith(".md")
    }
    for folder in folders:
        own = folder / "skills" if folder is not None else None
        for path in sorted(own.glob("*.md")) if own is not None and own.is_dir() else ():
            found[path.stem] = skill(str(path), _read(path))
    return found


def skill(name: str, text: str) -> presets.Skill:
    """A skill of its file's text.

    Raises:
        errors.ConfigFault: it names no keywords, or is too long.
    """
    head, _, rest = text.strip().removeprefix(_FENCE).partition(f"\n{_FENCE}\n")
    lines = [line.strip() for line in head.splitlines() if line.strip().startswith(_KEYWORDS)]
    words = lines[0].removeprefix(_KEYWORDS).split(",") if lines and rest else []
    keywords = tuple(word.strip().casefold() for word in words if word.strip())
    if not keywords or not text.strip().startswith(_FENCE):
        how = "begin it with a line ---, a line `keywords: one, two`, and a line ---"
        raise errors.ConfigFault([f"{name}: the skill names no keywords: {how}"])
    if len(rest) > presets.MOST_SKILL_CHARS:
        limit = f"at most {presets.MOST_SKILL_CHARS} characters"
        raise errors.ConfigFault([f"{name}: the skill has {len(rest)} characters; {limit}"])
    try:
        return presets.Skill(text=rest.strip(), keywords=keywords)
    except pydantic.ValidationError as error:
        said = [one["msg"].removeprefix("Value error, ") for one in error.errors()]
        raise errors.ConfigFault([f"{name}: {one}" for one in said]) from error
