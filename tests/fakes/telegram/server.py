"""The Bot API over HTTP on loopback, in a thread of its own.

Answers as the real one does, with its words for what it refuses. Calls into a ban are answered like
the real ones, and written down.
"""

import asyncio
import contextlib
import json
import socket
import threading
import time
import typing
from collections.abc import Callable, Iterator

from aiohttp import web

from bots.telegram import texts
from tests.fakes.telegram import faults, world

TOKEN = "77:AAfake-token-of-the-tests-0123456789"
TEXT_UNITS = 4096
HANG_S = 120.0
_Json = dict[str, typing.Any]


class Refused(Exception):
    """What the API answers instead."""

    def __init__(self, code: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.code = code
        self.parameters = parameters


class Server:
    """One running stand-in. `stop` and `start` again keep the world and the port."""

    def __init__(self, held: world.World | None = None) -> None:
        self.world = held or world.World()
        self.faults = faults.Faults()
        self.port = 0
        self.speed = 1.0  # how much faster than ours the bot's clock runs
        self._polls = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="telegram")
        self._thread.start()
        if not ready.wait(20):
            raise AssertionError("the stand-in for Telegram did not start")

    def _run(self, ready: threading.Event) -> None:
        loop = asyncio.new_event_loop()
        self._loop = loop
        try:
            loop.run_until_complete(self._listen())
            ready.set()
            loop.run_forever()
        finally:
            loop.run_until_complete(_end_all())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _listen(self) -> None:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/bot{token}/{method}", self._serve)
        app.router.add_get("/file/bot{token}/{path:.*}", self._file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        listening = socket.create_server(("127.0.0.1", self.port))
        self.port = int(listening.getsockname()[1])
        await web.SockSite(self._runner, listening).start()

    def stop(self) -> None:
        loop, runner, thread = self._loop, self._runner, self._thread
        if loop is None or runner is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        self._loop = self._runner = self._thread = None

    async def _file(self, request: web.Request) -> web.Response:
        data = self.world.files.get(request.match_info["path"])
        return web.Response(status=404) if data is None else web.Response(body=data)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        if request.match_info["token"] != TOKEN:
            return _answer_fault(Refused(401, "Unauthorized"))
        given = await _fields(request)
        chat = str(given.get("chat_id", ""))
        called = world.Called(method, chat, time.monotonic(), str(given.get("text", "")))
        with self.world.changed:
            self.world.calls.append(called)
            if self.world.bans.get(chat, 0) > called.at_s and method != "getUpdates":
                self.world.banned_calls.append(called)
        rule = self.faults.take(method, chat)
        try:
            if rule is not None and rule.when == "before":
                await self._fail(rule, request, chat)
            result = await self._perform(method, given)
            if rule is not None:
                await self._fail(rule, request, chat)
        except Refused as refused:
            return _answer_fault(refused)
        return web.json_response({"ok": True, "result": result})

    async def _fail(self, rule: faults.Rule, request: web.Request, chat: str) -> None:
        match rule.kind:
            case "retry":
                with self.world.changed:
                    banned_s = rule.retry_after_s / self.speed
                    self.world.bans[chat] = time.monotonic() + banned_s
                text = f"Too Many Requests: retry after {rule.retry_after_s}"
                raise Refused(429, text, retry_after=rule.retry_after_s)
            case "server":
                raise Refused(502, "Bad Gateway")
            case "drop":
                if request.transport is not None:
                    request.transport.close()
                raise Refused(502, "dropped")
            case "hang":
                end_s = time.monotonic() + HANG_S
                while True:
                    if rule.over or time.monotonic() >= end_s:
                        raise Refused(502, "Bad Gateway")
                    await asyncio.sleep(0.02)
            case "bad":
                raise Refused(400, rule.text or "Bad Request: can't parse entities")
            case "conflict":
                raise Refused(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one "
                    "bot instance is running",
                )
            case "forbid":
                raise Refused(403, rule.text or "Forbidden: bot was blocked by the user")
            case "big":
                raise Refused(413, "Request Entity Too Large")
            case "migrate":
                raise Refused(400, "Bad Request: group chat was upgraded to a supergroup chat")

    async def _perform(self, method: str, given: _Json) -> typing.Any:
        if method == "getUpdates":
            return await self._get_updates(given)
        handlers: dict[str, Callable[[_Json], typing.Any]] = {
            "getMe": self._get_me,
            "sendMessage": self._send_message,
            "editMessageText": self._edit_message,
            "deleteMessage": self._delete_message,
            "sendDocument": self._send_document,
            "answerCallbackQuery": self._answer_press,
            "getFile": self._get_file,
            "setMyCommands": self._set_commands,
            "getWebhookInfo": self._get_webhook,
        }
        if method not in handlers:
            raise Refused(404, "Not Found")
        with self.world.changed:
            result = handlers[method](given)
            self.world.changed.notify_all()
        return result

    async def _get_updates(self, given: _Json) -> list[_Json]:
        self._polls += 1
        mine = self._polls
        end_s = time.monotonic() + float(given.get("timeout", 0)) / self.speed
        while True:
            if self._polls != mine:
                raise Refused(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one "
                    "bot instance is running",
                )
            with self.world.changed:
                found = self.world.updates(int(given.get("offset", 0)))
            if found or time.monotonic() >= end_s:
                return found
            await asyncio.sleep(0.01)

    def _chat(self, given: _Json) -> tuple[str, str]:
        chat = str(given.get("chat_id", ""))
        if chat in self.world.moved:
            raise Refused(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=int(self.world.moved[chat]),
            )
        if chat in self.world.gone:
            code = 403 if self.world.gone[chat].startswith("Forbidden") else 400
            raise Refused(code, self.world.gone[chat])
        topic = str(given.get("message_thread_id") or "")
        if topic and topic not in self.world.topics.get(chat, set()):
            raise Refused(400, "Bad Request: message thread not found")
        return chat, topic

    def _text(self, given: _Json) -> tuple[str, list[_Json]]:
        text = str(given.get("text", ""))
        entities = _loaded(given.get("entities"), [])
        total = _units(text)
        if not text.strip():
            raise Refused(400, "Bad Request: message text is empty")
        if total > TEXT_UNITS:
            raise Refused(400, "Bad Request: message is too long")
        for one in entities:
            first, last = one["offset"], one["offset"] + one["length"]
            if first < 0 or one["length"] <= 0 or last > total:
                raise Refused(400, "Bad Request: ENTITY_BOUNDS_INVALID")
            if not (_is_border(text, first) and _is_border(text, last)):
                raise Refused(400, "Bad Request: entity begins or ends within a character")
        return text, entities

    def _markup(self, given: _Json) -> tuple[list[list[_Json]], bool]:
        markup = _loaded(given.get("reply_markup"), {})
        rows = markup.get("inline_keyboard", [])
        for row in rows:
            for one in row:
                if not 1 <= len(one["callback_data"].encode()) <= 64:
                    raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
        return rows, bool(markup.get("force_reply"))

    def _send_message(self, given: _Json) -> _Json:
        chat, topic = self._chat(given)
        text, entities = self._text(given)
        rows, forces = self._markup(given)
        reply = _loaded(given.get("reply_parameters"), {})
        shown = self.world.sent(chat, topic, text, str(reply.get("message_id", "")))
        shown.entities, shown.rows, shown.force_reply = entities, rows, forces
        return self._told(shown)

    def _told(self, shown: world.Shown) -> _Json:
        return {
            "message_id": shown.message_id,
            "date": 1,
            "chat": self.world.chat(shown.chat),
            "from": world.BOT,
            "text": shown.text,
        }

    def _named(self, given: _Json, what: str) -> world.Shown:
        chat, _ = self._chat(given)
        shown = self.world.shown.get((chat, int(given["message_id"])))
        if shown is None or shown.deleted or (what == "edit" and not shown.own):
            raise Refused(400, f"Bad Request: message to {what} not found")
        return shown

    def _edit_message(self, given: _Json) -> _Json:
        shown = self._named(given, "edit")
        text, entities = self._text(given)
        rows, _ = self._markup(given)
        if (text, entities, rows) == (shown.text, shown.entities, shown.rows):
            raise Refused(
                400,
                "Bad Request: message is not modified: specified new message content and reply "
                "markup are exactly the same as a current content and reply markup of the message",
            )
        shown.text, shown.entities, shown.rows = text, entities, rows
        shown.said.append(text)
        return self._told(shown)

    def _delete_message(self, given: _Json) -> bool:
        self._named(given, "delete").deleted = True
        return True

    def _send_document(self, given: _Json) -> _Json:
        chat, topic = self._chat(given)
        name, data = given["document"]
        shown = self.world.sent(chat, topic, str(given.get("caption", "")))
        shown.document, shown.file_name = data, name
        told = self._told(shown)
        told["document"] = {"file_id": "x", "file_unique_id": "x", "file_name": name}
        return told

    def _answer_press(self, given: _Json) -> bool:
        press_id = str(given["callback_query_id"])
        began_s = self.world.pressed_at.get(press_id)
        if began_s is None:
            raise Refused(
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
            )
        after_s = time.monotonic() - began_s
        first = self.world.toasts.get(press_id)
        if first is None or first.text == texts.SLOW_TOAST:
            after_s = after_s if first is None else first.after_s
            toast = world.Toast(press_id, str(given.get("text", "")), after_s)
            self.world.toasts[press_id] = toast
        return True

    def _get_file(self, given: _Json) -> _Json:
        file_id = str(given["file_id"])
        data = self.world.files.get(file_id)
        if data is None:
            raise Refused(400, "Bad Request: invalid file_id")
        return {
            "file_id": file_id,
            "file_unique_id": file_id,
            "file_size": len(data),
            "file_path": file_id,
        }

    def _get_me(self, _: _Json) -> _Json:
        return world.BOT

    def _get_webhook(self, _: _Json) -> _Json:
        url = self.world.webhook
        return {"url": url, "has_custom_certificate": False, "pending_update_count": 0}

    def _set_commands(self, given: _Json) -> bool:
        self.world.commands = _loaded(given.get("commands"), [])
        return True


async def _end_all() -> None:
    """Break off what is being answered still."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _fields(request: web.Request) -> _Json:
    given: _Json = {}
    attached: dict[str, tuple[str, bytes]] = {}
    for key, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            attached[key] = (value.filename, value.file.read())
        else:
            given[key] = value.decode() if isinstance(value, (bytes, bytearray)) else value
    for key, value in given.items():
        if isinstance(value, str) and value.startswith("attach://"):
            given[key] = attached[value.removeprefix("attach://")]
    return given


def _loaded(given: typing.Any, default: typing.Any) -> typing.Any:
    return json.loads(given) if isinstance(given, str) and given else default


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _is_border(text: str, units: int) -> bool:
    encoded = text.encode("utf-16-le")
    unit = encoded[2 * units : 2 * units + 2]
    return len(unit) < 2 or not 0xDC00 <= int.from_bytes(unit, "little") <= 0xDFFF


def _answer_fault(refused: Refused) -> web.Response:
    body: _Json = {"ok": False, "error_code": refused.code, "description": str(refused)}
    if refused.parameters:
        body["parameters"] = refused.parameters
    return web.json_response(body, status=refused.code)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A stand-in that is ended for sure."""
    server = Server()
    server.start()
    try:
        yield server
    finally:
        server.stop()
