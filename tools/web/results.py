"""Reads what search engines answer: SearxNG's JSON, and a plain page of links.

What is not as it should be is left out, never guessed. Fetches nothing.
"""

import html.parser
import json
import urllib.parse

from tools import contract
from tools.web import protocol, texts

_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)


def of_searxng(body: str, count: int) -> list[protocol.Hit]:
    """The results in SearxNG's JSON.

    Raises:
        ToolFault: it is none.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise contract.ToolFault("The search engine did not answer in JSON.") from error
    results = said.get("results") if isinstance(said, dict) else None
    if not isinstance(results, list):
        raise contract.ToolFault("The search engine's answer holds no results.")
    hits = []
    for one in results:
        if isinstance(one, dict):
            title, url, snippet = (one.get(name) for name in ("title", "url", "content"))
            if isinstance(title, str) and isinstance(url, str):
                hits.append((title, url, snippet if isinstance(snippet, str) else ""))
    return _told(hits, count)


def of_page(page: str, count: int) -> list[protocol.Hit]:
    """The results on a page that has each as a link of the class `result__a` or `result-link`,
    with a text of the class `result__snippet` or `result-snippet`."""
    links = _Links()
    links.feed(page)
    links.close()
    found = [(title, _target(url), snippet) for title, url, snippet in links.found]
    return _told(found, count)


def _told(found: list[tuple[str, str, str]], count: int) -> list[protocol.Hit]:
    hits = []
    for title, url, snippet in found:
        if url.startswith(("http://", "https://")) and len(url) <= protocol.LINE_CHARS:
            hits.append(
                protocol.Hit(
                    title=texts.line(title, protocol.TITLE_CHARS) or "(no title)",
                    url=texts.line(url, protocol.LINE_CHARS),
                    snippet=texts.line(snippet, protocol.SNIPPET_CHARS),
                )
            )
    return hits[:count]


def _target(url: str) -> str:
    """Where a link leads that goes by the engine's own redirect (`/l/?uddg=…`)."""
    parts = urllib.parse.urlsplit(url)
    if parts.path != "/l/":
        return url
    return urllib.parse.parse_qs(parts.query).get("uddg", [""])[0]


class _Links(html.parser.HTMLParser):
    """Collects links of results and their texts, as they come."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str, str]] = []
        self._pieces: list[str] = []
        self._reads = ""
        self._depth = 0
        self._url = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._reads:
            if tag in _VOID:
                self._pieces.append(" ")
            else:
                self._depth += 1
            return
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        if tag == "a" and ("result__a" in classes or "result-link" in classes):
            self._begin("title", given.get("href", ""))
        elif "result__snippet" in classes or "result-snippet" in classes:
            self._begin("snippet", "")

    def _begin(self, what: str, url: str) -> None:
        self._reads, self._depth, self._pieces = what, 1, []
        self._url = url or self._url

    def handle_data(self, data: str) -> None:
        if self._reads:
            self._pieces.append(data)

    def handle_endtag(self, tag: str) -> None:
        if not self._reads or tag in _VOID:
            return
        self._depth -= 1
        if self._depth > 0:
            return
        text = "".join(self._pieces)
        if self._reads == "title":
            self.found.append((text, self._url, ""))
        elif self.found and not self.found[-1][2]:
            self.found[-1] = (*self.found[-1][:2], text)
        self._reads = ""
