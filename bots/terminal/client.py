"""The calls to the daemon, synchronous, each with the token and a deadline.

Answers for: stubs, metadata, deadlines, and that every failed call is a `CallFault`. The channel is
handed in. It must never retry, wait, or speak to the person.
"""

import typing
from collections.abc import Iterator, Sequence

import grpc

from bots.terminal import calling, faults, schedule_calls, settings
from proto.ducklm.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    approvals_pb2,
    approvals_pb2_grpc,
    artifacts_pb2,
    artifacts_pb2_grpc,
    channels_pb2,
    channels_pb2_grpc,
    common_pb2,
    conversations_pb2,
    conversations_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    profiles_pb2,
    profiles_pb2_grpc,
    projects_pb2,
    projects_pb2_grpc,
    skills_pb2,
    skills_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
)

ALL_ROWS: typing.Final = 1_000_000
RECEIVE_LIMIT_BYTES: typing.Final = 32 * 1024 * 1024
RECONNECT_MS: typing.Final = 100
RECONNECT_LIMIT_MS: typing.Final = 1000


def connect(address: str) -> grpc.Channel:
    """A channel to a socket or a loopback address; it connects with the first call."""
    options = [
        ("grpc.max_receive_message_length", RECEIVE_LIMIT_BYTES),
        ("grpc.initial_reconnect_backoff_ms", RECONNECT_MS),
        ("grpc.min_reconnect_backoff_ms", RECONNECT_LIMIT_MS),
        ("grpc.max_reconnect_backoff_ms", RECONNECT_LIMIT_MS),
        ("grpc.enable_http_proxy", 0),  # the daemon is on this machine, whatever the environment
    ]
    return grpc.insecure_channel(address, options=options)


class Stream:
    """Updates as they come, until the daemon ends the stream or it is cancelled."""

    def __init__(self, call: typing.Any) -> None:  # the stubs have no name for its type
        self._call = call

    def next(self) -> events_pb2.Update | None:
        """Wait for the next update; None at the stream's end."""
        try:
            update: events_pb2.Update | None = next(self._call, None)
        except grpc.RpcError as error:
            raise faults.fault_of(error) from None
        return update

    def cancel(self) -> None:
        """Stop listening; it cancels no task."""
        self._call.cancel()


