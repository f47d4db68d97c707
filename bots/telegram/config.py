"""The Telegram bot's settings: `bots.toml` packaged, the owner's over it, then the environment.

Answers for: that a secret comes from the environment or from a file that nobody else can read, and
for one sentence that says how to mend what is wrong. Nothing is written here.
"""

import dataclasses
import pathlib
import re
import tomllib
import typing
from collections.abc import Mapping
from importlib import resources

from bots import client, config
from bots.telegram import texts

FILE_NAME: typing.Final = "bots.toml"
TOKEN_FILE: typing.Final = "telegram.token"
DAEMON_TOKEN_FILE: typing.Final = "bots/telegram-{account}.token"
_TOKEN: typing.Final = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,}")


@dataclasses.dataclass(frozen=True)
class Settings:
    """What the bot runs with."""

    token: str = dataclasses.field(repr=False)
    api: str
    daemon: client.Place
    poll_seconds: int
    show_thinking: bool
    language: str = ""


def read(environ: Mapping[str, str], home: pathlib.Path) -> Settings:
    """Work out the settings; raises bots.config.ConfigError."""
    folder = config_folder(environ, home)
    said = _telegram(folder)
    state = config.state_folder(environ, home)
    address = environ.get("DUCKLM_ADDRESS") or str(said["daemon"])
    ca = pathlib.Path(str(said["ca"])).expanduser() if said["ca"] else None
    if not address:
        address = f"unix:{state / config.SOCKET_NAME}"
    if ca is None:
        address = config.check_address(address)
    elif not ca.is_file():
        raise config.ConfigError(texts.NO_CA.format(path=ca))
    token = bot_token(environ, home)
    daemon_token = environ.get("DUCKLM_BOT_TOKEN", "").strip()
    token_file = str(said["daemon_token_file"])
    own = DAEMON_TOKEN_FILE.format(account=token.partition(":")[0])
    path = pathlib.Path(token_file).expanduser() if token_file else state / own
    daemon_token = daemon_token or _secret(path)
    if not daemon_token:
        raise config.ConfigError(texts.NO_DAEMON_TOKEN.format(path=path))
    return Settings(
        token=token,
        api=environ.get("DUCKLM_TELEGRAM_API") or str(said["api"]),
        daemon=client.Place(address, daemon_token, ca),
        poll_seconds=int(str(said["poll_seconds"])),
        show_thinking=said["show_thinking"] is True,
        language=str(said["language"]),
    )


def bot_token(environ: Mapping[str, str], home: pathlib.Path) -> str:
    """What BotFather gave; raises ConfigError where there is none or where it is none."""
    path = config_folder(environ, home) / TOKEN_FILE
    token = environ.get("DUCKLM_TELEGRAM_TOKEN", "").strip() or _secret(path)
    if not token:
        raise config.ConfigError(texts.NO_BOT_TOKEN.format(path=path))
    if not _TOKEN.fullmatch(token):
        raise config.ConfigError(texts.BAD_BOT_TOKEN)
    return token


def languages(environ: Mapping[str, str], home: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """The folders of catalogues: the owner's, then the packaged one."""
    packaged = pathlib.Path(str(resources.files("config"))) / "languages"
    return config_folder(environ, home) / "languages", packaged


def config_folder(environ: Mapping[str, str], home: pathlib.Path) -> pathlib.Path:
    """The owner's configuration folder."""
    if environ.get("DUCKLM_CONFIG"):
        return pathlib.Path(environ["DUCKLM_CONFIG"]).expanduser().absolute()
    base = environ.get("XDG_CONFIG_HOME")
    if base and pathlib.Path(base).is_absolute():
        return pathlib.Path(base) / "ducklm"
    return home / ".config" / "ducklm"


def _secret(path: pathlib.Path) -> str:
    try:
        if path.stat().st_mode & 0o077:
            raise config.ConfigError(texts.SECRET_IS_OPEN.format(path=path))
        return path.read_text("ascii").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, UnicodeDecodeError):
        raise config.ConfigError(texts.SECRET_UNREADABLE.format(path=path)) from None


def _telegram(folder: pathlib.Path) -> dict[str, str | int | bool]:
    """The section [telegram]: every key of the packaged file, those of the owner's in its place."""
    packaged = resources.files("config").joinpath(FILE_NAME).read_text("utf-8")
    said: dict[str, str | int | bool] = dict(tomllib.loads(packaged)["telegram"])
    own = folder / FILE_NAME
    try:
        given = tomllib.loads(own.read_text("utf-8"))
    except FileNotFoundError:
        return said
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise config.ConfigError(texts.BAD_FILE.format(path=own, why=error)) from None
    for key, value in dict(given.get("telegram", {})).items():
        if key not in said:
            raise config.ConfigError(texts.UNKNOWN_KEY.format(path=own, key=key))
        if type(value) is not type(said[key]):
            kind = type(said[key]).__name__
            raise config.ConfigError(texts.WRONG_KIND.format(path=own, key=key, kind=kind))
        said[key] = value
    return said
