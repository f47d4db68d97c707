"""https: the certificate must be good and be the asked host's, whatever address it is at."""

import asyncio
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.integration.tools import hostile_web
from tools.web import bounds, child, connecting, protocol

pytestmark = [pytest.mark.spec("D-13"), pytest.mark.timeout(60)]

LIMITS = bounds.Bounds(seconds=5.0, connect_seconds=2.0)
NAMES = dict.fromkeys(("site.example", "other.example"), (hostile_web.PUBLIC,))
_MISSING = "openssl is needed: sudo apt install openssl"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for site.example, signed by itself, and its key."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
        *("-nodes", "-days", "2", "-subj", "/CN=site.example", "-keyout", str(key)),
        *("-addext", "subjectAltName=DNS:site.example", "-out", str(certificate)),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=30)
    except FileNotFoundError:
        pytest.fail(_MISSING)
    return certificate, key


def serving(certificate: tuple[Path, Path], named: list[str | None]) -> ssl.SSLContext:
    """What a server needs; it writes down the names that it is asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*map(str, certificate))
    context.sni_callback = lambda _, name, __: named.append(name)
    return context


async def visit(server: hostile_web.Server, url: str, trusting: ssl.SSLContext) -> str:
    internet = hostile_web.Internet(server, NAMES)
    connector = connecting.Connector(trusting, internet.resolve, internet.open)
    request = protocol.Fetch(url=url, listed=(), start_char=0, chars=100, limits=LIMITS)
    answer = await asyncio.to_thread(child.answer, request, connector)
    assert internet.forbidden == []
    return answer.text if isinstance(answer, protocol.Text) else str(answer)


async def test_the_name_is_the_asked_one_and_the_address_the_checked_one(
    certificate: tuple[Path, Path],
) -> None:
    named: list[str | None] = []
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    answers = {"/": hostile_web.page("<p>fine</p>"), "/down": hostile_web.redirect("http://x.org/")}
    async with hostile_web.running(answers, serving(certificate, named)) as server:
        assert await visit(server, "https://site.example/", trusting) == "fine"
        assert named == ["site.example"]
        assert b"Host: site.example\r\n" in server.requests[0]
        assert "from https to http" in await visit(server, "https://site.example/down", trusting)
        refused = await visit(server, "https://other.example/", trusting)
        assert "no good certificate: Hostname mismatch" in refused
        assert len(server.requests) == 2


async def test_a_certificate_that_nobody_signed_is_refused(
    certificate: tuple[Path, Path],
) -> None:
    async with hostile_web.running({}, serving(certificate, [])) as server:
        refused = await visit(server, "https://site.example/", ssl.create_default_context())
        assert "no good certificate: self-signed certificate" in refused
        assert server.requests == []


async def test_a_server_that_speaks_no_tls_is_a_fault() -> None:
    async with hostile_web.running({"/": hostile_web.page("x")}) as server:
        refused = await visit(server, "https://site.example/", ssl.create_default_context())
    assert "site.example cannot be reached" in refused
