"""What goes to the child and what comes back: one closed JSON object each way.

What comes back was made from hostile bytes by a process that may have been taken over by them: its
form is closed, its sizes are bounded, and nothing in it is believed to be harmless.
"""

from typing import Annotated, Literal

import pydantic

from tools import contract
from tools.web import bounds

TEXT_CHARS = 16 * 1024
LINE_CHARS = 4096
MOST_HITS = 20
SNIPPET_CHARS = 400
TITLE_CHARS = 200

_LATE = pydantic.ConfigDict(defer_build=True)
_Line = Annotated[str, pydantic.Field(max_length=LINE_CHARS)]


class Fetch(contract.Value):
    """Get a page, and show so many characters of its text from a place on."""

    what: Literal["fetch"] = "fetch"
    url: str
    listed: tuple[str, ...]
    start_char: int
    chars: int = pydantic.Field(le=TEXT_CHARS)
    limits: bounds.Bounds


class Search(contract.Value):
    """Ask a search engine, whose address has the query already."""

    what: Literal["searxng", "page"]
    url: str
    listed: tuple[str, ...]
    count: int = pydantic.Field(le=MOST_HITS)
    limits: bounds.Bounds


Request = Annotated[Fetch | Search, pydantic.Field(discriminator="what")]
REQUEST: pydantic.TypeAdapter[Fetch | Search] = pydantic.TypeAdapter(Request, config=_LATE)


class Text(contract.Value):
    """A page's text, or a part of it. `notes` say what a reader must know; without a text, what
    came instead."""

    what: Literal["text"] = "text"
    url: _Line
    status: int
    kind: _Line
    title: _Line
    text: str = pydantic.Field(max_length=TEXT_CHARS)
    start_char: int
    total_chars: int
    notes: tuple[_Line, ...] = pydantic.Field(max_length=4)


class Hit(contract.Value):
    """One thing that was found."""

    title: _Line
    url: _Line
    snippet: _Line


class Hits(contract.Value):
    """What a search found, the best first."""

    what: Literal["hits"] = "hits"
    hits: tuple[Hit, ...] = pydantic.Field(max_length=MOST_HITS)


class Refused(contract.Value):
    """Why there is nothing, in one sentence."""

    what: Literal["refused"] = "refused"
    reason: _Line


Reply = Annotated[Text | Hits | Refused, pydantic.Field(discriminator="what")]
REPLY: pydantic.TypeAdapter[Text | Hits | Refused] = pydantic.TypeAdapter(Reply, config=_LATE)
