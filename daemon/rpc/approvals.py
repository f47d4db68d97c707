"""Approvals: what waits for a human, the human's answer, and the secrets that a call needs.

A secret goes into the vault and nowhere else: no input, log line or sentence ever holds it.
"""

from daemon.domain import decisions, errors, ids, inputs, views
from daemon.rpc import backend, caller, convert, interceptors, paging
from daemon.runtime import vault
from proto.ducklm.v1 import approvals_pb2, approvals_pb2_grpc, tasks_pb2


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
        reply = await self._served.inbox.ask(convert.resolution(request, caller.current()))
        if not isinstance(reply, decisions.ApprovalKept):
            raise TypeError(f"an approval was answered with {type(reply).__name__}")
        approval = await self._served.approval(await self._view(request.approval_id))
        approval.grant_id = reply.grant_id or ""
        return approval

    async def ListGrants(
        self, request: approvals_pb2.ListGrantsRequest, context: interceptors.Context
    ) -> approvals_pb2.ListGrantsResponse:
        grants = self._served.grants()
        texts = await self._served.contents.texts([one.card for one in grants])
        return approvals_pb2.ListGrantsResponse(
            grants=[convert.grant(one, texts) for one in grants]
        )

    async def RevokeGrant(
        self, request: approvals_pb2.RevokeGrantRequest, context: interceptors.Context
    ) -> approvals_pb2.RevokeGrantResponse:
        who = caller.current()
        stated = convert.origin(request.origin, who.credential)
        reply = await self._served.inbox.ask(
            inputs.RevokeGrant(
                **convert.keyed(request, request.client_key, who, stated.principal),
                grant_id=ids.GrantId(request.grant_id),
            )
        )
        if not isinstance(reply, decisions.GrantKept):
            raise TypeError(f"a grant was answered with {type(reply).__name__}")
        return approvals_pb2.RevokeGrantResponse(grant_id=reply.grant_id)

    async def _task(self, task_id: ids.TaskId) -> views.TaskView:
        view = await self._served.store.task(task_id)
        if view is None:
            raise errors.Refusal(errors.RefusalKind.NOT_FOUND, f"There is no task {task_id}.")
        return view

    async def ProvideSecret(
        self, request: approvals_pb2.ProvideSecretRequest, context: interceptors.Context
    ) -> tasks_pb2.Task:
        secret = request.secret
        request.ClearField("secret")  # from here on the request can be shown and hashed
        _check_secret(secret)
        who = caller.current()
        task_id = ids.TaskId(request.task_id)
        stated = convert.origin(request.origin, who.credential)
        given = inputs.ProvideSecret(
            **convert.keyed(request, request.client_key, who, stated.principal), task_id=task_id
        )
        if (await self._task(task_id)).secret:
            await self._provide(given, secret)
        else:  # a repetition, or to be refused: nobody would take the secret out
            await self._served.inbox.ask(given)
        return await self._served.task(await self._task(task_id))

    async def _provide(self, given: inputs.ProvideSecret, secret: bytes) -> None:
        """Tell of a secret that is there already, or else have it gone: after the fault that kept
        it from being told is logged, so that the log is still kept free of it."""
        drop = self._served.vault.put(given.task_id, secret)
        told = False
        try:
            await self._served.inbox.ask(given)
            told = True
        finally:
            if not told:
                caller.at_end(drop)


def _check_secret(secret: bytes) -> None:
    """Raise errors.Refusal for what cannot be one; what it is stands in no sentence."""
    if not secret:
        raise errors.Refusal(errors.RefusalKind.INVALID, "The secret is empty.")
    if len(secret) > vault.SECRET_BYTES:
        raise errors.Refusal(
            errors.RefusalKind.INVALID, f"A secret has at most {vault.SECRET_BYTES} bytes."
        )
    if any(byte in secret for byte in (b"\0", b"\n", b"\r")):
        raise errors.Refusal(
            errors.RefusalKind.INVALID,
            "A secret is one line: it holds no NUL and no line break, not even at its end.",
        )
