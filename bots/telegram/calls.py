"""The only module that talks to the Bot API; every failure is one of a few faults.

Answers for: a deadline on each call, and that no token stands in a fault or a log: aiogram's
exceptions and addresses hold it, so nothing of them is handed on but Telegram's own description.
"""

import asyncio
import contextlib
import socket
import typing
from collections.abc import Awaitable, Callable

import aiohttp
from aiogram import Bot, exceptions, methods as _methods, types
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.methods import TelegramMethod

from bots.telegram import outgoing

CALL_S: typing.Final = 20.0
FILE_S: typing.Final = 120.0
POLL_MARGIN_S: typing.Final = 5.0
ALONE_S: typing.Final = 120.0  # longer than a poll, and than what is tried again waits
FILE_BYTES: typing.Final = 20 * 1024 * 1024  # what the Bot API hands out
# A poll waits long, so a connection that is dead without a word is found out by probes: after 11 s.
PROBES: typing.Final = {
    socket.TCP_KEEPIDLE: 5,
    socket.TCP_KEEPINTVL: 3,
    socket.TCP_KEEPCNT: 2,
}

_R = typing.TypeVar("_R")
Numbered = tuple[int, types.Update | None]
_GONE: typing.Final = (
    "bot was blocked",
    "user is deactivated",
    "chat not found",
    "bot was kicked",
    "group chat was deleted",
    "bot is not a member",
    "have no rights to send",
    "not enough rights to send",
    "PEER_ID_INVALID",
    "CHAT_WRITE_FORBIDDEN",
)

_LOST: typing.Final = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
)


class Fault(Exception):
    """A call to the Bot API that failed. The message is Telegram's own, or a word of ours."""


class TooMany(Fault):
    """Too many calls: none to this chat before so many seconds have passed."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"too many calls: wait {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class Moved(Fault):
    """The chat goes on under another id."""

    def __init__(self, chat: str) -> None:
        super().__init__("the chat has moved")
        self.chat = chat


class Gone(Fault):
    """The chat is gone, or the bot is not let in."""


class Refused(Fault):
    """Telegram does not take it, and will not later."""

    @property
    def is_entities(self) -> bool:
        """Whether the marks in the text were the reason."""
        return "entit" in str(self).lower()

    @property
    def is_lost_message(self) -> bool:
        """Whether the message that was named is not there."""
        said = str(self).lower()
        return any(one in said for one in _LOST)


class Conflict(Fault):
    """Somebody else polls with this token, or a webhook is set."""


class Unauthorized(Fault):
    """The token is none."""


class Unreachable(Fault):
    """No answer: nobody knows whether the call went through.

    `alone` where other calls were answered within the last ALONE_S: it is not all of Telegram.
    """

    alone = False


class Odd(Fault):
    """It went through, and the answer has another form than the one known here; `result` is it."""

    def __init__(self, result: object) -> None:
        super().__init__("an answer of an unknown form")
        self.result = result


def fault_of(error: exceptions.TelegramAPIError) -> Fault:
    """What an error of aiogram's means."""
    said = error.message.removeprefix("Bad Request: ").removeprefix("Forbidden: ")
    match error:
        case exceptions.TelegramRetryAfter():
            return TooMany(float(error.retry_after))
        case exceptions.TelegramMigrateToChat():
            return Moved(str(error.migrate_to_chat_id))
        case exceptions.TelegramConflictError():
            return Conflict(said)
        case exceptions.TelegramUnauthorizedError():
            return Unauthorized(said)
        case exceptions.TelegramForbiddenError():
            return Gone(said)
        case exceptions.TelegramEntityTooLarge():  # of aiogram's network errors, but it stays so
            return Refused(said)
        case exceptions.TelegramServerError():
            return Unreachable(said)
        case exceptions.TelegramNetworkError():
            return Unreachable(type(error).__name__)
        case exceptions.TelegramBadRequest() | exceptions.TelegramNotFound():
            if any(one.lower() in said.lower() for one in _GONE):
                return Gone(said)
            return Refused(said)
        case _:
            return Unreachable(type(error).__name__)


