"""Which machine a word of a command names: the cloud's metadata, the daemon itself, a private one.

Pure over text: nothing is looked up. Addresses are read in every spelling that resolvers take
(decimal, octal, hexadecimal, short, mapped into IPv6, percent-encoded).
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200"),
        *("168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"),
    )
)
_METADATA_NAMES = ("metadata.google.internal", "metadata.goog", "instance-data", "metadata")
_LINK_LOCAL = ipaddress.ip_network("169.254.0.0/16")
_SMALL = ipaddress.ip_network("0.0.0.0/8")
"""Any small number is spelt like an address in it; only 0.0.0.0 leads anywhere."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/+(?P<authority>[^/?#\s'\"]+)")
_BARE = re.compile(r"(?:[^@/\s]*@)?(?P<host>\[[^\]]+\]|[^\s:/@,]+)(?::(?P<port>\d+))?(?:[/:].*)?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[0-9]+")
_EMBEDDED = re.compile(r"(?:\d{1,3}[.-]){3}\d{1,3}")


class Kind(StrEnum):
    """What rules may say of a host."""

    METADATA = "metadata"
    DAEMON = "daemon"
    PRIVATE = "private"
    PUBLIC = "public"


Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def kinds(text: str, ports: frozenset[int]) -> frozenset[Kind]:
    """The kinds of every host that a word may name; nothing where it names none."""
    decoded = _decoded(text)
    found = {_kind(host, port, ports) for host, port in _hosts(decoded)}
    if any(_address(match[0]) in _METADATA for match in _EMBEDDED.finditer(decoded)):
        found.add(Kind.METADATA)
    return frozenset(found)


def _decoded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text[:4096]).replace("\u3002", ".")
    return re.sub(r"%([0-7][0-9a-fA-F])", lambda m: chr(int(m[1], 16)), folded)


def _hosts(text: str) -> Iterator[tuple[str, int | None]]:
    found = False
    for match in _URL.finditer(text):
        found = True
        for piece in match["authority"].split("@"):
            if bare := _BARE.match(piece):
                yield bare["host"], int(bare["port"]) if bare["port"] else None
    if not found:
        for piece in re.split(r"[=,]", text):
            if bare := _BARE.fullmatch(piece):
                yield bare["host"], int(bare["port"]) if bare["port"] else None


def _kind(host: str, port: int | None, ports: frozenset[int]) -> Kind:
    name = host.strip("[]").rstrip(".").lower()
    addresses = [
        a
        for a in (_address(name), *_embedded(name))
        if a is not None and (a not in _SMALL or (a.is_unspecified and (port or name != "0")))
    ]
    if name in _METADATA_NAMES or any(name.endswith(f".{n}") for n in _METADATA_NAMES[:3]):
        return Kind.METADATA
    if any(a in _METADATA or (a.version == 4 and a in _LINK_LOCAL) for a in addresses):
        return Kind.METADATA
    is_local = name == "localhost" or name.endswith(".localhost")
    if is_local or any(a.is_loopback or a.is_unspecified for a in addresses):
        return Kind.DAEMON if port in ports else Kind.PRIVATE
    if any(a.is_private for a in addresses) or name.endswith((".internal", ".local", ".lan")):
        return Kind.PRIVATE
    return Kind.PUBLIC


def _embedded(name: str) -> Iterator[Address]:
    """Names such as 169.254.169.254.nip.io resolve to the address that they hold."""
    if not _NUMBER.fullmatch(name.rpartition(".")[2]):
        for match in _EMBEDDED.finditer(name):
            address = _address(match[0].replace("-", "."))
            if address is not None:
                yield address


def _address(name: str) -> Address | None:
    if ":" in name:
        try:
            address = ipaddress.ip_address(name.partition("%")[0])
        except ValueError:
            return None
        if address.version == 6:
            if address.ipv4_mapped is not None:
                return address.ipv4_mapped
            if address in _NAT64:
                return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        return address
    parts = name.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    return _from_numbers([_number(part) for part in parts])


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part, 16)
    if part.startswith("0") and all(digit in "01234567" for digit in part):
        return int(part, 8)
    return int(part[:20])


def _from_numbers(numbers: list[int]) -> Address | None:
    """An address as inet_aton reads it: the last number fills what is left."""
    *head, last = numbers
    if any(number > 255 for number in head) or last >= 256 ** (4 - len(head)):
        return None
    value = last
    for index, number in enumerate(head):
        value |= number << (8 * (3 - index))
    return ipaddress.IPv4Address(value)
