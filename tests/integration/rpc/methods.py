"""Every method that the daemon serves, from the descriptors, and how to call one by its name."""

import dataclasses
from collections.abc import Iterable

import grpc
from google.protobuf import descriptor, message, message_factory

from proto.ducklm.v1 import (
    admin_pb2,
    approvals_pb2,
    artifacts_pb2,
    channels_pb2,
    conversations_pb2,
    events_pb2,
    profiles_pb2,
    projects_pb2,
    schedules_pb2,
    skills_pb2,
    tasks_pb2,
)
from tests import running_daemon

_FILES = (
    tasks_pb2,
    events_pb2,
    approvals_pb2,
    conversations_pb2,
    projects_pb2,
    profiles_pb2,
    skills_pb2,
    artifacts_pb2,
    channels_pb2,
    schedules_pb2,
    admin_pb2,
)
CALL_S = 30.0
Metadata = running_daemon.Metadata


@dataclasses.dataclass(frozen=True)
class Method:
    """One method of one service."""

    name: str  # as gRPC has it: /package.Service/Method
    descriptor: descriptor.MethodDescriptor

    def request(self) -> message.Message:
        """An empty request."""
        return message_factory.GetMessageClass(self.descriptor.input_type)()

    def answer(self) -> type[message.Message]:
        """The kind of its answers."""
        return message_factory.GetMessageClass(self.descriptor.output_type)

    def call(
        self,
        channel: grpc.Channel,
        requests: Iterable[message.Message],
        metadata: running_daemon.Metadata = (),
    ) -> message.Message:
        """The answer, or a stream's first one; raises grpc.RpcError."""
        answers = self.answer()
        sent = list(requests)
        if self.descriptor.server_streaming:
            stream = channel.unary_stream(self.name, to_bytes, answers.FromString)(
                sent[0], CALL_S, metadata
            )
            try:
                return next(stream)
            finally:
                stream.cancel()
        if self.descriptor.client_streaming:
            put = channel.stream_unary(self.name, to_bytes, answers.FromString)
            return put(iter(sent), CALL_S, metadata)
        return channel.unary_unary(self.name, to_bytes, answers.FromString)(
            sent[0], CALL_S, metadata
        )


def to_bytes(sent: message.Message) -> bytes:
    """A message as it is sent."""
    return sent.SerializeToString()


def every() -> list[Method]:
    """All methods of all services of ours."""
    return [
        Method(f"/{service.full_name}/{method.name}", method)
        for file in _FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
    ]


def short(method: Method) -> str:
    """The name of a test's case."""
    return method.name.removeprefix("/ducklm.v1.")


def bearer(token: str) -> running_daemon.Metadata:
    """The metadata that carries a token."""
    return (("authorization", f"Bearer {token}"),)


def fault(error: grpc.RpcError) -> tuple[grpc.StatusCode, str]:
    """The status and the sentence of a failed call."""
    call: object = error
    assert isinstance(call, grpc.Call)
    return call.code(), call.details() or ""


def correlation_id(error: grpc.RpcError) -> str:
    """The correlation id that came with a failed call."""
    call: object = error
    assert isinstance(call, grpc.Call)
    metadata = dict(call.trailing_metadata() or ())
    return str(metadata.get("x-correlation-id", ""))