class Calls:
    """The Bot API with one bot's token."""

    def __init__(self, token: str, server: str) -> None:
        self._server = server
        self._token = token
        place = TelegramAPIServer.from_base(server)
        self._bot = Bot(token, session=AiohttpSession(api=place, timeout=CALL_S))
        self._receiving = Bot(token, session=_Probed(api=place, timeout=CALL_S))
        self._answered_s = -ALONE_S

    @property
    def account(self) -> str:
        """The bot's number: what stands before the colon in its token."""
        return self._token.partition(":")[0]

    async def close(self) -> None:
        await self._bot.session.close()
        await self._receiving.session.close()

    async def reconnect(self) -> None:
        """Have the next poll make a new connection; what is being sent is left alone."""
        await self._receiving.session.close()

    async def _call(
        self, method: TelegramMethod[_R], timeout_s: float = CALL_S, through: Bot | None = None
    ) -> _R:
        bot = through or self._bot
        loop = asyncio.get_running_loop()
        try:
            result = await _guarded(lambda: bot(method, request_timeout=int(timeout_s)), timeout_s)
        except Unreachable as fault:
            fault.alone = loop.time() - self._answered_s < ALONE_S
            raise
        except Fault:
            self._answered_s = loop.time()
            raise
        self._answered_s = loop.time()
        return result

    async def _done(self, method: TelegramMethod[_R], timeout_s: float = CALL_S) -> None:
        """Make a call whose answer says nothing but that it went through."""
        with contextlib.suppress(Odd):
            await self._call(method, timeout_s)

    async def me(self) -> str:
        """The bot's name."""
        try:
            return (await self._call(_methods.GetMe())).username or ""
        except Odd as odd:
            return str(_field(odd.result, "username") or "")

    async def updates(self, offset: int, poll_s: int) -> list[Numbered]:
        """Updates from an offset on, which confirms those before it."""
        asked = _methods.GetUpdates(
            offset=offset,
            timeout=poll_s,
            allowed_updates=["message", "callback_query", "my_chat_member"],
        )
        try:
            found = await self._call(asked, poll_s + POLL_MARGIN_S, self._receiving)
        except Odd as odd:  # one that is newer than this program stops no other
            raws = odd.result if isinstance(odd.result, list) else []
            return [_numbered(raw) for raw in raws if isinstance(_field(raw, "update_id"), int)]
        return [(one.update_id, one) for one in found]

    async def webhook(self) -> str:
        """The address of a webhook; empty where none is set."""
        return (await self._call(_methods.GetWebhookInfo())).url

    async def send(self, chat: str, topic: str, text: outgoing.Text, reply_to: str = "") -> str:
        """Send a message; returns its id."""
        method = _methods.SendMessage(
            chat_id=int(chat),
            message_thread_id=int(topic) if topic else None,
            text=text.text,
            entities=_entities(text),
            reply_markup=_markup(text),
            reply_parameters=_reply(reply_to),
            link_preview_options=types.LinkPreviewOptions(is_disabled=True),
            disable_notification=text.silent or None,
        )
        return await self._sent(method)

    async def _sent(self, method: TelegramMethod[types.Message], timeout_s: float = CALL_S) -> str:
        try:
            return str((await self._call(method, timeout_s)).message_id)
        except Odd as odd:
            return str(_field(odd.result, "message_id"))

    async def edit(self, chat: str, message: str, text: outgoing.Text) -> None:
        """Make a message say something else; the same again is no fault."""
        keyboard = _markup(text)
        try:
            await self._done(
                _methods.EditMessageText(
                    chat_id=int(chat),
                    message_id=int(message),
                    text=text.text,
                    entities=_entities(text),
                    reply_markup=keyboard if isinstance(keyboard, _Inline) else None,
                    link_preview_options=types.LinkPreviewOptions(is_disabled=True),
                )
            )
        except Refused as refused:
            if "not modified" not in str(refused):
                raise

    async def send_document(
        self, chat: str, topic: str, document: outgoing.Document, reply_to: str = ""
    ) -> str:
        """Send a file; returns the message's id."""
        return await self._sent(
            _methods.SendDocument(
                chat_id=int(chat),
                message_thread_id=int(topic) if topic else None,
                document=types.BufferedInputFile(document.data, document.name),
                caption=document.caption.text or None,
                caption_entities=_entities(document.caption),
                reply_parameters=_reply(reply_to),
            ),
            FILE_S,
        )

    async def delete(self, chat: str, message: str) -> None:
        """Delete a message; one that is not there is no fault."""
        try:
            await self._done(_methods.DeleteMessage(chat_id=int(chat), message_id=int(message)))
        except Refused as refused:
            if "not found" not in str(refused):
                raise

    async def toast(self, press_id: str, text: str = "", alert: bool = False) -> None:
        """Answer a press; one that is too old to be answered is no fault."""
        try:
            await self._done(
                _methods.AnswerCallbackQuery(
                    callback_query_id=press_id, text=text[:200] or None, show_alert=alert or None
                ),
                5.0,
            )
        except Refused:
            return

    async def set_commands(self, commands: list[tuple[str, str]]) -> None:
        """Set the menu of commands."""
        listed = [types.BotCommand(command=name, description=line) for name, line in commands]
        await self._done(_methods.SetMyCommands(commands=listed))

    async def download(self, file_id: str) -> bytes:
        """A file that somebody sent; raises Refused when the Bot API does not hand it out."""
        found = await self._call(_methods.GetFile(file_id=file_id))
        if (found.file_size or 0) > FILE_BYTES or not found.file_path:
            raise Refused("file is too big")
        url = self._bot.session.api.file_url(self._token, found.file_path)

        async def read() -> bytes:
            data = bytearray()
            stream = self._bot.session.stream_content(url, timeout=int(FILE_S))
            async for chunk in stream:
                data += chunk
                if len(data) > FILE_BYTES:
                    raise Refused("file is too big")
            return bytes(data)

        return await _guarded(read, FILE_S)


