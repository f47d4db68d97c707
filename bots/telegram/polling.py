"""Takes updates from Telegram, and confirms each only once the daemon has taken it.

Answers for: that nothing is lost or answered twice whatever stops (each write has the update's
number as its key), that receiving goes on soon after the network is back, that one update which
breaks the program stops no other, and that people hear once when the daemon is away.

Each chat and topic has a chain of its own: what comes there is handled in order, and nothing waits
for another chat. Presses go beside it, in order for each message with buttons; /stop is heard at
once, and again in its turn for what was begun by what came before it. What is slow or fails stays
in its chain and is tried again until it is over.

Telegram is the inbox and shows no more than UNCONFIRMED updates from the first that is not over:
where so many came, the rest waits there until that one is over, and none of it is lost. But one
that alone holds up all others for HELD_S, while the daemon answers, is given up, and that is told.
"""

import asyncio
import dataclasses
import typing
from collections.abc import Callable, Iterable

import structlog
from aiogram import types

from bots import client, commands
from bots.telegram import buttons, calls, lanes, outgoing, pressing, talking, texts, updates
from proto.ducklm.v1 import channels_pb2, common_pb2

NETWORK_PAUSE_S: typing.Final = 2.0
LOST_POLL_S: typing.Final = 3  # a try while the network is away: it is soon over and made anew
CONFLICT_PAUSE_S: typing.Final = 30.0
AGAIN_S: typing.Final = 1.0  # before an update is tried again that the daemon did not take
EMPTY_S: typing.Final = 0.2
BUSY_POLL_S: typing.Final = 0.3  # between looks for what is new while something is handled
SETTLE_S: typing.Final = 0.5  # in which the rest of an album comes
HELD_S: typing.Final = 30.0  # for which one may hold up what Telegram does not show yet
UNCONFIRMED: typing.Final = 100  # what Telegram shows at most from the first that is not over
_STOP: typing.Final = commands.Command("stop")
_log = structlog.get_logger(__name__)

_Tasks: typing.TypeAlias = set[asyncio.Task[None]]


