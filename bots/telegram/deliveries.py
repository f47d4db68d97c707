"""Shows in chats what the daemon says is to be shown, and reports what became of it.

Answers for: that an answer's content is there once, whatever crashes: a message is there and
reported before content is edited into it. Cards and notices are shown at least once. One actor a
delivery takes its newest revision; nothing here is kept that a restart may lose.
"""

import asyncio
import contextlib
import datetime
import typing
from collections.abc import Coroutine

import structlog

from bots import client, presenter, views
from bots.telegram import (
    calls,
    cards,
    finals,
    following,
    lanes,
    outgoing,
    previews,
    rendering,
    texts,
)
from proto.ducklm.v1 import (
    approvals_pb2,
    channels_pb2,
    events_pb2,
    schedules_pb2,
)

AGAIN_S: typing.Final = 1.0
TRIES: typing.Final = 5  # of one that broke; each pause is twice the one before
NEW_MESSAGE_S: typing.Final = 30.0  # a task that took longer ends in a new message
PAGE_EVENTS: typing.Final = 500
FILE_BYTES: typing.Final = 45 * 1024 * 1024  # what a bot may send

_D: typing.TypeAlias = channels_pb2.Delivery
_Urgency = lanes.Urgency
_log = structlog.get_logger(__name__)


class Deliveries:
    """All that one bot shows. `thoughts` whether thinking is shown in private chats."""

    def __init__(
        self,
        daemon: client.Client,
        api: calls.Calls,
        sending: lanes.Lanes,
        zone: datetime.tzinfo | None = None,
        thoughts: bool = False,
    ) -> None:
        self._daemon = daemon
        self._api = api
        self._lanes = sending
        self._zone = zone
        self._thoughts = thoughts
        self._actors: dict[str, _Actor] = {}

    async def run(self) -> None:
        """Show what comes, for ever; a lost daemon is waited for."""
        lost = False
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    request = channels_pb2.DeliveriesRequest()
                    stream = self._daemon.stream(self._daemon.channels.Deliveries, request, None)
                    async with contextlib.aclosing(stream) as deliveries:
                        async for one in deliveries:
                            lost = False
                            self._take(group, one)
                except client.CallFault as fault:
                    if not lost:  # once, however long the daemon is away
                        _log.info("deliveries_lost", code=fault.code.name)
                    lost = True
                await asyncio.sleep(AGAIN_S)

    def _take(self, group: asyncio.TaskGroup, given: _D) -> None:
        actor = self._actors.get(given.delivery_id)
        if actor is None:
            actor = self._actors[given.delivery_id] = _Actor(given)
            group.create_task(self._act(actor), name="delivery")
        else:
            actor.renew(given)

    async def _act(self, actor: "_Actor") -> None:
        """Show a delivery until its newest revision is reported for good."""
        delivery_id = actor.newest.delivery_id
        broken = 0
        try:
            while not actor.is_done():
                actor.changed.clear()
                given = actor.newest
                try:
                    await self._try(actor, given)
                    continue
                except lanes.Superseded:
                    continue
                except (calls.Unauthorized, asyncio.CancelledError):
                    raise
                except client.CallFault as fault:
                    _log.warning("delivery_refused", code=fault.code.name)
                except Exception:  # one delivery must not stop the others
                    _log.exception("delivery_broke", kind=given.kind)
                broken += 1
                if broken == TRIES:  # it comes again with the next stream
                    actor.done_revision = given.revision
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(AGAIN_S * 2**broken):
                        await actor.changed.wait()
        finally:
            del self._actors[delivery_id]

    async def _try(self, actor: "_Actor", given: _D) -> None:
        """Show it; what Telegram refuses for good is reported, and a chat that moved is told."""
        try:
            await self._show(actor, given)
        except calls.Moved as moved:
            await self._move(given, moved.chat)
            actor.done_revision = given.revision
        except calls.Unauthorized:  # with another token it can be shown
            raise
        except calls.Fault as fault:
            await self._give_up(actor, given, fault)

    async def _show(self, actor: "_Actor", given: _D) -> None:
        match given.kind:
            case channels_pb2.Delivery.PREVIEW:
                await self._preview(actor, given)
            case channels_pb2.Delivery.FINAL | channels_pb2.Delivery.SCHEDULE:
                await self._final(actor, given)
            case channels_pb2.Delivery.APPROVAL:
                await self._card(actor, given)
            case channels_pb2.Delivery.NOTICE:
                await self._notice(actor, given)
            case _:
                actor.done_revision = given.revision  # of a newer daemon

    async def _report(
        self, actor: "_Actor", given: _D, state: "_D.State.ValueType", fault: str = ""
    ) -> None:
        """Tell the daemon; it is waited for as long as it takes."""
        await self._daemon.patiently(
            self._daemon.channels.Report,
            channels_pb2.ReportRequest(
                delivery_id=given.delivery_id,
                revision=given.revision,
                state=state,
                platform_ids=actor.messages,
                fault=fault,
            ),
        )
        if state != channels_pb2.Delivery.SENT:
            actor.done_revision = given.revision

    async def _give_up(self, actor: "_Actor", given: _D, fault: calls.Fault) -> None:
        gone = isinstance(fault, calls.Gone)
        _log.warning("not_shown", gone=gone, reason=str(fault))
        state = channels_pb2.Delivery.GONE if gone else channels_pb2.Delivery.FAILED
        await self._report(actor, given, state, str(fault)[:500])

    async def _move(self, given: _D, to: str) -> None:
        """All of the chat's deliveries come again, for the chat where it is now."""
        _log.info("chat_moved")
        request = channels_pb2.MoveChatRequest(
            chat=given.chat, to=to, client_key=f"moved {given.delivery_id} {given.revision}"
        )
        await self._daemon.patiently(self._daemon.channels.MoveChat, request)

    # --- a task

    async def _placeholder(self, actor: "_Actor", given: _D) -> None:
        """Have one more message there, and the daemon know of it, before it says anything."""
        text = outgoing.Text(texts.STARTING, silent=bool(actor.messages))
        message = await self._send(given, text, _Urgency.END)
        actor.messages.append(message)
        await self._report(actor, given, channels_pb2.Delivery.SENT)

    async def _preview(self, actor: "_Actor", given: _D) -> None:
        if not actor.messages:
            await self._placeholder(actor, given)
        private = not given.chat.startswith("-")
        follow = following.Following(self._daemon, given, self._thoughts and private)

        async def edit(text: outgoing.Text) -> None:
            message = actor.messages[0]
            with contextlib.suppress(lanes.Superseded):
                await self._edit(given, message, text, _Urgency.PROGRESS)

        await _first(follow.run(edit), actor.changed.wait())

    async def _final(self, actor: "_Actor", given: _D) -> None:
        if not given.HasField("task"):  # its conversation was deleted meanwhile
            for message in actor.messages:
                await self._withdraw(given, message)
            await self._report(actor, given, channels_pb2.Delivery.SHOWN)
            return
        done = await self._done(given)
        final = finals.final(given.task, done, _run(given))
        parts, document = final.parts, final.document
        took = given.task.updated_at.ToDatetime() - given.task.created_at.ToDatetime()
        if given.kind == channels_pb2.Delivery.SCHEDULE or took.total_seconds() > NEW_MESSAGE_S:
            for message in actor.messages:
                await self._withdraw(given, message)
            actor.messages = [await self._send(given, part, _Urgency.END) for part in parts]
        else:
            while len(actor.messages) < len(parts):
                await self._placeholder(actor, given)
            for message in actor.messages[len(parts) :]:
                await self._withdraw(given, message)
            actor.messages = actor.messages[: len(parts)]
            for index, part in enumerate(parts):
                await self._put(actor, given, index, part)
        if document is not None:
            await self._send_document(given, document)
        await self._report(actor, given, channels_pb2.Delivery.SHOWN)

    async def _put(
        self,
        actor: "_Actor",
        given: _D,
        index: int,
        text: outgoing.Text,
        urgency: lanes.Urgency = _Urgency.END,
    ) -> None:
        """Edit a message; one that somebody deleted is sent anew."""
        try:
            await self._edit(given, actor.messages[index], text, urgency)
        except calls.Refused as refused:
            if not refused.is_lost_message:
                raise
            actor.messages[index] = await self._send(given, text, urgency)

    async def _done(self, given: _D) -> tuple[str, ...]:
        """What was run for a task, from the log: the same after any restart."""
        shown = presenter.Presenter(given.seq - 1)
        preview = previews.Preview()
        after_seq = given.seq - 1
        while True:
            request = events_pb2.ListEventsRequest(
                task_id=given.task.task_id, after_seq=after_seq, limit=PAGE_EVENTS
            )
            page = await self._daemon.patiently(self._daemon.events.List, request)
            for event in page.events:
                after_seq = event.seq
                for view in shown.feed(events_pb2.Update(event=event)):
                    if isinstance(view, (views.ToolStarted, views.ToolEnded)):
                        preview.feed(view)
            if len(page.events) < PAGE_EVENTS:
                return preview.done()

    # --- cards and notices

    async def _card(self, actor: "_Actor", given: _D) -> None:
        card = cards.approval(given.approval, self._zone, given.run.name)
        pending = given.approval.status == approvals_pb2.PENDING
        if pending and not actor.messages:  # its buttons are to stand where the daemon knows them
            announced = cards.announced(given.approval, given.run.name)
            actor.messages = [await self._send(given, announced, _Urgency.CARD)]
            await self._report(actor, given, channels_pb2.Delivery.SENT)
        if card.document is not None:  # nobody can press before all can be read
            await self._send_document(given, card.document)
        if actor.messages:
            await self._put(actor, given, 0, card.text, _Urgency.CARD)
        await self._report(actor, given, channels_pb2.Delivery.SHOWN)

    async def _notice(self, actor: "_Actor", given: _D) -> None:
        text = cards.notice(given)
        if actor.messages:
            await self._put(actor, given, 0, rendering.split(text)[0])
        elif not cards.is_over(given):
            parts = rendering.split(text)
            actor.messages = [await self._send(given, part, _Urgency.END) for part in parts]
            for artifact_id in given.artifact_ids:
                await self._send_document(given, await self._artifact(given, artifact_id))
        await self._report(actor, given, channels_pb2.Delivery.SHOWN)

    async def _artifact(self, given: _D, artifact_id: str) -> outgoing.Document:
        data = await self._daemon.artifact(artifact_id, FILE_BYTES)
        if data is None:
            raise calls.Refused("file is too big")
        named = given.text.partition("\n")[0].strip("`* ")
        name = named if "." in named and len(named) < 64 and "/" not in named else "output.txt"
        return outgoing.Document(name, data)

    # --- calls

    def _reply_to(self, given: _D) -> str:
        """Answers name their message in groups, where several people talk."""
        return given.reply_to if given.chat.startswith("-") else ""

    async def _send(self, given: _D, text: outgoing.Text, urgency: lanes.Urgency) -> str:
        async def call(shown: outgoing.Text = text) -> str:
            return await self._api.send(given.chat, given.topic, shown, self._reply_to(given))

        async def plain() -> str:
            return await call(outgoing.Text(text.text, (), text.rows, text.silent, text.asks))

        try:
            return await self._lanes.send(given.chat, given.topic, urgency, call)
        except calls.Refused as refused:
            if not (refused.is_entities and text.entities):
                raise
            return await self._lanes.send(given.chat, given.topic, urgency, plain)

    async def _edit(
        self, given: _D, message: str, text: outgoing.Text, urgency: lanes.Urgency
    ) -> None:
        key = message if urgency is _Urgency.PROGRESS else ""
        bare = outgoing.Text(text.text, (), text.rows)

        async def call(shown: outgoing.Text = text) -> None:
            await self._api.edit(given.chat, message, shown)

        try:
            await self._lanes.send(given.chat, given.topic, urgency, call, key)
        except calls.Refused as refused:
            if not (refused.is_entities and text.entities):
                raise
            await self._lanes.send(given.chat, given.topic, urgency, lambda: call(bare), key)

    async def _send_document(self, given: _D, document: outgoing.Document) -> None:
        async def call() -> str:
            reply_to = self._reply_to(given)
            return await self._api.send_document(given.chat, given.topic, document, reply_to)

        await self._lanes.send(given.chat, given.topic, _Urgency.END, call)

    async def _withdraw(self, given: _D, message: str) -> None:
        """Delete a message of ours; where that is not possible it says nothing any more."""

        async def call() -> None:
            await self._api.delete(given.chat, message)

        try:
            await self._lanes.send(given.chat, given.topic, _Urgency.END, call)
        except calls.Refused:
            with contextlib.suppress(calls.Refused):
                nothing = outgoing.Text(texts.STARTING)
                await self._edit(given, message, nothing, _Urgency.END)


class _Actor:
    """What is known of a delivery that is being shown."""

    def __init__(self, given: _D) -> None:
        self.newest = given
        self.messages = list(given.platform_ids)
        self.changed = asyncio.Event()
        self.done_revision = 0

    def renew(self, given: _D) -> None:
        """Something newer is to be shown; the same again, after a new stream, changes nothing."""
        if given.revision <= self.newest.revision:
            return
        if given.chat != self.newest.chat:
            self.messages = list(given.platform_ids)
        self.newest = given
        self.changed.set()

    def is_done(self) -> bool:
        return self.done_revision >= self.newest.revision


async def _first(*waits: Coroutine[object, object, object]) -> None:
    """Wait until one ends; the others are cancelled. Its fault is raised."""
    tasks = [asyncio.ensure_future(one) for one in waits]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


def _run(given: _D) -> schedules_pb2.Run | None:
    """The run whose end it shows."""
    return given.run if given.kind == channels_pb2.Delivery.SCHEDULE else None
