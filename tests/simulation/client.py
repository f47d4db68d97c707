"""A plain synchronous client of one daemon: each method is one call, a failure is a grpc.RpcError.

Never retries: a test must see how a call ended.
"""

import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from proto.ducklm.v1 import (
    approvals_pb2,
    approvals_pb2_grpc,
    common_pb2,
    conversations_pb2,
    conversations_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    schedules_pb2,
    schedules_pb2_grpc,
    tasks_pb2,
    tasks_pb2_grpc,
)

CALL_SECONDS = 60.0
_PAGE_ROWS = 500
_OPTIONS = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.max_receive_message_length", 32 * 1024 * 1024),
)


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    """The status of a failed call."""
    call: object = error  # an error of a call is a Call too, which the stubs do not say
    if not isinstance(call, grpc.Call):
        raise error
    return call.code()


class Client:
    """The calls that the simulations make."""

    def __init__(self, socket: Path, token_file: Path) -> None:
        self._channel = grpc.insecure_channel(f"unix:{socket}", options=_OPTIONS)
        self._metadata = (("authorization", f"Bearer {token_file.read_text().strip()}"),)
        self._tasks = tasks_pb2_grpc.TasksStub(self._channel)
        self._events = events_pb2_grpc.EventsStub(self._channel)
        self._approvals = approvals_pb2_grpc.ApprovalsStub(self._channel)
        self._conversations = conversations_pb2_grpc.ConversationsStub(self._channel)
        self._schedules = schedules_pb2_grpc.SchedulesStub(self._channel)
        self._health = health_pb2_grpc.HealthStub(self._channel)

    def close(self) -> None:
        self._channel.close()

    def submit(
        self, text: str, key: str = "", conversation_id: str = ""
    ) -> tasks_pb2.SubmitResponse:
        request = tasks_pb2.SubmitRequest(
            text=text, conversation_id=conversation_id, client_key=key or uuid.uuid4().hex
        )
        return self._tasks.Submit(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def task(self, task_id: str) -> tasks_pb2.Task:
        request = tasks_pb2.GetTaskRequest(task_id=task_id)
        return self._tasks.Get(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def tasks(self) -> dict[str, tasks_pb2.Task]:
        """All tasks by id, newest first."""
        found: dict[str, tasks_pb2.Task] = {}
        request = tasks_pb2.ListTasksRequest(page=common_pb2.Page(size=_PAGE_ROWS))
        while True:
            page = self._tasks.List(request, timeout=CALL_SECONDS, metadata=self._metadata)
            found |= {task.task_id: task for task in page.tasks}
            request.page.token = page.next_page_token
            if not page.next_page_token:
                return found

    def cancel(self, task_id: str) -> tasks_pb2.Task:
        request = tasks_pb2.CancelRequest(task_id=task_id)
        return self._tasks.Cancel(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def decide(
        self, task_id: str, decision: tasks_pb2.TaskDecision.ValueType, call_id: str = ""
    ) -> tasks_pb2.Task:
        request = tasks_pb2.DecideRequest(task_id=task_id, decision=decision, call_id=call_id)
        return self._tasks.Decide(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def pending(self) -> list[approvals_pb2.Approval]:
        """Approvals that wait for an answer, newest first."""
        request = approvals_pb2.ListApprovalsRequest(page=common_pb2.Page(size=_PAGE_ROWS))
        page = self._approvals.List(request, timeout=CALL_SECONDS, metadata=self._metadata)
        return list(page.approvals)

    def approval(self, approval_id: str) -> approvals_pb2.Approval:
        request = approvals_pb2.GetApprovalRequest(approval_id=approval_id)
        return self._approvals.Get(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def resolve(
        self, approval_id: str, answer: approvals_pb2.Answer.ValueType
    ) -> approvals_pb2.Approval:
        request = approvals_pb2.ResolveRequest(approval_id=approval_id, answer=answer)
        return self._approvals.Resolve(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def create_conversation(self, title: str) -> conversations_pb2.Conversation:
        request = conversations_pb2.CreateConversationRequest(title=title)
        return self._conversations.Create(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def conversation(self, conversation_id: str) -> conversations_pb2.Conversation:
        request = conversations_pb2.GetConversationRequest(conversation_id=conversation_id)
        return self._conversations.Get(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def undo(self, conversation_id: str, key: str) -> conversations_pb2.UndoResponse:
        request = conversations_pb2.UndoRequest(conversation_id=conversation_id, client_key=key)
        return self._conversations.Undo(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def schedule(self, request: schedules_pb2.CreateScheduleRequest) -> schedules_pb2.Schedule:
        return self._schedules.Create(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def schedule_of(self, schedule_id: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.GetScheduleRequest(schedule_id=schedule_id)
        return self._schedules.Get(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def preview(self, when: str, zone: str) -> schedules_pb2.Times:
        request = schedules_pb2.PreviewRequest(when=when, zone=zone)
        return self._schedules.Preview(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def pause(self, schedule_id: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.PauseScheduleRequest(schedule_id=schedule_id)
        return self._schedules.Pause(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def run_now(self, schedule_id: str, key: str) -> schedules_pb2.RunNowResponse:
        request = schedules_pb2.RunNowRequest(schedule_id=schedule_id, client_key=key)
        return self._schedules.RunNow(request, timeout=CALL_SECONDS, metadata=self._metadata)

    def runs(self, schedule_id: str) -> list[schedules_pb2.Run]:
        """All runs of a schedule, newest first."""
        found: list[schedules_pb2.Run] = []
        request = schedules_pb2.ListRunsRequest(
            schedule_id=schedule_id, page=common_pb2.Page(size=_PAGE_ROWS)
        )
        while True:
            page = self._schedules.ListRuns(request, timeout=CALL_SECONDS, metadata=self._metadata)
            found.extend(page.runs)
            request.page.token = page.next_page_token
            if not page.next_page_token:
                return found

    def log(self, task_id: str = "", after_seq: int = 0) -> list[events_pb2.Event]:
        """The whole log after a sequence number, page by page."""
        found: list[events_pb2.Event] = []
        while True:
            request = events_pb2.ListEventsRequest(
                after_seq=found[-1].seq if found else after_seq, task_id=task_id, limit=_PAGE_ROWS
            )
            page = self._events.List(request, timeout=CALL_SECONDS, metadata=self._metadata)
            found.extend(page.events)
            if not page.events:
                return found

    def head_seq(self) -> int:
        request = events_pb2.ListEventsRequest(limit=1)
        page = self._events.List(request, timeout=CALL_SECONDS, metadata=self._metadata)
        return page.head_seq

    def follow(
        self, after_seq: int, task_id: str = "", seconds: float = CALL_SECONDS, live: bool = True
    ) -> Generator[events_pb2.Update]:
        """Updates after a sequence number; the stream is dropped when the caller stops reading.

        Ends with DEADLINE_EXCEEDED after so many seconds.
        """
        request = events_pb2.SubscribeRequest(
            after_seq=after_seq, task_id=task_id, events_only=not live
        )
        call: Any = self._events.Subscribe(request, timeout=seconds, metadata=self._metadata)
        try:
            yield from call
        finally:
            call.cancel()

    def watch_health(self) -> Generator[bool]:
        """Whether it is SERVING, now and at each change."""
        call = self._health.Watch(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
        for response in call:
            yield response.status == health_pb2.HealthCheckResponse.SERVING