@dataclasses.dataclass
class _Job:
    """An update, or all that came of an album. `grew_s` is when the last part of it came."""

    number: int
    incoming: updates.Incoming
    grew_s: float
    before: _Tasks  # what it comes after
    decided: _Tasks  # presses before it that may let somebody in
    task: asyncio.Task[None] = dataclasses.field(init=False)


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
        self._talking = talking.Talking(daemon, api, sending, bot)
        self._pressing = pressing.Pressing(daemon, api, sending)
        self._next_number = 0  # of updates that never came yet
        self._came: set[int] = set()  # and is not confirmed yet
        self._open: dict[int, _Job] = {}  # of these, what is not over
        self._newest: dict[tuple[str, str], asyncio.Task[None]] = {}  # of each chain
        self._albums: dict[updates.Album, _Job] = {}  # those that still wait for more of them
        self._lost = False
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
            running = self._running()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _once(self) -> None:
        began_s = self._now_s()
        found = await self._next()
        for number, update in found:
            if number not in self._came:
                self._take(number, self._read(update))
        if len(self._came) >= UNCONFIRMED and self._open:
            await self._wait_for_the_first()
        elif self._open:
            await asyncio.wait(self._running(), timeout=BUSY_POLL_S)
        elif not found and self._now_s() - began_s < EMPTY_S:
            await asyncio.sleep(EMPTY_S)  # a server that does not hold the request

    async def _wait_for_the_first(self) -> None:
        """Wait for what holds up all others, since nothing new comes before; not for ever."""
        first = self._open[min(self._open)]
        await asyncio.wait([first.task], timeout=HELD_S)
        if first.task.done():
            return
        probe = channels_pb2.GetCursorRequest(name="probe")
        try:
            await self._daemon.call(self._daemon.channels.GetCursor, probe)
        except client.CallFault:  # it is the daemon that is away, for everybody
            return
        _log.error("update_given_up", kind=type(first.incoming).__name__)
        first.task.cancel()
        self._tell(first.incoming, texts.GIVEN_UP, texts.GIVEN_UP)
        await asyncio.wait([first.task])

    def _running(self) -> _Tasks:
        return {job.task for job in self._open.values()}

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def _next(self) -> list[calls.Numbered]:
        """The next updates; none after a pause where they cannot be had now."""
        poll_s = min(self._poll_s, LOST_POLL_S) if self._lost else self._poll_s
        offset = min([self._next_number, *self._open])  # those before it are confirmed
        self._came = {one for one in self._came if one >= offset}
        try:
            found = await self._api.updates(offset, 0 if self._open else poll_s)
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

    def _read(self, update: types.Update | None) -> updates.Incoming:
        if update is None:
            return updates.Ignored("of a kind that is not known here")
        return updates.read(update, self._bot)

    def _take(self, number: int, incoming: updates.Incoming) -> None:
        """Put an update at the end of its chain, or to the album that it is a part of."""
        self._came.add(number)
        self._next_number = max(self._next_number, number + 1)
        if isinstance(incoming, updates.Ignored):
            return
        if isinstance(incoming, updates.Press):
            self._pressing.expect(incoming.press_id)
        album = updates.album(incoming)
        job = self._albums.get(album) if album is not None else None
        if job is not None:
            job.incoming = updates.joined(job.incoming, incoming)
            job.grew_s = self._now_s()
        else:
            job = self._begin(number, incoming)
        if album is not None:
            self._albums[album] = job
        self._open[number] = job
        job.task.add_done_callback(lambda _: self._open.pop(number))

    def _begin(self, number: int, incoming: updates.Incoming) -> _Job:
        chains = _chains(incoming)
        before = {self._newest[one] for one in chains if one in self._newest}
        decided: _Tasks = set()
        if isinstance(incoming, updates.Message):  # a setting that was pressed before counts for it
            before |= self._pressed(lambda press: _same(press.origin, incoming.origin))
            decided = self._pressed(
                lambda press: isinstance(buttons.read(press.data), buttons.Pair)
            )
        job = _Job(number, incoming, self._now_s(), before, decided)
        task = job.task = asyncio.create_task(self._run(job), name=f"update {number}")
        self._newest |= dict.fromkeys(chains, task)
        task.add_done_callback(lambda _: self._leave(chains, task))
        return job

    def _pressed(self, wanted: Callable[[updates.Press], bool]) -> _Tasks:
        """The presses among what is not over."""
        return {
            job.task
            for job in self._open.values()
            if isinstance(job.incoming, updates.Press) and wanted(job.incoming)
        }

    def _leave(self, chains: Iterable[tuple[str, str]], ended: asyncio.Task[None]) -> None:
        for one in chains:
            if self._newest.get(one) is ended:
                del self._newest[one]

    async def _run(self, job: _Job) -> None:
        """Handle an update once what it comes after is over, until it is too."""
        if job.before and self._is_stop(job.incoming):
            # At once, and again for what comes before it; the same key has it said once.
            await self._finish(job)
        if job.before:
            await asyncio.wait(job.before)
        album = updates.album(job.incoming)
        if album is not None:
            await self._settle(job)
            del self._albums[album]
        await self._finish(job)

    async def _settle(self, job: _Job) -> None:
        """Wait until no more of an album came for a moment."""
        left_s = SETTLE_S
        while left_s > 0:
            await asyncio.sleep(left_s)
            left_s = job.grew_s + SETTLE_S - self._now_s()

    def _is_stop(self, incoming: updates.Incoming) -> bool:
        if not isinstance(incoming, updates.Message) or incoming.origin.forwarded:
            return False
        return commands.parse(incoming.text, self._bot.username) == _STOP

    async def _finish(self, job: _Job) -> None:
        """Handle an update until that is over, however long the daemon is away."""
        told = False
        while not await self._is_over(job):
            if not told:
                self._tell(job.incoming, texts.AWAY, texts.AWAY_TOAST)
            told = True
            await asyncio.sleep(AGAIN_S)

    async def _is_over(self, job: _Job) -> bool:
        """Have the daemon take an update; a fault of the program passes it, and is told."""
        try:
            await self._handle(job)
        except client.CallFault as fault:
            if fault.lost:
                return False
            _log.warning("update_refused", code=fault.code.name)
        except calls.Unauthorized:  # with another token it can be handled
            return False
        except calls.Fault as fault:
            _log.warning("update_failed", reason=type(fault).__name__)
        except Exception:  # one update must not stop the others
            _log.exception("update_broke", kind=type(job.incoming).__name__)
            self._tell(job.incoming, texts.BROKE, texts.BROKE)
        return True

    async def _handle(self, job: _Job) -> None:
        key = f"telegram:{self._bot.account}:{job.number}"
        match job.incoming:
            case updates.Message() as message:
                await self._talking.hear(message, key, job.decided)
            case updates.Press() as press:
                await self._pressing.press(press, key)
            case updates.Moved(chat=chat, to=to):
                request = channels_pb2.MoveChatRequest(chat=chat, to=to, client_key=f"{key} moved")
                await self._daemon.call(self._daemon.channels.MoveChat, request)
            case updates.Anonymous(origin=origin):
                self._note(origin, texts.ANONYMOUS)
            case updates.Ignored():
                pass
            case _:
                typing.assert_never(job.incoming)

    def _tell(self, incoming: updates.Incoming, text: str, toast: str) -> None:
        match incoming:
            case updates.Press():
                self._pressing.toast(incoming.press_id, toast)
            case updates.Message():
                self._note(incoming.origin, text)
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


def _same(press: common_pb2.Origin, said: common_pb2.Origin) -> bool:
    """Whether one person did both in one chat."""
    return (press.chat, press.principal) == (said.chat, said.principal)


def _chains(incoming: updates.Incoming) -> tuple[tuple[str, str], ...]:
    """The chains that an update is a link of."""
    match incoming:
        case updates.Message(origin=origin, private=private):
            return ((origin.chat, "" if private else origin.topic),)
        case updates.Press(origin=origin):
            return ((origin.chat, f"message {origin.message_id}"),)
        case updates.Moved(chat=chat, to=to):
            return (chat, ""), (to, "")
        case updates.Anonymous(origin=origin):
            return ((origin.chat, origin.topic),)
        case updates.Ignored():
            return ()
        case _:
            typing.assert_never(incoming)
