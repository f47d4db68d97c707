"""Which tools there are, by name. A tool that its settings turn off is not offered."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import util

from tools import (
    check_code,
    contract,
    file_edit,
    file_list,
    file_read,
    file_write,
    grep,
    shell,
    testing,
    web_fetch,
    web_search,
)
from tools.syntax import checking


@dataclass(frozen=True, slots=True)
class Switches:
    """What the settings say of the tools: which are offered, and what those are given."""

    shell: bool = False
    shell_seconds: int = 600
    files: bool = False
    testing: bool = False
    web_fetch: bool = False
    web_search: bool = False
    web_listed: tuple[str, ...] = ()
    """Hosts with ports that web_fetch reaches though they are not of the public web."""
    searxng_url: str = ""
    keyless_url: str = ""
    """A page of search results that needs no key, where there is no SearxNG; empty when neither."""


_OF_THE_WEB = ("idna", "html_to_markdown")
"""What the web's tools need; where one is not installed they are not offered."""

NAMES = frozenset(
    (
        *("shell_exec", "file_read", "file_write", "file_list", "file_edit", "apply_edits"),
        *("grep", "check_code", "web_fetch", "web_search"),
        *("memory_insert", "memory_search", "memory_list"),
    )
)
"""What the product's own tools are called, offered or not: no other tool may be called so."""

Build = Callable[[Switches], Mapping[str, contract.Tool]]
"""What makes the tools: `build`, or a test's own in its place."""


def build(switches: Switches) -> Mapping[str, contract.Tool]:
    """The tools that the settings offer, by name."""
    tools: list[contract.Tool] = []
    if switches.shell:
        tools.append(shell.Shell(switches.shell_seconds))
    if switches.files:
        checker = checking.Checker()
        tools.extend((file_read.FileRead(), file_write.FileWrite(checker), file_list.FileList()))
        tools.extend((file_edit.FileEdit(checker), file_edit.ApplyEdits(checker)))
        tools.extend((grep.Grep(), check_code.CheckCode(checker)))
    if (switches.web_fetch or switches.web_search) and all(map(util.find_spec, _OF_THE_WEB)):
        tools.extend(_of_the_web(switches))
    if switches.testing:
        tools.extend(testing.every_class())
    return {tool.spec.name: tool for tool in tools}


def _of_the_web(switches: Switches) -> Iterator[contract.Tool]:
    """The tools that reach the web, as far as they are set up."""
    if switches.web_fetch:
        yield web_fetch.WebFetch(switches.web_listed)
    if switches.web_search and switches.searxng_url:
        yield web_search.WebSearch(switches.searxng_url)
    elif switches.web_search and switches.keyless_url:
        yield web_search.WebSearch(switches.keyless_url, keyless=True)
