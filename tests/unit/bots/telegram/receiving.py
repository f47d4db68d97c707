"""A daemon and a Bot API that write down what a bot asks of them, for tests of receiving.

They answer from tables. What a daemon was asked is told as lines: the method, and what counts of
the request.
"""

import asyncio
import contextlib
import dataclasses
import typing
from collections.abc import AsyncIterator, Callable, Coroutine

import grpc
from aiogram import types

from bots import client
from bots.telegram import calls, lanes, outgoing
from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    channels_pb2,
    conversations_pb2,
    projects_pb2,
    tasks_pb2,
)
from tests.fakes.telegram import world

AWAY = client.CallFault(grpc.StatusCode.UNAVAILABLE, "")
NO = client.CallFault(grpc.StatusCode.PERMISSION_DENIED, "Only an owner may.")
SAID = client.CallFault(grpc.StatusCode.ALREADY_EXISTS, "")
Answer = typing.Any
_R = typing.TypeVar("_R")
Json = dict[str, typing.Any]


class Service:
    """The stub of one service: every method asks the daemon's tables."""

    def __init__(self, daemon: "Daemon", name: str) -> None:
        self._daemon = daemon
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., typing.Awaitable[Answer]]:
        async def call(request: typing.Any, **_: object) -> Answer:
            return await self._daemon.ask(f"{self._name}.{method}", request)

        return call


class Daemon(client.Client):
    """Answers from tables; a fault in the place of an answer is raised, once if it is in a list."""

    def __init__(self) -> None:
        self._metadata = (("authorization", ""),)
        self.asked: list[tuple[str, typing.Any]] = []
        self.keys: dict[str, str] = {}  # what was written under a client key
        self.cursors: dict[str, str] = {}
        self.look = channels_pb2.LookResponse(allowed=True, conversation_id="c")
        self.faults: dict[str, list[Exception]] = {}
        self.holds: dict[str, asyncio.Event] = {}
        self.lists: dict[str, Callable[[typing.Any], Answer]] = {}
        self.away = False
        self.strangers: set[str] = set()
        self.reached = asyncio.Event()
        self.tasks = Service(self, "tasks")
        self.events = Service(self, "events")
        self.approvals = Service(self, "approvals")
        self.conversations = Service(self, "conversations")
        self.projects = Service(self, "projects")
        self.artifacts = Service(self, "artifacts")
        self.channels = Service(self, "channels")
        self.schedules = Service(self, "schedules")
        self.admin = Service(self, "admin")
        self.person = channels_pb2.Person(state=channels_pb2.Person.ASKED, code="1234")
        self.answers: dict[str, Answer] = {
            "admin.Status": admin_pb2.StatusResponse(),
            "conversations.Get": conversations_pb2.Conversation(conversation_id="c"),
            "conversations.Create": conversations_pb2.Conversation(conversation_id="c"),
            "conversations.Update": conversations_pb2.Conversation(conversation_id="c"),
            "projects.List": projects_pb2.ListProjectsResponse(),
            "approvals.Resolve": approvals_pb2.Approval(status=approvals_pb2.ALLOWED),
            "artifacts.Put": artifacts_pb2.PutArtifactResponse(artifact_id="art"),
        }

    async def ask(self, method: str, request: typing.Any) -> Answer:
        if not hasattr(request, "SerializeToString"):  # pieces of an artifact
            request = b"".join([piece.data async for piece in request])
        self.asked.append((method, request))
        self.reached.set()
        if method in self.holds:
            await self.holds[method].wait()
        if self.away:
            raise AWAY
        faults = self.faults.get(method)
        if faults:
            raise faults.pop(0)
        key = getattr(request, "client_key", "")
        if key:
            told = request.SerializeToString(deterministic=True).hex()
            if self.keys.setdefault(key, told) != told:
                raise SAID
        return self._answer(method, request)

    def _answer(self, method: str, request: typing.Any) -> Answer:
        match method:
            case "channels.Look":
                found = channels_pb2.LookResponse()
                found.CopyFrom(self.look)
                found.allowed = found.allowed and request.origin.principal not in self.strangers
                return found
            case "channels.Pair":
                return self.person
            case "channels.GetCursor":
                return channels_pb2.Cursor(value=self.cursors.get(request.name, ""))
            case "channels.SetCursor":
                self.cursors[request.name] = request.value
                return channels_pb2.Cursor()
            case "approvals.ProvideSecret":
                self.look.secret_task_id = ""
                return tasks_pb2.Task()
            case "projects.PutFile":
                return projects_pb2.ProjectFile(path=f"incoming/{request.name}")
            case _ if method in self.lists:
                return self.lists[method](request)
            case _:
                return self.answers.get(method)

    async def send(
        self,
        method: Callable[..., Answer],
        pieces: AsyncIterator[Answer],
        timeout_s: float = client.SEND_TIMEOUT_S,
    ) -> Answer:
        return await method(pieces)

    def lines(self, *but: str) -> list[str]:
        """What it was asked, in short, without some methods; the same twice is there once."""
        found = [line_of(method, request) for method, request in self.asked if method not in but]
        return list(dict.fromkeys(found))


