"""The one form of a web address, which addresses are public, and what a text may hold."""

import ipaddress
import unicodedata

import hypothesis
import pytest
from hypothesis import strategies

from tools import contract
from tools.web import addresses, texts, urls

pytestmark = pytest.mark.spec("D-13")

FORMS = {
    "https://example.org": "https://example.org/",
    "HTTPS://Example.ORG/A": "https://example.org/A",
    "http://example.org:80/": "http://example.org/",
    "https://example.org:80/": "https://example.org:80/",
    "http://example.org?q": "http://example.org/?q",
    "http://example.org#f": "http://example.org/",
    "http://example.org/a#f?g": "http://example.org/a",
    "http://example.org/a%2Fb%zz": "http://example.org/a%2Fb%zz",
    "http://example.org/ä?ö=ü": "http://example.org/%C3%A4?%C3%B6=%C3%BC",
    'http://example.org/"<x>|^`{}': "http://example.org/%22%3Cx%3E%7C%5E%60%7B%7D",
    "http://example.org/a/../b//c": "http://example.org/a/../b//c",
    "http://example.org/?u=http://127.0.0.1/@x": "http://example.org/?u=http://127.0.0.1/@x",
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://faß.example/": "https://xn--fa-hia.example/",
    "https://BÜCHER。example/": "https://xn--bcher-kva.example/",
    "https://r3---sn-x.example/": "https://r3---sn-x.example/",
    "https://_dmarc.example.org/": "https://_dmarc.example.org/",
    "http://93.184.216.34/": "http://93.184.216.34/",
    "http://[2606:2800:0220:0001::1]/": "http://[2606:2800:220:1::1]/",
}


@pytest.mark.parametrize(("written", "form"), FORMS.items(), ids=FORMS)
def test_an_address_has_one_form(written: str, form: str) -> None:
    found = urls.parse(written)
    assert found.text == form
    assert urls.parse(form) == found


@hypothesis.given(
    strategies.text(max_size=30),
    strategies.sampled_from(["", "http://", "http://a.example", "http://a.example/"]),
)
def test_whatever_is_written_is_read_once_or_refused(text: str, before: str) -> None:
    try:
        found = urls.parse(before + text)
    except contract.ToolFault:
        return
    assert urls.parse(found.text) == found
    assert found.text.isascii()
    assert found.text.isprintable()
    assert " " not in found.text
    assert "@" not in found.authority


LISTED = ("nas.home:8080", "127.0.0.1:9", "[::1]:80", "router:80", "169.254.169.254:80")
NAMED = {
    "http://nas.home:8080/": True,
    "http://127.0.0.1:9/": True,
    "http://[::1]/": True,
    "http://[0:0::1]:80/": True,
    "http://router/": True,
    "http://example.org/": False,
    "http://nas.home/": False,
    "http://nas.home:8081/": None,
    "http://127.0.0.1:90/": None,
    "http://127.0.0.1/": None,
    "http://127.0.0.2:9/": None,
    "https://router/": None,
    "http://169.254.169.254/": None,
}


@pytest.mark.parametrize(("written", "listed"), NAMED.items(), ids=NAMED)
def test_only_what_an_owner_names_by_host_and_port_is_listed(
    written: str, listed: bool | None
) -> None:
    if listed is None:
        with pytest.raises(contract.ToolFault):
            urls.parse(written, LISTED)
    else:
        assert urls.parse(written, LISTED).listed is listed


PUBLIC = """1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1
192.0.1.1 192.167.1.1 198.17.255.255 198.20.0.1 223.255.255.255 11.0.0.1 128.0.0.1 169.253.0.1
2606:4700::1111 2001:4860:4860::8888 2a00:1450:4001::200e ::ffff:8.8.8.8 64:ff9b::808:808
2002:808:808::1 2620:fe::fe"""


@pytest.mark.parametrize("text", PUBLIC.split())
def test_public_addresses_may_be_reached(text: str) -> None:
    assert addresses.refusal(ipaddress.ip_address(text)) == ""


NAMEABLE = {
    "10.0.0.1": True,
    "127.0.0.1": True,
    "100.64.0.1": True,
    "::1": True,
    "fd00::5": True,
    "169.254.1.1": False,
    "169.254.169.254": False,
    "fd00:ec2::254": False,
    "100.100.100.200": False,
    "0.0.0.0": False,
    "224.0.0.1": False,
    "fe80::1": False,
    "::ffff:127.0.0.1": False,
    "64:ff9b::a00:1": False,
}


@pytest.mark.parametrize(("text", "may"), NAMEABLE.items(), ids=NAMEABLE)
def test_what_an_owner_may_name(text: str, may: bool) -> None:
    address = ipaddress.ip_address(text)
    assert addresses.refusal(address)
    assert (addresses.refusal(address, named=True) == "") is may


@hypothesis.given(strategies.ip_addresses())
def test_what_is_not_global_is_never_reached(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    carried = ("ipv4_mapped", "sixtofour")  # older Pythons call the second never global
    inside = next((one for name in carried if (one := getattr(address, name, None))), None)
    if not (inside or address).is_global or address.is_multicast:
        assert addresses.refusal(address)


def test_nothing_that_is_not_seen_stays_in_a_text() -> None:
    left = set(texts.clean("a".join(map(chr, range(0x110000)))))
    kinds = {unicodedata.category(one) for one in left}
    assert kinds.isdisjoint({"Cf", "Cs", "Co", "Zl", "Zp"})
    assert {one for one in left if unicodedata.category(one) == "Cc"} == {"\t", "\n"}


CLEANED = {
    "a\r\nb\rc\u2028d": "a\nb\nc\nd",
    "a  \n\t\n\n\n\n\n\nb": "a\n\n\nb",
    "\n\na\n\n": "a",
    "ig\u200bno\u2060re": "ignore",
    "\u202eab\u202c": "ab",
    "\x1b[31mred": "[31mred",
    "tag\U000e0041\U000e007f": "tag",
    "naïve 鴨 🦆": "naïve 鴨 🦆",
}


@pytest.mark.parametrize(("text", "clean"), CLEANED.items(), ids=map(ascii, CLEANED))
def test_a_text_is_cleaned(text: str, clean: str) -> None:
    assert texts.clean(text) == clean


@pytest.mark.parametrize("text", [" " * 2_000_000 + "x", "\n" * 2_000_000, " \n" * 1_000_000])
@pytest.mark.timeout(10)
def test_cleaning_takes_no_more_time_than_the_text_is_long(text: str) -> None:
    assert texts.clean(text).strip() in ("x", "")


CHARSETS = {
    "utf-8": ("ä€".encode(), "text/plain", "ä€"),
    "a mark": ("ä".encode("utf-8-sig"), "text/plain; charset=koi8-r", "ä"),
    "a mark of UTF-16": ("ä".encode("utf-16"), "", "ä"),
    "quoted": (b"\xe4", 'text/plain; charset="ISO-8859-1"', "ä"),
    "latin-1 as browsers read it": (b"\x80", "text/plain; charset=iso-8859-1", "€"),
    "not UTF-7": (b"+AGE-", "text/plain; charset=utf-7", "+AGE-"),
    "no escapes": (b"\\x41", "text/plain; charset=unicode_escape", "\\x41"),
    "no compression": (b"a", "text/plain; charset=bz2", "a"),
    "cut within a character": ("ää".encode()[:-1], "", "ä\ufffd"),
}


@pytest.mark.parametrize(("body", "named", "text"), CHARSETS.values(), ids=CHARSETS)
def test_bytes_become_text(body: bytes, named: str, text: str) -> None:
    assert texts.decode(body, named, names_inside=False) == text
