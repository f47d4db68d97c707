"""How a call to the daemon is made: with the token, a deadline, and faults instead of errors.

Answers for: what every call has in common. It must never know what a call is for, retry, or wait.
"""

import dataclasses
import typing
from collections.abc import Iterator

import grpc

from bots.terminal import faults
from proto.ducklm.v1 import common_pb2

UNARY_TIMEOUT_S: typing.Final = 30.0
PAGE_ROWS: typing.Final = 100
CHANNEL_NAME: typing.Final = "terminal"

_Q = typing.TypeVar("_Q")
_R = typing.TypeVar("_R")


@dataclasses.dataclass(frozen=True)
class Calling:
    """The metadata that goes with each call."""

    metadata: tuple[tuple[str, str], ...]

    def unary(self, method: "grpc.UnaryUnaryMultiCallable[_Q, _R]", request: _Q) -> _R:
        """The answer; raises CallFault."""
        try:
            return method(request, timeout=UNARY_TIMEOUT_S, metadata=self.metadata)
        except grpc.RpcError as error:
            raise faults.fault_of(error) from None


def origin() -> common_pb2.Origin:
    """Where what a person types here comes from."""
    return common_pb2.Origin(channel=CHANNEL_NAME)


def pages(limit: int) -> Iterator[int]:
    """The sizes of the pages that give so many rows."""
    while limit > 0:
        yield min(limit, PAGE_ROWS)
        limit -= PAGE_ROWS
