"""What an update is: who speaks, whether the bot is meant, and what is the person's own."""

import typing

import pytest
from aiogram import types

from bots.telegram import updates
from tests.fakes.telegram import world

BOT = updates.Bot("77", "duck_bot")
PRIVATE = {"id": 5, "type": "private", "first_name": "A"}
GROUP = {"id": -1001, "type": "supergroup", "title": "G", "is_forum": True}
ME = {"id": 5, "is_bot": False, "first_name": "Ann", "last_name": "B"}
OURS = {"message_id": 3, "date": 1, "chat": GROUP, "from": world.BOT, "text": "x"}
Json = dict[str, typing.Any]


def read(more: Json, chat: Json = PRIVATE) -> updates.Incoming:
    message: Json = {"message_id": 9, "date": 1, "chat": chat, "from": ME, **more}
    if "text" in message:
        message["entities"] = message.get("entities") or world.entities_of(message["text"])
    given = types.Update.model_validate({"update_id": 1, "message": message})
    return updates.read(given, BOT)


def told(incoming: updates.Incoming) -> str:
    """An update in short."""
    match incoming:
        case updates.Message():
            origin = incoming.origin
            where = f"{origin.principal} {origin.chat}/{origin.topic}"
            flags = [name for name in ("private", "voice") if getattr(incoming, name)]
            flags += ["forwarded"] if origin.forwarded else []
            flags += [f"re {origin.reply_to}"] if origin.reply_to else []
            flags += [f"by {origin.speaker}"] if origin.speaker else []
            flags += [f"{one.name}{'*' if one.picture else ''}" for one in incoming.files]
            return " ".join([f"“{incoming.text}”", where, *flags])
        case updates.Ignored():
            return f"ignored: {incoming.why}"
        case _:
            return type(incoming).__name__.lower()


PHOTO = [{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1, "file_size": 9}]
DOCUMENT = {"file_id": "d", "file_unique_id": "d", "file_name": "a.pdf", "file_size": 7}
FORWARD = {"type": "hidden_user", "date": 1, "sender_user_name": "M"}
HIDDEN = {"sender_chat": GROUP, "from": world.GROUP_ANONYMOUS_BOT}
TOPIC = {"message_thread_id": 4, "is_topic_message": True}


@pytest.mark.spec("B-03")
@pytest.mark.parametrize(
    ("more", "chat", "meant"),
    [
        ({"text": " hi "}, PRIVATE, "“hi” telegram:77:5 5/ private"),
        (
            {"text": "hi", "forward_origin": FORWARD},
            PRIVATE,
            "“hi” telegram:77:5 5/ private forwarded",
        ),
        (
            {"text": "hi", "via_bot": ME | {"is_bot": True}},
            PRIVATE,
            "“hi” telegram:77:5 5/ private forwarded",
        ),
        ({"photo": PHOTO, "caption": "c"}, PRIVATE, "“c” telegram:77:5 5/ private photo-9.jpg*"),
        ({"document": DOCUMENT}, PRIVATE, "“” telegram:77:5 5/ private a.pdf"),
        ({"voice": DOCUMENT | {"duration": 1}}, PRIVATE, "“” telegram:77:5 5/ private voice"),
        ({"text": "hi", "from": ME | {"is_bot": True}}, PRIVATE, "ignored: said by no person"),
        ({"dice": {"emoji": "🎲", "value": 1}}, PRIVATE, "ignored: nothing in it that can be read"),
        ({"text": "hi"}, GROUP, "ignored: not said to the bot"),
        ({"text": "hi duck_bot"}, GROUP, "ignored: not said to the bot"),
        ({"text": "hi @duck_bot_2"}, GROUP, "ignored: not said to the bot"),
        ({"text": "hi @Duck_Bot!"}, GROUP, "ignored: not said to the bot"),
        ({"text": "🦆 @Duck_Bot hi"}, GROUP, "“🦆  hi” telegram:77:5 -1001/ by Ann B"),
        ({"text": "/stop@duck_bot"}, GROUP, "“/stop@duck_bot” telegram:77:5 -1001/ by Ann B"),
        ({"text": "/stop"}, GROUP, "ignored: not said to the bot"),
        ({"text": "/stop@other"}, GROUP, "ignored: not said to the bot"),
        (
            {"text": "more", "reply_to_message": OURS},
            GROUP,
            "“more” telegram:77:5 -1001/ re 3 by Ann B",
        ),
        (
            {"text": "hi @duck_bot", **TOPIC},
            GROUP,
            "“hi” telegram:77:5 -1001/4 by Ann B",
        ),
        ({"text": "hi @duck_bot", **HIDDEN}, GROUP, "anonymous"),
        ({"text": "hi", **HIDDEN}, GROUP, "ignored: not said to the bot"),
        ({"migrate_to_chat_id": -1002}, GROUP, "moved"),
        ({"text": "hi"}, {"id": -1, "type": "channel", "title": "C"}, "ignored: a channel"),
    ],
)
def test_what_an_update_is(more: Json, chat: Json, meant: str) -> None:
    assert told(read(more, chat)) == meant


def code(offset: int, length: int, kind: str = "code") -> Json:
    return {"type": kind, "offset": offset, "length": length}


@pytest.mark.parametrize(
    ("text", "entities", "typed"),
    [
        ("ls", [code(0, 2)], "`ls`"),
        ("🦆 at 9: ls -l now", [code(9, 5)], "🦆 at 9: `ls -l` now"),
        ("run\nls\ndf", [code(4, 5, "pre")], "run\n```\nls\ndf\n```"),
        ("ls and df", [code(0, 2), code(7, 2)], "`ls` and `df`"),
        ("a`b", [code(0, 3)], "a`b"),
        ("bold", [code(0, 4, "bold")], "bold"),
    ],
)
def test_backticks_that_an_app_made_a_mark_of_are_put_back(
    text: str, entities: list[Json], typed: str
) -> None:
    incoming = read({"text": text, "entities": entities})
    assert isinstance(incoming, updates.Message)
    assert (incoming.text, incoming.bare) == (typed, text)


def test_other_updates_are_nothing() -> None:
    edited = {"message_id": 9, "date": 1, "edit_date": 2, "chat": PRIVATE, "from": ME, "text": "x"}
    given = types.Update.model_validate({"update_id": 1, "edited_message": edited})
    assert isinstance(updates.read(given, BOT), updates.Ignored)


ALBUM: Json = {"media_group_id": "g", "document": DOCUMENT}


def test_the_parts_of_an_album_are_one_message() -> None:
    first, second = read(ALBUM), read(ALBUM | {"caption": "both"})
    other, elsewhere = read({"text": "x"}), read(ALBUM, PRIVATE | {"id": 6})
    albums = [updates.album(one) for one in (first, second, other, elsewhere)]
    assert albums == [("5", "g"), ("5", "g"), None, ("6", "g")]
    whole = updates.joined(updates.joined(first, second), read(ALBUM | {"caption": "more"}))
    assert (whole.text, len(whole.files)) == ("both", 3)
