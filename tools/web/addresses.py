"""Which network addresses may be connected to: those of the public internet.

An address that carries another inside is judged by that one too. Resolves and connects nothing.
"""

import functools
import ipaddress
from collections.abc import Iterator

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = frozenset(
    ("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254")
)
"""Where cloud machines are told their secrets."""

_IPV4 = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "a provider's own"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "for documentation"),
    ("192.31.196.0/24", "reserved"),
    ("192.52.193.0/24", "reserved"),
    ("192.88.99.0/24", "a relay"),
    ("192.168.0.0/16", "private"),
    ("192.175.48.0/24", "reserved"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_IPV6 = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("64:ff9b:1::/48", "private"),
    ("100::/64", "discarded"),
    ("2001:2::/48", "for benchmarks"),
    ("2001:db8::/32", "for documentation"),
    ("2001::/23", "reserved"),
    ("3fff::/20", "for documentation"),
    ("5f00::/16", "reserved"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
)
_NAMEABLE = frozenset(("private", "loopback", "a provider's own"))
"""What an owner may name; all else is of no use, or dangerous, whoever names it."""
_GLOBAL_UNICAST_BITS = 0b001
_NAT64_BITS = 0x0064_FF9B << 64
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def refusal(address: Address, named: bool = False) -> str:
    """Why an address may not be connected to, in a few words; empty when it may.

    `named` when the owner's settings name the host and port: then a private or loopback address
    is allowed.
    """
    for one in (address, *_embedded(address)):
        kind = _kind(one)
        if kind and not (named and one == address and kind in _NAMEABLE):
            return kind if one == address else f"{kind} ({one} inside)"
    return ""


def _kind(address: Address) -> str:
    if str(address) in _METADATA:
        return "a machine's metadata service"
    for network, kind in _special(address.version):
        if address in network:
            return kind
    if isinstance(address, ipaddress.IPv4Address):
        return "" if address.is_global else "not public"
    if address.scope_id is not None:
        return "of one link"
    if address.ipv4_mapped is not None or address.sixtofour is not None or _is_nat64(address):
        return ""  # what is inside decides, whatever this Python's lists say of the outside
    is_unicast = int(address) >> 125 == _GLOBAL_UNICAST_BITS
    return "" if is_unicast and address.is_global else "not public"


@functools.cache
def _special(version: int) -> tuple[tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, str], ...]:
    ranges = _IPV4 if version == 4 else _IPV6
    return tuple((ipaddress.ip_network(text), kind) for text, kind in ranges)


def _is_nat64(address: ipaddress.IPv6Address) -> bool:
    return int(address) >> 32 == _NAT64_BITS


def _embedded(address: Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for or leads through."""
    if isinstance(address, ipaddress.IPv4Address):
        return
    low = int(address) & 0xFFFF_FFFF
    is_compatible = int(address) >> 32 == 0 and low > 1  # those two are addresses of their own
    if address.ipv4_mapped is not None or _is_nat64(address) or is_compatible:
        yield ipaddress.IPv4Address(low)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield from address.teredo
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        yield ipaddress.IPv4Address(low)