class _Probed(AiohttpSession):
    """A session whose connections are probed while they are quiet."""

    def __init__(self, api: TelegramAPIServer, timeout: float) -> None:
        super().__init__(api=api, timeout=timeout)
        self._connector_init["socket_factory"] = probed


def probed(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that ends by itself where the other side is not there any more."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in PROBES.items():
        made.setsockopt(socket.IPPROTO_TCP, option, value)
    return made


def _field(given: object, name: str) -> object:
    return given.get(name) if isinstance(given, dict) else None


def _numbered(raw: dict[str, object]) -> Numbered:
    """An update with its number; nothing more of it where it cannot be read."""
    number = int(str(raw["update_id"]))
    query = raw.get("callback_query")
    if isinstance(query, dict):
        query.setdefault("chat_instance", "")  # nothing here reads it, and some servers lack it
    try:
        return number, types.Update.model_validate(raw)
    except ValueError:
        return number, None


async def _guarded(call: Callable[[], Awaitable[_R]], timeout_s: float) -> _R:
    try:
        async with asyncio.timeout(timeout_s + 1):
            return await call()
    except exceptions.TelegramAPIError as error:
        raise fault_of(error) from None
    except exceptions.ClientDecodeError as error:
        if isinstance(error.data, dict) and error.data.get("ok") is True:
            raise Odd(error.data.get("result")) from None
        raise Unreachable("an answer that cannot be read") from None
    except aiohttp.ClientResponseError as error:  # of a file; its address holds the token
        if 400 <= error.status < 500:
            raise Refused("file is not there") from None
        raise Unreachable(type(error).__name__) from None
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise Unreachable(type(error).__name__) from None


def _entities(text: outgoing.Text) -> list[types.MessageEntity] | None:
    return [
        types.MessageEntity(
            type=one.kind,
            offset=one.offset,
            length=one.length,
            url=one.url or None,
            language=one.language or None,
        )
        for one in text.entities
    ] or None


_Inline = types.InlineKeyboardMarkup


def _markup(text: outgoing.Text) -> types.InlineKeyboardMarkup | types.ForceReply | None:
    if text.rows:
        return _Inline(
            inline_keyboard=[
                [types.InlineKeyboardButton(text=one.text, callback_data=one.data) for one in row]
                for row in text.rows
            ]
        )
    return types.ForceReply(force_reply=True, selective=True) if text.asks else None


def _reply(reply_to: str) -> types.ReplyParameters | None:
    if not reply_to:
        return None
    return types.ReplyParameters(message_id=int(reply_to), allow_sending_without_reply=True)
