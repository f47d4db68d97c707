"""Where a client finds the daemon and its token: flag, then environment, then the state folder.

Answers for: the state folder, the daemon's address, the token. It refuses an address that would
carry the token over a network in the clear. It must never write anything, nor show a token.
"""

import dataclasses
import ipaddress
import pathlib
from collections.abc import Mapping

from bots import texts

SOCKET_NAME = "ducklmd.sock"
TOKEN_NAME = "token"
SOCKET_PATH_LIMIT_BYTES = 107  # what the kernel takes in sun_path


class ConfigError(Exception):
    """A setting that cannot be used. The message is one sentence that says how to mend it."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """What a client needs to reach the daemon."""

    state: pathlib.Path
    address: str  # as gRPC takes it: unix:PATH or HOST:PORT
    token: str = dataclasses.field(repr=False)  # empty: none found
    token_place: str  # where the token was looked for, in words


def read(
    environ: Mapping[str, str],
    home: pathlib.Path,
    state_flag: str | None = None,
    address_flag: str | None = None,
) -> Settings:
    """Work out the settings; raises ConfigError."""
    state = state_folder(environ, home, state_flag)
    given = address_flag or environ.get("DUCKLM_ADDRESS") or f"unix:{state / SOCKET_NAME}"
    place = texts.TOKEN_PLACE.format(path=state / TOKEN_NAME)
    return Settings(state, check_address(given), read_token(environ, state), place)


def state_folder(
    environ: Mapping[str, str], home: pathlib.Path, flag: str | None = None
) -> pathlib.Path:
    """The folder that the daemon keeps its state in."""
    if flag or environ.get("DUCKLM_STATE"):
        return pathlib.Path(flag or environ["DUCKLM_STATE"]).expanduser().absolute()
    base = environ.get("XDG_STATE_HOME")
    if base and pathlib.Path(base).is_absolute():  # the XDG specification ignores relative ones
        return pathlib.Path(base) / "ducklm"
    return home / ".local" / "state" / "ducklm"


def check_address(address: str) -> str:
    """Return the address as gRPC takes it; only sockets and loopback are taken without TLS."""
    if address.startswith("unix:"):
        path = address.removeprefix("unix:")
        if path.startswith("//"):
            path = path[2:]
        if not path:
            raise ConfigError(texts.ADDRESS_MALFORMED.format(address=address))
        if len(path.encode(errors="surrogateescape")) > SOCKET_PATH_LIMIT_BYTES:
            raise ConfigError(texts.ADDRESS_SOCKET_TOO_LONG.format(path=path))
        return f"unix:{path}"
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit():
        raise ConfigError(texts.ADDRESS_MALFORMED.format(address=address))
    if not 0 < int(port) < 65536:
        raise ConfigError(texts.ADDRESS_MALFORMED.format(address=address))
    if not _is_loopback(host):
        raise ConfigError(texts.ADDRESS_NOT_LOOPBACK.format(host=host))
    return address


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def read_token(environ: Mapping[str, str], state: pathlib.Path) -> str:
    """The token, or nothing where there is none: the daemon's answer then says what to do."""
    token = environ.get("DUCKLM_TOKEN", "").strip()
    path = state / TOKEN_NAME
    if not token:
        try:
            token = path.read_text(encoding="ascii").strip()
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except UnicodeDecodeError:
            raise ConfigError(texts.TOKEN_MALFORMED) from None
        except OSError as error:
            reason = error.strerror or texts.REASON_UNKNOWN
            raise ConfigError(texts.TOKEN_UNREADABLE.format(path=path, reason=reason)) from None
    if not (token.isascii() and token.isprintable()):
        raise ConfigError(texts.TOKEN_MALFORMED)
    return token
