"""Where untrusted text came from. It stays with all that was made from it, till it is cleared.

A taint is a set of sources, kept sorted; beyond a bound it only says that there are many.
"""

from enum import StrEnum

from daemon.domain import base

MOST_SOURCES = 32


class Kind(StrEnum):
    """What kind of place untrusted text comes from."""

    WEB = "web"
    MCP = "mcp"
    FORWARDED = "forwarded"
    FOREIGN = "foreign"
    PROJECT = "project"
    MANY = "many"


class Source(base.Value):
    """One place: its kind, and which of that kind (a URL, a message id, a folder)."""

    kind: Kind
    source_id: str


Taint = tuple[Source, ...]
CLEAN: Taint = ()
MANY: Taint = (Source(kind=Kind.MANY, source_id=""),)

_WORDS = {
    Kind.WEB: "the web",
    Kind.MCP: "a tool server",
    Kind.FORWARDED: "a forwarded message",
    Kind.FOREIGN: "somebody else's message",
    Kind.PROJECT: "files of a project with untrusted text",
    Kind.MANY: "many untrusted places",
}


def join(*taints: Taint) -> Taint:
    """Every source of all of them, each once; many where they are too many to name."""
    if not any(taints):
        return CLEAN
    found = {(one.kind.value, one.source_id): one for taint in taints for one in taint}
    if len(found) > MOST_SOURCES or any(one.kind is Kind.MANY for one in found.values()):
        return MANY
    return tuple(found[key] for key in sorted(found))


def beyond(taint: Taint, known: Taint) -> Taint:
    """What of a taint is not known already."""
    if known == MANY:
        return CLEAN
    return tuple(one for one in taint if one not in known)


def tell(taint: Taint) -> str:
    """The sources in plain words, for a person."""
    return ", ".join(
        f"{_WORDS[one.kind]} ({one.source_id})" if one.source_id else _WORDS[one.kind]
        for one in taint
    )
