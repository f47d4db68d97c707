"""Which fields of requests the tests read back."""

from collections.abc import Callable, Iterator

import grpc
import pytest
from google.protobuf import descriptor, message

from tests.integration.rpc import methods

COVERED: set[str] = set()
Test = Callable[..., None]


def covers(kind: type[message.Message], *names: str) -> Callable[[Test], Test]:
    """Notes which fields of a message a test reads back."""
    COVERED.update(f"{kind.DESCRIPTOR.name}.{name}" for name in names)
    return lambda test: pytest.mark.spec("D-02")(test)


def fields(kind: descriptor.Descriptor, seen: set[str]) -> Iterator[str]:
    """Every field of a message and of those in it."""
    if kind.full_name in seen:
        return
    seen.add(kind.full_name)
    for field in kind.fields:
        yield f"{kind.name}.{field.name}"
        if field.message_type is not None:
            yield from fields(field.message_type, seen)


def refused(call: Callable[[], object]) -> grpc.StatusCode:
    """How a call that must be refused is refused."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return methods.fault(caught.value)[0]