def line_of(method: str, request: typing.Any) -> str:
    match request:
        case tasks_pb2.SubmitRequest():
            return f"{method} “{request.text}” {','.join(request.files)}".rstrip()
        case channels_pb2.PostRequest():
            return f"{method} {request.text.splitlines()[0]}"
        case approvals_pb2.ResolveRequest():
            answer = approvals_pb2.Answer.Name(request.answer)
            return f"{method} {request.approval_id} {answer} {request.reason}".rstrip()
        case approvals_pb2.ProvideSecretRequest():
            return f"{method} {request.task_id} {request.secret.decode()}"
        case tasks_pb2.CancelRequest():
            return f"{method} {request.task_id}"
        case _:
            return method


class Api(calls.Calls):
    """Gives the updates that a test put in, and writes down what is sent."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.toasts: list[tuple[str, str]] = []
        self.told = asyncio.Event()
        self.files: dict[str, bytes | list[Exception]] = {}
        self.waiting: list[types.Update] = []
        self.later: list[types.Update] = []  # comes one by one, with polls after the first
        self.confirmed = 0
        self.polls: list[tuple[int, float]] = []
        self.faults: list[calls.Fault] = []
        self.delete_faults: list[calls.Fault] = []
        self.changed = asyncio.Event()
        self.held = asyncio.Event()

    def give(self, *given: types.Update) -> None:
        self.waiting += given
        self.changed.set()

    async def updates(self, offset: int, poll_s: int) -> list[calls.Numbered]:
        self.polls.append((poll_s, asyncio.get_running_loop().time()))
        if self.faults:
            raise self.faults.pop(0)
        if len(self.polls) > 1 and self.later:
            self.waiting.append(self.later.pop(0))
        self.confirmed = max(self.confirmed, offset - 1)
        self.waiting = [one for one in self.waiting if one.update_id >= offset]
        self.told.set()
        if not self.waiting:
            self.changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(poll_s):
                    await self.changed.wait()
        return [(one.update_id, one) for one in self.waiting[:100]]

    async def toast(self, press_id: str, text: str = "", alert: bool = False) -> None:
        self.toasts.append((press_id, text))
        self.told.set()

    async def send(self, chat: str, topic: str, text: outgoing.Text, reply_to: str = "") -> str:
        self.log.append(f"send {chat}: {text.text}")
        self.told.set()
        return "1"

    async def edit(self, chat: str, message: str, text: outgoing.Text) -> None:
        self.log.append(f"edit {message}: {text.text}")
        self.told.set()

    async def delete(self, chat: str, message: str) -> None:
        self.log.append(f"delete {message}")
        if self.delete_faults:
            raise self.delete_faults.pop(0)

    async def download(self, file_id: str) -> bytes:
        found = self.files.get(file_id, b"data")
        if file_id == "held":
            await self.held.wait()
        if isinstance(found, bytes):
            return found
        raise found.pop(0) if len(found) > 1 else found[0]

    async def webhook(self) -> str:
        return ""

    async def reconnect(self) -> None:
        self.log.append("reconnect")


class Banned(lanes.Lanes):
    """Lanes of a chat that may have nothing sent for as long as a test lasts."""

    async def send(self, *_: object) -> typing.NoReturn:
        await asyncio.Event().wait()
        raise AssertionError


class Free(lanes.Lanes):
    """Lanes with nothing in them: what is to be sent is sent."""

    async def send(
        self,
        chat: str,
        topic: str,
        urgency: lanes.Urgency,
        call: Callable[[], Coroutine[object, object, _R]],
        key: str = "",
    ) -> _R:
        return await call()


@dataclasses.dataclass
class Person:
    """Makes updates as a person causes them."""

    user: int = 5
    number: int = 100

    def says(self, text: str = "", chat: str = "", more: Json | None = None) -> types.Update:
        self.number += 1
        message = self._message(chat or str(self.user)) | (more or {})
        if text:
            message |= {"text": text, "entities": world.entities_of(text)}
        return types.Update.model_validate({"update_id": self.number, "message": message})

    def presses(self, data: str, chat: str = "") -> types.Update:
        self.number += 1
        query = {
            "id": f"press-{self.number}",
            "from": self._user(),
            "chat_instance": "1",
            "message": self._message(chat or str(self.user)) | {"from": world.BOT, "text": "x"},
            "data": data,
        }
        return types.Update.model_validate({"update_id": self.number, "callback_query": query})

    def _user(self) -> Json:
        return {"id": self.user, "is_bot": False, "first_name": "Ann"}

    def _message(self, chat: str) -> Json:
        kind = "private" if not chat.startswith("-") else "supergroup"
        place = {"id": int(chat), "type": kind, "title": "T"}
        return {"message_id": self.number, "date": 1, "chat": place, "from": self._user()}


def document(name: str, caption: str = "", size: int = 4, file_id: str = "") -> Json:
    """The fields of a message with a file."""
    found = {"file_id": file_id or name, "file_unique_id": name, "file_name": name}
    return {"document": found | {"file_size": size}, "caption": caption}
