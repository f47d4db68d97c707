"""Performs what needs a model: counting what a prompt may hold, and generating.

Decides nothing; a fault of the slot becomes an input like any other outcome.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from daemon.decide import context, transcript
from daemon.domain import decisions, errors, ids, inputs, messages, presets, taints, views
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
        skills: Callable[[], Mapping[str, presets.Skill]],
    ) -> None:
        self._roles = roles
        self._store = store
        self._kept = kept
        self._inbox = box
        self._bus = publish
        self._history_exchanges = history_exchanges
        self._counts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._skills = skills
        self._histories: OrderedDict[tuple[ids.TaskId, bool], views.History] = OrderedDict()

    async def gather(self, action: decisions.GatherContext) -> None:
        """Read, count and hand in what a model call may be told."""
        model = self._roles.slot(action.role)
        try:
            gathered = await self._gather(model, action)
        except errors.ModelFault as error:
            self._inbox.post(
                inputs.ContextFailed(
                    task_id=action.task_id,
                    asked=action.asked,
                    kind=error.kind,
                    message=str(error),
                )
            )
            return
        self._inbox.post(gathered)

    async def _gather(
        self, model: ports.Model, action: decisions.GatherContext
    ) -> inputs.ContextGathered:
        history = await self._history(action)  # of a forgotten message nothing is told
        earlier = [(one, self._parts(one)) for one in history.exchanges]
        told = [part for _, parts in earlier for part in parts] + list(action.turn)
        kept = [part.content for part in told if part.content is not None]
        summary = history.summary
        texts = await self._kept.texts(kept if summary is None else [*kept, summary])
        pieces = [
            (one.submitted_seq, part, _text(part, texts))
            for one, parts in earlier
            if texts[one.text] is not None and texts[one.answer] is not None
            for part in parts
        ]
        pieces += [(0, part, _text(part, texts)) for part in action.turn]
        summarized = texts[summary] if summary is not None else None
        fixed = [action.system, summarized or ""]
        counts = await self._lengths(model, [*fixed, *(text for _, _, text in pieces)])
        made = tuple(
            inputs.Piece(part.speaker, text, tokens, part.shortens, seq)
            for (seq, part, text), tokens in zip(pieces, counts[2:], strict=True)
        )
        turn_at = len(made) - len(action.turn)
        return inputs.ContextGathered(
            task_id=action.task_id,
            asked=action.asked,
            heard=action.heard,
            history=made[:turn_at],
            turn=made[turn_at:],
            summary=inputs.Piece("system", summarized, counts[1]) if summarized else None,
            system_tokens=counts[0],
            context_tokens=model.context_tokens,
            taint=taints.join(history.summary_taint, *(one.taint for one in history.exchanges)),
        )

    def _parts(self, exchange: views.Exchange) -> tuple[decisions.TurnPart, ...]:
        """An earlier exchange, as it was told when it was answered."""
        told = exchange.said
        if told and told[-1].kind == "words" and told[-1].content == exchange.answer:
            told = told[:-1]  # it was reviewed before it was given
        said = transcript.parts(exchange.text, told, self._skills(), len(told))
        return (*said, decisions.TurnPart(speaker="assistant", content=exchange.answer))

    async def _history(self, action: decisions.GatherContext) -> views.History:
        """What was said before a task, read once: its prompts must all begin alike."""
        key = (action.task_id, action.summarized)
        found = self._histories.get(key)
        if found is None:
            found = await self._store.history(
                action.conversation_id, action.submitted_seq, self._history_exchanges
            )
            self._histories[key] = found
            if len(self._histories) > KEPT_HISTORIES:
                self._histories.popitem(last=False)
        return found

    async def _lengths(self, model: ports.Model, spoken: Sequence[str]) -> list[int]:
        """Tokens of each text, or a bound where that shows that all fit: it saves a round trip."""
        bounds = [context.bound_tokens(text) for text in spoken]
        if context.surely_fits(bounds, model.context_tokens):
            return bounds
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


_Texts = dict[ids.ContentId, str | None]


def _text(part: decisions.TurnPart, texts: _Texts) -> str:
    kept = texts[part.content] if part.content is not None else None
    return f"{part.before}{kept or ''}{part.after}"
