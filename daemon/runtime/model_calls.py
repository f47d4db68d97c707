"""Performs what needs a model: counting what a prompt may hold, and generating.

Decides nothing; a fault of the slot becomes an input like any other outcome.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import structlog

from daemon.decide import context
from daemon.domain import decisions, errors, ids, inputs, messages, taints, views
from daemon.runtime import bus, contents, inbox, ports

COUNTED_TEXTS = 4096
"""How many token counts are remembered."""
KEPT_HISTORIES = 64
"""How many tasks' earlier exchanges are remembered while the tasks go on."""

_log = structlog.get_logger(__name__)


class Roles(Protocol):
    """Which slot serves a role."""

    def slot(self, role: messages.Role) -> ports.Model: ...


class ModelCalls:
    """Gathers context and calls models."""

    def __init__(
        self,
        roles: Roles,
        store: ports.Store,
        kept: contents.Contents,
        box: inbox.Inbox,
        publish: bus.Bus,
        history_exchanges: int,
    ) -> None:
        self._roles = roles
        self._store = store
        self._kept = kept
        self._inbox = box
        self._bus = publish
        self._history_exchanges = history_exchanges
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._histories: OrderedDict[tuple[ids.ConversationId, int], tuple[views.Exchange, ...]] = (
            OrderedDict()
        )

    async def gather(self, action: decisions.GatherContext) -> None:
        """Read, count and hand in what a model call may be told."""
        model = self._roles.slot(messages.Role.THINKER)
        try:
            gathered = await self._gather(model, action)
        except errors.ModelFault as error:
            self._inbox.post(
                inputs.ContextFailed(task_id=action.task_id, kind=error.kind, message=str(error))
            )
            return
        self._inbox.post(gathered)

    async def _gather(
        self, model: ports.Model, action: decisions.GatherContext
    ) -> inputs.ContextGathered:
        exchanges = await self._exchanges(action)
        texts = await self._kept.texts(_content_ids(exchanges, action.turn))
        said = _history(exchanges, texts) + _turn(action.turn, texts)
        counts = await self._lengths(model, [action.system, *(text for _, text in said)])
        pieces = tuple(
            inputs.Piece(speaker=speaker, text=text, tokens=tokens)
            for (speaker, text), tokens in zip(said, counts[1:], strict=True)
        )
        earlier = len(pieces) - len(action.turn)
        return inputs.ContextGathered(
            task_id=action.task_id,
            history=pieces[:earlier],
            turn=pieces[earlier:],
            system_tokens=counts[0],
            context_tokens=model.context_tokens,
            taint=taints.join(*(one.taint for one in exchanges)),
        )

    async def _exchanges(self, action: decisions.GatherContext) -> tuple[views.Exchange, ...]:
        """What was said before a task, read once: its prompts must all begin alike."""
        key = (action.conversation_id, action.submitted_seq)
        found = self._histories.get(key)
        if found is None:
            found = await self._store.exchanges(*key, self._history_exchanges)
            self._histories[key] = found
            if len(self._histories) > KEPT_HISTORIES:
                self._histories.popitem(last=False)
        return found

    async def _lengths(self, model: ports.Model, spoken: Sequence[str]) -> list[int]:
        """Tokens of each text, or a bound where that shows that all fit: it saves a round trip."""
        if context.surely_fits(spoken, model.context_tokens):
            return [context.bound_tokens(text) for text in spoken]
        return await self._count(model, spoken)

    async def _count(self, model: ports.Model, texts: Sequence[str]) -> list[int]:
        keys = [(model.name, text) for text in texts]
        missing = [key for key in dict.fromkeys(keys) if key not in self._counts]
        if missing:
            counted = await model.count([text for _, text in missing])
            self._counts.update(zip(missing, counted, strict=True))
        found = [self._counts[key] for key in keys]
        while len(self._counts) > COUNTED_TEXTS:
            self._counts.popitem(last=False)
        return found

    async def call(self, action: decisions.CallModel, cancelled: set[ids.CallId]) -> None:
        """Generate, and hand in the result, the fault, or that it was cancelled."""
        request = action.request
        feed = self._bus.open_feed(
            request.task_id, request.conversation_id, request.call_id, tool=False
        )
        kind, message, stopped = messages.ModelFaultKind.UNAVAILABLE, "it was cancelled", False
        try:
            result = await self._roles.slot(request.role).generate(request, feed)
        except errors.ModelFault as error:
            kind, message = error.kind, str(error)
            _log.warning("model_call_failed", call_id=request.call_id, fault=kind.value)
        except asyncio.CancelledError:
            if request.call_id not in cancelled:
                raise
            stopped = True
        else:
            self._inbox.post(
                inputs.ModelFinished(
                    task_id=request.task_id, call_id=request.call_id, result=result
                )
            )
            return
        self._inbox.post(
            inputs.ModelFailed(
                task_id=request.task_id,
                call_id=request.call_id,
                kind=kind,
                message=message,
                text=feed.so_far(),
                cancelled=stopped,
            )
        )


def _content_ids(
    exchanges: Sequence[views.Exchange], parts: Sequence[decisions.TurnPart]
) -> list[ids.ContentId]:
    said = [content for one in exchanges for content in (one.text, one.answer)]
    return said + [part.content for part in parts]


_Said = list[tuple[messages.Speaker, str]]


def _history(exchanges: Sequence[views.Exchange], texts: dict[ids.ContentId, str | None]) -> _Said:
    said: _Said = []
    for exchange in exchanges:
        text, answer = texts[exchange.text], texts[exchange.answer]
        if text is not None and answer is not None:
            said.append(("user", text))
            said.append(("assistant", answer))
    return said


def _turn(parts: Sequence[decisions.TurnPart], texts: dict[ids.ContentId, str | None]) -> _Said:
    return [
        (part.speaker, f"{part.before}{texts[part.content] or ''}{part.after}") for part in parts
    ]
