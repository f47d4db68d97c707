"""Admin: the daemon's state at a glance."""

from collections.abc import Callable

from daemon.domain import views
from daemon.rpc import convert, interceptors
from proto.ducklm.v1 import admin_pb2, admin_pb2_grpc

Look = Callable[[], views.DaemonView]


class Admin(admin_pb2_grpc.AdminServicer):
    """The Admin service. `look` gives the state as it is now, without waiting."""

    def __init__(self, look: Look) -> None:
        self._look = look

    async def Status(
        self, request: admin_pb2.StatusRequest, context: interceptors.Context
    ) -> admin_pb2.StatusResponse:
        seen = self._look()
        return admin_pb2.StatusResponse(
            version=seen.version,
            started_at=convert.timestamp(seen.started_ms),
            state_folder=seen.state_folder,
            head_seq=seen.head_seq,
            tasks_queued=seen.tasks_queued,
            tasks_running=seen.tasks_running,
            tasks_waiting=seen.tasks_waiting,
            approvals_pending=seen.approvals_pending,
            resident_bytes=seen.resident_bytes,
            draining=seen.draining,
            slots=[_slot(slot) for slot in seen.slots],
            notices=seen.notices,
        )


def _slot(slot: views.SlotView) -> admin_pb2.SlotStatus:
    return admin_pb2.SlotStatus(
        name=slot.name,
        state=slot.state,
        roles=slot.roles,
        context_tokens=slot.context_tokens,
        detail=slot.detail,
    )
