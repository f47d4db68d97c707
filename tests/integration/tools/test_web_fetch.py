"""web_fetch as the daemon runs it: a real child, a real server on loopback that the owner named."""

import asyncio
import gzip
import json
import re
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.integration.tools import hostile_web
from tools import contract, web_fetch
from tools.web import bounds, child, connecting, protocol

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(90)]

DEADLINE_SECONDS = 20.0
LIMITS = bounds.Bounds(seconds=10.0)
HTML = """<!doctype html><html><head><title>Ducks &amp; geese</title><style>p{}</style>
<script>alert(1)</script></head><body><nav><a href="/n">Menu</a></nav><main><h1>On ducks</h1>
<p>They <b>swim</b>, see <a href="/pond?x=1">the pond</a>.</p>
<p style="display:none">Hidden one.</p><p hidden>Hidden two.</p><!-- Hidden three. -->
<p>Zero\u200bwidth &#8238;turned&#8236; tag\U000e0041s.</p>
<ul><li>one</li><li>two</li></ul><pre><code>quack()
</code></pre><table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>
</main><noscript>Hidden four.</noscript><template>Hidden five.</template></body></html>"""
READ = """# On ducks

They **swim**, see [the pond](http://{place}/pond?x=1).

Zerowidth turned tags.

- one
- two

```
quack()
```

| A | B |
| --- | --- |
| 1 | 2 |"""


def call(url: str, **more: object) -> contract.Call:
    arguments = json.dumps({"url": url, **more})
    return contract.Call(
        call_id="call-1", tool="web_fetch", arguments_json=arguments, key="call-1", folder="/"
    )


async def fetch(
    server: hostile_web.Server, path: str, limits: bounds.Bounds = LIMITS, start_char: int = 0
) -> contract.Result:
    tool = web_fetch.WebFetch((server.place,), limits)
    one = call(f"http://{server.place}{path}", start_char=start_char)
    inspection = await tool.inspect(one)
    pieces: list[str] = []
    result = await tool.run(one, inspection, pieces.append)
    inspection.close()
    assert pieces == [result.text]
    return result


def children() -> list[psutil.Process]:
    """The processes of this one that read pages."""
    found = psutil.Process().children(recursive=True)
    return [one for one in found if "tools.web.child" in " ".join(one.cmdline())]


async def test_a_page_is_read_as_its_main_text() -> None:
    async with hostile_web.running({"/ducks": hostile_web.page(HTML)}) as server:
        result = await fetch(server, "/ducks#part")
        header, _, text = result.text.partition("\n")
        assert header == (
            f"http://{server.place}/ducks, status 200, text/html, title “Ducks & geese”"
        )
        assert text == READ.replace("{place}", server.place)
    assert not result.failed
    assert children() == []


async def test_every_request_is_the_same_and_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("default login me password word\n")
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    monkeypatch.setenv("HOME", str(tmp_path))
    answers = {
        "/": hostile_web.raw(
            ("HTTP/1.1 302 Found", "Location: /next", "Set-Cookie: a=b", "Content-Length: 0")
        ),
        "/next": hostile_web.page("<p>fine</p>"),
    }
    async with hostile_web.running(answers) as server:
        result = await fetch(server, "/")
        assert result.text.endswith("\nfine")
        heads = [request.decode().split("\r\n") for request in server.requests]
    assert [head[0] for head in heads] == ["GET / HTTP/1.1", "GET /next HTTP/1.1"]
    for head in heads:
        names = [line.partition(":")[0] for line in head[1:] if line]
        assert names == ["Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"]


CHUNKED = ("HTTP/1.1 200 OK", "Content-Type: text/plain", "Transfer-Encoding: chunked")
PLAIN = ("HTTP/1.1 200 OK", "Content-Type: text/plain")

