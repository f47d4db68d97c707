"""The calls about schedules, one method each; `client` has them as its `schedules`.

Answers for: requests as the terminal makes them. Every failed call is a `CallFault`.
"""

import typing
from collections.abc import Iterator, Sequence

import grpc

from bots.terminal import calling
from proto.ducklm.v1 import schedules_pb2, schedules_pb2_grpc

SHOWN_TIMES: typing.Final = 3


class ScheduleCalls:
    """One method a call."""

    def __init__(self, channel: grpc.Channel, calls: calling.Calling) -> None:
        self._stub = schedules_pb2_grpc.SchedulesStub(channel)
        self._call = calls.unary

    def preview(self, when: str, zone: str) -> schedules_pb2.Times:
        """How words are understood; nothing is kept."""
        request = schedules_pb2.PreviewRequest(when=when, zone=zone, count=SHOWN_TIMES)
        return self._call(self._stub.Preview, request)

    def create(
        self, request: schedules_pb2.CreateScheduleRequest, key: str
    ) -> schedules_pb2.Schedule:
        request.origin.CopyFrom(calling.origin())
        request.client_key = key
        return self._call(self._stub.Create, request)

    def update(
        self, request: schedules_pb2.UpdateScheduleRequest, key: str
    ) -> schedules_pb2.Schedule:
        """Change the fields that are set in the request."""
        request.origin.CopyFrom(calling.origin())
        request.client_key = key
        return self._call(self._stub.Update, request)

    def get(self, schedule_id: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.GetScheduleRequest(schedule_id=schedule_id, origin=calling.origin())
        return self._call(self._stub.Get, request)

    def every(self) -> Sequence[schedules_pb2.Schedule]:
        """All of them, the next one first."""
        request = schedules_pb2.ListSchedulesRequest(origin=calling.origin())
        return self._call(self._stub.List, request).schedules

    def delete(self, schedule_id: str, key: str) -> schedules_pb2.DeleteScheduleResponse:
        request = schedules_pb2.DeleteScheduleRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.Delete, request)

    def pause(self, schedule_id: str, key: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.PauseScheduleRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.Pause, request)

    def resume(self, schedule_id: str, key: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.ResumeScheduleRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.Resume, request)

    def pause_all(self, key: str) -> Sequence[schedules_pb2.Schedule]:
        request = schedules_pb2.PauseAllRequest(origin=calling.origin(), client_key=key)
        return self._call(self._stub.PauseAll, request).schedules

    def resume_all(self, key: str) -> Sequence[schedules_pb2.Schedule]:
        request = schedules_pb2.ResumeAllRequest(origin=calling.origin(), client_key=key)
        return self._call(self._stub.ResumeAll, request).schedules

    def run_now(self, schedule_id: str, key: str) -> schedules_pb2.RunNowResponse:
        request = schedules_pb2.RunNowRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.RunNow, request)

    def rehearse(self, schedule_id: str, key: str) -> schedules_pb2.RunNowResponse:
        request = schedules_pb2.RehearseRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.Rehearse, request)

    def stop(self, schedule_id: str, key: str) -> schedules_pb2.Schedule:
        request = schedules_pb2.StopScheduleRequest(
            schedule_id=schedule_id, origin=calling.origin(), client_key=key
        )
        return self._call(self._stub.Stop, request)

    def runs(self, schedule_id: str, limit: int) -> Iterator[schedules_pb2.Run]:
        """Runs of one schedule, or of all, newest first, page by page."""
        request = schedules_pb2.ListRunsRequest(schedule_id=schedule_id, origin=calling.origin())
        for size in calling.pages(limit):
            request.page.size = size
            response = self._call(self._stub.ListRuns, request)
            yield from response.runs
            request.page.token = response.next_page_token
            if not response.next_page_token:
                return
