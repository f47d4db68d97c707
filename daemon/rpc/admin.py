"""Admin: the daemon's state at a glance, and tokens for scripts and bots."""

from collections.abc import Callable

import structlog

from daemon.domain import decisions, errors, ids, inputs, principals, views
from daemon.rpc import backend, caller, convert, credentials, interceptors, paging
from proto.ducklm.v1 import admin_pb2, admin_pb2_grpc

_log = structlog.get_logger(__name__)
Look = Callable[[], views.DaemonView]

_SCOPES: dict[principals.Scope, "admin_pb2.Token.Scope.ValueType"] = {
    "run": admin_pb2.Token.RUN,
    "read": admin_pb2.Token.READ,
    "approve": admin_pb2.Token.APPROVE,
    "channel": admin_pb2.Token.CHANNEL,
    "admin": admin_pb2.Token.ADMIN,
}
_SCOPES_BACK = {number: scope for scope, number in _SCOPES.items()}


class Admin(admin_pb2_grpc.AdminServicer):
    """The Admin service. `look` gives the state as it is now, without waiting."""

    def __init__(self, look: Look, served: backend.Backend, known: credentials.Credentials) -> None:
        self._look = look
        self._served = served
        self._known = known

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

    async def _kept(self, given: inputs.CreateToken | inputs.RevokeToken) -> views.TokenView:
        reply = await self._served.inbox.ask(given)
        if not isinstance(reply, decisions.TokenKept):
            raise TypeError(f"a token was answered with {type(reply).__name__}")
        view = await self._served.store.token(reply.token_id)
        if view is None:
            raise LookupError(f"{reply.token_id} was kept and is not there")
        return view

    async def CreateToken(
        self, request: admin_pb2.CreateTokenRequest, context: interceptors.Context
    ) -> admin_pb2.CreateTokenResponse:
        who = caller.current()
        secret = credentials.new_secret()
        view = await self._kept(
            inputs.CreateToken(
                **convert.keyed(request, request.client_key, who),
                maker=who.credential,
                name=request.name,
                scopes=_scopes(request),
                platform=request.platform,
                account=request.account,
                digest=credentials.digest(secret),
            )
        )
        # Of a repetition nobody took up the secret: the first one's is not kept.
        made = self._known.find(secret) is not None
        if made:
            _log.info("token_made", name=view.name, scopes=sorted(view.scopes))
        return admin_pb2.CreateTokenResponse(token=_token(view), secret=secret if made else "")

    async def ListTokens(
        self, request: admin_pb2.ListTokensRequest, context: interceptors.Context
    ) -> admin_pb2.ListTokensResponse:
        page = await self._served.store.tokens(
            paging.size(request.page), paging.before(request.page), request.revoked
        )
        return admin_pb2.ListTokensResponse(
            tokens=[_token(view) for view in page.rows],
            next_page_token=paging.token(page.next_before),
        )

    async def RevokeToken(
        self, request: admin_pb2.RevokeTokenRequest, context: interceptors.Context
    ) -> admin_pb2.Token:
        who = caller.current()
        view = await self._kept(
            inputs.RevokeToken(
                **convert.keyed(request, request.client_key, who),
                token_id=ids.TokenId(request.token_id),
            )
        )
        _log.info("token_revoked", name=view.name)
        return _token(view)


def _scopes(request: admin_pb2.CreateTokenRequest) -> frozenset[principals.Scope]:
    if admin_pb2.Token.SCOPE_UNSPECIFIED in request.scopes:
        known = ", ".join(scope.upper() for scope in _SCOPES)
        raise errors.Refusal(errors.RefusalKind.INVALID, f"Name the scopes: {known}.")
    return frozenset(_SCOPES_BACK[number] for number in request.scopes)


def _token(view: views.TokenView) -> admin_pb2.Token:
    return admin_pb2.Token(
        token_id=view.token_id,
        name=view.name,
        principal=view.principal,
        scopes=[number for scope, number in _SCOPES.items() if scope in view.scopes],
        created_at=convert.timestamp(view.created_ms),
        revoked_at=None if view.revoked_ms is None else convert.timestamp(view.revoked_ms),
    )


def _slot(slot: views.SlotView) -> admin_pb2.SlotStatus:
    return admin_pb2.SlotStatus(
        name=slot.name,
        state=slot.state,
        roles=slot.roles,
        context_tokens=slot.context_tokens,
        detail=slot.detail,
    )
