"""What web_fetch can be led to: only the public web, within its bounds, whatever a page says.

Everything is the real code of the child, in this process: only the look-up of names and the opening
of sockets are handed in, so that each address that would be connected to is seen.
"""

import asyncio
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from tests import conftest
from tests.integration.tools import hostile_web
from tools.web import bounds, child, connecting, protocol

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(60)]

LIMITS = bounds.Bounds(
    seconds=3.0,
    connect_seconds=1.0,
    first_byte_seconds=0.7,
    header_bytes=16 * 1024,
    wire_bytes=256 * 1024,
    body_bytes=512 * 1024,
)
CONTEXT = ssl.create_default_context()
_SLACK_SECONDS = 1.5
_SITE = (hostile_web.PUBLIC,)

NAMES = {
    "site.example": _SITE,
    "other.example": _SITE,
    "private.example": (("10.0.0.1",),),
    "mixed.example": ((hostile_web.PUBLIC[0], "127.0.0.1"),),
    "loopback6.example": (("::1",),),
    "mapped.example": (("::ffff:10.0.0.1",),),
    "nat64.example": (("64:ff9b::a9fe:a9fe",),),
    "scoped.example": (("fe80::1%2",),),
    "nowhere.example": ((),),
    "nonsense.example": (("localhost",),),
    "rebind.example": (*_SITE, ("127.0.0.1",)),
}

DIRECT: Mapping[str, tuple[str, ...]] = {
    "is loopback": ("127.0.0.1", "127.8.8.8:1", "[::1]", "１２７.０.０.１", "127。0。0。1"),
    "is private": ("10.1.2.3", "172.31.255.1", "192.168.1.1", "[fc00::1]", "[64:ff9b:1::1]"),
    "metadata": ("169.254.169.254", "168.63.129.16", "192.0.0.192", "[fd00:ec2::254]"),
    "is link-local|is a provider's own|for benchmarks": (
        *("169.254.7.7", "[fe80::1]", "100.64.0.1", "198.18.0.1"),
    ),
    "is multicast|is reserved|this network|unspecified|discarded": (
        *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "[::]", "[ff02::1]"),
        *("[100::1]", "[2001:0:7f00:1::]"),
    ),
    "for documentation": ("192.0.2.1", "198.51.100.7", "[2001:db8::1]", "[3fff::1]"),
    "inside": (
        *("[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
        "[2a00::5efe:10.0.0.1]",
    ),
    "not public": ("[::127.0.0.1]", "[4000::1]"),
    "four decimal numbers": (
        *("2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0x7f.0.0.1", "127.0.0.256"),
        "site.example.1",
    ),
    "no host name|without percent|no IPv6|cannot be read|international": (
        *("127.0.0.1.", "site.example.", "%31%32%37.0.0.1", "[fe80::1%25eth0]", "...", "[::1"),
        *("-a.example", "xn--a.example", "[v1.a]", "a..example", "[]"),
    ),
    "no name of the public web": (
        *("localhost", "LOCALHOST", "a.localhost", "ⓛocalhost", "router", "nas.local"),
        "metadata.google.internal",
    ),
    "not connected": (
        *("private.example", "mixed.example", "loopback6.example", "mapped.example"),
        *("nat64.example", "scoped.example"),
    ),
    "no host|no address": ("nowhere.example", "nonsense.example", "unknown.example"),
    "no user name": ("site.example@127.0.0.1", "me:word@site.example", "127.0.0.1@site.example"),
    "no space, control character or backslash": (
        *("127.0.0.1\\@site.example", "site.example\0.org", "site.example\r\nHost: x"),
        *("site\t.example", "site\n.example", "site .example", "site\u200b.example"),
    ),
    "only 80 and 443|no port": (
        *("site.example:22", "site.example:6379", "site.example:0", "site.example:65536"),
        "[2606:2800:220:1:248:1893:25c8:1946]:8080",
    ),
}
"""Hosts that are refused, before their look-up or after it, and what is said of them."""

