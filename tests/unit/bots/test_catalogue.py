"""Other languages: a catalogue fits the English texts, or is refused with the place."""

import pathlib
import types

import pytest

from bots import catalogue, commands, config, schedule_words, texts as common
from bots.telegram import texts as telegram

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "config" / "languages"


def words(module: types.ModuleType) -> types.ModuleType:
    """A copy of a module's texts, to be changed."""
    copy = types.ModuleType(module.__name__)
    for name, value in vars(module).items():
        if name.isupper():
            setattr(copy, name, value)
    return copy


@pytest.mark.spec("C-08")
@pytest.mark.parametrize("language", sorted(one.stem for one in FOLDER.glob("*.toml")))
def test_every_catalogue_fits(language: str) -> None:
    modules = {
        "common": common,
        "commands": commands,
        "schedules": schedule_words,
        "telegram": telegram,
    }
    copies = {name: words(module) for name, module in modules.items()}
    catalogue.load(language, [FOLDER], copies)
    assert vars(copies["telegram"])["ONCE"] != telegram.ONCE
    assert vars(copies["commands"])["HELPS"].keys() == commands.HELPS.keys()
    assert vars(copies["schedules"])["ADD_USAGE"] != schedule_words.ADD_USAGE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[telegram]\nNOPE = 'x'", "telegram.NOPE is no text"),
        ("[nowhere]\nONCE = 'x'", "nowhere.ONCE is no text"),
        ("[telegram]\nONCE = 5", "telegram.ONCE is no text"),
        ("[telegram]\nCARD_EXPIRES = 'bis {wann}'", "telegram.CARD_EXPIRES must name at"),
        ("[telegram]\nCARD_EXPIRES = 'bis {'", "telegram.CARD_EXPIRES must name at"),
        ("[telegram]\nONCE = '{x}'", "telegram.ONCE must name no place"),
        ("[telegram.PRESSED]\nOTHER = 'x'", "telegram.PRESSED is no text"),
        ("[telegram.CARD_CLOSED]\nALLOWED = 'x'", "telegram.CARD_CLOSED.ALLOWED must name by"),
        ("[telegram", "cannot be read"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, text: str, says: str) -> None:
    (tmp_path / "xx.toml").write_text(text)
    with pytest.raises(config.ConfigError, match=says):
        catalogue.load("xx", [tmp_path], {"telegram": words(telegram)})


def test_an_unknown_language_is_told_with_those_that_there_are(tmp_path: pathlib.Path) -> None:
    with pytest.raises(config.ConfigError, match="language xx; there are: de, en"):
        catalogue.load("xx", [tmp_path, FOLDER], {})
    catalogue.load("en", [tmp_path], {})
