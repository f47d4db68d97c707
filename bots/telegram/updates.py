"""What an update of Telegram's is, as one of a few values. Pure.

Answers for: who speaks (numbers alone, never names), whether the bot is meant, and what of a text
is the person's own. Bots, channels, anonymous admins and edited messages are nobody.
"""

import dataclasses
import typing
from collections.abc import Sequence

from aiogram import types

from proto.ducklm.v1 import common_pb2

_GROUPS: typing.Final = ("group", "supergroup")


@dataclasses.dataclass(frozen=True)
class File:
    """A file that came with a message."""

    file_id: str
    name: str
    size: int
    picture: bool = False


@dataclasses.dataclass(frozen=True)
class Message:
    """Something said to the bot. `origin` has no principal's account filled in by others.

    `text` is as it was typed: apps make marks of backticks, and here they are put back. `bare` is
    without them, as it reads in the chat.
    """

    origin: common_pb2.Origin
    name: str
    text: str
    private: bool
    files: tuple[File, ...] = ()
    group_id: str = ""  # of an album, whose parts are messages of their own
    voice: bool = False
    bare: str = ""


@dataclasses.dataclass(frozen=True)
class Press:
    """A button below a message."""

    press_id: str
    data: str
    origin: common_pb2.Origin  # message_id is the message with the button
    private: bool


@dataclasses.dataclass(frozen=True)
class Moved:
    """A group goes on under another id."""

    chat: str
    to: str


@dataclasses.dataclass(frozen=True)
class Anonymous:
    """An admin who hides speaks to the bot."""

    origin: common_pb2.Origin


@dataclasses.dataclass(frozen=True)
class Ignored:
    why: str


Incoming = Message | Press | Moved | Anonymous | Ignored


@dataclasses.dataclass(frozen=True)
class Bot:
    """Who the bot is."""

    account: str
    username: str


def read(update: types.Update, bot: Bot) -> Incoming:
    """What an update is."""
    if update.callback_query is not None:
        return _press(update.callback_query, bot)
    if update.message is not None:
        return _message(update.message, bot)
    return Ignored("nothing that a person said")


def _press(query: types.CallbackQuery, bot: Bot) -> Incoming:
    message = query.message
    if message is None or not query.data:
        return Ignored("a press on nothing")
    topic = ""
    if isinstance(message, types.Message):
        topic = _topic(message)
    origin = common_pb2.Origin(
        principal=f"telegram:{bot.account}:{query.from_user.id}",
        chat=str(message.chat.id),
        topic=topic,
        message_id=str(message.message_id),
    )
    return Press(query.id, query.data, origin, message.chat.type == "private")


def _topic(message: types.Message) -> str:
    """The topic of a forum; the general one has none."""
    if message.is_topic_message and message.message_thread_id:
        return str(message.message_thread_id)
    return ""


def _message(message: types.Message, bot: Bot) -> Incoming:
    if message.migrate_to_chat_id is not None:
        return Moved(str(message.chat.id), str(message.migrate_to_chat_id))
    if message.migrate_from_chat_id is not None:
        return Moved(str(message.migrate_from_chat_id), str(message.chat.id))
    private = message.chat.type == "private"
    if not private and message.chat.type not in _GROUPS:
        return Ignored("a channel")
    text, entities = message.text or message.caption or "", _entities(message)
    meant = private or _is_meant(message, text, entities, bot)
    if not meant:
        return Ignored("not said to the bot")
    sender = message.from_user
    if message.sender_chat is not None:
        return Anonymous(_origin(message, bot, 0))
    if sender is None or sender.is_bot:
        return Ignored("said by no person")
    origin = _origin(message, bot, sender.id)
    if not private:
        origin.speaker = sender.full_name
    voice = message.voice is not None or message.video_note is not None
    files = () if voice else _files(message)
    said = _typed(text, entities, bot).strip()
    bare = _typed(text, entities, bot, backticks=False).strip()
    if not said and not files and not voice:
        return Ignored("nothing in it that can be read")
    group_id = message.media_group_id or ""
    return Message(origin, sender.full_name, said, private, files, group_id, voice, bare)


def _entities(message: types.Message) -> Sequence[types.MessageEntity]:
    return message.entities or message.caption_entities or ()


def _origin(message: types.Message, bot: Bot, user: int) -> common_pb2.Origin:
    reply = message.reply_to_message
    topic = _topic(message)
    is_reply = reply is not None and str(reply.message_id) != topic
    return common_pb2.Origin(
        principal=f"telegram:{bot.account}:{user}",
        chat=str(message.chat.id),
        topic=topic,
        message_id=str(message.message_id),
        reply_to=str(reply.message_id) if reply is not None and is_reply else "",
        forwarded=message.forward_origin is not None or message.via_bot is not None,
    )


def _is_meant(
    message: types.Message, text: str, entities: Sequence[types.MessageEntity], bot: Bot
) -> bool:
    reply = message.reply_to_message
    answered = reply.from_user if reply is not None else None
    is_ours = answered is not None and str(answered.id) == bot.account
    if reply is not None and is_ours and reply.forum_topic_created is None:
        return True
    return any(_mentions(one, text, bot) for one in entities)


def _mentions(entity: types.MessageEntity, text: str, bot: Bot) -> bool:
    said = entity.extract_from(text).lower()
    match entity.type:
        case "mention":
            return said == f"@{bot.username.lower()}"
        case "bot_command":
            return said.endswith(f"@{bot.username.lower()}")
        case "text_mention":
            return entity.user is not None and str(entity.user.id) == bot.account
        case _:
            return False


def _typed(
    text: str, entities: Sequence[types.MessageEntity], bot: Bot, backticks: bool = True
) -> str:
    """The text without the bot's name, which is an address and nothing said, and with the
    backticks that apps have made code of."""
    encoded = text.encode("utf-16-le")
    for one in sorted(entities, key=lambda each: each.offset, reverse=True):
        start, end = 2 * one.offset, 2 * (one.offset + one.length)
        inner = encoded[start:end].decode("utf-16-le", "replace")
        if one.type in ("mention", "text_mention") and _mentions(one, text, bot):
            inner = ""
        elif backticks and one.type in ("code", "pre") and "`" not in inner:
            inner = f"```\n{inner.rstrip()}\n```" if one.type == "pre" else f"`{inner}`"
        encoded = encoded[:start] + inner.encode("utf-16-le", "replace") + encoded[end:]
    return encoded.decode("utf-16-le", "replace")


def _files(message: types.Message) -> tuple[File, ...]:
    if message.photo:
        largest = message.photo[-1]
        name = f"photo-{message.message_id}.jpg"
        return (File(largest.file_id, name, largest.file_size or 0, picture=True),)
    for kind in ("document", "audio", "video", "animation"):
        found = getattr(message, kind)
        if found is not None:
            name = found.file_name or f"{kind}-{message.message_id}"
            picture = (found.mime_type or "").startswith("image/")
            return (File(found.file_id, name, found.file_size or 0, picture),)
    return ()


Album = tuple[str, str]


def album(one: Incoming) -> Album | None:
    """The album that something is a part of: its chat, and its id there."""
    if isinstance(one, Message) and one.group_id:
        return one.origin.chat, one.group_id
    return None


def joined(first: Incoming, more: Incoming) -> Message:
    """What there is of an album with one more part of it, as one message."""
    assert isinstance(first, Message)
    assert isinstance(more, Message)
    files = (*first.files, *more.files)
    return dataclasses.replace(first, text=first.text or more.text, files=files)
