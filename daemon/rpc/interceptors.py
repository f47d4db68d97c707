"""What every call passes: who calls with which scope, a deadline, and errors turned to a status.

Health is open; everything else, reflection too, needs a token. A method that is in no list is
refused, so that a new one cannot be open by mistake.
"""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, NoReturn, TypeAlias

import grpc
import structlog
from google.protobuf import message
from grpc import aio

from daemon.domain import errors, principals
from daemon.rpc import caller, credentials, validation

UNARY_SECONDS = 30.0
"""How long a unary call may take, except the unbounded ones."""

_KIND = errors.RefusalKind
STATUS: Mapping[errors.RefusalKind, grpc.StatusCode] = {
    _KIND.INVALID: grpc.StatusCode.INVALID_ARGUMENT,
    _KIND.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    _KIND.CONFLICT: grpc.StatusCode.ALREADY_EXISTS,
    _KIND.STATE: grpc.StatusCode.FAILED_PRECONDITION,
    _KIND.EXHAUSTED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    _KIND.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    _KIND.FORBIDDEN: grpc.StatusCode.PERMISSION_DENIED,
}

_S = "/ducklm.v1."
SCOPES: Mapping[str, principals.Scope] = {
    f"{_S}Tasks/Submit": "run",
    f"{_S}Tasks/Ask": "run",
    f"{_S}Tasks/Chat": "run",
    f"{_S}Tasks/Get": "read",
    f"{_S}Tasks/List": "read",
    f"{_S}Tasks/Cancel": "run",
    f"{_S}Tasks/Decide": "approve",
    f"{_S}Tasks/Feedback": "run",
    f"{_S}Events/Subscribe": "read",
    f"{_S}Events/List": "read",
    f"{_S}Approvals/List": "read",
    f"{_S}Approvals/Get": "read",
    f"{_S}Approvals/Resolve": "approve",
    f"{_S}Approvals/ListGrants": "read",
    f"{_S}Approvals/RevokeGrant": "approve",
    f"{_S}Approvals/ProvideSecret": "approve",
    f"{_S}Conversations/Create": "run",
    f"{_S}Conversations/Get": "read",
    f"{_S}Conversations/List": "read",
    f"{_S}Conversations/Update": "run",
    f"{_S}Conversations/Delete": "run",
    f"{_S}Conversations/Compact": "run",
    f"{_S}Conversations/Export": "read",
    f"{_S}Conversations/Undo": "run",
    f"{_S}Projects/Create": "approve",
    f"{_S}Projects/Register": "approve",
    f"{_S}Projects/List": "read",
    f"{_S}Projects/Trust": "approve",
    f"{_S}Projects/Log": "read",
    f"{_S}Projects/Diff": "read",
    f"{_S}Projects/Revert": "approve",
    f"{_S}Projects/PutFile": "run",
    f"{_S}Projects/ListFiles": "read",
    f"{_S}Projects/GetFile": "read",
    f"{_S}Profiles/List": "read",
    f"{_S}Profiles/Get": "read",
    f"{_S}Profiles/Set": "admin",
    f"{_S}Profiles/Test": "read",
    f"{_S}Skills/List": "read",
    f"{_S}Skills/Get": "read",
    f"{_S}Skills/Set": "admin",
    f"{_S}Skills/Test": "read",
    f"{_S}Artifacts/Get": "read",
    f"{_S}Artifacts/Put": "run",
    f"{_S}Channels/Look": "channel",
    f"{_S}Channels/Deliveries": "channel",
    f"{_S}Channels/ListDeliveries": "read",
    f"{_S}Channels/Report": "channel",
    f"{_S}Channels/Post": "channel",
    f"{_S}Channels/MoveChat": "channel",
    f"{_S}Channels/SetCursor": "channel",
    f"{_S}Channels/GetCursor": "channel",
    f"{_S}Channels/Pair": "channel",
    f"{_S}Channels/DecidePairing": "approve",
    f"{_S}Channels/ListPeople": "read",
    f"{_S}Schedules/Preview": "read",
    f"{_S}Schedules/Create": "run",
    f"{_S}Schedules/Get": "read",
    f"{_S}Schedules/List": "read",
    f"{_S}Schedules/Update": "run",
    f"{_S}Schedules/Delete": "run",
    f"{_S}Schedules/Pause": "run",
    f"{_S}Schedules/Resume": "run",
    f"{_S}Schedules/PauseAll": "run",
    f"{_S}Schedules/ResumeAll": "run",
    f"{_S}Schedules/RunNow": "run",
    f"{_S}Schedules/Rehearse": "run",
    f"{_S}Schedules/Stop": "run",
    f"{_S}Schedules/ListRuns": "read",
    f"{_S}Admin/Status": "read",
    f"{_S}Admin/CreateToken": "admin",
    f"{_S}Admin/ListTokens": "admin",
    f"{_S}Admin/RevokeToken": "admin",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "read",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo": "read",
}
OPEN = ("/grpc.health.v1.Health/",)
UNBOUNDED = frozenset({f"{_S}Tasks/Ask", f"{_S}Artifacts/Put", f"{_S}Profiles/Test"})
"""Methods that wait for a task, for as much as the caller sends, or for a model that loads."""

_log = structlog.get_logger(__name__)
# The stubs are generic, the classes at run time are not.
Context: TypeAlias = "aio.ServicerContext[Any, Any]"
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"


