"""What a test of deliveries stands between: a daemon's script, and the calls written down."""

import asyncio
import typing
from collections.abc import AsyncIterator, Callable

import grpc
from google.protobuf import message_factory
from grpc import aio

from bots.telegram import calls, outgoing
from proto.ducklm.v1 import channels_pb2, events_pb2

D = channels_pb2.Delivery
LIMIT_S = 20.0
_Context: typing.TypeAlias = "aio.ServicerContext[typing.Any, typing.Any]"


class Daemon:
    """Gives what a test puts in, and writes down what it is told."""

    def __init__(self, log: list[str]) -> None:
        self.log = log
        self.given: asyncio.Queue[channels_pb2.Delivery | None] = asyncio.Queue()
        self.refused: set[str] = set()
        self.moves: set[str] = set()  # the keys of those that were asked for
        self.updates: asyncio.Queue[events_pb2.Update] = asyncio.Queue()
        self.changed = asyncio.Event()
        self.streams = 0

    def services(self) -> tuple[typing.Any, ...]:
        channels = {
            "Deliveries": self.deliveries,
            "Report": self.report,
            "MoveChat": self.move_chat,
        }
        events = {"List": self.list_events, "Subscribe": self.subscribe}
        return (
            _service(channels_pb2, "Channels", channels),
            _service(events_pb2, "Events", events),
        )

    def note(self, line: str) -> None:
        self.log.append(line)
        self.changed.set()

    async def deliveries(
        self, request: channels_pb2.DeliveriesRequest, context: _Context
    ) -> AsyncIterator[channels_pb2.Delivery]:
        self.streams += 1
        while (one := await self.given.get()) is not None:
            yield one
        await context.abort(grpc.StatusCode.UNAVAILABLE, "away")

    async def report(
        self, request: channels_pb2.ReportRequest, context: _Context
    ) -> channels_pb2.Delivery:
        state = D.State.Name(request.state)
        ids = ",".join(request.platform_ids)
        self.note(f"report {request.delivery_id} {request.revision} {state} [{ids}]")
        if request.delivery_id in self.refused:
            await context.abort(grpc.StatusCode.NOT_FOUND, "No such delivery.")
        return channels_pb2.Delivery()

    async def move_chat(
        self, request: channels_pb2.MoveChatRequest, context: _Context
    ) -> channels_pb2.MoveChatResponse:
        if request.client_key not in self.moves:  # the same again changes nothing
            self.moves.add(request.client_key)
            self.note(f"move {request.chat} {request.to}")
        return channels_pb2.MoveChatResponse(chat=request.to)

    async def list_events(
        self, request: events_pb2.ListEventsRequest, context: _Context
    ) -> events_pb2.ListEventsResponse:
        return events_pb2.ListEventsResponse()

    async def subscribe(
        self, request: events_pb2.SubscribeRequest, context: _Context
    ) -> AsyncIterator[events_pb2.Update]:
        while True:
            yield await self.updates.get()


def _service(module: typing.Any, name: str, methods: dict[str, typing.Any]) -> typing.Any:
    """What serves some methods of a service."""
    service = module.DESCRIPTOR.services_by_name[name]
    handlers = {}
    for method, served in methods.items():
        said = service.methods_by_name[method]
        request = message_factory.GetMessageClass(said.input_type)
        answer = message_factory.GetMessageClass(said.output_type)
        make = (
            grpc.unary_stream_rpc_method_handler
            if said.server_streaming
            else grpc.unary_unary_rpc_method_handler
        )
        handlers[method] = make(served, request.FromString, answer.SerializeToString)
    return grpc.method_handlers_generic_handler(service.full_name, handlers)


class Recorder(calls.Calls):
    """Writes down what is sent, and raises what a test puts in for a text's beginning."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self._next = 100
        self.faults: dict[str, list[calls.Fault]] = {}

    def _say(self, line: str) -> None:
        for part, faults in self.faults.items():
            if part in line and faults:
                self._note(f"refused {line}")
                raise faults.pop(0)
        self._note(line)

    async def send(self, chat: str, topic: str, text: outgoing.Text, reply_to: str = "") -> str:
        marks = "*" if text.entities else ""
        where = f"{chat}/{topic}" + (f" to {reply_to}" if reply_to else "")
        self._say(f"send {where}: {text.text}{marks}")
        self._next += 1
        return str(self._next)

    async def edit(self, chat: str, message: str, text: outgoing.Text) -> None:
        self._say(f"edit {message}: {text.text}{'*' if text.entities else ''}")

    async def send_document(
        self, chat: str, topic: str, document: outgoing.Document, reply_to: str = ""
    ) -> str:
        self._say(f"document {chat}/{topic}: {document.name}")
        self._next += 1
        return str(self._next)

    async def delete(self, chat: str, message: str) -> None:
        self._say(f"delete {message}")


class Stage:
    """A daemon, a recording and what shows deliveries between them."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.daemon = Daemon(self.log)
        self.api = Recorder(self.daemon.note)
        self.running: asyncio.Task[None] | None = None

    def give(self, *given: channels_pb2.Delivery | None) -> None:
        for one in given:
            self.daemon.given.put_nowait(one)

    async def until(self, part: str, times: int = 1) -> None:
        """Until so many lines hold a part."""
        assert self.running is not None
        async with asyncio.timeout(LIMIT_S):
            while sum(part in line for line in self.log) < times:
                assert not self.running.done(), self.running
                self.daemon.changed.clear()
                await self.daemon.changed.wait()
