"""Makes Markdown of a page's HTML: its main text, without scripts and what is hidden.

The library that does it is native code and meets hostile bytes: this runs in the child alone.
"""

import html

import html_to_markdown

from tools.web import texts

_TITLE_CHARS = 200
_TITLE_SEARCHED_CHARS = 256 * 1024


def to_markdown(page: str, url: str) -> tuple[str, str]:
    """The main text, addresses of links in full; and what is missing of it, empty when nothing."""
    options = html_to_markdown.ConversionOptions(
        extract_metadata=False,
        preprocessing=html_to_markdown.PreprocessingOptions(
            enabled=True, preset="aggressive", remove_navigation=True, remove_forms=True
        ),
        hidden_content="drop",
        skip_images=True,
        base_url=url,
    )
    done = html_to_markdown.convert(page, options)
    return done.content or "", "parts nested too deep are left out" if done.warnings else ""


def title(page: str) -> str:
    """What the page calls itself; empty when nothing."""
    head = page[:_TITLE_SEARCHED_CHARS]
    small = head.lower()
    begins = small.find("<title")
    opened = small.find(">", begins) if begins >= 0 else -1
    ends = small.find("</title", opened) if opened >= 0 else -1
    if len(small) != len(head) or ends < 0:
        return ""
    return texts.line(html.unescape(head[opened + 1 : ends]), _TITLE_CHARS)
