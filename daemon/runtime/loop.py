"""The centre: the only writer of state, and the only place where a decision becomes real.

    take inputs → stamp → decide and fold tentatively, one by one → ONE transaction
    → adopt → answer callers → publish → start actions

A failed commit discards the tentative state: nothing was said, nothing was done. Callers are told
so, and the runtime's own inputs are taken again until there is room. A commit of which nobody knows
whether it was kept ends the loop, and with it the daemon: the next start reads the truth.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Protocol

import structlog

from daemon.decide import orchestrator, profiles, turn
from daemon.domain import decisions, errors, events, ids, inputs, world
from daemon.runtime import bus, contents, failpoints, inbox, ports

RETRY_SECONDS = 0.5
"""How long after a failed commit the same inputs are tried again."""

_log = structlog.get_logger(__name__)


class Performer(Protocol):
    """Starts actions; never waits for them."""

    def perform(self, action: decisions.Action) -> None: ...


Tell = Callable[[Sequence[decisions.Record]], None]
"""Hears of records once they are durable, before anybody is answered. Never waits."""


def _tell_nobody(records: Sequence[decisions.Record]) -> None:
    """For a loop whose records nobody waits for."""


class _Batch:
    """What one round of the loop has decided so far."""

    def __init__(self, rules: turn.Rules, current: world.World) -> None:
        self.rules = rules
        self.tentative = current
        self.events: list[events.Recorded] = []
        self.records: list[decisions.Record] = []
        self.actions: list[decisions.Action] = []
        self.answers: list[tuple[inbox.ReplyFuture, decisions.Reply | decisions.Rejected]] = []
        self._keys: dict[tuple[str, str], decisions.ClientKeyRecord] = {}
        self._resolved: dict[ids.ApprovalId, events.ApprovalResolved] = {}
        self._tokens: set[str] = set()

    def add(self, envelope: inbox.Envelope, step: decisions.Step, after: world.World) -> None:
        """Take a decision up; `after` is the tentative world with the step's events folded."""
        self.tentative = after
        self.rules = profiles.after(self.rules, step.records, after.tasks)
        for recorded in step.events:
            if type(recorded.event) is events.ApprovalResolved:
                self._resolved[recorded.event.approval_id] = recorded.event
        if isinstance(envelope.input, inputs.Keyed):
            self._note(step.records)
        self.events.extend(step.events)
        self.records.extend(step.records)
        self.actions.extend(step.actions)
        if envelope.reply is not None and step.reply is not None:
            self.answers.append((envelope.reply, step.reply))

    def _note(self, records: Sequence[decisions.Record]) -> None:
        """What later writes of the batch have to know; only writes keep it."""
        for record in records:
            match record:
                case decisions.ClientKeyRecord():
                    self._keys[record.credential, record.client_key] = record
                case decisions.TokenRecord():
                    self._tokens.add(record.name)
                case _:
                    pass

    def known(self, given: inputs.Input, stored: inputs.Known) -> inputs.Known:
        """What the store knows, and what this batch is about to make true."""
        if not isinstance(given, inputs.Keyed):
            return stored
        update: dict[str, object] = {}
        key = self._keys.get((given.credential, given.client_key))
        if key is not None:
            update = {"key_body_hash": key.body_hash, "key_reply": key.reply}
        if isinstance(given, inputs.ResolveApproval) and given.approval_id in self._resolved:
            resolved = self._resolved[given.approval_id]
            update["approval_outcome"] = resolved.outcome
            update["approval_grant"] = resolved.grant_id
        if isinstance(given, inputs.CreateToken):
            update["live_tokens"] = stored.live_tokens | self._tokens
        return stored.but(update) if update else stored