SCHEMES = """
file:///etc/passwd|ftp://site.example/|gopher://site.example/|javascript:alert(1)|data:text/plain,x
dict://127.0.0.1:6379/|ws://site.example/|//site.example/|site.example|http:site.example|about:blank
""".replace("\n", "|").strip("|")

LEADING = {
    "to loopback": "http://127.0.0.1/",
    "to metadata": "http://169.254.169.254/latest/",
    "to a private name": "https://private.example/",
    "without a scheme": "//127.0.0.1/x",
    "to a file": "file:///etc/passwd",
    "with a user": "http://me@site.example/",
    "in another writing": "http://0x7f.1/",
    "to another port": "http://site.example:6379/",
    "with a backslash": "http://site.example\\@127.0.0.1/",
    "with a tab": "http://127.0.\t0.1/",
    "to IPv6 loopback": "http://[::ffff:7f00:1]/",
    "with bytes that are no text": "http://site.example/\xff\xfe",
    "to what an owner named": "http://{place}/fine",
    "to itself for ever": "/loop",
}
"""Where a public page redirects to."""

CAPPED: Mapping[str, tuple[bytes | hostile_web.Handler, str]] = {
    "a bomb of 200 MiB": (hostile_web.bomb(200), "only the first 524288 bytes"),
    "an endless body": (hostile_web.endless_body, "only the first 262144 bytes"),
    "an endless head": (hostile_web.endless_head, "before the page|no proper answer"),
    "endless interim answers": (hostile_web.endless_continue, "before the page"),
    "a head of 60 KiB": (
        hostile_web.page("x", "text/plain", f"X: {'y' * 60_000}"),
        "before the page",
    ),
    "a thousand headers": (
        hostile_web.page("x", "text/plain", *(f"X{i}: y" for i in range(1000))),
        "no proper answer",
    ),
    "silence": (hostile_web.silence, "did not answer in time"),
    "half a head": (hostile_web.half_a_head, "did not answer in time"),
    "half a page": (hostile_web.half_a_page, "did not come to its end in time"),
    "no HTTP at all": (b"SSH-2.0-OpenSSH_9.2\r\n", "no proper answer"),
    "an endless line": (b"HTTP/1.1 200 " + b"x" * 100_000, "before the page|no proper answer"),
    "a chunk of a negative size": (
        hostile_web.raw(
            ("HTTP/1.1 200 OK", "Content-Type: text/plain", "Transfer-Encoding: chunked"),
            b"-5\r\nabc\r\n",
        ),
        "ended before the page did",
    ),
}
"""What a server does to whoever asks it, and what is said of it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of one address."""

    said: str
    chars: int
    internet: hostile_web.Internet
    seconds: float


async def visit(server: hostile_web.Server, url: str, limits: bounds.Bounds = LIMITS) -> Seen:
    internet = hostile_web.Internet(server, NAMES)
    connector = connecting.Connector(CONTEXT, internet.resolve, internet.open)
    request = protocol.Fetch(
        url=url, listed=(server.place,), start_char=0, chars=100, limits=limits
    )
    began = time.monotonic()
    answer = await asyncio.to_thread(child.answer, request, connector)
    seconds = time.monotonic() - began
    if isinstance(answer, protocol.Refused):
        return Seen(answer.reason, 0, internet, seconds)
    assert isinstance(answer, protocol.Text)
    said = " ".join((str(answer.status), *answer.notes, answer.text))
    return Seen(said, answer.total_chars, internet, seconds)


def site(path: str) -> str:
    return f"http://site.example{path}"


@pytest.mark.acceptance(29)
async def test_no_address_leads_to_a_forbidden_connection(figures: conftest.Figures) -> None:
    rows = [(f"http://{host}/", said) for said, hosts in DIRECT.items() for host in hosts]
    rows.extend((url, "begins with") for url in SCHEMES.split("|"))
    rows.extend((("http:///x", "cannot be read"), (site("/" + "x" * 2048), "at most 2048")))
    async with hostile_web.running({"/loop": hostile_web.redirect("/loop")}) as server:
        targets = {f"/{number}": one for number, one in enumerate(LEADING.values())}
        for path, target in targets.items():
            location = target.format(place=server.place)
            server.answers[path] = hostile_web.redirect(location)
        rows.extend((site(path), "redirects|leads to 10.0.0.1") for path in targets)
        opened = 0
        for url, said in rows:
            seen = await visit(server, url)
            assert seen.internet.forbidden == [], url
            assert re.search(said, seen.said), (url, seen.said)
            opened += len(seen.internet.opened)
        assert not any(b"GET /fine " in request for request in server.requests)
    figures("addresses", len(rows) + len(CAPPED) + 2)
    figures("connections to forbidden addresses", 0)
    figures("connections to public ones", opened)


