"""Takes updates from Telegram, in order, and confirms each only once the daemon has taken it.

Answers for: that nothing is lost or answered twice whatever stops (each write has the update's
number as its key), that receiving goes on soon after the network is back, that one update which
breaks the program stops no other, and that people hear once when the daemon is away.

Messages with files are handled aside, since files take their time: what comes after them in their
chat waits for them, but for /stop, and nothing else does.
"""

import asyncio
import typing
from collections.abc import Sequence

import structlog
from aiogram import types

from bots import client, commands
from bots.telegram import calls, lanes, outgoing, pressing, talking, texts, updates
from proto.ducklm.v1 import channels_pb2, common_pb2

NETWORK_PAUSE_S: typing.Final = 2.0
LOST_POLL_S: typing.Final = 3  # a try while the network is away: it is soon over and made anew
CONFLICT_PAUSE_S: typing.Final = 30.0
AWAY_PAUSE_S: typing.Final = 1.0
EMPTY_S: typing.Final = 0.2
ASIDE_S: typing.Final = 0.3  # between looks for what is new while something is handled aside
SETTLE_S: typing.Final = 0.5  # in which the rest of an album comes
FILES_AT_ONCE: typing.Final = 3
_STOP: typing.Final = commands.Command("stop")
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
        self._next_number = 0  # of updates that never came yet
        self._waiting: set[int] = set()  # came, and are to be handled, again perhaps
        self._done: set[int] = set()  # not confirmed yet, since one before them is not done
        self._aside: dict[int, asyncio.Task[bool]] = {}
        self._newest: dict[str, asyncio.Task[bool]] = {}  # of each chat, what is aside
        self._files = asyncio.Semaphore(FILES_AT_ONCE)
        self._unsettled = 0
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
        try:
            while True:
                await self._once()
        finally:
            aside = tuple(self._aside.values())
            for task in aside:
                task.cancel()
            await asyncio.gather(*aside, return_exceptions=True)

    async def _once(self) -> None:
        began_s = asyncio.get_running_loop().time()
        found = await self._next()
        if found:
            await self._take(found)
        elif asyncio.get_running_loop().time() - began_s < EMPTY_S:
            await asyncio.sleep(EMPTY_S)  # a server that does not hold the request
        if self._aside:
            await asyncio.wait(self._aside.values(), timeout=ASIDE_S)
        if self._away:
            await asyncio.sleep(AWAY_PAUSE_S)

    def _offset(self) -> int:
        """The first update that is not done: those before it are confirmed."""
        return min([self._next_number, *self._waiting, *self._aside])

    async def _next(self) -> list[calls.Numbered]:
        """The next updates; none after a pause where they cannot be had now."""
        poll_s = min(self._poll_s, LOST_POLL_S) if self._lost else self._poll_s
        offset = self._offset()
        self._done = {one for one in self._done if one >= offset}
        try:
            found = await self._api.updates(offset, 0 if self._away or self._aside else poll_s)
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
        known = self._done | self._aside.keys()
        read = [(number, self._read(one)) for number, one in found if number not in known]
        self._waiting = {number for number, _ in read}
        self._next_number = max(self._next_number, found[-1][0] + 1)
        for _, incoming in read:
            if isinstance(incoming, updates.Press) and incoming.press_id not in self._told:
                self._pressing.expect(incoming.press_id)
        albums = updates.merged(read)
        settled = self._settled(albums)
        for index, (numbers, incoming) in enumerate(settled):
            if not self._goes_aside(numbers, incoming) and not await self._try(numbers, incoming):
                if self._away:
                    for _, waiting in settled[index:]:
                        self._tell_away(waiting)
                return
        if len(settled) < len(albums):
            await asyncio.sleep(SETTLE_S)

    def _settled(self, found: Sequence[updates.Numbered]) -> Sequence[updates.Numbered]:
        """What can be handled now: an album only once no more of it came for a moment."""
        open_at = updates.open_album(found)
        last = max((numbers[-1] for numbers, _ in found), default=0)
        if open_at is None or last == self._unsettled:
            return found
        self._unsettled = last
        return found[:open_at]

    def _read(self, update: types.Update | None) -> updates.Incoming:
        if update is None:
            return updates.Ignored("of a kind that is not known here")
        return updates.read(update, self._bot)

    async def _try(self, numbers: Sequence[int], incoming: updates.Incoming) -> bool:
        """Handle an update; says whether that is over, or to be done again."""
        over = await self._is_over(incoming, f"telegram:{self._bot.account}:{numbers[0]}")
        if over:
            self._done.update(numbers)
            self._waiting.difference_update(numbers)
        return over

    async def _is_over(self, incoming: updates.Incoming, key: str) -> bool:
        try:
            await self._handle(incoming, key)
        except client.CallFault as fault:
            if fault.lost:
                self._away = True
                self._tell_away(incoming)
                return False
            _log.warning("update_refused", code=fault.code.name)
        except calls.Unauthorized:  # with another token it can be handled
            raise
        except calls.Unreachable:
            await asyncio.sleep(NETWORK_PAUSE_S)
            return False
        except calls.Fault as fault:
            _log.warning("update_failed", reason=type(fault).__name__)
        if self._away and not isinstance(incoming, updates.Ignored | updates.Anonymous):
            self._away = False
            self._told.clear()
            _log.info("daemon_is_back")
        return True

    def _goes_aside(self, numbers: Sequence[int], incoming: updates.Incoming) -> bool:
        """Begin to handle a message aside, where files make it or its chat slow."""
        if not isinstance(incoming, updates.Message):
            return False
        before = self._newest.get(incoming.origin.chat)
        if before is None and not incoming.files:
            return False
        doing = self._after(before, numbers, incoming)
        task = asyncio.create_task(doing, name=f"aside {numbers[0]}")
        self._newest[incoming.origin.chat] = task
        self._aside |= dict.fromkeys(numbers, task)
        self._waiting.difference_update(numbers)
        task.add_done_callback(lambda ended: self._came_back(ended, numbers, incoming))
        return True

    async def _after(
        self,
        before: asyncio.Task[bool] | None,
        numbers: Sequence[int],
        incoming: updates.Message,
    ) -> bool:
        """Handle a message once what came before it in its chat is done, in that order."""
        if commands.parse(incoming.text, self._bot.username) == _STOP:
            # At once, and again for what comes before it; the same key has it said once.
            await self._is_over(incoming, f"telegram:{self._bot.account}:{numbers[0]}")
        if before is not None:
            await asyncio.wait([before])
            if not _is_done(before):
                return False
        if not incoming.files:
            return await self._try(numbers, incoming)
        async with self._files:
            return await self._try(numbers, incoming)

    def _came_back(
        self, ended: asyncio.Task[bool], numbers: Sequence[int], incoming: updates.Message
    ) -> None:
        if self._newest.get(incoming.origin.chat) is ended:
            del self._newest[incoming.origin.chat]
        for number in numbers:
            del self._aside[number]
        if not _is_done(ended):
            self._waiting.update(numbers)

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
                        client_key=f"{key} moved",
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
            self._tell_broken(incoming)

    def _tell_broken(self, incoming: updates.Incoming) -> None:
        match incoming:
            case updates.Press():
                self._pressing.toast(incoming.press_id, texts.BROKE)
            case updates.Message():
                self._note(incoming.origin, texts.BROKE)
            case _:
                pass

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


def _is_done(task: asyncio.Task[bool]) -> bool:
    """Whether what was handled aside is over."""
    return not task.cancelled() and task.exception() is None and task.result()
