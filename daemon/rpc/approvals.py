"""Approvals: what waits for a human, and the human's answer."""

from daemon.domain import errors, ids, views
from daemon.rpc import backend, caller, convert, interceptors, paging
from proto.ducklm.v1 import approvals_pb2, approvals_pb2_grpc


class Approvals(approvals_pb2_grpc.ApprovalsServicer):
    """The Approvals service."""

    def __init__(self, served: backend.Backend) -> None:
        self._served = served

    async def _view(self, approval_id: str) -> views.ApprovalView:
        view = await self._served.store.approval(ids.ApprovalId(approval_id))
        if view is None:
            raise errors.Refusal(
                errors.RefusalKind.NOT_FOUND, f"There is no approval {approval_id}."
            )
        return view

    async def List(
        self, request: approvals_pb2.ListApprovalsRequest, context: interceptors.Context
    ) -> approvals_pb2.ListApprovalsResponse:
        page = await self._served.store.approvals(
            paging.size(request.page),
            convert.outcome(request.status),
            paging.before(request.page),
        )
        return approvals_pb2.ListApprovalsResponse(
            approvals=[await self._served.approval(view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )

    async def Get(
        self, request: approvals_pb2.GetApprovalRequest, context: interceptors.Context
    ) -> approvals_pb2.Approval:
        return await self._served.approval(await self._view(request.approval_id))

    async def Resolve(
        self, request: approvals_pb2.ResolveRequest, context: interceptors.Context
    ) -> approvals_pb2.Approval:
        await self._served.inbox.ask(convert.resolution(request, caller.current()))
        return await self._served.approval(await self._view(request.approval_id))
