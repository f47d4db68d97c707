"""A server in this process over a backend that a test makes, for faults and for several tokens."""

import contextlib
import dataclasses
import pathlib
from collections.abc import AsyncIterator, Mapping

import grpc
from google.protobuf import message

from daemon.domain import principals, redaction, views
from daemon.rpc import backend, credentials, interceptors, server
from daemon.runtime import clock, vault
from proto.ducklm.v1 import (
    approvals_pb2,
    artifacts_pb2,
    channels_pb2,
    common_pb2,
    conversations_pb2,
    profiles_pb2,
    projects_pb2,
    schedules_pb2,
    skills_pb2,
    tasks_pb2,
)
from tests.integration.rpc import methods

OWNER = "the-owners-token"
OTHER = "a-scripts-token"

_ORIGIN = common_pb2.Origin(chat="1", reply_to="2")
_SUBMIT = tasks_pb2.SubmitRequest(text="hello")
VALID: Mapping[str, message.Message] = {
    "Tasks/Submit": _SUBMIT,
    "Tasks/Ask": tasks_pb2.AskRequest(submit=_SUBMIT),
    "Tasks/Chat": tasks_pb2.ChatRequest(submit=_SUBMIT),
    "Tasks/Decide": tasks_pb2.DecideRequest(task_id="task-1", decision=tasks_pb2.ABANDON),
    "Approvals/Resolve": approvals_pb2.ResolveRequest(
        approval_id="approval-1", answer=approvals_pb2.DENY
    ),
    "Approvals/ProvideSecret": approvals_pb2.ProvideSecretRequest(task_id="t", secret=b"x"),
    "Tasks/Feedback": tasks_pb2.FeedbackRequest(task_id="task-1", good=True),
    "Projects/Create": projects_pb2.CreateProjectRequest(name="p"),
    "Projects/Register": projects_pb2.RegisterProjectRequest(name="p", folder="/p"),
    "Projects/Trust": projects_pb2.TrustRequest(folder="/p"),
    "Projects/Diff": projects_pb2.ProjectDiffRequest(project="p", commit="0" * 40),
    "Projects/Revert": projects_pb2.ProjectRevertRequest(project="p", commits=["0" * 40]),
    "Projects/Log": projects_pb2.ProjectLogRequest(project="p"),
    "Profiles/Set": profiles_pb2.SetProfileRequest(name="p"),
    "Skills/Set": skills_pb2.SetSkillRequest(name="p"),
    "Skills/Test": skills_pb2.TestSkillsRequest(text="x"),
    "Conversations/Update": conversations_pb2.UpdateConversationRequest(title="x"),
    "Artifacts/Put": artifacts_pb2.PutArtifactRequest(data=b"x"),
    "Channels/Look": channels_pb2.LookRequest(origin=_ORIGIN),
    "Channels/Report": channels_pb2.ReportRequest(
        delivery_id="d", revision=1, state=channels_pb2.Delivery.SHOWN
    ),
    "Channels/Post": channels_pb2.PostRequest(origin=_ORIGIN, text="x"),
    "Channels/MoveChat": channels_pb2.MoveChatRequest(account="telegram:7", chat="1", to="2"),
    "Schedules/Create": schedules_pb2.CreateScheduleRequest(text="x", when="0 9 * * *"),
    "Schedules/Update": schedules_pb2.UpdateScheduleRequest(schedule_id="s", text="x"),
    "Channels/DecidePairing": channels_pb2.DecidePairingRequest(code="1", allow=True),
}
"""A request that reaches what is behind the service; empty ones do for all other methods."""


def valid(method: methods.Method) -> message.Message:
    """A request of a method that passes every check of its form."""
    return VALID.get(methods.short(method)) or method.request()


def empty_vault() -> vault.Vault:
    """A vault whose secrets are kept for a minute."""
    return vault.Vault(clock.SystemClock(), 60_000, redaction.Redactor())


def credential(name: str, scopes: frozenset[principals.Scope]) -> principals.Credential:
    """What a script's token grants."""
    principal = principals.Principal(f"token:{name}")
    return principals.Credential(name=name, principal=principal, scopes=scopes)


def two_tokens() -> credentials.Credentials:
    """The owner's token, and a script's with the same scopes."""
    owner = credential("owner", principals.ALL_SCOPES)
    owner = owner.model_copy(update={"principal": principals.LOCAL_OWNER})
    script = credential("script", principals.ALL_SCOPES)
    return credentials.Credentials(
        {credentials.digest(OWNER): owner, credentials.digest(OTHER): script}
    )


@dataclasses.dataclass(frozen=True)
class Look:
    """The daemon's state at a glance, or the fault that stands for it."""

    folder: pathlib.Path
    fault: BaseException | None = None

    def __call__(self) -> views.DaemonView:
        if self.fault is not None:
            raise self.fault
        return views.DaemonView(
            version="0",
            started_ms=0,
            state_folder=str(self.folder),
            head_seq=0,
            tasks_queued=0,
            tasks_running=0,
            tasks_waiting=0,
            approvals_pending=0,
            resident_bytes=0,
            draining=False,
            slots=(),
            notices=(),
        )


@contextlib.asynccontextmanager
async def serving(
    served: backend.Backend, known: credentials.Credentials, look: Look
) -> AsyncIterator[grpc.aio.Channel]:
    """A server on a socket, and a channel to it."""
    listening = server.Server(served, look, known, look.folder)
    (address,) = await listening.start([f"unix:{look.folder / 'd.sock'}"])
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            yield channel
    finally:
        await listening.stop(0)


async def call(
    channel: grpc.aio.Channel,
    method: methods.Method,
    request: message.Message,
    token: str = OWNER,
    more: methods.Metadata = (),
) -> message.Message:
    """The answer, or a stream's first one; raises grpc.aio.AioRpcError."""
    metadata = (*methods.bearer(token), *more)
    coders = (methods.to_bytes, method.answer().FromString)
    if method.descriptor.server_streaming:
        stream = channel.unary_stream(method.name, *coders)(
            request, timeout=methods.CALL_S, metadata=metadata
        )
        async for answer in stream:
            stream.cancel()
            return answer
        raise AssertionError(f"{method.name} has ended without an answer")
    if method.descriptor.client_streaming:
        return await channel.stream_unary(method.name, *coders)(
            iter([request]), timeout=methods.CALL_S, metadata=metadata
        )
    return await channel.unary_unary(method.name, *coders)(
        request, timeout=methods.CALL_S, metadata=metadata
    )


def scope(method: methods.Method) -> principals.Scope:
    """The scope that a method needs."""
    return interceptors.SCOPES[method.name]


def by_scope(needed: principals.Scope) -> credentials.Credentials:
    """Two tokens: one with every scope but one, the other with that one alone."""
    without = credential("without", principals.ALL_SCOPES - {needed})
    alone = credential("alone", frozenset((needed,)))
    return credentials.Credentials(
        {credentials.digest("all but it"): without, credentials.digest("it alone"): alone}
    )