class Client:
    """One method a call that the terminal makes."""

    def __init__(self, channel: grpc.Channel, token: str) -> None:
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        calls = calling.Calling(self._metadata)
        self._call = calls.unary
        self.schedules = schedule_calls.ScheduleCalls(channel, calls)
        self._tasks = tasks_pb2_grpc.TasksStub(channel)
        self._events = events_pb2_grpc.EventsStub(channel)
        self._approvals = approvals_pb2_grpc.ApprovalsStub(channel)
        self._conversations = conversations_pb2_grpc.ConversationsStub(channel)
        self._artifacts = artifacts_pb2_grpc.ArtifactsStub(channel)
        self._projects = projects_pb2_grpc.ProjectsStub(channel)
        self._profiles = profiles_pb2_grpc.ProfilesStub(channel)
        self._skills = skills_pb2_grpc.SkillsStub(channel)
        self._admin = admin_pb2_grpc.AdminStub(channel)
        self._channels = channels_pb2_grpc.ChannelsStub(channel)

    def status(self) -> admin_pb2.StatusResponse:
        return self._call(self._admin.Status, admin_pb2.StatusRequest())

    def submit(
        self,
        text: str,
        conversation_id: str,
        key: str,
        wanted: settings.Settings = settings.DEFAULT,
    ) -> tasks_pb2.SubmitResponse:
        """Submit a text; mode, folder and profile are of the conversation that it begins."""
        request = tasks_pb2.SubmitRequest(
            text=text,
            origin=calling.origin(),
            conversation_id=conversation_id,
            client_key=key,
            mode=wanted.mode,
            folder=wanted.folder,
            profile=wanted.profile,
        )
        return self._call(self._tasks.Submit, request)

    def task(self, task_id: str) -> tasks_pb2.Task:
        return self._call(self._tasks.Get, tasks_pb2.GetTaskRequest(task_id=task_id))

    def cancel(self, task_id: str, key: str) -> tasks_pb2.Task:
        request = tasks_pb2.CancelRequest(task_id=task_id, client_key=key)
        return self._call(self._tasks.Cancel, request)

    def decide(
        self, task_id: str, decision: tasks_pb2.TaskDecision.ValueType, call_id: str, key: str
    ) -> tasks_pb2.Task:
        request = tasks_pb2.DecideRequest(
            task_id=task_id, decision=decision, call_id=call_id, client_key=key
        )
        return self._call(self._tasks.Decide, request)

    def feedback(self, task_id: str, good: bool, text: str, key: str) -> tasks_pb2.Task:
        request = tasks_pb2.FeedbackRequest(
            task_id=task_id, good=good, text=text, origin=calling.origin(), client_key=key
        )
        return self._call(self._tasks.Feedback, request)

    def tasks(
        self,
        limit: int,
        conversation_id: str = "",
        states: typing.Iterable[common_pb2.TaskState.ValueType] = (),
    ) -> Iterator[tasks_pb2.Task]:
        """Tasks, newest first, page by page."""
        request = tasks_pb2.ListTasksRequest(conversation_id=conversation_id, states=states)
        for size in calling.pages(limit):
            request.page.size = size
            response = self._call(self._tasks.List, request)
            yield from response.tasks
            request.page.token = response.next_page_token
            if not response.next_page_token:
                return

    def conversations(self, limit: int) -> Iterator[conversations_pb2.Conversation]:
        request = conversations_pb2.ListConversationsRequest()
        for size in calling.pages(limit):
            request.page.size = size
            response = self._call(self._conversations.List, request)
            yield from response.conversations
            request.page.token = response.next_page_token
            if not response.next_page_token:
                return

    def conversation(self, conversation_id: str) -> conversations_pb2.Conversation:
        request = conversations_pb2.GetConversationRequest(conversation_id=conversation_id)
        return self._call(self._conversations.Get, request)

    def create_conversation(
        self, wanted: settings.Settings, key: str
    ) -> conversations_pb2.Conversation:
        request = conversations_pb2.CreateConversationRequest(
            mode=wanted.mode,
            folder=wanted.folder,
            profile=wanted.profile,
            steering=wanted.steering,
            origin=calling.origin(),
            client_key=key,
        )
        return self._call(self._conversations.Create, request)

    def update_conversation(
        self, request: conversations_pb2.UpdateConversationRequest, key: str
    ) -> conversations_pb2.Conversation:
        """Change the fields that are set in the request."""
        request.origin.CopyFrom(calling.origin())
        request.client_key = key
        return self._call(self._conversations.Update, request)

    def delete_conversation(
        self, conversation_id: str, key: str
    ) -> conversations_pb2.DeleteConversationResponse:
        request = conversations_pb2.DeleteConversationRequest(
            conversation_id=conversation_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._conversations.Delete, request)

    def compact(
        self, conversation_id: str, key: str
    ) -> conversations_pb2.CompactConversationResponse:
        request = conversations_pb2.CompactConversationRequest(
            conversation_id=conversation_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._conversations.Compact, request)

    def undo(self, conversation_id: str, key: str) -> conversations_pb2.UndoResponse:
        request = conversations_pb2.UndoRequest(
            conversation_id=conversation_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._conversations.Undo, request)

    def export(self, request: conversations_pb2.ExportConversationRequest) -> Iterator[str]:
        """The pieces of an export."""
        try:
            for piece in self._conversations.Export(request, metadata=self._metadata):
                yield piece.text
        except grpc.RpcError as error:
            raise faults.fault_of(error) from None

    def put_artifact(self, parts: Iterator[bytes]) -> str:
        """Keep bytes; their id."""
        sent = (artifacts_pb2.PutArtifactRequest(data=part) for part in parts)
        try:
            return self._artifacts.Put(sent, metadata=self._metadata).artifact_id
        except grpc.RpcError as error:
            raise faults.fault_of(error) from None

    def put_file(
        self, project: str, artifact_id: str, name: str, key: str
    ) -> projects_pb2.ProjectFile:
        request = projects_pb2.PutFileRequest(
            project=project,
            artifact_id=artifact_id,
            name=name,
            origin=calling.origin(),
            client_key=key,
        )
        return self._call(self._projects.PutFile, request)

    def files(self, project: str, path: str) -> projects_pb2.ListFilesResponse:
        request = projects_pb2.ListFilesRequest(project=project, path=path)
        return self._call(self._projects.ListFiles, request)

    def file(self, project: str, path: str) -> Iterator[bytes]:
        """The pieces of a file of a project."""
        request = projects_pb2.GetFileRequest(project=project, path=path)
        try:
            for piece in self._projects.GetFile(request, metadata=self._metadata):
                yield piece.data
        except grpc.RpcError as error:
            raise faults.fault_of(error) from None

    def people(self) -> Sequence[channels_pb2.Person]:
        """All that asked to talk through bots, and those that the settings name."""
        return self._call(self._channels.ListPeople, channels_pb2.ListPeopleRequest()).people

    def decide_pairing(self, who: str, allow: bool, key: str) -> channels_pb2.Person:
        """Let somebody in or not; `who` is a principal, or the code of a request."""
        request = channels_pb2.DecidePairingRequest(
            principal=who if ":" in who else "",
            code="" if ":" in who else who,
            allow=allow,
            origin=calling.origin(),
            client_key=key,
        )
        return self._call(self._channels.DecidePairing, request)

    def profiles(self) -> Sequence[profiles_pb2.NamedProfile]:
        """Every profile, by name."""
        return self._call(self._profiles.List, profiles_pb2.ListProfilesRequest()).profiles

    def profile(self, name: str) -> profiles_pb2.NamedProfile:
        return self._call(self._profiles.Get, profiles_pb2.GetProfileRequest(name=name))

    def test_profile(self, name: str) -> profiles_pb2.TestProfileResponse:
        return self._call(self._profiles.Test, profiles_pb2.TestProfileRequest(name=name))

    def skills(self) -> Sequence[skills_pb2.NamedSkill]:
        """Every skill, by name."""
        return self._call(self._skills.List, skills_pb2.ListSkillsRequest()).skills

    def skill(self, name: str) -> skills_pb2.NamedSkill:
        return self._call(self._skills.Get, skills_pb2.GetSkillRequest(name=name))

    def test_skills(self, text: str) -> skills_pb2.TestSkillsResponse:
        return self._call(self._skills.Test, skills_pb2.TestSkillsRequest(text=text))

    def approvals(self, limit: int) -> Iterator[approvals_pb2.Approval]:
        """Pending approvals, page by page."""
        request = approvals_pb2.ListApprovalsRequest(status=approvals_pb2.PENDING)
        for size in calling.pages(limit):
            request.page.size = size
            response = self._call(self._approvals.List, request)
            yield from response.approvals
            request.page.token = response.next_page_token
            if not response.next_page_token:
                return

    def approval(self, approval_id: str) -> approvals_pb2.Approval:
        request = approvals_pb2.GetApprovalRequest(approval_id=approval_id)
        return self._call(self._approvals.Get, request)

    def resolve(
        self, approval_id: str, answer: approvals_pb2.Answer.ValueType, reason: str, key: str
    ) -> approvals_pb2.Approval:
        request = approvals_pb2.ResolveRequest(
            approval_id=approval_id,
            answer=answer,
            reason=reason,
            origin=calling.origin(),
            client_key=key,
        )
        return self._call(self._approvals.Resolve, request)

    def grants(self) -> Sequence[approvals_pb2.Grant]:
        """Every grant, oldest first."""
        return self._call(self._approvals.ListGrants, approvals_pb2.ListGrantsRequest()).grants

    def revoke_grant(self, grant_id: str, key: str) -> approvals_pb2.RevokeGrantResponse:
        request = approvals_pb2.RevokeGrantRequest(
            grant_id=grant_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._approvals.RevokeGrant, request)

    def provide_secret(self, task_id: str, secret: bytearray, key: str) -> tasks_pb2.Task:
        request = approvals_pb2.ProvideSecretRequest(
            task_id=task_id, secret=bytes(secret), origin=calling.origin(), client_key=key
        )
        try:
            return self._call(self._approvals.ProvideSecret, request)
        finally:
            request.ClearField("secret")

    def create_token(self, request: admin_pb2.CreateTokenRequest) -> admin_pb2.CreateTokenResponse:
        return self._call(self._admin.CreateToken, request)

    def tokens(self, limit: int | None, revoked: bool = False) -> Iterator[admin_pb2.Token]:
        """Tokens, newest first, page by page; without a limit all."""
        request = admin_pb2.ListTokensRequest(revoked=revoked)
        for size in calling.pages(ALL_ROWS if limit is None else limit):
            request.page.size = size
            response = self._call(self._admin.ListTokens, request)
            yield from response.tokens
            request.page.token = response.next_page_token
            if not response.next_page_token:
                return

    def revoke_token(self, token_id: str, key: str) -> admin_pb2.Token:
        request = admin_pb2.RevokeTokenRequest(token_id=token_id, client_key=key)
        return self._call(self._admin.RevokeToken, request)

    def events(self, after_seq: int, task_id: str, limit: int) -> events_pb2.ListEventsResponse:
        request = events_pb2.ListEventsRequest(after_seq=after_seq, task_id=task_id, limit=limit)
        return self._call(self._events.List, request)

    def subscribe(self, after_seq: int, task_id: str, events_only: bool = False) -> Stream:
        request = events_pb2.SubscribeRequest(
            after_seq=after_seq, task_id=task_id, events_only=events_only
        )
        return Stream(self._events.Subscribe(request, metadata=self._metadata))
