"""What a request says that this version does not know is refused, never passed over."""

import grpc
import pytest
from google.protobuf import message

from proto.ducklm.v1 import approvals_pb2, common_pb2, conversations_pb2, tasks_pb2
from tests import running_daemon
from tests.integration.rpc import methods, served

EVERY = methods.every()
UNKNOWN_FIELD = b"\xc0\xa9\x07\x01"  # number 15000, a varint


def refusal(
    daemon: running_daemon.RunningDaemon, method: methods.Method, request: message.Message
) -> tuple[grpc.StatusCode, str]:
    with daemon.channel() as channel, pytest.raises(grpc.RpcError) as refused:
        method.call(channel, [request], methods.bearer(daemon.token))
    return methods.fault(refused.value)


@pytest.mark.spec("D-02")
@pytest.mark.parametrize("method", EVERY, ids=methods.short)
def test_an_unknown_field_is_refused(
    daemon: running_daemon.RunningDaemon, method: methods.Method
) -> None:
    plain = served.valid(method)
    request = type(plain).FromString(plain.SerializeToString() + UNKNOWN_FIELD)
    code, sentence = refusal(daemon, method, request)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence.startswith(f"{request.DESCRIPTOR.name} has no field with number 15000.")


@pytest.mark.spec("D-02")
def test_an_unknown_field_deep_inside_is_refused(daemon: running_daemon.RunningDaemon) -> None:
    (ask,) = [method for method in EVERY if method.name.endswith("Tasks/Ask")]
    origin = common_pb2.Origin.FromString(UNKNOWN_FIELD)
    submit = tasks_pb2.SubmitRequest(text="hello", origin=origin)
    code, sentence = refusal(daemon, ask, tasks_pb2.AskRequest(submit=submit))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert sentence.startswith("Origin has no field with number 15000.")


def _numbered(kind: type[message.Message], field: str) -> message.Message:
    """A request whose enum field holds the number 99."""
    found = kind.DESCRIPTOR.fields_by_name[field]
    tag = bytes([found.number << 3])
    return kind.FromString(tag + b"\x63")


@pytest.mark.spec("D-02")
@pytest.mark.parametrize(
    ("name", "request_of", "known"),
    [
        ("Tasks/Decide", _numbered(tasks_pb2.DecideRequest, "decision"), "MARK_DONE"),
        ("Tasks/List", _numbered(tasks_pb2.ListTasksRequest, "states"), "QUEUED"),
        ("Approvals/Resolve", _numbered(approvals_pb2.ResolveRequest, "answer"), "ALLOW_ONCE"),
        (
            "Conversations/Create",
            _numbered(conversations_pb2.CreateConversationRequest, "mode"),
            "PLAN, BUILD, YOLO",
        ),
        ("Tasks/Submit", _numbered(tasks_pb2.SubmitRequest, "mode"), "YOLO"),
        ("Approvals/List", _numbered(approvals_pb2.ListApprovalsRequest, "status"), "PENDING"),
        (
            "Conversations/Update",
            _numbered(conversations_pb2.UpdateConversationRequest, "steering"),
            "QUEUE, STEER",
        ),
        (
            "Conversations/Export",
            _numbered(conversations_pb2.ExportConversationRequest, "format"),
            "MARKDOWN, JSON",
        ),
    ],
)
def test_an_unknown_enum_number_is_refused(
    daemon: running_daemon.RunningDaemon, name: str, request_of: message.Message, known: str
) -> None:
    (method,) = [method for method in EVERY if methods.short(method) == name]
    code, sentence = refusal(daemon, method, request_of)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "cannot be 99; it is one of " in sentence
    assert known in sentence
