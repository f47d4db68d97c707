"""A stage for the terminal client: a scripted daemon behind grpcio-testing's channel, a person who
types what is written down, a clock moved by hand.

The client runs on the main thread, as in life, so that Ctrl-C is a real signal; the daemon's script
runs beside it. Since the client makes one call at a time, a script is a plain list of steps.
"""

import dataclasses
import io
import pathlib
import signal
import threading
import typing
from collections.abc import Callable, Iterable

import grpc
import grpc_testing
from google.protobuf import descriptor, message

from bots import render
from bots.terminal import __main__ as entry, console, interrupts, world
from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    conversations_pb2,
    events_pb2,
    profiles_pb2,
    schedules_pb2,
    skills_pb2,
    tasks_pb2,
)
from tests.unit.bots import updates

LIMIT_S = 10.0
TOKEN = "secret-token"
_MODULES = (
    admin_pb2,
    approvals_pb2,
    conversations_pb2,
    events_pb2,
    profiles_pb2,
    schedules_pb2,
    skills_pb2,
    tasks_pb2,
)
_SERVICES: dict[str, descriptor.ServiceDescriptor] = {
    name: service
    for module in _MODULES
    for name, service in module.DESCRIPTOR.services_by_name.items()
}

Script = Callable[["Daemon"], None]
Metadata = tuple[tuple[str, str], ...]


class Output(io.StringIO):
    """A stream on which a script can wait for what the client writes."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    def write(self, text: str) -> int:
        with self._changed:
            count = super().write(text)
            self._changed.notify_all()
        return count

    def wait_for(self, text: str) -> None:
        with self._changed:
            seen = self._changed.wait_for(lambda: text in self.getvalue(), LIMIT_S)
        assert seen, f"{text!r} was not written, but: {self.getvalue()!r}"


@dataclasses.dataclass
class Clock:
    """Time passes only by sleeping."""

    now: float = 0.0
    sleeps: list[float] = dataclasses.field(default_factory=list)
    on_sleep: Callable[[int], None] = lambda count: None

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps.append(seconds)
        self.on_sleep(len(self.sleeps))


@dataclasses.dataclass
class Person:
    """Types the lines in turn; a KeyboardInterrupt among them is Ctrl-C, their end is Ctrl-D."""

    lines: list[str | KeyboardInterrupt]
    questions: list[str] = dataclasses.field(default_factory=list)
    discarded: int = 0
    handed_out: list[bytearray] = dataclasses.field(default_factory=list)

    def read_line(self, prompt: str) -> str:
        self.questions.append(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if isinstance(line, KeyboardInterrupt):
            raise line
        return line

    def read_hidden(self, prompt: str) -> bytearray:
        """The same for a secret; what was handed out can be looked at afterwards."""
        self.handed_out.append(bytearray(self.read_line(prompt).encode()))
        return self.handed_out[-1]

    def discard_typed_ahead(self) -> None:
        self.discarded += 1


class Stream:
    """One Subscribe of the client, from the daemon's side."""

    def __init__(self, request: events_pb2.SubscribeRequest, rpc: typing.Any) -> None:
        self.request = request
        self._rpc = rpc

    def send(self, *sent: events_pb2.Update) -> None:
        for each in sent:
            self._rpc.send_response(each)

    def lose(self, code: grpc.StatusCode = grpc.StatusCode.UNAVAILABLE) -> None:
        """Break the stream; what the client has not taken yet is lost with it."""
        self._rpc.terminate((), code, "")

    def end(self) -> None:
        self._rpc.terminate((), grpc.StatusCode.OK, "")