@pytest.mark.acceptance(29)
@pytest.mark.parametrize(("answer", "said"), CAPPED.values(), ids=CAPPED)
async def test_a_server_takes_no_more_than_the_bounds(
    answer: bytes | hostile_web.Handler, said: str
) -> None:
    async with hostile_web.running({"/": answer}) as server:
        seen = await visit(server, site("/"))
    assert re.search(said, seen.said), seen.said
    assert seen.chars <= LIMITS.body_bytes
    assert seen.seconds <= LIMITS.seconds + _SLACK_SECONDS


@pytest.mark.acceptance(29)
async def test_a_name_is_looked_up_once_and_means_what_it_meant() -> None:
    answers = {"/": hostile_web.page("<p>fine</p>"), "/again": hostile_web.redirect("/")}
    async with hostile_web.running(answers) as server:
        seen = await visit(server, "http://rebind.example/")
        assert seen.said == "200 fine"
        assert seen.internet.asked == ["rebind.example"]
        assert seen.internet.opened == [(hostile_web.PUBLIC[0], 80)]
        seen = await visit(server, "http://rebind.example/again")
        assert "leads to 127.0.0.1, which is loopback" in seen.said
        assert seen.internet.opened == [(hostile_web.PUBLIC[0], 80)]


@pytest.mark.parametrize("hops", [5, 6])
async def test_redirects_are_followed_five_times(hops: int) -> None:
    answers: dict[str, bytes | hostile_web.Handler] = {
        f"/{number}": hostile_web.redirect(f"http://other.example/{number - 1}", 301)
        for number in range(1, hops + 1)
    }
    answers["/0"] = hostile_web.page("<p>fine</p>")
    async with hostile_web.running(answers) as server:
        seen = await visit(server, site(f"/{hops}"))
    assert seen.said == ("200 fine" if hops <= 5 else "It redirects more than 5 times.")
    assert seen.internet.asked == ["site.example"] + ["other.example"] * 5


async def test_what_an_owner_named_may_redirect_to_itself() -> None:
    answers = {"/": hostile_web.redirect("/fine"), "/fine": hostile_web.page("<p>fine</p>")}
    async with hostile_web.running(answers) as server:
        seen = await visit(server, f"http://{server.place}/")
        assert seen.said == "200 fine"
        assert seen.internet.opened == [("127.0.0.1", server.port)] * 2


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    names = {"site.example": (("2606:2800:220:1::1", *hostile_web.PUBLIC),)}
    async with hostile_web.running({"/": hostile_web.page("<p>fine</p>")}) as server:
        internet = hostile_web.Internet(server, names)
        connector = connecting.Connector(CONTEXT, internet.resolve, internet.open)
        request = protocol.Fetch(url=site("/"), listed=(), start_char=0, chars=100, limits=LIMITS)
        answer = await asyncio.to_thread(child.answer, request, connector)
    assert isinstance(answer, protocol.Text)
    assert [address for address, _ in internet.opened] == [
        "2606:2800:220:1::1",
        hostile_web.PUBLIC[0],
    ]


async def test_the_whole_time_is_shared_by_all_redirects() -> None:
    async def slow(writer: hostile_web.Writer) -> None:
        with_delay = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.4, with_delay.set_result, None)
        await with_delay
        writer.write(hostile_web.redirect("/"))
        await writer.drain()

    async with hostile_web.running({"/": slow}) as server:
        seen = await visit(server, site("/"), replace(LIMITS, seconds=1.0))
    assert "in time" in seen.said
    assert seen.seconds < 1.0 + _SLACK_SECONDS
