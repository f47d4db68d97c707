"""The program that meets the web: one request on standard input, one reply on standard output.

It bounds itself before it reads anything: memory, processor time, life; it can write no file and
start no other program. It outlives neither its bounds nor its answer. Knows nothing of the daemon.
"""

import dataclasses
import resource
import signal
import ssl
import sys

from tools import contract
from tools.web import bounds, connecting, pages, protocol, reading, results, texts, urls

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = (
    "text/plain",
    "text/markdown",
    "text/x-markdown",
    "application/json",
    "application/xml",
    "text/xml",
    "application/rss+xml",
    "application/atom+xml",
)
_OPEN_FILES = 32
_GRACE_SECONDS = 2


def main() -> int:
    request = protocol.REQUEST.validate_json(sys.stdin.buffer.read())
    _bound(request.limits)
    connector = connecting.Connector(ssl.create_default_context())
    sys.stdout.buffer.write(answer(request, connector).model_dump_json().encode())
    return 0


def _bound(limits: bounds.Bounds) -> None:
    for kind, value in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CPU, limits.processor_seconds),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (value, value))
    signal.alarm(int(limits.seconds) + _GRACE_SECONDS)  # ends the process, whatever it waits for


def answer(
    request: protocol.Fetch | protocol.Search, connector: connecting.Connector
) -> protocol.Text | protocol.Hits | protocol.Refused:
    """What came of a request."""
    try:
        if isinstance(request, protocol.Search):
            return _search(request, connector)
        return _fetch(request, connector)
    except contract.ToolFault as error:
        return protocol.Refused(reason=texts.line(str(error), protocol.LINE_CHARS))
    except MemoryError:
        return protocol.Refused(reason="The page takes more memory than it may.")


def _fetch(request: protocol.Fetch, connector: connecting.Connector) -> protocol.Text:
    url = urls.parse(request.url, request.listed)
    page = pages.fetch(url, request.listed, (*_HTML, *_TEXT), connector, request.limits)
    title, text, notes = _read(page)
    begin = min(request.start_char, len(text))
    return protocol.Text(
        url=page.url.text,
        status=page.answer.status,
        kind=texts.line(page.kind, protocol.TITLE_CHARS),
        title=title,
        text=text[begin : begin + request.chars],
        start_char=begin,
        total_chars=len(text),
        notes=notes,
    )


def _read(page: pages.Page) -> tuple[str, str, tuple[str, ...]]:
    """Title, text, and what a reader must know of them."""
    if not page.shown:
        if not page.kind:
            return "", "", ("it does not say what it is, so it is not shown",)
        return "", "", ("what is no text is not shown",)
    is_html = page.kind in _HTML
    named = page.answer.headers.get("content-type", "")
    body = texts.decode(page.answer.body, named, names_inside=is_html or "xml" in page.kind)
    title, missing = "", ""
    if is_html:
        title = reading.title(body)
        body, missing = reading.to_markdown(body, page.url.text)
    notes = tuple(note for note in (page.answer.cut, missing) if note)
    return title, texts.clean(body), notes


def _search(request: protocol.Search, connector: connecting.Connector) -> protocol.Hits:
    """What an engine finds; one that redirects is not followed."""
    url = urls.parse(request.url, request.listed)
    kinds = ("application/json",) if request.what == "searxng" else _HTML
    limits = dataclasses.replace(request.limits, redirects=0)
    page = pages.fetch(url, request.listed, kinds, connector, limits)
    if page.answer.status != 200 or not page.shown:
        said = page.kind or "nothing"
        raise contract.ToolFault(
            f"The search engine answered {page.answer.status} with {texts.line(said, 60)}."
        )
    if page.answer.cut:
        raise contract.ToolFault(f"The search engine's answer is not whole: {page.answer.cut}.")
    body = texts.decode(page.answer.body, page.answer.headers["content-type"], names_inside=True)
    of = results.of_searxng if request.what == "searxng" else results.of_page
    return protocol.Hits(hits=tuple(of(body, request.count)))


if __name__ == "__main__":
    sys.exit(main())