class Daemon:
    """What a script has in its hands."""

    def __init__(self, channel: typing.Any, stdout: Output, stderr: Output) -> None:
        self._channel = channel
        self.stdout = stdout
        self.stderr = stderr
        self.metadata: list[Metadata] = []

    def answer(self, method: str, response: message.Message) -> typing.Any:
        """Serve one call; its request."""
        request, rpc = self._take(method)
        rpc.terminate(response, (), grpc.StatusCode.OK, "")
        return request

    def refuse(
        self,
        method: str,
        code: grpc.StatusCode,
        details: str = "",
        metadata: Metadata = (),
    ) -> typing.Any:
        request, rpc = self._take(method)
        # The response is dropped by the client: the code is not OK.
        rpc.terminate(None, metadata, code, details)
        return request

    def stream(self) -> Stream:
        """Take the next Subscribe."""
        metadata, request, rpc = self._channel.take_unary_stream(_method("Events.Subscribe"))
        self.metadata.append(metadata)
        return Stream(request, rpc)

    def export(self, *pieces: str) -> conversations_pb2.ExportConversationRequest:
        """Serve an Export; its request."""
        method = _method("Conversations.Export")
        metadata, request, rpc = self._channel.take_unary_stream(method)
        self.metadata.append(metadata)
        for piece in pieces:
            rpc.send_response(conversations_pb2.ExportPiece(text=piece))
        rpc.terminate((), grpc.StatusCode.OK, "")
        asked: conversations_pb2.ExportConversationRequest = request
        return asked

    def refuse_stream(self, method: str, code: grpc.StatusCode, details: str) -> None:
        _, _, rpc = self._channel.take_unary_stream(_method(method))
        rpc.terminate((), code, details)

    def accept(self, seq: int = 1) -> tasks_pb2.SubmitRequest:
        """Serve a Submit."""
        response = tasks_pb2.SubmitResponse(
            task_id=updates.TASK, conversation_id=updates.CONVERSATION, seq=seq
        )
        request: tasks_pb2.SubmitRequest = self.answer("Tasks.Submit", response)
        return request

    def greet(self, pending: int = 0) -> None:
        """Serve the Status that ask and chat begin with."""
        response = admin_pb2.StatusResponse(version="0.1.0", approvals_pending=pending)
        self.answer("Admin.Status", response)

    def press_ctrl_c(self, stream: Stream) -> None:
        """Interrupt the client, which waits for this stream."""
        ident = threading.main_thread().ident
        assert ident is not None
        signal.pthread_kill(ident, signal.SIGINT)
        # The testing channel waits on a lock without a limit, and Python sees a signal that came
        # just before that only afterwards (a real channel looks up ten times a second).
        stream.send(events_pb2.Update())

    def _take(self, method: str) -> tuple[typing.Any, typing.Any]:
        metadata, request, rpc = self._channel.take_unary_unary(_method(method))
        self.metadata.append(metadata)
        return request, rpc

    def abort_everything(self) -> None:
        """After a script failed: let no call of the client hang."""
        for service in _SERVICES.values():
            for method in service.methods:
                threading.Thread(target=self._abort, args=(method,), daemon=True).start()

    def _abort(self, method: descriptor.MethodDescriptor) -> None:
        while True:
            if method.server_streaming:
                self._channel.take_unary_stream(method)[2].terminate(
                    (), grpc.StatusCode.ABORTED, "the script failed"
                )
            else:
                self._channel.take_unary_unary(method)[2].terminate(
                    None, (), grpc.StatusCode.ABORTED, "the script failed"
                )


def _method(name: str) -> descriptor.MethodDescriptor:
    service, _, method = name.partition(".")
    return _SERVICES[service].methods_by_name[method]


@dataclasses.dataclass
class Played:
    """How it went."""

    code: int
    stdout: str
    stderr: str
    person: Person
    clock: Clock
    daemon: Daemon

    @property
    def lines(self) -> list[str]:
        return self.stderr.splitlines()


@dataclasses.dataclass(frozen=True)
class Setting:
    """What the terminal is like."""

    interactive: bool = True
    stdout_is_terminal: bool = True
    status_columns: int = 0
    stdin: str = ""
    environ: dict[str, str] = dataclasses.field(default_factory=lambda: {"DUCKLM_TOKEN": TOKEN})


TERMINAL: typing.Final = Setting()
PIPES: typing.Final = Setting(interactive=False, stdout_is_terminal=False)


def play(
    arguments: Iterable[str],
    script: Script,
    typed: Iterable[str | KeyboardInterrupt] = (),
    setting: Setting = TERMINAL,
    clock: Clock | None = None,
) -> Played:
    """Run `ducklm` against a script; both must come to their end."""
    channel = grpc_testing.channel(list(_SERVICES.values()), grpc_testing.strict_real_time())
    stdout, stderr = Output(), Output()
    daemon = Daemon(channel, stdout, stderr)
    failures: list[BaseException] = []

    def run_script() -> None:
        try:
            script(daemon)
        except BaseException as failure:  # noqa: BLE001 (raised again on the main thread)
            failures.append(failure)
            daemon.abort_everything()

    beside = threading.Thread(target=run_script, daemon=True)
    beside.start()
    person, time = Person(list(typed)), clock or Clock()
    code = entry.run(list(arguments), _world(channel, daemon, person, time, setting))
    if failures:
        raise failures[0]
    beside.join(LIMIT_S)
    told = f"code {code}\n{stdout.getvalue()}\n{stderr.getvalue()}"
    assert not beside.is_alive(), f"the client ended before the script: {told}"
    if failures:
        raise failures[0]
    return Played(code, stdout.getvalue(), stderr.getvalue(), person, time, daemon)


def _world(
    channel: grpc.Channel, daemon: Daemon, person: Person, clock: Clock, setting: Setting
) -> world.World:
    keys = iter(f"key-{number}" for number in range(1, 1000))
    terminal = console.Console(
        stdout=daemon.stdout,
        stderr=daemon.stderr,
        read_line=person.read_line,
        read_hidden=person.read_hidden,
        discard_typed_ahead=person.discard_typed_ahead,
        interrupts=interrupts.Interrupts(),
        interactive=setting.interactive,
        shared=setting.stdout_is_terminal and setting.interactive,
        stdout_is_terminal=setting.stdout_is_terminal,
        status_columns=setting.status_columns,
        palette=render.PLAIN,
    )
    return world.World(
        environ=setting.environ,
        home=pathlib.Path("/nonexistent"),
        stdin=io.StringIO(setting.stdin),
        console=terminal,
        connect=lambda address: channel,
        sleep=clock.sleep,
        clock=lambda: clock.now,
        new_key=lambda: next(keys),
    )


def nothing(daemon: Daemon) -> None:
    """The script of a command that makes no call."""