ANSWERS: Mapping[str, tuple[bytes, str]] = {
    "plain text": (hostile_web.page("a <b>\r\nc", "text/plain"), "text/plain\na <b>\nc"),
    "JSON": (hostile_web.page('{"a": 1}', "application/json"), 'application/json\n{"a": 1}'),
    "XML": (hostile_web.page("<a>1</a>", "application/xml"), "application/xml\n<a>1</a>"),
    "Markdown": (hostile_web.page("# a", "text/markdown"), "text/markdown\n# a"),
    "an image": (
        hostile_web.page(b"\x89PNG", "image/png"),
        "image/png, what is no text is not shown\n",
    ),
    "a program": (
        hostile_web.page(b"MZ", "application/octet-stream"),
        "application/octet-stream, what is no text is not shown\n",
    ),
    "no type": (
        hostile_web.raw(("HTTP/1.1 200 OK", "Content-Length: 1"), b"a"),
        ", , it does not say what it is, so it is not shown\n",
    ),
    "nothing": (hostile_web.page("", "text/plain"), "text/plain\n"),
    "no content": (
        hostile_web.raw(("HTTP/1.1 204 No Content",)),
        "status 204, , it does not say what it is, so it is not shown\n",
    ),
    "chunks": (hostile_web.raw(CHUNKED, b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), "text/plain\nabc"),
    "chunks without an end": (
        hostile_web.raw(CHUNKED, b"2\r\nab\r\n"),
        "text/plain, the connection ended before the page did\nab",
    ),
    "less than promised": (
        hostile_web.raw((*PLAIN, "Content-Length: 9"), b"abc"),
        "text/plain, the connection ended before the page did\nabc",
    ),
    "more than promised": (hostile_web.raw((*PLAIN, "Content-Length: 2"), b"abc"), "plain\nab"),
    "a length that is no number": (
        hostile_web.raw((*PLAIN, "Content-Length: many"), b"abc"),
        "text/plain\nabc",
    ),
    "gzip": (
        hostile_web.page(gzip.compress(b"abc"), "text/plain", "Content-Encoding: gzip"),
        "text/plain\nabc",
    ),
    "deflate": (
        hostile_web.page(zlib.compress(b"abc"), "text/plain", "Content-Encoding: deflate"),
        "text/plain\nabc",
    ),
    "raw deflate": (
        hostile_web.page(zlib.compress(b"abc")[2:-4], "text/plain", "Content-Encoding: deflate"),
        "text/plain\nabc",
    ),
    "a name of no charset": (
        hostile_web.page("ä".encode(), "text/plain; charset=zip"),
        "text/plain\nä",
    ),
    "a charset in the head": (
        hostile_web.page("ш".encode("koi8-r"), "text/plain; charset=KOI8-R"),
        "text/plain\nш",
    ),
    "a charset in the page": (
        hostile_web.page(b'<meta charset="shift_jis"><p>' + "鴨".encode("cp932"), "text/html"),
        "text/html\n鴨",
    ),
    "old bytes": (hostile_web.page(b"caf\xe9", "text/plain"), "text/plain\ncafé"),
    "bytes that are nothing": (
        hostile_web.page(b"a\xff\x00\x1b[31mb", "text/plain; charset=utf-8"),
        "text/plain\na\ufffd[31mb",
    ),
    "not there": (
        hostile_web.raw(
            ("HTTP/1.1 404 Not Found", "Content-Type: text/plain", "Content-Length: 4"), b"gone"
        ),
        "status 404, text/plain\ngone",
    ),
    "a redirect to nowhere": (
        hostile_web.raw(("HTTP/1.1 302 Found", "Content-Length: 0")),
        "status 302, , it does not say what it is, so it is not shown\n",
    ),
}