class RuntimeLoop:
    """One daemon's loop. `run` it once; world and rules are readable between rounds."""

    def __init__(
        self,
        rules: turn.Rules,
        current: world.World,
        store: ports.Store,
        kept: contents.Contents,
        clock: ports.Clock,
        chance: ports.Chance,
        box: inbox.Inbox,
        publish: bus.Bus,
        reach: failpoints.Reach = failpoints.pass_by,
        tell: Tell = _tell_nobody,
    ) -> None:
        self._reach = reach
        self._tell = tell
        self.world = current
        self.rules = rules
        self._store = store
        self._kept = kept
        self._clock = clock
        self._chance = chance
        self._inbox = box
        self._bus = publish
        self._held: list[inbox.Envelope] = []
        self._draining = False
        self._checkpoint_seq = current.head_seq

    async def run(self, performer: Performer) -> None:
        """Serve the inbox until cancelled; a round that has begun is served to its end."""
        most = self.rules.limits.batch_inputs
        while True:
            if self._held:
                await _whole(self._retry(performer))
            else:
                await _whole(self._process(await self._inbox.take(most), performer))

    async def recover(
        self,
        restarts: Sequence[inputs.Input],
        performer: Performer,
    ) -> None:
        """Let every live task go on, before anything else is served."""
        for start in range(0, len(restarts), self.rules.limits.batch_inputs):
            chunk = restarts[start : start + self.rules.limits.batch_inputs]
            await self._process([inbox.Envelope(one) for one in chunk], performer)
            while self._held:
                await self._retry(performer)

    def drain(self) -> None:
        """From now on nothing more of a task starts; the next daemon goes on from the log."""
        self._draining = True

    async def finish(self, performer: Performer) -> None:
        """Serve what stands in the inbox, once `run` has ended."""
        while waiting := self._inbox.take_waiting(self.rules.limits.batch_inputs):
            await self._process(waiting, performer)

    async def _retry(self, performer: Performer) -> None:
        await asyncio.sleep(RETRY_SECONDS)
        waiting = self._inbox.take_waiting(self.rules.limits.batch_inputs)
        held, self._held = self._held, []
        await self._process(held + waiting, performer)

    async def _process(self, taken: Sequence[inbox.Envelope], performer: Performer) -> None:
        envelopes = [one for one in taken if not (self._draining and _starts(one.input))]
        try:
            known = await self._look_up(envelopes)
        except errors.StorageFault as error:
            self._give_back(envelopes, error)
            return
        batch = _Batch(self.rules, self.world)
        for envelope, stored in zip(envelopes, known, strict=True):
            self._decide(batch, envelope, stored)
        try:
            await self._commit(batch)
        except errors.StorageLost:
            raise
        except errors.StorageFault as error:
            self._give_back(envelopes, error)
            return
        self._adopt(batch, performer)

    async def checkpoint(self) -> None:
        """Keep the world as it is, so that the next start folds little.

        Raises:
            errors.StorageFault: it could not be kept; the log is whole all the same.
        """
        await self._store.commit((), (), world.snapshot(self.world))
        self._checkpoint_seq = self.world.head_seq

    async def _look_up(self, envelopes: Sequence[inbox.Envelope]) -> list[inputs.Known]:
        asked = [one.input for one in envelopes if isinstance(one.input, inputs.Keyed)]
        found = iter(await asyncio.gather(*(self._store.known(given) for given in asked)))
        nothing = inputs.Known()
        return [
            next(found) if isinstance(one.input, inputs.Keyed) else nothing for one in envelopes
        ]

    def _decide(self, batch: _Batch, envelope: inbox.Envelope, stored: inputs.Known) -> None:
        stamped = inputs.Stamped(
            utc_offset_minutes=self._clock.utc_offset_minutes(),
            input=envelope.input,
            at_ms=self._clock.now_ms(),
            seed=self._chance.seed(),
            known=batch.known(envelope.input, stored),
        )
        try:
            step, after = orchestrator.advance(batch.rules, batch.tentative, stamped)
            batch.add(envelope, step, after)
        except Exception as error:  # a fault of one decision must not end the daemon
            _log.exception(
                "decision_failed",
                input=type(envelope.input).__name__,
                correlation_id=_correlation_id(batch.tentative, envelope.input),
            )
            self._contain(batch, envelope, stamped, error)

    def _contain(
        self,
        batch: _Batch,
        envelope: inbox.Envelope,
        stamped: inputs.Stamped,
        error: Exception,
    ) -> None:
        """End only the task that a broken decision was about; its caller gets the fault."""
        if envelope.reply is not None:
            if not envelope.reply.done():
                envelope.reply.set_exception(error)
            return
        task_id = getattr(envelope.input, "task_id", None)
        if task_id is None or isinstance(envelope.input, inputs.AbortTask):
            return
        abort = inputs.AbortTask(task_id=task_id)
        try:
            step, after = orchestrator.advance(
                batch.rules, batch.tentative, stamped._replace(input=abort)
            )
        except Exception:
            correlation_id = _correlation_id(batch.tentative, abort)
            _log.exception("abort_failed", task_id=task_id, correlation_id=correlation_id)
            return
        batch.add(inbox.Envelope(abort), step, after)

    async def _commit(self, batch: _Batch) -> None:
        if not batch.events and not batch.records:
            return
        head_seq = batch.tentative.head_seq
        due = head_seq - self._checkpoint_seq >= self.rules.limits.checkpoint_events
        snapshot = world.snapshot(batch.tentative) if due else None
        self._reach(failpoints.BEFORE_COMMIT)
        await self._store.commit(batch.events, batch.records, snapshot)
        self._reach(failpoints.AFTER_COMMIT)
        if due:
            self._checkpoint_seq = head_seq

    def _give_back(self, envelopes: Sequence[inbox.Envelope], error: errors.StorageFault) -> None:
        _log.error("commit_failed", reason=str(error), inputs=len(envelopes))
        refusal = errors.Refusal(
            errors.RefusalKind.UNAVAILABLE, f"{error} Nothing was kept; try again later."
        )
        for envelope in envelopes:
            if envelope.reply is None:
                self._held.append(envelope)
            elif not envelope.reply.done():
                envelope.reply.set_exception(refusal)

    def _adopt(self, batch: _Batch, performer: Performer) -> None:
        self.world, self.rules = batch.tentative, batch.rules
        self._kept.add(batch.records)
        self._tell(batch.records)
        for future, reply in batch.answers:
            if future.done():
                continue
            if isinstance(reply, decisions.Rejected):
                future.set_exception(errors.Refusal(reply.refusal, reply.message))
            else:
                future.set_result(reply)
        self._bus.publish(batch.events)
        for action in batch.actions:
            performer.perform(action)


async def _whole(begun: Coroutine[None, None, None]) -> None:
    """Await a round to its end: half of one would lose what it took from the inbox."""
    running = asyncio.ensure_future(begun)
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        await running
        raise


def _correlation_id(current: world.World, given: inputs.Input) -> str:
    """Of the request that an input is or came of; empty when it came of none."""
    if isinstance(given, inputs.RpcInput):
        return given.correlation_id
    task = current.tasks.get(getattr(given, "task_id", ids.TaskId("")))
    return task.correlation_id if task is not None else ""


_STARTERS = (
    inputs.ContextGathered,
    inputs.ContextFailed,
    inputs.CallInspected,
    inputs.CallReconciled,
)


def _starts(given: inputs.Input) -> bool:
    """Whether an input would only start the next part of a task."""
    return isinstance(given, _STARTERS)
