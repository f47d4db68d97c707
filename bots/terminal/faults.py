"""What a failed call means to a person and to a shell: one sentence and one exit code.

Answers for: the mapping of every gRPC status. It must never show a token or an exception's text.
"""

import enum
import typing

import grpc

from bots import config, render, texts

CORRELATION_KEY: typing.Final = "x-correlation-id"  # trailing metadata


class Exit(enum.IntEnum):
    """The exit codes of `ducklm`."""

    OK = 0
    FAILED = 1  # the task failed, was cancelled or refused
    USAGE = 2  # bad input, or a token that does not fit
    UNREACHABLE = 3
    WAITS = 4  # something waits for a human


class UsageFault(Exception):
    """Bad input. The message is one sentence that says how to mend it."""


class CallFault(Exception):
    """A call that the daemon, or the way to it, did not serve."""

    def __init__(self, code: grpc.StatusCode, details: str = "", correlation_id: str = "") -> None:
        super().__init__(code.name)
        self.code = code
        self.details = details
        self.correlation_id = correlation_id

    @property
    def lost(self) -> bool:
        """Whether the daemon is away: the same call may well succeed later."""
        return self.code is grpc.StatusCode.UNAVAILABLE

    @property
    def answered(self) -> bool:
        """Whether the daemon itself said so, and not only the way to it."""
        return bool(self.correlation_id)


def fault_of(error: grpc.RpcError) -> CallFault:
    """The fault that a gRPC error stands for."""
    call: object = error  # an error of a call is a Call too, which the stubs do not say
    if not isinstance(call, grpc.Call):
        return CallFault(grpc.StatusCode.UNKNOWN)
    correlation_id = ""
    for key, value in call.trailing_metadata() or ():
        if key == CORRELATION_KEY:
            correlation_id = value if isinstance(value, str) else value.decode("ascii", "replace")
    return CallFault(call.code(), call.details() or "", correlation_id)


_SENTENCES: typing.Final = {
    grpc.StatusCode.UNAVAILABLE: texts.UNAVAILABLE,
    grpc.StatusCode.UNAUTHENTICATED: texts.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED: texts.PERMISSION_DENIED,
    grpc.StatusCode.INVALID_ARGUMENT: texts.INVALID_ARGUMENT,
    grpc.StatusCode.OUT_OF_RANGE: texts.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND: texts.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS: texts.ALREADY_EXISTS,
    grpc.StatusCode.FAILED_PRECONDITION: texts.FAILED_PRECONDITION,
    grpc.StatusCode.RESOURCE_EXHAUSTED: texts.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED: texts.DEADLINE_EXCEEDED,
    grpc.StatusCode.UNIMPLEMENTED: texts.UNIMPLEMENTED,
}
_EXITS: typing.Final = {
    grpc.StatusCode.UNAVAILABLE: Exit.UNREACHABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: Exit.UNREACHABLE,
    grpc.StatusCode.UNAUTHENTICATED: Exit.USAGE,
    grpc.StatusCode.PERMISSION_DENIED: Exit.USAGE,
    grpc.StatusCode.INVALID_ARGUMENT: Exit.USAGE,
    grpc.StatusCode.OUT_OF_RANGE: Exit.USAGE,
    grpc.StatusCode.NOT_FOUND: Exit.USAGE,
    grpc.StatusCode.ALREADY_EXISTS: Exit.USAGE,
}


def sentence(fault: CallFault, settings: config.Settings) -> str:
    """What to tell the person."""
    details = render.one_line(fault.details, 500) or texts.NO_DETAILS
    pattern = _SENTENCES.get(fault.code, texts.OTHER_STATUS)
    if fault.lost and fault.answered:
        pattern = texts.UNAVAILABLE_NOW
    text = pattern.format(
        details=details,
        address=render.one_line(settings.address),
        place=render.one_line(settings.token_place),
    )
    if fault.correlation_id not in text:
        text += texts.CORRELATION.format(id=render.one_line(fault.correlation_id))
    return text


def exit_code(fault: CallFault) -> Exit:
    """What to tell the shell."""
    if fault.lost and fault.answered:
        return Exit.FAILED
    return _EXITS.get(fault.code, Exit.FAILED)
