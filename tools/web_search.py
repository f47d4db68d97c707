"""Asks the owner's search engine, or a keyless one that the owner allowed.

Which engine is a setting; none is known here. The answer is got and read in a process of its own
(`tools.web`). A search changes nothing, so it may be repeated. Decides nothing about approvals.
"""

import asyncio

from tools import contract
from tools.web import bounds

_GRACE_SECONDS = 10

_PARAMETERS = """{"type":"object","properties":{"query":{"type":"string"},
"count":{"type":"integer"}},"required":["query"],"additionalProperties":false}"""


class WebSearch:
    """The web_search tool. `engine` is the address of a SearxNG, or of a plain page of results when
    `keyless`. A SearxNG may stand on a private or loopback address: its owner named it."""

    def __init__(
        self, engine: str, keyless: bool = False, limits: bounds.Bounds = bounds.DEFAULT
    ) -> None:
        self._spec = contract.ToolSpec(
            name="web_search",
            version=1,
            description="Search the web; gives titles, addresses and snippets.",
            parameters=_PARAMETERS,
            effect=contract.Effect.PURE,
            category=contract.Category.NORMAL,
            deadline_seconds=int(limits.seconds) + _GRACE_SECONDS,
        )
        self._engine = engine
        self._keyless = keyless
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
        from tools.web import searching

        return searching.inspect(self._spec, call, self._engine, self._keyless, self._limits)

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        from tools.web import searching

        result = await searching.run(inspection)
        output(result.text)
        return result

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return contract.Reconciled.UNKNOWN
