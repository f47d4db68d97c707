"""The words of bots in other languages: one file a language, over the English ones of the code.

Answers for: that a translation has the same places to fill in as the English text, and names no
text that there is not; what it leaves out stays English. To be loaded once, before a bot begins.
"""

import pathlib
import string
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence

from bots import config

ENGLISH: typing.Final = "en"
UNKNOWN: typing.Final = "There is no catalogue of the language {language}; there are: {known}."
BROKEN: typing.Final = "{path} cannot be read: {why}"
NO_TEXT: typing.Final = "{path}: {section}.{name} is no text of the bots."
PLACES: typing.Final = "{path}: {section}.{name} must name {places}, and no other places."


def load(
    language: str,
    folders: Sequence[pathlib.Path],
    sections: Mapping[str, types.ModuleType],
) -> None:
    """Put a language's words in the place of the English ones; the first file of it counts.

    Raises:
        config.ConfigError: there is no such catalogue, or a text in it does not fit.
    """
    if language in ("", ENGLISH):
        return
    path = _find(language, folders)
    for section, words in _read(path).items():
        module = sections.get(section)
        for name, text in words.items():
            english = getattr(module, name, None)
            if module is None or english is None or not name.isupper():
                raise config.ConfigError(NO_TEXT.format(path=path, section=section, name=name))
            setattr(module, name, _fitting(path, f"{section}.{name}", english, text))


def _find(language: str, folders: Sequence[pathlib.Path]) -> pathlib.Path:
    there = {one.stem: one for folder in folders[::-1] for one in folder.glob("*.toml")}
    if language not in there:
        known = ", ".join(sorted({ENGLISH, *there}))
        raise config.ConfigError(UNKNOWN.format(language=language, known=known))
    return there[language]


def _read(path: pathlib.Path) -> Mapping[str, Mapping[str, object]]:
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise config.ConfigError(BROKEN.format(path=path, why=error)) from None
    return {section: words for section, words in found.items() if isinstance(words, dict)}


def _fitting(path: pathlib.Path, where: str, english: object, text: object) -> object:
    """A text, or a table of texts over the English one."""
    if isinstance(english, dict) and isinstance(text, dict) and text.keys() <= english.keys():
        return english | {
            key: _fitting(path, f"{where}.{key}", english[key], one) for key, one in text.items()
        }
    section, _, name = where.partition(".")
    if not isinstance(english, str) or not isinstance(text, str):
        raise config.ConfigError(NO_TEXT.format(path=path, section=section, name=name))
    if places(text) != places(english):
        wanted = ", ".join(sorted(places(english))) or "no place"
        raise config.ConfigError(
            PLACES.format(path=path, section=section, name=name, places=wanted)
        )
    return text


def places(text: str) -> frozenset[str]:
    """What is filled into a text."""
    try:
        return frozenset(name for _, name, _, _ in string.Formatter().parse(text) if name)
    except ValueError:
        return frozenset({"?"})
