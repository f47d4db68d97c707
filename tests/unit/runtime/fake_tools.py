"""Tools that a test holds in its hand: they run until told, and note what was done to them."""

import asyncio
from collections.abc import Callable

from daemon.domain import decisions, events, ids, principals, verdicts
from tools import contract


class FakeInspection:
    """Counts how often it was let go of; may refuse to be."""

    def __init__(self, facts: contract.Facts, closing: Callable[[], None]) -> None:
        self._facts = facts
        self._closing = closing

    @property
    def facts(self) -> contract.Facts:
        return self._facts

    def close(self) -> None:
        self._closing()


class FakeTool:
    """A tool of one effect class whose steps are set by the test."""

    def __init__(
        self,
        name: str = "look",
        effect: contract.Effect = contract.Effect.PURE,
        category: contract.Category = contract.Category.READ_ONLY,
        deadline_seconds: int = 60,
    ) -> None:
        self.spec = contract.ToolSpec(
            name=name,
            version=1,
            description="",
            parameters="{}",
            effect=effect,
            category=category,
            deadline_seconds=deadline_seconds,
        )
        self.facts = contract.Facts(
            effect=effect, bound=(("what", "same"),), shown=(("what", "same"),)
        )
        self.inspection_fault: Exception | None = None
        self.close_fault: Exception | None = None
        self.outcome: contract.Result | Exception | None = contract.Result(text="out")
        self.pieces: tuple[str, ...] = ()
        self.found = contract.Reconciled.DONE
        self.inspected = 0
        self.ran = 0
        self.closed = 0
        self.cancelled = 0
        self.go_on = asyncio.Event()

    def command(self, arguments_json: str) -> str | None:
        return None

    def shorten(self, text: str, limit_chars: int, failed: bool) -> str:
        return contract.ends(text, limit_chars)

    async def inspect(self, call: contract.Call) -> contract.Inspection:
        self.inspected += 1
        if self.inspection_fault is not None:
            raise self.inspection_fault
        return FakeInspection(self.facts, self._close)

    def _close(self) -> None:
        self.closed += 1
        if self.close_fault is not None:
            raise self.close_fault

    async def run(
        self,
        call: contract.Call,
        inspection: contract.Inspection,
        output: contract.Output,
        secret: contract.Secret | None = None,
    ) -> contract.Result:
        """Say the pieces, then end as the test wants; None runs until `go_on` is set."""
        self.ran += 1
        for piece in self.pieces:
            output(piece)
        try:
            if self.outcome is None:
                await self.go_on.wait()
                return contract.Result(text="gone on")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def reconcile(self, call: contract.Call, intent: str) -> contract.Reconciled:
        return self.found


def site(task_id: ids.TaskId, proposed: events.ToolCallProposed) -> decisions.CallSite:
    """Where a proposed call stands."""
    return decisions.CallSite(
        task_id=task_id,
        conversation_id=ids.ConversationId("conversation-1"),
        correlation_id="c",
        requester=principals.LOCAL_OWNER,
        call_id=proposed.call_id,
        tool=proposed.tool,
        arguments=proposed.arguments,
    )


def forged(where: decisions.CallSite, digest: str) -> decisions.CallTool:
    """A call by a permit that nobody granted."""
    permit = decisions.Permit(call_id=where.call_id, digest=digest, basis=verdicts.Basis.READ_ONLY)
    return decisions.CallTool(site=where, permit=permit)
