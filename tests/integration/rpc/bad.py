"""A request that must be refused."""

import dataclasses

import grpc
from google.protobuf import message


@dataclasses.dataclass(frozen=True)
class Bad:
    """A request, and how it must end."""

    method: str
    request: message.Message
    code: grpc.StatusCode
    says: str
