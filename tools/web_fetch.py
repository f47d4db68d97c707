"""Reads one page of the public web: exactly the inspected address, by one GET.

The page is got and read in a process of its own (`tools.web`). A GET may act on a server, so one
that a crash cut off is not repeated unasked. Never decides whether a call may run.
"""

import asyncio

from tools import contract
from tools.web import bounds

_GRACE_SECONDS = 10

_PARAMETERS = """{"type":"object","properties":{"url":{"type":"string"},
"start_char":{"type":"integer"}},"required":["url"],"additionalProperties":false}"""


class WebFetch:
    """The web_fetch tool. `listed` are hosts with ports that are reached though they are not of
    the public web."""

    def __init__(
        self, listed: tuple[str, ...] = (), limits: bounds.Bounds = bounds.DEFAULT
    ) -> None:
        self._spec = contract.ToolSpec(
            name="web_fetch",
            version=1,
            description="Read a public web page; a long one goes on at start_char.",
            parameters=_PARAMETERS,
            effect=contract.Effect.UNSAFE,
            category=contract.Category.NORMAL,
            deadline_seconds=int(limits.seconds) + _GRACE_SECONDS,
        )
        self._listed = listed
        self._limits = limits

    @property
    def spec(self) -> contract.ToolSpec:
        return self._spec

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        return await asyncio.to_thread(self._inspect, call)

    def _inspect(self, call: contract.Call) -> contract.Inspection:
        from tools.web import fetching

        return fetching.inspect(self._spec, call, self._listed, self._limits)

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        from tools.web import fetching

        result = await fetching.run(inspection)
        output(result.text)
        return result

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.UNKNOWN