@pytest.mark.parametrize(("answer", "said"), ANSWERS.values(), ids=ANSWERS)
async def test_what_comes_is_told(answer: bytes, said: str) -> None:
    """The code of the child, in this process."""
    async with hostile_web.running({"/": answer}) as server:
        request = protocol.Fetch(
            url=f"http://{server.place}/",
            listed=(server.place,),
            start_char=0,
            chars=100,
            limits=LIMITS,
        )
        connector = connecting.Connector(ssl.create_default_context())
        came = await asyncio.to_thread(child.answer, request, connector)
    assert isinstance(came, protocol.Text)
    head = (f"status {came.status}", came.kind, *came.notes)
    assert f"{', '.join(head)}\n{came.text}".endswith(said)


async def test_what_a_server_refuses_has_failed() -> None:
    head = ("HTTP/1.1 404 Not Found", "Content-Type: text/plain", "Content-Length: 0")
    async with hostile_web.running({"/empty": hostile_web.raw(head)}) as server:
        result = await fetch(server, "/empty")
        assert result.text.endswith("status 404, text/plain\n(no text)")
        assert result.failed


FAULTS: Mapping[str, tuple[bytes | hostile_web.Handler, str]] = {
    "a compression that nobody asked for": (
        hostile_web.page(b"x", "text/plain", "Content-Encoding: br"),
        "a compression that was not asked for",
    ),
    "two compressions": (
        hostile_web.page(b"x", "text/plain", "Content-Encoding: gzip, gzip"),
        "a compression that was not asked for",
    ),
    "a broken compression": (
        hostile_web.page(b"abcdefgh", "text/plain", "Content-Encoding: gzip"),
        "sent a broken compression",
    ),
    "silence": (hostile_web.silence, "did not answer in time"),
}


@pytest.mark.parametrize(("answer", "said"), FAULTS.values(), ids=FAULTS)
async def test_what_cannot_be_read_is_a_fault(
    answer: bytes | hostile_web.Handler, said: str
) -> None:
    async with hostile_web.running({"/": answer}) as server:
        with pytest.raises(contract.ToolFault, match=said):
            await fetch(server, "/", replace(LIMITS, first_byte_seconds=1.0))
    assert children() == []


