"""Gets one page, with its redirects: each place is checked as the first was.

What its owner named (a machine at home) is reached only by its own address, never by another
host's redirect. Decides nothing about approvals.
"""

import contextlib
import time
from collections.abc import Collection
from dataclasses import dataclass

from tools import contract
from tools.web import bounds, connecting, exchange, urls

_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Page:
    """What stood at the end of the redirects, and where that was. `shown` when its kind is one of
    those that were wanted; of others the body is left where it is."""

    url: urls.Url
    answer: exchange.Answer
    kind: str
    shown: bool


def fetch(
    url: urls.Url,
    listed: Collection[str],
    kinds: Collection[str],
    connector: connecting.Connector,
    limits: bounds.Bounds,
) -> Page:
    """The page at an address; `kinds` are the content types whose body is wanted.

    Raises:
        ToolFault: it cannot be had, or may not be.
    """
    deadline = time.monotonic() + limits.seconds
    for _ in range(limits.redirects + 1):
        opened = connector.connect(url, limits, deadline)
        with contextlib.closing(opened):
            got = exchange.get(opened, url, ", ".join(kinds), limits, deadline)
            location = got.head.headers.get("location", "")
            if got.head.status not in _REDIRECTS or not location:
                return _page(url, got, kinds)
        url = _next(url, location, listed)
    raise contract.ToolFault(f"It redirects more than {limits.redirects} times.")


def _page(url: urls.Url, got: exchange.Exchange, kinds: Collection[str]) -> Page:
    kind = got.head.headers.get("content-type", "").partition(";")[0].strip().lower()
    shown = kind in kinds
    return Page(url, got.whole() if shown else got.head, kind, shown)


def _next(url: urls.Url, location: str, listed: Collection[str]) -> urls.Url:
    """Where a redirect leads.

    Raises:
        ToolFault: it may not be followed.
    """
    try:
        written = location.encode("latin-1").decode("utf-8")
        found = urls.join(url, written, listed)
    except UnicodeError as error:
        raise contract.ToolFault("It redirects to what is no web address.") from error
    except contract.ToolFault as error:
        raise contract.ToolFault(f"It redirects to what is refused. {error}") from error
    if found.listed and found.place != url.place:
        raise contract.ToolFault(
            f"It redirects to {found.place}, which is only reached by its own address."
        )
    return found
