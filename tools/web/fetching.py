"""What web_fetch does: reads the address, then has a child get and read the page."""

import pydantic

from tools import contract, files
from tools.web import bounds, protocol, texts, urls, visiting

_TEXT_CHARS = 6000
_OK = range(200, 300)


class _Arguments(contract.Value):
    url: str = pydantic.Field(min_length=1)
    start_char: int = pydantic.Field(default=0, ge=0, le=2**31)


class _Inspected(contract.Held):
    """The address that is asked for."""

    def __init__(self, facts: contract.Facts, request: protocol.Fetch) -> None:
        super().__init__(facts)
        self.request = request


def inspect(
    spec: contract.ToolSpec, call: contract.Call, listed: tuple[str, ...], limits: bounds.Bounds
) -> contract.Inspection:
    """The address in its one form.

    Raises:
        ToolFault: the arguments are wrong, or the address may not be reached.
    """
    wanted = files.arguments(_Arguments, spec.name, call.arguments_json)
    url = urls.parse(wanted.url, listed)
    shown = [("url", url.text)]
    if url.readable_host != url.host:
        shown.append(("host", f"{url.host} ({url.readable_host})"))
    if wanted.start_char:
        shown.append(("from character", str(wanted.start_char)))
    facts = contract.Facts(
        effect=spec.effect,
        bound=(("url", url.text),),
        shown=tuple(shown),
        hosts=(url.authority,),
        sources=(url.text,),
    )
    request = protocol.Fetch(
        url=url.text,
        listed=listed,
        start_char=wanted.start_char,
        chars=_TEXT_CHARS,
        limits=limits,
    )
    return _Inspected(facts, request)


async def run(inspection: contract.Inspection) -> contract.Result:
    """Get what was inspected.

    Raises:
        ToolFault: it cannot be had, or is not what was inspected here.
    """
    if not isinstance(inspection, _Inspected):
        raise contract.ToolFault("web_fetch runs only what it has inspected.")
    came = await visiting.visit(inspection.request)
    if not isinstance(came, protocol.Text):
        raise contract.ToolFault("The page could not be read.")
    return contract.Result(text=_told(came), failed=came.status not in _OK)


def _told(came: protocol.Text) -> str:
    """A line that says what it is, then the text."""
    kind = texts.line(came.kind, protocol.TITLE_CHARS)
    header = [texts.line(came.url, protocol.LINE_CHARS), f"status {came.status}", kind or "no type"]
    if came.title:
        header.append(f"title “{texts.line(came.title, protocol.TITLE_CHARS)}”")
    end = came.start_char + len(came.text)
    if came.start_char or end < came.total_chars:
        header.append(f"characters {came.start_char} to {end} of {came.total_chars}")
    if end < came.total_chars:
        header.append(f"the next is start_char={end}")
    header.extend(texts.line(note, protocol.TITLE_CHARS) for note in came.notes)
    body = texts.clean(came.text)
    if not body and not came.notes:
        body = "(no text)"
    return f"{', '.join(header)}\n{body}".rstrip("\n")
