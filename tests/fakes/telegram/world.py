"""What Telegram's servers hold for one bot: chats, messages, updates, presses.

People act by `say`, `press` and the like; a test looks by `messages` and waits by `until`. All of
it may be called from any thread.
"""

import copy
import dataclasses
import threading
import time
import typing
from collections.abc import Callable

from bots.telegram import texts

PATIENCE_S = 50.0  # a machine that does much else takes its time
Json = dict[str, typing.Any]
BOT = {"id": 77, "is_bot": True, "first_name": "Duck", "username": "duck_bot"}
GROUP_ANONYMOUS_BOT: Json = {
    "id": 1087968824,
    "is_bot": True,
    "first_name": "Group",
    "username": "GroupAnonymousBot",
}


@dataclasses.dataclass
class Shown:
    """A message as a person sees it now, and everything that it said before."""

    chat: str
    message_id: int
    text: str
    own: bool  # the bot's
    topic: str = ""
    reply_to: str = ""
    entities: list[Json] = dataclasses.field(default_factory=list)
    rows: list[list[Json]] = dataclasses.field(default_factory=list)
    deleted: bool = False
    document: bytes | None = None
    file_name: str = ""
    said: list[str] = dataclasses.field(default_factory=list)
    force_reply: bool = False


@dataclasses.dataclass
class Toast:
    press_id: str
    text: str
    after_s: float


@dataclasses.dataclass
class Called:
    """A call that came, and when."""

    method: str
    chat: str
    at_s: float
    text: str = ""


