"""Reads a web address into its one form; refuses what could be read in two ways.

The form is what is shown, approved and asked for. Says nothing of where a name leads, but
refuses an address that may not be reached.
"""

import ipaddress
import re
import urllib.parse
from collections.abc import Collection
from dataclasses import dataclass, replace

import idna

from tools import contract
from tools.web import addresses

MAX_CHARS = 2048
_DEFAULT_PORTS = {"http": 80, "https": 443}
_AUTHORITY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]*\]|[^\[\]:]*)(?::(?P<port>[0-9]{1,5}))?")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_NAMES = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa")
"""The last labels of names that only mean something inside a network."""
_KEPT = "!$%&'()*+,-./:;=?@_~[]"
"""What of a path and a query is sent as it stands."""


@dataclass(frozen=True, slots=True)
class Url:
    """One web address: `host` is in ASCII, an IPv6 one without brackets; `target` is the path and
    the query; `listed` when the owner's settings name host and port."""

    scheme: str
    host: str
    port: int
    target: str
    listed: bool = False

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """Host and port as the settings name them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The whole address in its one form."""
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def address(self) -> addresses.Address | None:
        """The host, where it is an address by itself."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None

    @property
    def readable_host(self) -> str:
        """The host as people of its language write it."""
        labels = self.host.split(".")
        return ".".join(idna.decode(one) if one.startswith("xn--") else one for one in labels)


def parse(text: str, listed: Collection[str] = ()) -> Url:
    """Read a web address; `listed` are the hosts with ports that the owner's settings name.

    Raises:
        ToolFault: it is none, could be read in two ways, or is none of the public web.
    """
    found = _parsed(text)
    if found.place in listed:
        found = replace(found, listed=True)
    address = found.address
    kind = addresses.refusal(address, found.listed) if address is not None else ""
    if kind:
        raise contract.ToolFault(f"{found.host} is {kind}: it is not connected to.")
    if found.listed:
        return found
    if found.port not in _DEFAULT_PORTS.values():
        raise contract.ToolFault(
            f"Port {found.port} is not of the public web: only 80 and 443 are."
        )
    if _is_inner(found.host):
        raise contract.ToolFault(f"{found.host} is no name of the public web.")
    return found


def _parsed(text: str) -> Url:
    _check_characters(text)
    scheme, separator, rest = text.partition("://")
    scheme = scheme.lower()
    if not separator or scheme not in _DEFAULT_PORTS:
        raise contract.ToolFault("A web address begins with https:// or http://; nothing else is.")
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    host, port = _authority(authority, _DEFAULT_PORTS[scheme])
    found = Url(scheme=scheme, host=host, port=port, target=_target(rest[len(authority) :]))
    if len(found.text) > MAX_CHARS:
        raise contract.ToolFault(f"A web address has at most {MAX_CHARS} characters.")
    return found


def place(text: str) -> str:
    """Host and port of an address that the owner's settings name.

    Raises:
        ToolFault: it is no web address.
    """
    return _parsed(text).place


def join(base: Url, location: str, listed: Collection[str] = ()) -> Url:
    """Where a redirect leads.

    Raises:
        ToolFault: as `parse`, or it leads from https to http.
    """
    _check_characters(location)
    found = parse(urllib.parse.urljoin(base.text, location), listed)
    if base.scheme == "https" and found.scheme == "http":
        raise contract.ToolFault("It redirects from https to http; that is not followed.")
    return found


def _check_characters(text: str) -> None:
    if len(text) > MAX_CHARS:
        raise contract.ToolFault(f"A web address has at most {MAX_CHARS} characters.")
    if "\\" in text or not text.isprintable() or any(map(str.isspace, text)):
        raise contract.ToolFault("A web address holds no space, control character or backslash.")


def _authority(text: str, default_port: int) -> tuple[str, int]:
    if "@" in text:
        raise contract.ToolFault("A web address may hold no user name or password.")
    if "%" in text:
        raise contract.ToolFault("A host is written without percent signs.")
    found = _AUTHORITY.fullmatch(text)
    if found is None or not found["host"]:
        raise contract.ToolFault("The host and port of the web address cannot be read.")
    port = int(found["port"]) if found["port"] else default_port
    if not 0 < port < 65536:
        raise contract.ToolFault(f"There is no port {port}.")
    return _host(found["host"]), port


def _host(text: str) -> str:
    """A host in ASCII and small letters."""
    if text.startswith("["):
        try:
            return str(ipaddress.IPv6Address(text[1:-1]))
        except ValueError as error:
            raise contract.ToolFault(f"{text} is no IPv6 address.") from error
    host = text.lower() if text.isascii() else _to_ascii(text)
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise contract.ToolFault(
                f"{host}: an IPv4 address is four decimal numbers without leading zeros."
            ) from error
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise contract.ToolFault(f"{host} is no host name.")
    for label in labels:
        if label.startswith("xn--"):
            _check_coded(label)
    return host


def _to_ascii(text: str) -> str:
    try:
        coded: str = idna.encode(text, uts46=True, std3_rules=True).decode("ascii")
    except idna.IDNAError as error:
        raise contract.ToolFault("The host is no international domain name.") from error
    return coded


def _check_coded(label: str) -> None:
    """A coded label must be the code of what it decodes to."""
    try:
        same = idna.encode(idna.decode(label)).decode("ascii") == label
    except idna.IDNAError:
        same = False
    if not same:
        raise contract.ToolFault(f"{label} is no part of an international domain name.")


def _is_inner(host: str) -> bool:
    if ":" in host:
        return False  # an IPv6 address
    return "." not in host or host.endswith(tuple(f".{name}" for name in _INNER_NAMES))


def _target(text: str) -> str:
    """The path and the query, without the fragment, in ASCII."""
    asked = urllib.parse.quote(text.partition("#")[0], safe=_KEPT)
    return asked if asked.startswith("/") else f"/{asked}"