class _Fault(Exception):
    """A call that ends with this status and sentence."""

    def __init__(self, code: grpc.StatusCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


class Gate(aio.ServerInterceptor):
    """The one interceptor. Made once a server."""

    def __init__(self, known: credentials.Credentials) -> None:
        self._known = known

    async def intercept_service(
        self, continuation: "Continuation", handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(OPEN):
            return handler
        return _guarded(handler, method, self._known)


def _guarded(handler: Handler, method: str, known: credentials.Credentials) -> Handler:
    kinds = {"request_deserializer": handler.request_deserializer}
    kinds["response_serializer"] = handler.response_serializer
    guard = _Guard(method, known)
    if handler.unary_unary is not None:
        serve = guard.unary(handler.unary_unary)
        return grpc.unary_unary_rpc_method_handler(serve, **kinds)
    if handler.unary_stream is not None:
        serve_stream = guard.stream(handler.unary_stream, checked=True)
        return grpc.unary_stream_rpc_method_handler(serve_stream, **kinds)
    if handler.stream_unary is not None:
        serve = guard.unary(handler.stream_unary)
        return grpc.stream_unary_rpc_method_handler(serve, **kinds)
    serve_stream = guard.stream(handler.stream_stream, checked=False)
    return grpc.stream_stream_rpc_method_handler(serve_stream, **kinds)


class _Guard:
    """Wraps the handlers of one method."""

    def __init__(self, method: str, known: credentials.Credentials) -> None:
        self._method = method
        self._known = known

    def unary(self, serve: Any) -> Any:
        """A handler with one answer."""
        unbounded = self._method in UNBOUNDED

        async def guarded(request: Any, context: Context) -> Any:
            correlation_id = _correlation_id(context)
            at_end = contextlib.ExitStack()
            try:
                grant = self._enter(context, correlation_id, at_end)
                if isinstance(request, message.Message):
                    validation.check(request)
                async with grant.waiting() if unbounded else asyncio.timeout(UNARY_SECONDS):
                    return await serve(request, context)
            except (Exception, asyncio.CancelledError) as error:
                fault = _fault_of_call(error, self._method)
            finally:
                at_end.close()
            return await _abort(context, fault, correlation_id)

        return guarded

    def stream(self, serve: Any, checked: bool) -> Any:
        """A handler with a stream of answers."""

        async def guarded(request: Any, context: Context) -> AsyncIterator[Any]:
            correlation_id = _correlation_id(context)
            at_end = contextlib.ExitStack()
            try:
                grant = self._enter(context, correlation_id, at_end)
                if checked:
                    validation.check(request)
                async with contextlib.aclosing(serve(request, context)) as answers:
                    while True:
                        async with grant.waiting():
                            answer = await anext(answers, None)
                        if answer is None:
                            break
                        yield answer
                return
            except (Exception, asyncio.CancelledError) as error:
                fault = _fault_of_call(error, self._method)
            finally:
                at_end.close()
            await _abort(context, fault, correlation_id)

        return guarded

    def _enter(
        self, context: Context, correlation_id: str, at_end: contextlib.ExitStack
    ) -> credentials.Grant:
        grant = self._known.find(_token(context))
        if grant is None:
            raise _Fault(
                grpc.StatusCode.UNAUTHENTICATED,
                "This call needs a valid token: send the metadata "
                "'authorization: Bearer TOKEN' with the text of the file 'token' "
                "in the daemon's state folder.",
            )
        scope = SCOPES.get(self._method)
        if scope is None or scope not in grant.credential.scopes:
            raise _Fault(
                grpc.StatusCode.PERMISSION_DENIED,
                f"This token may not do that: it lacks the scope {scope or 'of this method'}.",
            )
        structlog.contextvars.bind_contextvars(correlation_id=correlation_id)
        caller.enter(caller.Caller(grant.credential, correlation_id, at_end))
        return grant


def _metadata(context: Context, key: str) -> str:
    for name, value in tuple(context.invocation_metadata() or ()):
        if name == key and isinstance(value, str):
            return value
    return ""


def _token(context: Context) -> str:
    kind, _, token = _metadata(context, "authorization").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


_MOST_CORRELATION_CHARS = 64


def _correlation_id(context: Context) -> str:
    given = _metadata(context, "x-correlation-id")
    plain = given.replace("-", "").isalnum() and given.isascii()
    return given if plain and len(given) <= _MOST_CORRELATION_CHARS else uuid.uuid4().hex


def _fault(error: BaseException, method: str) -> _Fault:
    match error:
        case _Fault():
            return error
        case credentials.Revoked():
            return _Fault(grpc.StatusCode.UNAUTHENTICATED, "This call's token was revoked.")
        case errors.Refusal():
            return _Fault(STATUS[error.kind], str(error))
        case errors.StorageFault():
            _log.error("call_failed", method=method, reason=str(error))
            return _Fault(grpc.StatusCode.UNAVAILABLE, f"{error} Nothing was kept.")
        case TimeoutError():
            _log.warning("call_timed_out", method=method)
            return _Fault(grpc.StatusCode.DEADLINE_EXCEEDED, "The daemon was too busy to answer.")
        case asyncio.CancelledError():
            _log.warning("call_given_up", method=method)
            return _Fault(grpc.StatusCode.UNAVAILABLE, "The daemon gave this up; try again.")
        case _:
            _log.error("call_broke", method=method, exc_info=error)
            return _Fault(
                grpc.StatusCode.INTERNAL,
                "Something went wrong in the daemon; its log has the details.",
            )


def _ended_by_caller(error: BaseException) -> bool:
    """Whether the call itself was cancelled, and not just something that it waited for."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _fault_of_call(error: BaseException, method: str) -> _Fault:
    """How a call ends by an error, which is logged here; raises it when the call ended before."""
    if isinstance(error, aio.AbortError) or _ended_by_caller(error):
        raise error
    return _fault(error, method)


async def _abort(context: Context, fault: _Fault, correlation_id: str) -> NoReturn:
    sentence = f"{fault.sentence} (correlation id {correlation_id})"
    await context.abort(fault.code, sentence, (("x-correlation-id", correlation_id),))