class World:
    """One bot's Telegram."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.shown: dict[tuple[str, int], Shown] = {}
        self.calls: list[Called] = []
        self.toasts: dict[str, Toast] = {}
        self.pressed_at: dict[str, float] = {}
        self.bans: dict[str, float] = {}
        self.banned_calls: list[Called] = []
        self.commands: list[Json] = []
        self.files: dict[str, bytes] = {}
        self.gone: dict[str, str] = {}
        self.moved: dict[str, str] = {}
        self.topics: dict[str, set[str]] = {}
        self.webhook = ""
        self._updates: list[Json] = []
        self._number = 1000
        self._message = 0
        self._press = 0
        self.confirmed = 0

    # --- people

    def user(self, number: int, name: str = "") -> Json:
        return {"id": number, "is_bot": False, "first_name": name or f"Person {number}"}

    def chat(self, chat: str) -> Json:
        if chat.startswith("-"):
            kind = "supergroup" if chat.startswith("-100") else "group"
            found: Json = {"id": int(chat), "type": kind, "title": "A group"}
            if chat in self.topics:
                found["is_forum"] = True
            return found
        return {"id": int(chat), "type": "private", "first_name": f"Person {chat}"}

    def say(self, text: str, user: int = 5, chat: str = "", **more: typing.Any) -> int:
        """Somebody writes; returns the message's id. `more` are fields of the message."""
        with self.changed:
            chat = chat or str(user)
            message_id = self._next_message()
            message: Json = {
                "message_id": message_id,
                "date": int(time.time()),
                "chat": self.chat(chat),
                "from": self.user(user),
            }
            if text:
                message["text"] = text
                message["entities"] = entities_of(text)
            topic = str(more.pop("topic", ""))
            if topic:
                message |= {"message_thread_id": int(topic), "is_topic_message": True}
            reply_to = more.pop("reply_to", None)
            if reply_to is not None:
                message["reply_to_message"] = self._quoted(chat, int(reply_to))
            message |= more
            self.shown[chat, message_id] = Shown(
                chat, message_id, text, own=False, topic=topic, said=[text]
            )
            self._push({"message": message})
            return message_id

    def _quoted(self, chat: str, message_id: int) -> Json:
        shown = self.shown.get((chat, message_id))
        sender = BOT if shown is not None and shown.own else self.user(5)
        text = shown.text if shown is not None else ""
        return {
            "message_id": message_id,
            "date": 1,
            "chat": self.chat(chat),
            "from": sender,
            "text": text,
        }

    def file(self, data: bytes, kind: str = "document", name: str = "a.txt") -> Json:
        """The fields of a message that has a file."""
        with self.changed:
            file_id = f"file-{len(self.files) + 1}"
            self.files[file_id] = data
        found: Json = {"file_id": file_id, "file_unique_id": file_id, "file_size": len(data)}
        if kind == "photo":
            return {"photo": [found | {"width": 1, "height": 1}]}
        if kind == "voice":
            return {"voice": found | {"duration": 1}}
        return {kind: found | {"file_name": name}}

    def press(
        self, data: str, message_id: int, user: int = 5, chat: str = "", press_id: str = ""
    ) -> str:
        """Somebody presses a button, also one that is not there; returns the press's id."""
        with self.changed:
            chat = chat or str(user)
            self._press += 1
            press_id = press_id or f"press-{self._press}"
            shown = self.shown.get((chat, message_id))
            message: Json = {
                "message_id": message_id,
                "date": 1,
                "chat": self.chat(chat),
                "from": BOT,
                "text": shown.text if shown is not None else "?",
            }
            if shown is not None and shown.topic:
                message |= {"message_thread_id": int(shown.topic), "is_topic_message": True}
            self.pressed_at[press_id] = time.monotonic()
            query = {
                "id": press_id,
                "from": self.user(user),
                "chat_instance": "1",
                "message": message,
                "data": data,
            }
            self._push({"callback_query": query})
            return press_id

    def button(self, shown: Shown, text: str) -> str:
        """What a button that is there carries."""
        for row in shown.rows:
            for one in row:
                if one["text"] == text:
                    return str(one["callback_data"])
        raise AssertionError(f"there is no button {text}: {shown.rows}")

    def migrate(self, chat: str, to: str) -> None:
        """A group becomes a supergroup."""
        with self.changed:
            self.moved[chat] = to
            message = {
                "message_id": self._next_message(),
                "date": 1,
                "chat": self.chat(chat),
                "from": self.user(5),
                "migrate_to_chat_id": int(to),
            }
            self._push({"message": message})

    def push(self, update: Json) -> None:
        """Any update."""
        with self.changed:
            self._push(update)

    def _push(self, update: Json) -> None:
        self._number += 1
        self._updates.append({"update_id": self._number, **copy.deepcopy(update)})
        self.changed.notify_all()

    def _next_message(self) -> int:
        self._message += 1
        return self._message

    # --- the bot's calls

    def updates(self, offset: int) -> list[Json]:
        """The updates from an offset on; those before it are confirmed."""
        if offset > 0:
            self.confirmed = max(self.confirmed, offset - 1)
        self._updates = [one for one in self._updates if one["update_id"] >= offset]
        return copy.deepcopy(self._updates[:100])

    def sent(self, chat: str, topic: str, text: str, reply_to: str = "") -> Shown:
        shown = Shown(chat, self._next_message(), text, own=True, topic=topic, reply_to=reply_to)
        shown.said.append(text)
        self.shown[chat, shown.message_id] = shown
        return shown

    # --- looking

    def messages(self, chat: str, own: bool | None = True) -> list[Shown]:
        """What stands in a chat now, oldest first."""
        with self.changed:
            return [
                one
                for one in self.shown.values()
                if one.chat == chat and not one.deleted and own in (None, one.own)
            ]

    def until(self, wanted: Callable[[], typing.Any], limit_s: float = PATIENCE_S) -> typing.Any:
        """Wait until something holds; returns it, or fails with what there is."""
        end_s = time.monotonic() + limit_s
        with self.changed:
            while not (found := wanted()):
                left_s = end_s - time.monotonic()
                if left_s <= 0:
                    texts = [(one.chat, one.text, one.said) for one in self.shown.values()]
                    raise AssertionError(f"it did not come: {texts[-12:]}")
                self.changed.wait(min(left_s, 0.2))
            return found

    def message(self, chat: str, part: str, limit_s: float = PATIENCE_S) -> Shown:
        """The newest message of the bot's in a chat that says so now."""

        def find() -> Shown | None:
            found = [one for one in self.messages(chat) if part in one.text]
            return found[-1] if found else None

        shown: Shown = self.until(find, limit_s)
        return shown

    def card(self, chat: str, part: str = "", limit_s: float = PATIENCE_S) -> Shown:
        """The newest message with buttons that says so."""

        def find() -> Shown | None:
            found = [one for one in self.messages(chat) if one.rows and part in one.text]
            return found[-1] if found else None

        shown: Shown = self.until(find, limit_s)
        return shown

    def toast(self, press_id: str, limit_s: float = PATIENCE_S) -> Toast:
        """How a press was answered: when at first, and what was said of it in the end."""

        def find() -> Toast | None:
            found = self.toasts.get(press_id)
            return found if found is not None and found.text != texts.SLOW_TOAST else None

        toast: Toast = self.until(find, limit_s)
        return toast


def entities_of(text: str) -> list[Json]:
    """What Telegram marks in a text that a person typed: commands and mentions."""
    found = []
    at = 0
    for word in text.split(" "):
        offset = len(text[:at].encode("utf-16-le")) // 2
        length = len(word.split("\n")[0].encode("utf-16-le")) // 2
        if word.startswith("/") and len(word) > 1:
            found.append({"type": "bot_command", "offset": offset, "length": length})
        if word.startswith("@") and len(word) > 1:
            found.append({"type": "mention", "offset": offset, "length": length})
        at += len(word) + 1
    return found