DEEP: Mapping[str, str] = {
    "divisions": "<div>" * 10_000 + "deep",
    "tables": "<table><tr><td>" * 10_000 + "deep",
    "links": "<b><i><a href=x>" * 10_000 + "deep",
    "lists": "<ul><li>" * 10_000 + "deep",
    "quotes": "<blockquote>" * 10_000 + "deep",
    "an endless attribute": "<p " + "a=b " * 200_000 + ">deep",
    "an endless entity": "<p>" + "&" * 100_000 + "deep",
    "a megabyte of tags": "<p><a href=/x>y</a>" * 50_000,
    "open comments": "<!--" * 500_000,
    "blanks": "<pre>" + " " * 2_000_000 + "\n</pre>deep",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
async def test_no_page_takes_the_reader_down(text: str) -> None:
    body = f"<html><body><p>shallow</p>{text}"
    async with hostile_web.running({"/": hostile_web.page(body)}) as server:
        result = await fetch(server, "/", replace(LIMITS, seconds=20.0))
    assert "shallow" in result.text
    assert len(result.text) < 8000
    assert children() == []


async def test_a_child_that_takes_too_much_memory_ends_alone() -> None:
    body = "<p><a href=/x>y</a>" * 50_000
    async with hostile_web.running({"/": hostile_web.page(body)}) as server:
        with pytest.raises(contract.ToolFault, match="ended early|more memory"):
            await fetch(server, "/", replace(LIMITS, memory_bytes=120 << 20))
        assert (await fetch(server, "/none")).failed


async def test_a_long_page_is_read_in_parts() -> None:
    text = "".join(f"line {number}\n" for number in range(2000))
    parts = []
    async with hostile_web.running({"/": hostile_web.page(text, "text/plain")}) as server:
        at = 0
        while True:
            header, _, part = (await fetch(server, "/", start_char=at)).text.partition("\n")
            parts.append(part)
            following = re.search(r"the next is start_char=(\d+)", header)
            if following is None:
                break
            at = int(following[1])
        beyond = await fetch(server, "/", start_char=10**9)
    assert len(parts) == 4
    assert "".join(parts).replace("\n", "") == text.replace("\n", "")
    assert "characters 18889 to 18889 of 18889" in beyond.text


async def test_a_cancelled_visit_leaves_no_process() -> None:
    reached = asyncio.Event()

    async def hold(writer: hostile_web.Writer) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with hostile_web.running({"/": hold}) as server:
        running = asyncio.create_task(fetch(server, "/"))
        async with asyncio.timeout(DEADLINE_SECONDS):
            await reached.wait()
        assert len(children()) == 1
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert children() == []
        assert time.monotonic() - began < LIMITS.seconds / 2  # it did not end by itself


async def test_the_child_holds_nothing_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUCKLM_TOKEN", "quack-quack")
    seen: list[psutil.Process] = []

    async def look(writer: hostile_web.Writer) -> None:
        seen.extend(children())
        (one,) = seen
        limits = one.rlimit(psutil.RLIMIT_AS), one.rlimit(psutil.RLIMIT_FSIZE)
        said = json.dumps([sorted(one.environ()), limits, one.num_fds(), one.cwd()])
        writer.write(hostile_web.page(said, "application/json"))
        await writer.drain()

    async with hostile_web.running({"/": look}) as server:
        result = await fetch(server, "/")
    names, limits, descriptors, folder = json.loads(result.text.partition("\n")[2])
    assert (
        {"PATH", "PYTHONPATH"}
        <= set(names)
        <= {
            *(
                "PATH",
                "LANG",
                "LC_CTYPE",
                "PYTHONPATH",
                "PYTHONSAFEPATH",
                "PYTHONDONTWRITEBYTECODE",
            ),
            *("SSL_CERT_FILE", "SSL_CERT_DIR"),
        }
    )
    assert limits == [[LIMITS.memory_bytes] * 2, [0, 0]]
    assert descriptors <= 6
    assert folder == "/"


SHOWN: Mapping[str, tuple[str, list[tuple[str, str]], str]] = {
    "as it stands": (
        "https://example.org/a?b=c",
        [("url", "https://example.org/a?b=c")],
        "example.org",
    ),
    "in one form": ("HTTP://Example.org:80#x", [("url", "http://example.org/")], "example.org"),
    "of another language": (
        "https://bücher.example/ä",
        [
            ("url", "https://xn--bcher-kva.example/%C3%A4"),
            ("host", "xn--bcher-kva.example (bücher.example)"),
        ],
        "xn--bcher-kva.example",
    ),
    "coded by hand": (
        "https://xn--pple-43d.example/",
        [
            ("url", "https://xn--pple-43d.example/"),
            ("host", "xn--pple-43d.example (аpple.example)"),
        ],
        "xn--pple-43d.example",
    ),
}


@pytest.mark.parametrize(("written", "shown", "host"), SHOWN.values(), ids=SHOWN)
async def test_a_person_is_shown_exactly_what_is_asked_for(
    written: str, shown: list[tuple[str, str]], host: str
) -> None:
    tool = web_fetch.WebFetch()
    inspection = await tool.inspect(call(written))
    facts = inspection.facts
    assert list(facts.shown) == shown
    assert facts.bound == (("url", shown[0][1]),)
    assert facts.hosts == (host,)
    assert facts.sources == (shown[0][1],)
    assert facts.touched == ()
    assert facts.effect is contract.Effect.UNSAFE
    assert tool.spec.category is contract.Category.NORMAL


@pytest.mark.parametrize("written", ["", "http://127.0.0.1/", "file:///etc/passwd", "http://a b/"])
async def test_what_cannot_be_asked_for_is_not_even_shown(written: str) -> None:
    with pytest.raises(contract.ToolFault):
        await web_fetch.WebFetch().inspect(call(written))
