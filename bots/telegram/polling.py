"""Takes updates from Telegram, in order, and confirms each only once the daemon has taken it.

Answers for: that nothing is lost or answered twice whatever stops (each write has the update's
number as its key), that receiving goes on soon after the network is back, that one update which
breaks the program stops no other, and that people hear once when the daemon is away.
"""

import asyncio
import typing
from collections.abc import Sequence

import structlog
from aiogram import types

from bots import client
from bots.telegram import calls, lanes, outgoing, pressing, talking, texts, updates
from proto.ducklm.v1 import channels_pb2, common_pb2

NETWORK_PAUSE_S: typing.Final = 2.0
LOST_POLL_S: typing.Final = 3  # a try while the network is away: it is soon over and made anew
CONFLICT_PAUSE_S: typing.Final = 30.0
AWAY_PAUSE_S: typing.Final = 1.0
EMPTY_S: typing.Final = 0.2
_log = structlog.get_logger(__name__)


class Polling:
    """One bot's receiving end."""

    def __init__(
        self,
        daemon: client.Client,
        api: calls.Calls,
        sending: lanes.Lanes,
        bot: updates.Bot,
        poll_s: int,
    ) -> None:
        self._daemon = daemon
        self._api = api
        self._lanes = sending
        self._bot = bot
        self._poll_s = poll_s
        self._talking = talking.Talking(daemon, api, bot)
        self._pressing = pressing.Pressing(daemon, api, sending)
        self._offset = 0
        self._away = False
        self._lost = False
        self._told: set[str] = set()
        self._conflicting = False
        self._notes: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Receive for ever.

        Raises:
            calls.Unauthorized: the bot's token is none.
        """
        while True:
            began_s = asyncio.get_running_loop().time()
            found = await self._next()
            if found:
                await self._take(found)
            elif asyncio.get_running_loop().time() - began_s < EMPTY_S:
                await asyncio.sleep(EMPTY_S)  # a server that does not hold the request
            if self._away:
                await asyncio.sleep(AWAY_PAUSE_S)

    async def _next(self) -> list[calls.Numbered]:
        """The next updates; none after a pause where they cannot be had now."""
        poll_s = min(self._poll_s, LOST_POLL_S) if self._lost else self._poll_s
        try:
            found = await self._api.updates(self._offset, 0 if self._away else poll_s)
        except calls.Unauthorized:
            raise
        except calls.Conflict:
            await self._conflict()
            return []
        except calls.TooMany as fault:
            await asyncio.sleep(fault.retry_after_s)
            return []
        except calls.Fault as fault:
            if not self._lost:
                _log.info("not_receiving", reason=type(fault).__name__)
            self._lost = True
            await self._api.reconnect()
            await asyncio.sleep(NETWORK_PAUSE_S)
            return []
        if self._conflicting or self._lost:
            _log.info("receiving_again")
            self._conflicting = self._lost = False
        return found

    async def _conflict(self) -> None:
        if not self._conflicting:
            self._conflicting = True
            _log.error("somebody_else_receives", webhook=await self._webhook())
        await asyncio.sleep(CONFLICT_PAUSE_S)

    async def _webhook(self) -> bool:
        """Whether it is a webhook; then it has to be taken away before."""
        try:
            return bool(await self._api.webhook())
        except calls.Fault:
            return False

    async def _take(self, found: Sequence[calls.Numbered]) -> None:
        """Handle updates in order, up to the first that the daemon does not take now."""
        read = [(number, self._read(update)) for number, update in found]
        merged = updates.merged(read)
        for index, (number, incoming) in enumerate(merged):
            try:
                await self._handle(incoming, f"telegram:{self._bot.account}:{number}")
            except client.CallFault as fault:
                if not fault.lost:
                    _log.warning("update_refused", code=fault.code.name)
                else:
                    self._away = True
                    for _, waiting in merged[index:]:
                        self._tell_away(waiting)
                    return
            except calls.TooMany as fault:
                await asyncio.sleep(fault.retry_after_s)
                return
            except calls.Unreachable:
                await asyncio.sleep(NETWORK_PAUSE_S)
                return
            except calls.Fault as fault:
                _log.warning("update_failed", reason=type(fault).__name__)
            self._offset = number + 1
        if self._away:
            self._away = False
            self._told.clear()
            _log.info("daemon_is_back")

    def _read(self, update: types.Update | None) -> updates.Incoming:
        if update is None:
            return updates.Ignored("of a kind that is not known here")
        return updates.read(update, self._bot)

    async def _handle(self, incoming: updates.Incoming, key: str) -> None:
        """Have the daemon take an update; a fault of the program passes it, and is told."""
        try:
            match incoming:
                case updates.Message():
                    await self._talking.hear(incoming, key)
                case updates.Press():
                    await self._pressing.press(incoming, key)
                case updates.Moved():
                    request = channels_pb2.MoveChatRequest(
                        chat=incoming.chat,
                        to=incoming.to,
                        client_key=f"moved {incoming.chat} {incoming.to}",
                    )
                    await self._daemon.call(self._daemon.channels.MoveChat, request)
                case updates.Anonymous():
                    self._note(incoming.origin, texts.ANONYMOUS)
                case updates.Ignored():
                    pass
                case _:
                    typing.assert_never(incoming)
        except (client.CallFault, calls.Fault):
            raise
        except Exception:  # one update must not stop the others
            _log.exception("update_broke", kind=type(incoming).__name__)

    def _tell_away(self, incoming: updates.Incoming) -> None:
        """Say once that the daemon is away: to each chat, and for each press."""
        match incoming:
            case updates.Press():
                if incoming.press_id not in self._told:
                    self._told.add(incoming.press_id)
                    self._pressing.toast(incoming.press_id, texts.AWAY_TOAST)
            case updates.Message():
                if incoming.origin.chat not in self._told:
                    self._told.add(incoming.origin.chat)
                    self._note(incoming.origin, texts.AWAY)
            case _:
                pass

    def _note(self, origin: common_pb2.Origin, text: str) -> None:
        """Say something that may be lost, beside all else."""
        task = asyncio.create_task(self._say(origin, text), name="note")
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _say(self, origin: common_pb2.Origin, text: str) -> None:
        async def call() -> str:
            return await self._api.send(origin.chat, origin.topic, outgoing.Text(text))

        try:
            await self._lanes.send(origin.chat, origin.topic, lanes.Urgency.END, call)
        except calls.Fault as fault:
            _log.info("note_not_sent", reason=type(fault).__name__)
